# SPDX-License-Identifier: MIT
"""checks_tui.py - what the terminal's tests share: TAP lines, the command as text and as JSON."""
import json
import os
import subprocess

RESULTS = []


def ok(good, what, why=''):
    """One TAP line; returns whether it was good."""
    RESULTS.append(bool(good))
    print(f'{"" if good else "not "}ok {len(RESULTS)} - {what}', flush=True)
    if not good:
        for line in str(why).splitlines()[:60]:
            print(f'# {line}')
    return bool(good)


def done():
    print(f'1..{len(RESULTS)}')
    return 0 if RESULTS and all(RESULTS) else 1


def run(qkv, *words, env=None, stdin=b''):
    """The command with pipes instead of a terminal."""
    base = {'PATH': '/usr/bin:/bin', 'TERM': 'dumb', 'LC_ALL': 'C.UTF-8'}
    base.update({k: v for k, v in os.environ.items() if k.endswith('SAN_OPTIONS')})
    base.update(env or {})
    return subprocess.run([qkv, *words], env=base, input=stdin, capture_output=True, timeout=120)


def text(qkv, *words, env=None):
    """stdout of a run that must succeed without a word on stderr."""
    made = run(qkv, *words, env=env)
    if made.returncode or made.stderr:
        raise AssertionError(f'{words}: exit {made.returncode}: {made.stderr[:300]}')
    return made.stdout.decode()


def explain(qkv, state='', *words):
    more = ['--state', state] if state else []
    return json.loads(text(qkv, 'explain', '--format', 'json', *more, *words))
