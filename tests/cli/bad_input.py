#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bad_input.py QKV TABLE [NAME]... - every row of bad_input.table: the exact line on stderr, the exit
status, nothing on stdout, and a folder that holds the same files with the same bytes afterwards.

The input files are made here, in a temporary folder. A row's second column says what surrounds the
command (see bad_input.table). Prints TAP.
"""
import io
import os
import pathlib
import pty
import resource
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from npy_file import dict_text, gen, header, npy  # noqa: E402

QKV = str(pathlib.Path(sys.argv[1]).resolve())
RESULTS = []


def plain(seed, *shape, **more):
    return npy(gen(seed, shape), shape, **more)


def make_files():
    """name -> bytes. The good ones first: q, k, v fit each other, and so do q3 ..., q4 ..."""
    good = plain(1, 3, 4)
    data = good[128:]
    files = {
        'q.npy': good, 'k.npy': plain(2, 5, 4), 'v.npy': plain(3, 5, 2),
        'q3.npy': plain(4, 8, 3, 4), 'k3.npy': plain(5, 2, 5, 4), 'v3.npy': plain(6, 2, 5, 2),
        'q4.npy': plain(7, 2, 4, 3, 4), 'k4.npy': plain(8, 2, 2, 5, 4), 'v4.npy': plain(9, 2, 2, 5, 2),
        'one-row.npy': plain(1, 1, 4), 'q-long.npy': plain(1, 3000, 4), 'q-rows.npy': plain(1, 3000, 1),
        # fine alone, wrong beside the others
        'k-d8.npy': plain(2, 5, 8), 'v-rows6.npy': plain(3, 6, 2),
        'k-heads3.npy': plain(5, 3, 5, 4), 'v-heads3.npy': plain(6, 3, 5, 2),
        'k-heads0.npy': plain(5, 0, 5, 4), 'v-heads0.npy': plain(6, 0, 5, 2),
        'k-batch3.npy': plain(8, 3, 2, 5, 4), 'v-batch3.npy': plain(9, 3, 2, 5, 2),
        'k-f8.npy': plain(2, 5, 4, descr='<f8'), 'v-f8.npy': plain(3, 5, 2, descr='<f8'),
        'bool.npy': npy([1] * 12, (3, 4), '|b1'),
        'u16.npy': npy([1] * 12, (3, 4), '<u2'), 'i16.npy': npy([1] * 12, (3, 4), '<i2'),
        'rank0.npy': npy([3.5], ()), 'rank1.npy': plain(1, 5), 'rank5.npy': plain(1, 1, 1, 1, 3, 4),
        'zero-channels.npy': npy([], (3, 0)), 'no-heads.npy': npy([], (0, 3, 4)),
        'q-tall.npy': npy([0.0] * 1000000, (1000000, 1)), 'k-one.npy': npy([1.0], (1, 1)),
        'v-wide.npy': npy([0.0] * 1000000, (1, 1000000)),
        'huge-scale.npy': npy([3e38] * 12, (3, 4)),
        'int2.npy': npy([0, 3], (2,), '<i8'), 'int5.npy': npy([0, 1, 2, 3, 4], (5,), '<i4'),
        'int-2d.npy': npy([1, 2], (1, 2), '<i8'), 'bits.npy': npy([255] * 3, (3, 1), '|u1'),
        'bits-wide.npy': npy([255] * 6, (3, 2), '|u1'), 'bits-rows.npy': npy([255] * 2, (2, 1), '|u1'),
        'bits-0.npy': npy([255], (), '|u1'), 'nan1.npy': npy([float('nan')], (1,)),
        'inf1.npy': npy([float('inf')], (1,)), 'bool-heads.npy': npy([1] * 3, (3, 1, 1), '|b1'),
        'bias-entries.npy': npy([0.0] * 3, (3, 1, 1, 1)),
        # broken alone
        'empty.npy': b'', 'one-byte.npy': good[:1],
        'short-magic.npy': good[:5], 'short-header.npy': good[:60],
        'short-data.npy': good[:-1], 'long.npy': good + b'\0',
        'text.npy': b'hello, world\n', 'magic.npy': b'\x93NUMPX' + good[6:],
        'lfs.npy': b'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 132\n',
        'page.npy': b'<!DOCTYPE html>\n<html></html>\n', 'zip.npy': b'PK\3\4' + bytes(60),
        'tensors.npy': b'\x18\0\0\0\0\0\0\0{"a":{"dtype":"F32"}}   ',
        'version4.npy': good[:6] + b'\4' + good[7:], 'version1-1.npy': good[:7] + b'\1' + good[8:],
        'length-beyond.npy': good[:8] + b'\xf8\xff' + good[10:],
        'length-4g.npy': b'\x93NUMPY\2\0\xf0\xff\xff\xff' + data,
    }
    for name, text in {
            'no-descr': "{'fortran_order': False, 'shape': (3, 4), }",
            'no-order': "{'descr': '<f4', 'shape': (3, 4), }",
            'no-shape': "{'descr': '<f4', 'fortran_order': False, }",
            'extra-key': "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'x': 1, }",
            'twice': "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
            'code': "{'descr': '<f4', 'fortran_order': open('made','w'), 'shape': (3, 4), }",
            'comment': "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } # yes",
            'list': "['<f4', False, (3, 4)]",
            'deep': "{'descr': '<f4', 'fortran_order': False, 'shape': " + '(' * 9999 + ')' * 9999,
            'structured': "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3,), }",
            'esc-descr': "{'descr': '\x1b[31m\x9f', 'fortran_order': False, 'shape': (3, 4), }",
            'rank33': dict_text('<f4', (1,) * 33),
            'negative': dict_text('<f4', (-3, 4)), 'fraction': dict_text('<f4', ('3.0', 4)),
            'text-dim': dict_text('<f4', ("'a'", 4)), 'big-dim': dict_text('<f4', (2**63, 4)),
            'product-64': dict_text('<f4', (2**32, 2**32)),
            'product-63': dict_text('<f4', (2**61 - 1, 1)),
            'lies': dict_text('<f4', (10**6, 10**6))}.items():
        files[name + '.npy'] = header(text) + data
    for name, descr in {'object': '|O', 'string': '<U8', 'bytes': '|S8', 'complex': '<c8',
                        'date': '<M8[s]', 'span': '<m8[s]', 'int': '<i4', 'unsigned': '|u1',
                        'void': '|V8', 'float128': '<f16', 'f3': '<f3', 'bare-f': 'f',
                        'no-type': ''}.items():
        files[name + '.npy'] = header(dict_text(descr, (3, 4))) + data
    files['some.npz'] = archive(files, 'q.npy', 'object.npy', 'short-data.npy')
    files['none.npz'] = archive(files)
    return files


def archive(files, *names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as z:
        for name in names:
            z.writestr(name, files[name])
    return out.getvalue()


def lay_out(folder):
    for name, data in make_files().items():
        (folder / name).write_bytes(data)
    (folder / 'folder').mkdir()
    (folder / 'link.npy').symlink_to('q.npy')
    os.link(folder / 'q.npy', folder / 'hard.npy')
    (folder / 'round').symlink_to('round')
    (folder / 'old.npy').write_bytes(b'precious')
    big = header(dict_text('<f4', (2**26 + 1, 1)))
    (folder / 'big.npy').write_bytes(big)
    os.truncate(folder / 'big.npy', len(big) + 4 * (2**26 + 1))
    (folder / 'one.npy').write_bytes(npy([1.0], (1, 1)))


def snapshot(folder):
    found = {}
    for path in sorted(folder.rglob('*')):
        st = path.lstat()
        found[str(path)] = (stat.S_IFMT(st.st_mode), st.st_size, st.st_ino,
                            st.st_mtime_ns if stat.S_ISREG(st.st_mode) else 0)
    return found


def words_of(command):
    """Shell words; %XX stands for any byte."""
    out = []
    for word in shlex.split(command):
        raw = os.fsencode(word).split(b'%')
        out.append(raw[0] + b''.join(bytes([int(x[:2], 16)]) + x[2:] for x in raw[1:]))
    return out


def open_when_read(path, process):
    """A pipe's writing end, once the command has opened the other; None when it ended before."""
    for _ in range(2000):
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            if process.poll() is not None:
                return None
            time.sleep(0.005)
    return None


