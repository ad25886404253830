#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""demo.py QKV BENCH_TABLE SOURCE_ROOT - the screens of tools/demo, and the table of `qkv bench` that
its last one takes lines from.

The demo runs in a folder of its own, where building does nothing and `bench` prints the made-up rows
of BENCH_TABLE: what is shown is judged here, not how fast the machine is. Prints TAP.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

QKV, TABLE, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
RESULTS = []
ROW = re.compile(r'(prefill(?: strided)?) +f(32|64) +(\d+) +(\d+) (full|causal) +(\d+) +([\d.]+) +([\d.]+)'
                 r' +([\d.]+ %|-) +([\d.]+) %( noisy)?')


def case(name, good, why=''):
    RESULTS.append(bool(good))
    print(f'{"ok" if good else "not ok"} {len(RESULTS)} - {name}')
    if not good:
        print('\n'.join(f'# {line}' for line in str(why).splitlines()[:60]))


def stub(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text('#!/bin/sh\n' + text, encoding='utf-8')
    path.chmod(0o755)


def check_table(threads):
    done = subprocess.run([TABLE, threads], stdout=subprocess.PIPE, timeout=60, check=True)
    text = done.stdout.decode('utf-8')
    lines = text.splitlines()
    rows = [ROW.fullmatch(line) for line in lines if line.startswith('prefill')]
    case(f'{threads} threads: every row has its share, a noisy one too', len(rows) == 16 and all(rows) and
         sum(bool(row[11]) for row in rows) == 8, text)
    case('a single run has no spread', all((row[9] == '-') == (row[8] == '70.5') for row in rows if row),
         text)
    case('80 columns', max(map(len, lines)) <= 80, text)
    case('the widest type and length stand apart', any(
        re.fullmatch(r'decode +bf16 32768 128 64/8 +1 +100\.0 +98\.0 +10\.0 % +75\.0 %', line) for line in lines), text)
    head = next(line for line in lines if ' spread ' in line)
    wide = next(line for line in lines if line.startswith('prefill strided'))
    case('heads end where their columns do', head.index('spread') + 6 == wide.index(' %') + 2 and
         head.index('share') + 5 == wide.rindex(' %') + 2, f'{head}\n{wide}')
    case('the last sentence says what noisy is', 'noisy: ' in text and lines[-1].endswith('.'), text)
    return lines


def check_demo(lines):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        stub(folder / 'tools/build', 'exit 0\n')
        stub(folder / 'build/qkv',
             f'[ "$1" = bench ] && exec "{TABLE}"\nexec "{QKV}" "$@"\n')
        shutil.copy(ROOT / 'tools/demo', folder / 'tools/demo')
        (folder / 'data').symlink_to(ROOT / 'data')
        done = subprocess.run([folder / 'tools/demo'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60,
                              env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'})
    text = done.stdout.decode('utf-8')
    case('the demo ends well', done.returncode == 0 and not done.stderr, done)
    case('four stages of sat', [n for n in '1234' if f'\nStage {n} of 4. ' in text] == list('1234'))
    case('"it" looks at "cat" with 0.49, as bars and as a map',
         '\nit looks most at cat: 0.49.\n' in text and re.search(r'\n> it .* cat 0\.49\n', text), text)
    speed = text.partition('== Speed')[2].splitlines()
    rows = [ROW.fullmatch(line) for line in speed if line.startswith('prefill')]
    case('GF/s and shares of the shape, also where the machine was noisy', len(rows) == 4 and all(rows) and
         all(row[4] == '128' and float(row[10]) > 0 for row in rows), '\n'.join(speed))
    start = next(i for i, line in enumerate(lines) if line.startswith('GF/s: '))
    shown = '\n'.join(speed)
    case('the legend whole', '\n'.join(lines[start:]) in shown, shown)
    wide = [line for line in text.splitlines() if len(line) > 80]
    case('80 columns', not wide, '\n'.join(wide))


def main():
    check_table('1')
    check_demo(check_table('2'))
    print(f'1..{len(RESULTS)}')
    return 0 if all(RESULTS) else 1


if __name__ == '__main__':
    sys.exit(main())
