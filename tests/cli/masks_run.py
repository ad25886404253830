#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""masks_run.py QKV - the options of `qkv run` that say who sees whom and what is kept: each against a
few lines of float64, and against the same thing said in another way, byte for byte. Prints TAP.
"""
import collections
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from npy_file import gen, npy, parse  # noqa: E402

QKV = str(pathlib.Path(sys.argv[1]).resolve())
B, H, S, K, D = 2, 2, 6, 9, 4
TESTS = []
Numbers = collections.namedtuple('Numbers', 'shape values')


def test(f):
    TESTS.append(f)
    return f


def write(name, values, shape, descr='<f4'):
    pathlib.Path(name).write_bytes(npy(values, shape, descr))


def run(*words, q='q.npy', k='k.npy', v='v.npy'):
    """The bytes of the result; every other output is left in its file."""
    done = subprocess.run([QKV, 'run', '--q', q, '--k', k, '--v', v, '-o', 'o.npy',
                           *map(str, words)], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return pathlib.Path('o.npy').read_bytes()


def numbers(name):
    shape, _, values = parse(pathlib.Path(name).read_bytes())
    return Numbers(shape, values)


def data():
    """q, k, v as nested lists of rows: [batch][head][row][channel]."""
    def rows(seed, n):
        flat = gen(seed, (B * H * n * D,))
        return [[[flat[((b * H + h) * n + i) * D:][:D] for i in range(n)] for h in range(H)]
                for b in range(B)]
    return rows(1, S), rows(2, K), rows(3, K)


def flat(x):
    return [x] if not isinstance(x, list) else [z for y in x for z in flat(y)]


def attention(sees, added=lambda b, h, i, j, s: s, sink=None):
    """Output and weights by the textbook; a row that sees nothing gives 0."""
    q, k, v = data()
    out, weights = [], []
    for b in range(B):
        for h in range(H):
            for i in range(S):
                live = [j for j in range(K) if sees(b, h, i, j)]
                score = {j: added(b, h, i, j, sum(x * y for x, y in zip(q[b][h][i], k[b][h][j]))
                                  / math.sqrt(D)) for j in live}
                total = sum(math.exp(x) for x in score.values())
                if sink is not None:
                    total += math.exp(sink[h])
                w = [math.exp(score[j]) / total if j in score else 0.0 for j in range(K)]
                weights += w
                out += [sum(w[j] * v[b][h][j][c] for j in live) for c in range(D)]
    return out, weights


def close(got, want, what):
    assert len(got) == len(want), (what, len(got), len(want))
    worst = max(abs(x - y) for x, y in zip(got, want))
    assert worst < 2e-6, (what, worst)


def same(sees, *words, **more):
    run(*words, '--weights', 'w.npy')
    out, weights = attention(sees, **more)
    close(numbers('o.npy').values, out, words)
    close(numbers('w.npy').values, weights, words)


@test
def windows_prefixes_offsets():
    same(lambda b, h, i, j: i + 3 - 2 <= j <= i + 3 + 1, '--window', '2,1', '--q-offset', 3)
    same(lambda b, h, i, j: j < 5 or j <= i, '--prefix', 5, '--causal=top-left')
    same(lambda b, h, i, j: j <= i + (3, -2)[b], '--causal', '--q-offset', '3,-2')
    same(lambda b, h, i, j: i + 3 - 4 <= j <= i + 3, '--causal=bottom-right', '--window', '4,-1')


@test
def lengths_and_padding():
    same(lambda b, h, i, j: j < (9, 4)[b], '--kv-len', '9,4')
    same(lambda b, h, i, j: i < (2, 6)[b], '--q-len', '2,6')
    same(lambda b, h, i, j: j >= (0, 5)[b], '--kv-start', '0,5')
    same(lambda b, h, i, j: j < (9, 4)[b] and i < (2, 6)[b] and j <= i + (9 - 2, 4 - 6)[b],
         '--kv-len', '9,4', '--q-len', '2,6', '--causal=bottom-right')


@test
def masks():
    pattern = [(i * 5 + j * 3) % 4 != 0 for i in range(S) for j in range(K)]
    write('m.npy', pattern, (S, K), '|b1')
    write('not.npy', [not x for x in pattern], (S, K), '|b1')
    same(lambda b, h, i, j: pattern[i * K + j], '--mask', 'm.npy')
    one = run('--mask', 'm.npy')
    assert one == run('--mask', 'not.npy', '--mask-true-drops')
    write('wide.npy', pattern * (B * H), (B, H, S, K), '|b1')
    assert one == run('--mask', 'wide.npy')
    write('bias.npy', [0.0 if x else -math.inf for x in pattern], (S, K))
    assert one == run('--bias', 'bias.npy')
    write('all.npy', [True] * S, (S, 1), '|b1')
    assert run() == run('--mask', 'all.npy')
    write('short.npy', [True] * 4, (4,), '|b1')
    assert run('--mask', 'short.npy') == run('--kv-len', '4,4')


@test
def every_broadcast():
    """A mask or bias over some of the axes says what the whole one says."""
    full = (B, H, S, K)
    places = [(b, h, i, j) for b in range(B) for h in range(H) for i in range(S) for j in range(K)]
    for axes in range(16):
        shape = tuple(n if axes >> a & 1 else 1 for a, n in enumerate(full))
        own = [p for p in places if all(axes >> a & 1 or x == 0 for a, x in enumerate(p))]

        def says(p):
            seed = sum((7, 5, 3, 11)[a] * x for a, x in enumerate(p) if axes >> a & 1) + 1
            return seed % 5
        write('m.npy', [says(p) != 0 for p in own], shape, '|b1')
        write('b.npy', [says(p) / 4 if says(p) else -math.inf for p in own], shape)
        write('mw.npy', [says(p) != 0 for p in places], full, '|b1')
        write('bw.npy', [says(p) / 4 if says(p) else -math.inf for p in places], full)
        assert run('--mask', 'm.npy') == run('--mask', 'mw.npy'), axes
        assert run('--bias', 'b.npy') == run('--bias', 'bw.npy'), axes
        while len(shape) > 0 and shape[0] == 1:  # leading axes may be left out
            shape = shape[1:]
        write('m.npy', [says(p) != 0 for p in own], shape, '|b1')
        assert run('--mask', 'm.npy') == run('--mask', 'mw.npy'), axes


@test
def without_keys():
    """What repeats along the keys repeats along none."""
    write('none.npy', [], (B, H, 0, D))
    write('m.npy', [True] * S, (S, 1), '|b1')
    write('b.npy', [0.5], (1,))
    run('--mask', 'm.npy', '--bias', 'b.npy', '--lse', 'lse.npy', k='none.npy', v='none.npy')
    assert set(numbers('o.npy').values) == {0.0}
    assert set(numbers('lse.npy').values) == {-math.inf}


def packed_bits(rows, keys, spare):
    """Bytes of 8 keys each, the first in the lowest bit; bits beyond the keys are `spare`."""
    out = []
    for row in rows:
        row = list(row) + [spare] * (-len(row) % 8)
        out += [sum(bit << n for n, bit in enumerate(row[at:at + 8]))
                for at in range(0, len(row), 8)]
    return out, -(-keys // 8)


@test
def masks_of_bits():
    rows = [[(i * 5 + j * 3) % 4 != 0 for j in range(K)] for i in range(S)]
    write('m.npy', flat(rows), (S, K), '|b1')
    write('not.npy', [not x for x in flat(rows)], (S, K), '|b1')
    want = run('--mask', 'm.npy')
    for spare in (0, 1):
        values, width = packed_bits(rows, K, spare)
        write('bits.npy', values, (S, width), '|u1')
        assert run('--mask-bits', 'bits.npy') == want
        assert run('--mask-bits', 'bits.npy', '--mask-true-drops') == run('--mask', 'not.npy')
        write('heads.npy', values * H, (H, S, width), '|u1')
        assert run('--mask-bits', 'heads.npy') == want
    write('one.npy', [0x0f], (1,), '|u1')  # 8 keys of 9: the last is not seen
    assert run('--mask-bits', 'one.npy') == run('--kv-len', '4,4')


@test
def numbers_from_files():
    """Lists in files of either integer type and byte order say what lists in the option say."""
    for descr in ('<i4', '>i4', '<i8', '>i8'):
        write('kv.npy', [9, 4], (2,), descr)
        write('q.len.npy', [2, 6], (2,), descr)
        write('start.npy', [0, 3], (2,), descr)
        write('off.npy', [3, -2], (2,), descr)
        assert (run('--kv-len', 'kv.npy', '--q-len', 'q.len.npy', '--kv-start', 'start.npy',
                    '--q-offset', 'off.npy', '--causal') ==
                run('--kv-len', '9,4', '--q-len', '2,6', '--kv-start', '0,3', '--q-offset', '3,-2',
                    '--causal'))
    write('one.npy', [3], (), '<i8')
    assert run('--causal', '--q-offset', 'one.npy') == run('--causal', '--q-offset', 3)
    write('rows.npy', [4, 0], (2,), '<i8')
    run('--weights', 'w.npy', '--rows', 'rows.npy')
    run('--weights', 'x.npy', '--rows', '4,0')
    assert pathlib.Path('w.npy').read_bytes() == pathlib.Path('x.npy').read_bytes()
    with zipfile.ZipFile('numbers.npz', 'w') as archive:
        archive.write('kv.npy')
    assert run('--kv-len', 'numbers.npz#kv') == run('--kv-len', '9,4')


@test
def what_is_added():
    bias = [((h * 7 + j * 5) % 11 - 5) / 4 for h in range(H) for j in range(K)]
    write('b.npy', bias, (H, 1, K))
    same(lambda *_: True, '--bias', 'b.npy', added=lambda b, h, i, j, s: s + bias[h * K + j])
    same(lambda *_: True, '--softcap', 0.5,
         added=lambda b, h, i, j, s: 0.5 * math.tanh(s / 0.5))
    slope = [2 ** -4, 2 ** -8]
    write('slopes.npy', slope, (H,))
    same(lambda b, h, i, j: j <= i + 3, '--alibi', 'slopes.npy', '--causal=3',
         added=lambda b, h, i, j, s: s - slope[h] * abs(i + 3 - j))
    assert run('--alibi', 8, '--q-offset', 3) == run('--alibi', 'slopes.npy', '--q-offset', 3)
    same(lambda *_: True, '--sink', '0.5,-1', sink=[0.5, -1])
    write('sink.npy', [0.5, -1], (H,), '<f8')
    assert run('--sink', 'sink.npy') == run('--sink', '0.5,-1')


def part_options():
    """Each option that speaks of heads or batch entries, in each form that has them; then all at once."""
    say = [(b * 5 + h * 3 + i * 7 + j * 11) % 4 for b in range(B) for h in range(H)
           for i in range(S) for j in range(K)]
    bits, width = packed_bits([[x != 0 for x in say[n * K:][:K]] for n in range(B * H * S)], K, 0)
    write('mask.npy', [x != 0 for x in say], (B, H, S, K), '|b1')
    write('heads.npy', [x != 0 for x in say[:H * K]], (H, 1, K), '|b1')
    write('entries.npy', [x != 0 for x in say[:B * K]], (B, 1, 1, K), '|b1')
    write('bits.npy', bits, (B, H, S, width), '|u1')
    write('bias.npy', [x / 4 if x else -math.inf for x in say], (B, H, S, K), '<f2')
    write('bias8.npy', [x / 4 for x in say[:H * S * K]], (1, H, S, K), '<f8')
    write('slope.npy', [0.5, 0.25], (H,), '<f8')
    write('slopes.npy', [0.5, 0.25, 1, 2], (B, H))
    write('sink.npy', [0.5, -1], (H,))
    write('len.npy', [9, 4], (B,), '<i4')
    one = [('--mask', 'mask.npy'), ('--mask', 'heads.npy'), ('--mask', 'entries.npy'),
           ('--mask-bits', 'bits.npy', '--mask-true-drops'), ('--bias', 'bias.npy'),
           ('--bias', 'bias8.npy'), ('--alibi', 'slope.npy', '--q-offset', '3,-2'),
           ('--alibi', 'slopes.npy', '--q-offset', 1), ('--sink', '0.5,-1'), ('--sink', 'sink.npy'),
           ('--kv-len', 'len.npy'), ('--kv-len', '4,9', '--causal=bottom-right'),
           ('--q-len', '2,6'), ('--kv-start', '1,3', '--q-len', '6,1'),
           ('--q-offset', '3,-2', '--window', '2,1'), ('--dropout', 0.4, '--seed', 7, '--causal=3')]
    every = ('--mask', 'mask.npy', '--bias', 'bias.npy', '--alibi', 'slopes.npy', '--sink', 'sink.npy',
             '--kv-len', '9,7', '--q-len', '5,6', '--kv-start', '0,2', '--q-offset', '3,1',
             '--causal', '--window', '5,-1', '--dropout', 0.3, '--softcap', 2)
    return [*one, every]


@test
def a_part_is_a_part_of_the_whole():
    """Also of what dropout drops, which goes by the numbers of batch entries and heads. A file or list
    speaks of the whole; the part takes its own."""
    kept = (('o', S * D), ('keep', S * K), ('w', S * K), ('lse', S), ('sums', K))
    for words in part_options():
        words = (*words, '--weights', 'w.npy', '--lse', 'lse.npy', '--key-sums', 'sums.npy',
                 *(('--keep-mask', 'keep.npy') if '--dropout' in words else ()))
        now = [x for x in kept if x[0] != 'keep' or '--dropout' in words]
        run(*words)
        whole = {name: numbers(f'{name}.npy').values for name, _ in now}
        for b, h in ((None, 1), (1, None), (0, 1), (1, 0)):
            part = () if b is None else ('--batch', b)
            run(*words, *part, *(() if h is None else ('--head', h)))
            for name, each in now:
                want = [x for y in range(B) for z in range(H) if b in (None, y) and h in (None, z)
                        for x in whole[name][(y * H + z) * each:][:each]]
                assert numbers(f'{name}.npy').values == want, (words, b, h, name)


@test
def all_outputs_at_once():
    names = ('lse', 'row-max', 'key-sums', 'keep-mask', 'weights')
    for name in names:
        pathlib.Path(f'{name}.npy').unlink(missing_ok=True)
    run('--dropout', 0.4, '--scores', 'raw=raw.npy,capped=capped.npy,biased=biased.npy',
        *(word for name in names for word in (f'--{name}', f'{name}.npy')))
    for name in (*names, 'raw', 'capped', 'biased'):
        assert numbers(f'{name}.npy').values, name


@test
def packed_sequences():
    """Two sequences in one file give what each gives in its own."""
    q, k, v = data()
    for name, x, n in (('q', q, S), ('k', k, K), ('v', v, K)):
        write(f'{name}p.npy', flat([x[0][h] + x[1][h] for h in range(H)]), (H, 2 * n, D))
        for b in range(B):
            write(f'{name}{b}.npy', flat(x[b]), (H, n, D))
    run('--cu-q', f'0,{S},{2 * S}', '--cu-k', f'0,{K},{2 * K}', '--causal=bottom-right',
        q='qp.npy', k='kp.npy', v='vp.npy')
    packed = numbers('o.npy').values
    for b in range(B):
        run('--causal=bottom-right', q=f'q{b}.npy', k=f'k{b}.npy', v=f'v{b}.npy')
        alone = numbers('o.npy').values
        write('cuq.npy', [0, S, 2 * S], (3,), '<i4')
        write('cuk.npy', [0, K, 2 * K], (3,), '<i8')
        for h in range(H):
            at = (h * 2 + b) * S * D
            assert packed[at:at + S * D] == alone[h * S * D:][:S * D]
    run('--cu-q', 'cuq.npy', '--cu-k', 'cuk.npy', '--causal=bottom-right', q='qp.npy', k='kp.npy',
        v='vp.npy')
    assert numbers('o.npy').values == packed
    for name, n in (('q', S), ('k', K), ('v', K)):  # one of two batch entries, each of packed sequences
        x = numbers(f'{name}p.npy').values
        write(f'{name}4.npy', [-y for y in x] + x, (2, H, 2 * n, D))
    words = ('--cu-q', 'cuq.npy', '--cu-k', 'cuk.npy', '--causal=bottom-right', '--dropout', 0.4,
             '--kv-len', '7,9')
    run(*words, q='qp.npy', k='kp.npy', v='vp.npy')
    packed = numbers('o.npy').values
    run(*words, '--batch', 1, q='q4.npy', k='k4.npy', v='v4.npy')
    assert numbers('o.npy').values == packed
    run(*words, '--batch', 1, '--head', 1, q='q4.npy', k='k4.npy', v='v4.npy')
    assert numbers('o.npy').values == packed[2 * S * D:]


@test
def what_is_kept():
    run('--causal=3', '--row-max', 'max.npy', '--key-sums', 'sums.npy', '--scores',
        'raw=raw.npy,biased=biased.npy,weight=w.npy')
    weights, raw = numbers('w.npy'), numbers('raw.npy')
    assert weights.shape == raw.shape == (B, H, S, K)
    assert numbers('max.npy').shape == (B, H, S) and numbers('sums.npy').shape == (B, H, K)
    biased = numbers('biased.npy').values
    for n in range(B * H * S):
        row = biased[n * K:][:K]
        assert max(row) == numbers('max.npy').values[n]
        for j in range(K):
            seen = j <= n % S + 3
            assert row[j] == (raw.values[n * K + j] if seen else -math.inf)
    for n in range(B * H):
        for j in range(K):
            total = sum(weights.values[(n * S + i) * K + j] for i in range(S))
            assert abs(total - numbers('sums.npy').values[n * K + j]) < 1e-6
    run('--causal=3', '--softcap', 0.5, '--scores', 'capped=capped.npy,raw=raw2.npy')
    assert numbers('raw2.npy') == raw
    close(numbers('capped.npy').values, [0.5 * math.tanh(x / 0.5) for x in raw.values], 'capped')
    run('--causal=3', '--weights', 'some.npy', '--rows', '4,0,4', '--row-max', 'again.npy')
    assert numbers('again.npy') == numbers('max.npy')
    some = numbers('some.npy')
    assert some.shape == (B, H, 3, K)
    for n in range(B * H):
        for x, i in enumerate((4, 0, 4)):
            assert some.values[(n * 3 + x) * K:][:K] == weights.values[(n * S + i) * K:][:K]


@test
def dropout():
    assert run('--dropout', 0.5, '--seed', 7) == run('--dropout', 0.5, '--seed', 7, '--threads', 2)
    assert run('--dropout', 0.5, '--seed', 7) != run('--dropout', 0.5, '--seed', 8)
    assert run('--dropout', 0) == run()
    run('--dropout', 1)
    assert set(numbers('o.npy').values) == {0.0}


@test
def the_keep_mask():
    """What is kept, what the result says was kept, and what is kept of some queries alone."""
    run('--dropout', 0.5, '--seed', 7, '--keep-mask', 'keep.npy', '--weights', 'w.npy')
    keep, weights = numbers('keep.npy'), numbers('w.npy').values
    assert keep.shape == (B, H, S, K) and set(keep.values) == {False, True}
    _, _, v = data()
    out = [sum(weights[n * K + j] * v[n // S // H][n // S % H][j][c] * 2
               for j in range(K) if keep.values[n * K + j])
           for n in range(B * H * S) for c in range(D)]
    close(numbers('o.npy').values, out, 'out of what is kept')
    run('--dropout', 0.5, '--seed', 7, '--keep-mask', 'some.npy', '--rows', '5,1')
    some = numbers('some.npy')
    assert some.shape == (B, H, 2, K)
    for n in range(B * H):
        for x, i in enumerate((5, 1)):
            assert some.values[(n * 2 + x) * K:][:K] == keep.values[(n * S + i) * K:][:K]
    run('--dropout', 0, '--keep-mask', 'all.npy')
    assert set(numbers('all.npy').values) == {True}


@test
def types():
    """Each output type holds the float64 result rounded; bfloat16 is read in both its forms."""
    q, k, v = data()
    for name, x, n in (('q', q, S), ('k', k, K), ('v', v, K)):
        write(f'{name}v2.npy', flat(x), (B, H, n, D), '<V2')
        write(f'{name}u2.npy', flat(x), (B, H, n, D), '<u2')
    names = {x: f'{x}v2.npy' for x in 'qkv'}
    one = run(**names)
    assert one == run()  # multiples of 1/64 are the same numbers in every type
    assert one == run('--in-dtype', 'bf16', **{x: f'{x}u2.npy' for x in 'qkv'})
    for name, digits in (('f64', 53), ('f32', 24), ('f16', 11), ('bf16', 8)):
        run('--out-dtype', name)
        for x, y in zip(numbers('o.npy').values, parse(one)[2]):
            assert abs(x - y) <= 2.0 ** -digits * max(abs(y), 2.0 ** -14), (name, x, y)


def main():
    print(f'1..{len(TESTS)}')
    bad = 0
    q, k, v = data()
    for number, f in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            write('q.npy', flat(q), (B, H, S, D))
            write('k.npy', flat(k), (B, H, K, D))
            write('v.npy', flat(v), (B, H, K, D))
            try:
                f()
                print(f'ok {number} - {f.__name__}')
            except Exception as error:  # noqa: BLE001
                bad += 1
                print(f'not ok {number} - {f.__name__}\n# {type(error).__name__}: {error}')
            os.chdir('/')
    return bad != 0


sys.exit(main())