def holds_open(path, process):
    for fd in pathlib.Path(f'/proc/{process.pid}/fd').iterdir():
        try:
            if os.readlink(fd) == str(path):
                return True
        except OSError:
            pass
    return False


def wait_for_temporary(folder, process):
    """Until the output was begun: by then every input is open and its length was compared."""
    for _ in range(2000):
        if process.poll() is not None or any(folder.glob('.qkv-*')):
            return
        time.sleep(0.005)


def feed_while_shrinking(process, folder, fifo, source, shrinking, size):
    """The command reads source through fifo; before the data, another file is cut short. Files are
    opened in order, and each is compared with its header before the next: a file that is open when
    the command reaches the pipe was compared."""
    data = (folder / source).read_bytes()
    fd = open_when_read(folder / fifo, process)
    if fd is None:
        return
    os.set_blocking(fd, True)
    sent = 0
    try:
        if not holds_open(folder / shrinking, process):
            sent = os.write(fd, data[:128])
            wait_for_temporary(folder, process)
        os.truncate(folder / shrinking, size)
        os.write(fd, data[sent:])
    except BrokenPipeError:
        pass
    os.close(fd)


def run_row(folder, where, command):
    """(exit status, stdout, stderr), or a reason to skip."""
    env = {'PATH': '/usr/bin:/bin', 'TERM': 'dumb', 'LC_ALL': 'C.UTF-8'}
    env.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    words, options, shrink = [os.fsencode(QKV)] + words_of(command), {}, None
    options.update(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    feed = master = None
    for word in where.split():
        key, _, value = word.partition(':')
        if key == '-':
            pass
        elif key == 'in':
            options['stdin'] = open(folder / value, 'rb')
        elif key == 'pipe':
            options['stdin'], feed = subprocess.PIPE, (folder / value).read_bytes()
        elif key == 'no-stdin':
            options['preexec_fn'] = lambda: os.close(0)
        elif key == 'out':
            options['stdout'] = open(value, 'wb')
        elif key == 'terminal':
            master, slave = pty.openpty()
            options['stdout'] = slave
        elif key == 'memory':
            most = int(value)
            options['preexec_fn'] = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
        elif key == 'shrink':
            shrink = value.split(',')
        elif key == 'cpu':
            if not shutil.which('qemu-x86_64'):
                return 'qemu-x86_64 is missing'
            words = ['qemu-x86_64', '-cpu', value] + words
        else:
            raise SystemExit(f'unknown surroundings {word!r}')
    if 'memory:' in where and sanitized():
        return 'a sanitizer needs the address space'
    if 'cpu:' in where and sanitized():
        return 'a sanitizer does not run under qemu'
    process = subprocess.Popen(words, cwd=folder, env=env, **options)
    if shrink:
        feed_while_shrinking(process, folder, *shrink[:3], int(shrink[3]))
    try:
        out, err = process.communicate(feed, timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += b'(killed after 120 s)'
    if master is not None:
        os.close(slave)
        os.close(master)
    return process.returncode, out or b'', err


def sanitized():
    return b'__asan_init' in pathlib.Path(QKV).read_bytes() or \
        b'__tsan_init' in pathlib.Path(QKV).read_bytes()


def read_table(path):
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        parts = [x.strip() for x in line.split(' | ', 4)]
        if len(parts) != 5:
            raise SystemExit(f'{path.name}:{number}: five columns were expected')
        yield parts


def case(name, problems):
    RESULTS.append(not problems)
    print(f'{"not ok" if problems else "ok"} {len(RESULTS)} - {name}')
    for line in problems:
        print('# ' + line)
    sys.stdout.flush()


def try_row(folder, row):
    name, where, command, status, sentence = row
    for fifo in {w.split(':')[1].split(',')[0] for w in where.split() if w.startswith('shrink:')}:
        os.mkfifo(folder / fifo)
    before = snapshot(folder)
    got = run_row(folder, where, command)
    if isinstance(got, str):
        RESULTS.append(True)
        print(f'ok {len(RESULTS)} - {name} # SKIP {got}')
        return
    problems = []
    if got[0] != int(status):
        problems.append(f'exit status {got[0]}, not {status}')
    if got[2] != os.fsencode(sentence) + b'\n':
        problems += [f'stderr {got[2]!r}', f'   not {os.fsencode(sentence)!r}']
    if got[1]:
        problems.append(f'stdout {got[1][:80]!r}')
    after = snapshot(folder)
    if 'shrink:' in where:
        cut = str(folder / where.split('shrink:')[1].split(',')[2])
        before.pop(cut), after.pop(cut)
    for path in sorted(set(before) ^ set(after)):
        problems.append(f'{"appeared" if path in after else "vanished"}: {path}')
    for path in before:
        if path in after and before[path] != after[path]:
            problems.append(f'changed: {path}')
    for device in ('/dev/null', '/dev/full'):
        if not stat.S_ISCHR(os.stat(device).st_mode):
            problems.append(f'{device} is no device any more')
    case(name, problems)


def main():
    rows = list(read_table(pathlib.Path(sys.argv[2])))
    wanted = sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix='qkv-bad-') as name:
        folder = pathlib.Path(name)
        lay_out(folder)
        for row in rows:
            if wanted and row[0] not in wanted:
                continue
            try_row(folder, row)
            if 'shrink:' in row[1]:
                for path in folder.iterdir():
                    if path.is_fifo() or path.name in ('q-long.npy', 'big.npy'):
                        path.unlink()
                for path in list(folder.iterdir()):
                    if path.is_dir():
                        path.rmdir()
                    else:
                        path.unlink()
                lay_out(folder)
    names = [row[0] for row in rows]
    case('each row has its own name', [n for n in set(names) if names.count(n) > 1])
    case('at least 70 rows', [] if len(rows) >= 70 else [f'{len(rows)} rows'])
    print(f'1..{len(RESULTS)}')
    return 0 if all(RESULTS) else 1


if __name__ == '__main__':
    sys.exit(main())
