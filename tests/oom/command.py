#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""command.py QKV_FAIL_NTH MINILM - every subcommand, with its n-th request for memory refused, for
n = 1, 2, ... until there is no n-th one. (check and bench take seconds a run and ask in a loop: they
are sampled, unless TEST_EFFORT is above 1.)

Each such run either does without and prints what it always prints, or ends with status 1, one line on
stderr that speaks of memory, nothing on stdout and no file. A crash, a leak (under the address
sanitizer) or a half-written result fails. Prints TAP, one case a command line.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

QKV, MINILM = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
TENSORS = ['--q', f'{MINILM}/minilm_layer3_q.npy', '--k', f'{MINILM}/minilm_layer3_k.npy',
           '--v', f'{MINILM}/minilm_layer3_v.npy']
TOKENS = ['--tokens', f'{MINILM}/minilm_tokens.json']
# name, arguments ({o} is a fresh folder), outputs expected, slow and with figures that vary
CASES = [
    ('run', ['run', *TENSORS, '-o', '{o}/out.npy', '--lse', '{o}/lse.npy', '--threads', '3'], 2, False),
    ('run one head', ['run', *TENSORS, '-o', '{o}/out.npy', '--head', '1', '--causal', '--isa',
                      'reference'], 1, False),
    ('run with all options', ['run', *TENSORS, '-o', '{o}/out.npy', '--cu-q', '0,4,13', '--cu-k', '0,4,13',
                              '--kv-len', '4,8', '--causal=top-left', '--sink', ','.join(['0.5'] * 12),
                              '--weights', '{o}/w.npy', '--rows', '3,0', '--row-max', '{o}/max.npy',
                              '--key-sums', '{o}/sums.npy', '--threads', '2'], 4, False),
    ('run to a pipe', ['run', *TENSORS, '-o', '-', '--threads', '1'], 0, False),
    ('explain', ['explain'], 0, False),
    ('explain json', ['explain', '--json', '--causal'], 0, False),
    ('explain a head', ['explain', *TENSORS, *TOKENS, '--head', '1', '--token', 'it'], 0, False),
    ('explain a map', ['explain', *TENSORS, *TOKENS, '--head', '1', '--token', '@8', '--view', 'map'], 0,
     False),
    ('explain a state', ['explain', '--state', 'st=4&n=5&tok=a,b,c,d,e&K=1,0;0,2;2,0;1,1;3,1&'
                         'mask=padding:1&wrong=1&later=1', '--json'], 0, False),
    ('explain svg', ['explain', '--format', 'svg'], 0, False),
    ('lesson', ['lesson', '--plain', '--section', '4'], 0, False),
    ('lesson check', ['lesson', '--plain', '--section', '8', '--state', 'n=5&K=1,0;0,2;2,0;1,1;3,1'], 0,
     False),
    ('quiz', ['quiz'], 0, False),
    ('recall', ['recall', '--anki'], 0, False),
    ('info', ['info', f'{MINILM}/minilm_layer3_q.npy'], 0, False),
    ('check', ['check'], 0, True),
    ('bench', ['bench', '--quick', '--threads', '1'], 0, True),
    ('help', ['help', 'run'], 0, False),
    ('version', ['--version'], 0, False),
]


class Wrong(Exception):
    """What a run did that it may not do."""


def go(arguments, n):
    """(was there an n-th request, status, stdout, stderr, names of the files made)"""
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        env = dict(os.environ, FAIL_NTH=str(n), FAIL_NTH_FD=str(writer), LC_ALL='C', COLUMNS='80')
        if arguments[0] == 'bench':
            env['FAIL_NTH_CLOCK'] = '1000'
        env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':exitcode=99'
        env['LSAN_OPTIONS'] = env.get('LSAN_OPTIONS', '') + ':exitcode=98'
        done = subprocess.run([QKV, *[x.replace('{o}', folder) for x in arguments]], env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              pass_fds=[writer], timeout=200, check=False)
        os.close(writer)
        happened = os.read(reader, 1) == b'x'
        os.close(reader)
        text = done.stderr.decode('utf-8', 'replace').replace(folder, '{o}')
        return happened, done.returncode, done.stdout, text, sorted(os.listdir(folder))


def judge(got, usual, varies):
    """Raises Wrong unless the run did without, or failed cleanly."""
    _, status, out, err, files = got
    if status == 0:
        if files != usual[4] or (out != usual[2] and not varies):
            raise Wrong('status 0 with another result')
        return
    if status != 1:
        raise Wrong(f'status {status}: {err.strip()[-300:]}')
    if files:
        raise Wrong(f'left {", ".join(files)}')
    if out:
        raise Wrong(f'wrote {len(out)} bytes to stdout')
    if len(err.splitlines()) != 1 or not err.startswith('qkv') or not re.search('memory', err, re.I):
        raise Wrong(f'said {err!r}')


def try_all(arguments, outputs, varies):
    """How many requests were refused; raises Wrong with the first that went wrong."""
    usual = go(arguments, 0)
    if usual[1] != 0 or len(usual[4]) != outputs:
        raise Wrong(f'fails without a fault: {usual[1]} {usual[3].strip()} {usual[4]}')
    n, tried, all_of_them = 0, 0, not varies or int(os.environ.get('TEST_EFFORT') or 1) > 1
    while n < 20000:
        n = n + 1 if all_of_them or n < 4 else 3 * n
        got = go(arguments, n)
        if not got[0]:
            if got[1:] != usual[1:] and not varies:
                raise Wrong(f'another result after {n - 1} requests')
            return tried
        tried += 1
        try:
            judge(got, usual, varies)
        except Wrong as wrong:
            raise Wrong(f'request {n}: {wrong}') from None
    raise Wrong('no end of requests')


def main():
    print(f'1..{len(CASES)}')
    bad = 0
    for i, (name, arguments, outputs, varies) in enumerate(CASES, 1):
        try:
            count = try_all(arguments, outputs, varies)
            print(f'# {count} requests for memory refused')
            print(f'ok {i} - {name}', flush=True)
        except (Wrong, subprocess.TimeoutExpired) as wrong:
            bad += 1
            print(f'not ok {i} - {name}\n# {wrong}', flush=True)
    return bad != 0


if __name__ == '__main__':
    sys.exit(main())
