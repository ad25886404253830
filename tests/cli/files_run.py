#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""files_run.py QKV DATA - what `qkv run` and `qkv info` do with good input: a real model's tensors,
every form of file, pipes, parts, options, modes and signals. Prints TAP.

The numbers are checked against attention written here in a few lines of float64; two forms of the
same tensor are compared bit by bit.
"""
import math
import os
import pathlib
import pty
import re
import resource
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from npy_file import (count_of, dict_text, from_bf16, gen, header, npy, parse,  # noqa: E402
                      to_bf16)

QKV = str(pathlib.Path(sys.argv[1]).resolve())
DATA = pathlib.Path(sys.argv[2]).resolve()
RESULTS = []
TESTS = []


def test(f):
    TESTS.append(f)
    return f


class Skip(Exception):
    pass


def run(*words, stdin=subprocess.DEVNULL, status=0, err=b'', **more):
    """The command's stdout; fails the test when exit status or stderr are not those."""
    env = {'PATH': '/usr/bin:/bin', 'TERM': 'dumb'}
    env.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    if isinstance(stdin, bytes):
        more['input'] = stdin
    else:
        more['stdin'] = stdin
    done = subprocess.run([QKV, *map(str, words)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, **more)
    assert done.returncode == status, f'exit status {done.returncode}: {done.stderr!r}'
    assert err is None or done.stderr == err, done.stderr
    return done.stderr if err is None else done.stdout


def put(name, data):
    pathlib.Path(name).write_bytes(data)


def get(name):
    return pathlib.Path(name).read_bytes()


def attention(q, k, v, q_shape, k_shape, v_shape, scale=None, shift=None):
    """(out, lse) in float64, shapes [batch, heads, n, channels]."""
    batch, heads, queries, d = q_shape
    kv_heads, keys, d_v = k_shape[1], k_shape[2], v_shape[3]
    scale = 1 / math.sqrt(d) if scale is None else scale
    out, lse = [], []
    for b in range(batch):
        for h in range(heads):
            g = b * kv_heads + h * kv_heads // heads
            for i in range(queries):
                row = q[((b * heads + h) * queries + i) * d:][:d]
                seen = keys if shift is None else max(0, min(keys, i + shift + 1))
                scores = [scale * math.fsum(x * y for x, y in
                                            zip(row, k[(g * keys + j) * d:(g * keys + j + 1) * d]))
                          for j in range(seen)]
                top = max(scores, default=0)
                weights = [math.exp(s - top) for s in scores]
                total = math.fsum(weights)
                lse.append(top + math.log(total) if seen else -math.inf)
                out += [math.fsum(w * v[(g * keys + j) * d_v + c] for j, w in enumerate(weights)) /
                        total if seen else 0.0 for c in range(d_v)]
    return out, lse


def near(got, want, width, bound):
    """Each row of width values within bound of the other, relative to its largest value."""
    assert len(got) == len(want), (len(got), len(want))
    for at in range(0, len(want), max(width, 1)):
        largest = max((abs(x) for x in want[at:at + width]), default=0) or 1
        for x, y in zip(got[at:at + width], want[at:at + width]):
            assert x == y or abs(x - y) <= bound * largest, f'{x} is not near {y} (row at {at})'


SHAPES = {2: ((7, 6), (9, 6), (9, 5)), 3: ((4, 7, 6), (2, 9, 6), (2, 9, 5)),
          4: ((3, 4, 7, 6), (3, 2, 9, 6), (3, 2, 9, 5))}


def problem(rank=4, descr='<f4', **more):
    """Writes q.npy, k.npy, v.npy; returns their values and shapes, of rank 4."""
    values = [gen(11 * rank + i, s) for i, s in enumerate(SHAPES[rank])]
    for name, x, s in zip('qkv', values, SHAPES[rank]):
        put(name + '.npy', npy(x, s, descr, **more))
    return (*values, *((1,) * (4 - rank) + s for s in SHAPES[rank]))


def attend(*words, out='o.npy', **more):
    run('run', '--q', 'q.npy', '--k', 'k.npy', '--v', 'v.npy', '-o', out, *words, **more)
    return get(out) if out != '-' else None


# ---- a real model ---------------------------------------------------------------------------------

@test
def a_real_models_tensors():
    for layer in (0, 3):
        files = {x: DATA / f'minilm_layer{layer}_{x}.npy' for x in 'qkv'}
        want = parse_any(get(DATA / f'minilm_layer{layer}_out_f64.npy'))
        run('run', '--q', files['q'], '--k', files['k'], '--v', files['v'], '-o', 'o.npy')
        shape, descr, got = parse(get('o.npy'))
        assert shape == (12, 13, 32) and descr == '<f4'
        near(got, want, 32, 1.5e-6)
        for x in 'qkv': # the same numbers in float64
            put(x + '.npy', npy(parse_any(get(files[x])), (12, 13, 32), '<f8'))
        near(parse(attend())[2], want, 32, 1e-13)


def parse_any(data):
    return parse(data)[2]


# ---- forms of one tensor ----------------------------------------------------------------------------

@test
def forms_give_the_same_bits():
    for rank in (2, 3, 4):
        problem(rank)
        want = attend('--lse', 'l.npy'), get('l.npy')
        assert parse(want[0])[0] == SHAPES[rank][0][:-1] + (5,)
        assert parse(want[1])[0] == SHAPES[rank][0][:-1]
        for form in ({'order': True}, {'descr': '>f4'}, {'descr': '=f4'}, {'version': 2},
                     {'version': 3}, {'align': 4096}, {'descr': '>f4', 'order': True},
                     {'descr': '<f2'}, {'descr': '>f2', 'order': True}, {'descr': '<V2'},
                     {'descr': '|V2'}, {'descr': '>V2', 'order': True}):
            problem(rank, **form)
            assert (attend('--lse', 'l.npy'), get('l.npy')) == want, form
        problem(rank, '<f8')
        want = attend('--lse', 'l.npy'), get('l.npy')
        assert parse(want[0])[1] == '<f8' and parse(want[1])[1] == '<f8'
        for form in ({'order': True}, {'descr': '>f8'}, {'descr': '=f8', 'version': 2}):
            problem(rank, **{'descr': '<f8', **form})
            assert (attend('--lse', 'l.npy'), get('l.npy')) == want, form


@test
def sixteen_bits_in_and_out():
    for rank in (2, 4):
        problem(rank)
        shape, descr, want = parse(attend())
        for form in ({'descr': '<u2'}, {'descr': '>u2', 'order': True}):
            problem(rank, **form)
            assert parse(attend('--in-dtype', 'bf16')) == (shape, descr, want), form
        problem(rank)
        half = [struct.unpack('<e', struct.pack('<e', x))[0] for x in want]
        assert parse(attend('--out-dtype', 'f16')) == (shape, '<f2', half)
        brain = [from_bf16(to_bf16(x)) for x in want]
        assert parse(attend('--out-dtype', 'bf16')) == (shape, '<V2', brain)
        assert parse(attend('--out-dtype', 'f64')) == (shape, '<f8', want)
        assert parse(attend('--out-dtype', 'f32')) == (shape, '<f4', want)
        # keys and values of other types than the queries', and what was written read again
        put('k.npy', npy(gen(11 * rank + 1, SHAPES[rank][1]), SHAPES[rank][1], '<f2'))
        put('v.npy', npy(gen(11 * rank + 2, SHAPES[rank][2]), SHAPES[rank][2], '<V2'))
        assert parse(attend()) == (shape, descr, want)
        put('out16.npy', attend('--out-dtype', 'bf16'))
        assert b'type: bfloat16, little-endian' in run('info', 'out16.npy')


@test
def arrays_of_a_npz():
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem(4)
        want = attend('--head', '2', '--lse', 'l.npy'), get('l.npy')
        with zipfile.ZipFile('all.npz', 'w', compression) as z:
            for x in 'qkv':
                z.write(x + '.npy')
        run('run', '--q', 'all.npz#q', '--k', 'all.npz#k.npy', '--v', 'all.npz#v', '--head', '2',
            '-o', 'o.npy', '--lse', 'l.npy')
        assert (get('o.npy'), get('l.npy')) == want
        assert b'format: .npy version 1 in .npz' in run('info', 'all.npz#v')
    # one byte of the data another: the archive's own sum over the bytes is wrong
    data = bytearray(get('all.npz'))
    with zipfile.ZipFile('all.npz') as z:
        data[z.getinfo('q.npy').header_offset + 200] ^= 1
    put('torn.npz', bytes(data))
    said = run('run', '--q', 'torn.npz#q', '--k', 'all.npz#k', '--v', 'all.npz#v', '-o', 'no.npy',
               status=2, err=None)
    assert said.startswith(b'qkv run: torn.npz#q cannot be read: '), said
    assert not os.path.exists('no.npy')
    put('cut.npz', get('all.npz')[:-10])
    said = run('info', 'cut.npz#q', status=2, err=None)
    assert said.startswith(b'qkv info: cut.npz#q cannot be read as a .npz archive: '), said
    # an output may not be the archive that is read
    run('run', '--q', 'all.npz#q', '--k', 'all.npz#k', '--v', 'all.npz#v', '-o', 'all.npz',
        status=2, err=None)


@test
def values_and_lse_are_right():
    for descr, bound in (('<f4', 2e-6), ('<f8', 4e-15)):
        for rank in (2, 3, 4):
            p = problem(rank, descr)
            got = attend('--lse', 'l.npy')
            out, lse = attention(*p)
            near(parse(got)[2], out, 5, bound)
            near(parse(get('l.npy'))[2], lse, 1, bound)


@test
def output_is_little_endian_c_order_aligned_as_numpy_does():
    problem(2, '>f4', order=True)
    data = attend()
    assert data[:128] == header(dict_text('<f4', (7, 5))), data[:128]
    assert len(data) == 128 + 7 * 5 * 4


@test
def heads_that_are_shared_are_the_neighbours():
    q, k, v, qs, ks, vs = problem(3)
    whole = parse(attend())[2]
    for h in range(4): # query heads 0, 1 read key head 0; 2, 3 read 1
        put('q.npy', npy(q[h * 42:h * 42 + 42], (7, 6)))
        put('k.npy', npy(k[h // 2 * 54:h // 2 * 54 + 54], (9, 6)))
        put('v.npy', npy(v[h // 2 * 45:h // 2 * 45 + 45], (9, 5)))
        assert parse(attend())[2] == whole[h * 35:h * 35 + 35], h


# ---- parts --------------------------------------------------------------------------------------------

@test
def parts_are_slices_of_the_whole():
    for form in ({}, {'order': True}, {'descr': '>f4'}, {'descr': '<f2', 'order': True}):
        problem(4, **form)
        attend('--lse', 'l.npy')
        out, lse = parse(get('o.npy'))[2], parse(get('l.npy'))[2]
        for h in (None, 0, 1, 3):
            for b in (None, 0, 2):
                words = [] if h is None else ['--head', h]
                words += [] if b is None else ['--batch', b]
                attend('--lse', 'l.npy', *words)
                want = [(i, j) for i in range(3) if b in (None, i)
                        for j in range(4) if h in (None, j)]
                shape = (3 if b is None else 1, 4 if h is None else 1)
                assert parse(get('o.npy'))[0] == shape + (7, 5)
                assert parse(get('l.npy'))[0] == shape + (7,)
                assert parse(get('o.npy'))[2] == [
                    x for i, j in want for x in out[(i * 4 + j) * 35:(i * 4 + j + 1) * 35]]
                assert parse(get('l.npy'))[2] == [
                    x for i, j in want for x in lse[(i * 4 + j) * 7:(i * 4 + j + 1) * 7]]


@test
def c106_a_part_of_a_huge_file_costs_only_the_part():
    heads = 2**27 + 1
    for name in 'qkv': # 4 GiB each, all holes but the last head
        data = header(dict_text('<f4', (heads, 8, 1)))
        put(name + '.npy', data)
        rows = npy(range(1, 9), (8, 1))[128:]
        with open(name + '.npy', 'r+b') as f:
            f.seek(len(data) + 2**27 * 32)
            f.write(rows)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    got = attend('--head', heads - 1, '--threads', '1')
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    values = [float(x) for x in range(1, 9)]
    near(parse(got)[2], attention(values, values, values, *[(1, 1, 8, 1)] * 3)[0], 1, 2e-6)
    assert parse(got)[0] == (1, 8, 1)
    assert after <= max(before, 300 * 1024), f'{after} KiB'
    text = run('info', 'q.npy').decode()
    assert 'shape: (134217729, 8, 1)' in text and 'data: 4294967328 bytes from byte 128' in text


# ---- pipes ---------------------------------------------------------------------------------------------

@test
def pipes_and_standard_streams():
    for form in ({}, {'order': True}, {'descr': '>f2'}):
        problem(3, **form)
        want = attend()
        for name in 'qkv':
            words = ['run', '-o', '-']
            for x in 'qkv':
                words += ['--' + x, '-' if x == name else x + '.npy']
            assert run(*words, stdin=get(name + '.npy')) == want
            with open(name + '.npy', 'rb') as f:
                assert run(*words, stdin=f) == want
        part = attend('--head', '3')
        line = f'{shlex.quote(QKV)} run --q <(cat q.npy) --k <(cat k.npy) --v <(cat v.npy) -o '
        subprocess.run(['bash', '-c', line + 'p.npy'], check=True)
        assert get('p.npy') == want
        subprocess.run(['bash', '-c', line + '>(cat > p2.npy) --head 3; wait; sleep 0.2'], check=True)
        assert get('p2.npy') == part
        text = run('info', '-', stdin=get('q.npy'))
        assert text == run('info', 'q.npy').replace(b'file: q.npy', b'file: standard input')


@test
def a_reader_that_leaves_ends_it_quietly():
    put('q.npy', npy([0.0] * 200000, (200000, 1)))
    put('k.npy', npy([1.0], (1, 1)))
    put('v.npy', npy([1.0], (1, 1)))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([QKV, *'run --q q.npy --k k.npy --v v.npy -o - --lse l.npy'.split()],
                          stdout=writing, stderr=subprocess.PIPE, restore_signals=False)
    os.close(writing)
    assert done.returncode == -signal.SIGPIPE, done.returncode
    assert done.stderr == b''
    assert sorted(os.listdir('.')) == ['k.npy', 'q.npy', 'v.npy']


# ---- options --------------------------------------------------------------------------------------------

@test
def causal_and_scale():
    p = problem(3)
    for words, shift in ((['--causal=top-left'], 0), (['--causal=bottom-right'], 2),
                         (['--causal=-3'], -3), (['--causal=+1'], 1), (['--causal=100'], 100),
                         (['--causal=-100'], -100), ([], None)):
        out, lse = attention(*p, shift=shift)
        near(parse(attend('--lse', 'l.npy', *words))[2], out, 5, 2e-6)
        near(parse(get('l.npy'))[2], lse, 1, 2e-6)
    put('q.npy', npy(gen(5, (4, 9, 6)), (4, 9, 6))) # as many queries as keys: nothing to choose
    assert attend('--causal') == attend('--causal=top-left') == attend('--causal=bottom-right')
    p = problem(3)
    for word, scale in (('sqrt', 6**-0.5), ('none', 1), ('dk', 1 / 6), ('0.25', 0.25), ('0', 0),
                        ('-1.5', -1.5), ('2e-3', 0.002)):
        near(parse(attend('--scale', word))[2], attention(*p, scale=scale)[0], 5, 2e-6)
    assert attend('--scale', 'sqrt') == attend()


@test
def threads_and_kernels_never_change_a_bit():
    problem(4)
    want = attend()
    usable = re.search(r'kernels usable:(.*)', run('--version').decode()).group(1).split()
    assert 'scalar' in usable and 'wide16' in usable
    for isa in usable + ['best']:
        for threads in (1, 2, 5, 64):
            assert attend('--isa', isa, '--threads', threads) == want, (isa, threads)
    near(parse(attend('--isa', 'reference'))[2], parse(want)[2], 5, 2e-6)
    assert attend('--isa', 'reference', '--threads', 3) == attend('--isa', 'reference')


@test
def stats_say_what_happened():
    problem(4)
    said = attend_stats('--threads', '2', '--isa', 'scalar')
    assert re.fullmatch(r'time: \d+\.\d{6} s\nspeed: \d+\.\d\d GF/s\nkernel: scalar[^\n]*\n'
                        r'threads: 2\ncontract: \d+\n', said), said
    assert 'threads: 1\n' in attend_stats('--threads', '1')
    count = len(os.sched_getaffinity(0))
    assert int(re.search(r'threads: (\d+)', attend_stats()).group(1)) <= count
    # the work that counts: 64 x 64 full, its lower triangle, and nothing
    for name in 'qkv':
        put(name + '.npy', npy(gen(3, (64, 8)), (64, 8)))
    for words, pairs in (([], 4096), (['--causal'], 2080), (['--causal=-64'], 0),
                         (['--causal=-63'], 1), (['--causal=10'], 2665), (['--causal=63'], 4096)):
        said = attend_stats('--isa', 'wide16', *words)
        seconds, speed = (float(re.search(rf'{x}: (\S+)', said).group(1)) for x in ('time', 'speed'))
        want = 2 * pairs * 16 / 1e9
        assert abs(seconds * speed - want) <= 0.006 * seconds + 0.6e-6 * speed, (words, said)


def attend_stats(*words):
    return run('run', '--q', 'q.npy', '--k', 'k.npy', '--v', 'v.npy', '-o', 'o.npy', '--stats',
               *words, err=None).decode()


@test
def c66_sizes_that_are_zero():
    for q, k, v, out in (((0, 4), (5, 4), (5, 2), (0, 2)), ((3, 4), (0, 4), (0, 2), (3, 2)),
                         ((3, 4), (5, 4), (5, 0), (3, 0)), ((0, 3, 4), (0, 5, 4), (0, 5, 2), (0, 3, 2)),
                         ((0, 2, 3, 4), (0, 2, 5, 4), (0, 2, 5, 2), (0, 2, 3, 2))):
        for order in (False, True):
            for name, s in zip('qkv', (q, k, v)):
                put(name + '.npy', npy(gen(1, s), s, order=order))
            shape, _, got = parse(attend('--lse', 'l.npy'))
            assert shape == out and got == [0.0] * count_of(out)
            shape, _, got = parse(get('l.npy'))
            assert shape == out[:-1]
            if k[-2] == 0:
                assert got == [-math.inf] * 3


@test
def a_terminal_sees_progress_and_gets_the_same_bits():
    shapes = (3, 1500, 32), (1, 1700, 32), (1, 1700, 16)
    for name, s in zip('qkv', shapes):
        put(name + '.npy', npy(gen(len(name), s), s))
    for words in ([], ['--causal=bottom-right'], ['--causal=-700'],
                  [f'--causal={2**62}']):
        want = attend('--lse', 'l.npy', *words), get('l.npy')
        said = on_terminal('--lse', 'l.npy', *words)
        assert (get('o.npy'), get('l.npy')) == want, words
        assert said == b'' or said.endswith(b'\r\x1b[K'), said
    for rows in (3000, 6000, 12000, 24000): # until it takes longer than the second without a bar
        put('q.npy', npy(gen(1, (3, rows, 32)), (3, rows, 32)))
        said = on_terminal('--isa', 'reference', '--threads', '1')
        if said:
            break
    assert re.match(rb'\r\[[#.]{24}\] +\d+ % attention\x1b\[K', said), said
    assert said.endswith(b'\r\x1b[K')


def on_terminal(*words):
    """Runs with a terminal as stderr; what it was sent."""
    master, slave = pty.openpty()
    process = subprocess.Popen([QKV, *'run --q q.npy --k k.npy --v v.npy -o o.npy'.split(), *words],
                               stderr=slave, env={**os.environ, 'TERM': 'xterm'})
    os.close(slave)
    said = b''
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError: # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(master)
    assert process.wait(timeout=120) == 0, said
    return said


# ---- what is written ------------------------------------------------------------------------------------

@test
def modes_links_and_devices():
    problem(2)
    os.umask(0o027)
    want = attend()
    assert stat.S_IMODE(os.stat('o.npy').st_mode) == 0o640
    os.chmod('o.npy', 0o604)
    put('o.npy', b'old')
    assert attend() == want
    assert stat.S_IMODE(os.stat('o.npy').st_mode) == 0o604
    os.symlink('o.npy', 'link')
    put('o.npy', b'old')
    run('run', '--q', 'q.npy', '--k', 'k.npy', '--v', 'v.npy', '-o', 'link', '--lse', '/dev/null')
    assert os.path.islink('link') and get('o.npy') == want
    assert stat.S_ISCHR(os.stat('/dev/null').st_mode)
    os.umask(0o022)
    os.remove('o.npy')
    attend('--no-clobber')
    os.mkdir('sub')
    attend('--lse', 'sub/l.npy')
    assert sorted(os.listdir('.')) == ['k.npy', 'link', 'o.npy', 'q.npy', 'sub', 'v.npy']
    assert os.listdir('sub') == ['l.npy']
    shutil.copy('q.npy', '-') # a file of that name is ./-
    run('run', '--q', './-', '--k', 'k.npy', '--v', 'v.npy', '-o', 'o.npy')


@test
def signals_leave_nothing_behind():
    problem(2)
    put('o.npy', b'old')
    os.mkfifo('pipe')
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL) # a test run under nohup hands down "ignored"
        process = subprocess.Popen([QKV, *'run --q pipe --k k.npy --v v.npy -o o.npy'.split()],
                                   stderr=subprocess.PIPE)
        with open('pipe', 'wb') as f:
            f.write(get('q.npy')[:128])
            f.flush()
            end = time.monotonic() + 20
            while not any(x.startswith('.qkv-') for x in os.listdir('.')): # its output was begun
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.005)
            process.send_signal(number)
            said = process.communicate(timeout=20)[1]
        assert process.returncode == 128 + number, process.returncode
        assert said == b''
        assert sorted(os.listdir('.')) == ['k.npy', 'o.npy', 'pipe', 'q.npy', 'v.npy']
        assert get('o.npy') == b'old'


@test
def a_full_disk_leaves_the_old_file():
    put('q.npy', npy([0.0] * 40000, (40000, 1)))
    put('k.npy', npy([1.0], (1, 1)))
    put('v.npy', npy([1.0], (1, 1)))
    os.mkdir('small')
    script = ('mount -t tmpfs -o size=64k none small || exit 77\necho old > small/o.npy\n'
              f'{shlex.quote(QKV)} run --q q.npy --k k.npy --v v.npy -o small/o.npy\n'
              'echo "status $?"; ls -A small; cat small/o.npy')
    if shutil.which('unshare') is None:
        raise Skip('no user namespace')
    spaces = '-m' if os.geteuid() == 0 else '-rm' # a chroot refuses user namespaces, even to root
    done = subprocess.run(['unshare', spaces, 'sh', '-c', script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if b'unshare' in done.stderr or done.returncode == 77:
        raise Skip('no user namespace')
    assert re.fullmatch(rb'qkv run: small/o.npy cannot be written: No space left on device after '
                        rb'\d+ bytes, \d+ were left\n', done.stderr), done.stderr
    assert done.stdout == b'status 1\no.npy\nold\n', done.stdout


# ---- info -------------------------------------------------------------------------------------------------

@test
def info_says_what_a_file_holds():
    put('x.npy', npy([True, False, True], (3,), '|b1'))
    assert run('info', 'x.npy') == (b'file: x.npy\nformat: .npy version 1\ntype: bool\nshape: (3,)\n'
                                    b'order: C (the last axis varies fastest)\nelements: 3\n'
                                    b'data: 3 bytes from byte 128\n')
    put('x\x1b[31m.npy', npy(gen(1, (2, 3)), (2, 3), '>f8', order=True, version=2))
    assert run('info', 'x\x1b[31m.npy') == (
        b'file: x\\x1b[31m.npy\nformat: .npy version 2\ntype: float64, big-endian\nshape: (2, 3)\n'
        b'order: Fortran (the first axis varies fastest)\nelements: 6\n'
        b'data: 48 bytes from byte 128\n')
    put('x.npy', npy([3.5], (), '<f2', version=3))
    assert run('info', 'x.npy') == (b'file: x.npy\nformat: .npy version 3\ntype: float16, '
                                    b'little-endian\nshape: ()\norder: C (the last axis varies '
                                    b'fastest)\nelements: 1\ndata: 2 bytes from byte 128\n')
    put('x.npy', npy([], (2, 0, 3, 1, 1), '<f4'))
    assert b'shape: (2, 0, 3, 1, 1)\n' in run('info', 'x.npy')


def main():
    # a file system in memory, where there is one: syncing hundreds of outputs takes seconds on disk
    place = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    for f in TESTS:
        name = f.__name__.replace('_', ' ')
        home, problems, mark = os.getcwd(), [], ''
        with tempfile.TemporaryDirectory(prefix='qkv-run-', dir=place) as folder:
            os.chdir(folder)
            try:
                f()
            except Skip as reason:
                mark = f' # SKIP {reason}'
            except (AssertionError, subprocess.SubprocessError, OSError) as e:
                at = e.__traceback__
                while at.tb_next:
                    at = at.tb_next
                problems = [f'line {at.tb_lineno}: {type(e).__name__} {e}'[:1000]]
            os.chdir(home)
        RESULTS.append(not problems)
        print(f'{"not ok" if problems else "ok"} {len(RESULTS)} - {name}{mark}')
        for line in problems:
            print('# ' + line)
        sys.stdout.flush()
    print(f'1..{len(RESULTS)}')
    return 0 if all(RESULTS) else 1


if __name__ == '__main__':
    sys.exit(main())
