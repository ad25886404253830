#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exact.py QKV FILE.exact... - runs the command lines of transcripts and compares every byte.

A transcript holds cases:

    # a comment
    $ qkv run --scal 2            a line of sh, in an empty folder, qkv on the PATH
    > a line of stdout
    ! a line of stderr
    = 2                           the exit code; 0 when the line is missing

What is not written must be empty. With --write the transcripts are rewritten from what happens
now: read the difference before committing it. Prints TAP.
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def read_cases(path):
    """List of (line number, command, stdout, stderr, exit code)."""
    cases = []
    for number, line in enumerate(path.read_text(encoding='utf-8').split('\n'), 1):
        if line.startswith('$ '):
            cases.append([number, line[2:], '', '', 0])
        elif line[:1] in ('>', '!') and line[1:2] in ('', ' '):
            cases[-1][2 if line[0] == '>' else 3] += line[2:] + '\n'
        elif line.startswith('= '):
            cases[-1][4] = int(line[2:])
        elif line and not line.startswith('#'):
            sys.exit(f'{path}:{number}: not a line of a transcript: {line!r}')
    return cases


def run(qkv, command, folder):
    """(stdout, stderr, exit code) with an environment in which nothing speaks up."""
    env = {'PATH': f'{qkv.parent}:/usr/bin:/bin', 'HOME': folder, 'TERM': 'dumb',
           'DATA': str(pathlib.Path(__file__).resolve().parents[2] / 'data')}
    env.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    done = subprocess.run(['sh', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return (done.stdout.decode('utf-8', 'backslashreplace'),
            done.stderr.decode('utf-8', 'backslashreplace'), done.returncode)


def marked(mark, text):
    return ''.join(f'{mark} {line}'.rstrip(' ') + '\n' for line in text.split('\n')[:-1])


def rewrite(path, qkv):
    out = []
    for line in path.read_text(encoding='utf-8').split('\n'):
        if line.startswith('$ '):
            with tempfile.TemporaryDirectory() as folder:
                stdout, stderr, code = run(qkv, line[2:], folder)
            out.append(line + '\n' + marked('>', stdout) + marked('!', stderr) +
                       (f'= {code}\n' if code else ''))
        elif line[:1] not in ('>', '!', '='):
            out.append(line + '\n')
    path.write_text(''.join(out).rstrip('\n') + '\n', encoding='utf-8')


def main():
    words = [w for w in sys.argv[1:] if w != '--write']
    qkv = pathlib.Path(words[0]).resolve()
    paths = [pathlib.Path(w) for w in words[1:]]
    if len(words) != len(sys.argv) - 1:
        for path in paths:
            rewrite(path, qkv)
        return 0
    count, failed = 0, 0
    for path in paths:
        for number, command, *want in read_cases(path):
            with tempfile.TemporaryDirectory() as folder:
                got = list(run(qkv, command, folder))
            want = [marked('', want[0]), marked('', want[1]), want[2]]
            got = [marked('', got[0]), marked('', got[1]), got[2]]
            count += 1
            failed += want != got
            name = f'{path.stem}:{number} {command}'.replace('#', '\\#')
            print(f'{"ok" if want == got else "not ok"} {count} - {name}')
            if want != got:
                for what, w, g in zip(('stdout', 'stderr', 'exit'), want, got):
                    if w != g:
                        print(f'# {what} wanted: {w!r}\n# {what} got:    {g!r}')
    print(f'1..{count}')
    return 1 if failed or not count else 0


if __name__ == '__main__':
    sys.exit(main())
