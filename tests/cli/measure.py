#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""measure.py QKV PLANTED BUILD_FOLDER - `qkv check` and `qkv bench`: what they print, not how fast it is.

PLANTED is the same command built with one golden hash changed: its check has to fail and to say
where. No figure of bench is judged here; the machine may be busy. Prints TAP.
"""
import json
import os
import pty
import re
import subprocess
import sys

QKV, PLANTED, BUILD = sys.argv[1:4]
RESULTS = []
ROW_KEYS = ['what', 'dtype', 's', 'd', 'h', 'mask', 'threads', 'gflops', 'median', 'spread',
            'share', 'noisy', 'rows', 'h_kv', 'limit', 'limit_gflops', 'seconds']
TARGET_KEYS = ['what', 'unit', 'bound', 'target', 'reached', 'verdict']


def case(name, good, why=''):
    RESULTS.append(bool(good))
    print(f'{"ok" if good else "not ok"} {len(RESULTS)} - {name}')
    if not good:
        print('\n'.join(f'# {line}' for line in str(why).splitlines()[:30]))


def run(*words, env=None):
    done = subprocess.run(words, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=240)
    return done.returncode, done.stdout.decode('utf-8'), done.stderr.decode('utf-8')


def usable():
    return re.search(r'usable: (.*)', run(QKV, '--version')[1]).group(1).split()


def check_check():
    code, out, err = run(QKV, 'check')
    case('check: exit 0, no message', code == 0 and not err, (code, out, err))
    case('check: the last line', out.endswith('\nall equal\n'), out)
    lines = out.splitlines()
    cases = int(re.search(r': (\d+) golden cases, \d+ threads?$', lines[0]).group(1))
    case('check: at least 100 cases', cases >= 100, lines[0])
    rows = {line.split()[0]: line for line in lines[3:3 + len(usable())]}
    case('check: a row for each usable table', list(rows) == usable(), rows)
    number = r'\d\.\de-\d+'
    for name, line in rows.items():
        same = '-' if name == 'scalar' else f'{cases} of {cases}'
        case(f'check: {name} agrees', re.fullmatch(
            rf'{name} +{cases} of {cases} +{same} +{number} +{number}', line), line)
    case('check: 80 columns', max(map(len, lines)) <= 80, out)
    # the locale is made by frame.py; without it this is one thread only
    comma = {'LC_ALL': 'de_DE.UTF-8', 'LOCPATH': os.path.join(BUILD, 'locale')}
    one = run(QKV, 'check', '--threads', '1', env=comma)
    case('check: one thread and a decimal comma say the same', one[1].splitlines()[1:] == lines[1:], one)

    code, out, err = run(PLANTED, 'check')
    case('a planted hash: exit 1', code == 1, (code, out, err))
    case('a planted hash: the last line', out.endswith('\nDIFFERENT\n'), out)
    want = [f'{name}: f32_d17: not the golden hash' for name in usable()]
    case('a planted hash is named, nothing else', want == [
        line for line in out.splitlines() if re.match(r'\w+: \w+: ', line)], out)
    case('a planted hash is counted', f' {cases - 1} of {cases} ' in out, out)


def check_pair(data, key):
    threads = data['threads']
    case(f'bench: {key} by thread count',
         list(data[key]) == (['1'] if threads == 1 else ['1', str(threads)]) and
         all(isinstance(x, float) and x > 0 for x in data[key].values()), data[key])


def check_rows(data):
    rows, threads = data['rows'], data['threads']
    case('bench: keys of each row', all(list(row) == ROW_KEYS for row in rows), rows[:1])
    levels = {1, threads}
    want = {('prefill', 'f32', s, d, mask, 16, t) for s in (256, 512, 2048) for d in (64, 128)
            for mask in ('full', 'causal') for t in levels}
    want |= {(what, dtype, 2048, d, 'full', 16, 1) for what, dtype in (
        ('prefill', 'f64'), ('prefill strided', 'f32')) for d in (64, 128)}
    want |= {('tiny', 'f32', 16, 64, 'full', 1, 1)}
    want |= {('decode', 'f32', 4096, 128, 'full', 32, t) for t in levels}
    got = {(r['what'], r['dtype'], r['s'], r['d'], r['mask'], r['h'], r['threads']) for r in rows}
    case('bench: every shape of the quick run', want == got, want ^ got)
    for row in rows:
        peak = data['peak_gflops' if row['dtype'] != 'f64' else 'peak_gflops_f64']
        limit = row['limit_gflops']
        decode = row['what'] == 'decode'
        good = (0 < row['median'] <= row['gflops'] <= limit <= peak[str(row['threads'])] and
                row['spread'] >= 0 and abs(row['share'] - row['gflops'] / limit) < 1e-9 and
                isinstance(row['noisy'], bool) and row['h_kv'] == row['h'] and
                row['limit'] == ('read' if decode else 'fma') and
                (decode or limit == peak[str(row['threads'])]) and
                row['rows'] == (1 if decode else row['s']) and row['seconds'] > 0)
        if not good:
            case('bench: a row fits together', False, row)
    case('bench: rows fit together', True)


def check_targets(data):
    targets = data['targets']
    if data['isa'] not in ('avx2', 'avx512'):
        case('bench: no targets for these kernels', targets == [], targets)
        return
    case('bench: keys of each target', all(list(t) == TARGET_KEYS for t in targets), targets[:1])
    case('bench: targets of the quick run', len(targets) == (13 if data['threads'] > 1 else 10),
         targets)
    for t in targets:
        missing = (t['reached'] - t['target']) * (1 if t['bound'] == 'most' else -1)
        good = t['verdict'] == 'noisy' or (t['verdict'] == 'yes') == (missing <= 0)
        if not good or t['verdict'] not in ('yes', 'close', 'no', 'noisy'):
            case('bench: a verdict follows from its figures', False, t)
    case('bench: verdicts follow from figures', True)


def on_terminal(*words):
    """stdout, and what a terminal got on stderr."""
    parent, child = pty.openpty()
    env = {**os.environ, 'TERM': 'xterm'}
    with subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=child) as process:
        os.close(child)
        err = b''
        try:  # until the other end is gone; the result, at the end, fits the pipe
            while piece := os.read(parent, 65536):
                err += piece
        except OSError:
            pass
        out = process.stdout.read()
    os.close(parent)
    return process.returncode, out.decode('utf-8'), err.decode('utf-8')


def check_bench():
    code, out, err = on_terminal(QKV, 'bench', '--quick', '--json')
    bars = re.findall(r'\r\[[#.]{24}\] +(\d+) % (measuring [a-z ]+|making data)\x1b\[K', err)
    case('bench --quick --json: exit 0, nothing but a bar',
         code == 0 and not re.sub(r'\r\[[#.]{24}\] [^\r]*\x1b\[K|\r\x1b\[K', '', err), (code, err))
    steps = [int(percent) for percent, _ in bars]
    case('the bar grows, slowly, and goes', steps == sorted(steps) and len(set(steps)) > 9 and
         err.endswith('\r\x1b[K'), err.replace('\r', '\n'))
    data = json.loads(out)
    case('bench: keys', list(data) == ['isa', 'threads', 'peak_gflops', 'peak_gflops_f64',
                                       'fed_gflops', 'fed_gflops_f64', 'read_gbs', 'rows',
                                       'targets'], list(data))
    case('bench: the best kernels', data['isa'] == usable()[-1], data['isa'])
    for key in ('peak_gflops', 'peak_gflops_f64', 'fed_gflops', 'fed_gflops_f64', 'read_gbs'):
        check_pair(data, key)
    check_rows(data)
    check_targets(data)


def main():
    check_check()
    if os.environ.get('QKV_TEST_STAGE') in ('asan', 'tsan'):
        RESULTS.append(True)
        print(f'ok {len(RESULTS)} - bench # SKIP under a sanitizer it leaves rows out')
    else:
        check_bench()
    print(f'1..{len(RESULTS)}')
    return 0 if all(RESULTS) else 1


if __name__ == '__main__':
    sys.exit(main())
