#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_tests.py [--stage NAME]... [--suite NAME]... - builds, tests, counts.

A stage is one build of the tree (compiler, sanitizer) and the suites that run in it. Meson runs the
tests; the cases are counted here from the TAP text in its log, so one executable with forty cases
counts forty. A case that was skipped must stand in tests/skips.txt, with a condition that holds on
this machine: any other skip is a failure. Budgets are printed, never judged: a slow machine is no
fault. The last line is "N passed, N failed, N skipped"; the exit status is 0 only without failures.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / 'build-test'
SANITIZE = ['-Db_lundef=false', '--buildtype=debugoptimized',
            '-Dc_args=-fno-sanitize-recover=all -fno-omit-frame-pointer']
CROSS = ROOT / 'tools' / 'cross'
CROSSED = ['-Dscreen=false', '-Dwerror=true']
LIBRARY = ['spec', 'golden', 'kernel', 'unit', 'api', 'prop', 'oom', 'fuzz', 'cli', 'lesson', 'tui']
# stage -> compiler, options of meson, suites (None: all), budget of the build in seconds
STAGES = {
    'gcc': ('gcc', ['-Dwerror=true'], None, 30),
    'asan': ('gcc', ['-Db_sanitize=address,undefined', *SANITIZE], LIBRARY, 50),
    'tsan': ('gcc', ['-Db_sanitize=thread', *SANITIZE], ['threads'], 30),
    'clang': ('clang', ['-Dwerror=true'], ['golden', 'unit', 'api', 'cli', 'lesson'], 30),
    # for other machines, in their emulators: what needs only a C library, the lesson's screen left out
    'aarch64': ('aarch64-linux-gnu-gcc', ['--cross-file', str(CROSS / 'aarch64.ini'), *CROSSED], None, 20),
    's390x': ('s390x-linux-gnu-gcc', ['--cross-file', str(CROSS / 's390x.ini'), *CROSSED], None, 20),
    'clang-all': ('clang', ['-Dwerror=true'], None, 30),
}
# those of `make test`; the others run by name only
DAILY = ['gcc', 'asan', 'tsan', 'clang', 'aarch64', 's390x']
# stage -> suite -> budget in seconds, the sum over its tests; two run at a time. With the builds all
# of it stays under TOTAL
TOTAL = 930
BUDGETS = {
    'gcc': {'spec': 10, 'golden': 50, 'kernel': 15, 'unit': 5, 'api': 15, 'prop': 45, 'oom': 30,
            'fuzz': 5, 'cli': 45, 'lesson': 20, 'tui': 35, 'page': 240, 'checks': 50,
            'ports': 3},
    'asan': {'spec': 10, 'golden': 15, 'kernel': 35, 'unit': 5, 'api': 20, 'prop': 50, 'oom': 95,
             'fuzz': 5, 'cli': 80, 'lesson': 40, 'tui': 70},
    'tsan': {'api': 20, 'prop': 45},
    'clang': {'golden': 70, 'unit': 5, 'api': 15, 'cli': 45, 'lesson': 20},
    'aarch64': {'spec': 25, 'golden': 35, 'kernel': 15, 'ports': 10},
    's390x': {'spec': 45, 'golden': 70, 'kernel': 15, 'ports': 20},
}
CASE = re.compile(r'^(not ok|ok)\b\s*(\d+)?\s*-?\s*([^#\n]*)(#\s*(SKIP|TODO)\b[:\s]*(.*))?', re.I)


class Case:
    """One counted result: stage/suite/test: name."""

    def __init__(self, where, name, result, reason=''):
        self.where, self.name, self.result, self.reason = where, name, result, reason

    def __str__(self):
        return f'{self.where}: {self.name}' if self.name else self.where


def cpu_flags():
    try:
        text = pathlib.Path('/proc/cpuinfo').read_text(encoding='ascii', errors='replace')
    except OSError:
        return set()
    found = re.search(r'^flags\s*:(.*)$', text, re.M)
    return set(found.group(1).split()) if found else set()


def works(*command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def condition_holds(text, stage):
    """The machine conditions that tests/skips.txt may name."""
    word, _, rest = text.partition(' ')
    if word == 'cpu-lacks':
        return bool(set(rest.split()) - cpu_flags())
    if word == 'no-program':
        return shutil.which(rest) is None
    if word == 'stage':
        return stage in rest.split()
    if word == 'not-root':
        return os.geteuid() != 0
    if word == 'root':
        return os.geteuid() == 0
    if word == 'not-x86_64':
        return platform.machine() != 'x86_64'
    if word == 'no-unshare':
        return not works('unshare', *rest.split(), 'true')
    if word == 'not-debian':
        return shutil.which('dpkg-query') is None
    raise SystemExit(f'tests/skips.txt: unknown condition {text!r}')


def read_skips(path):
    """Lines "pattern | condition | reason"; returns a list of the three."""
    rows = []
    for n, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        parts = [x.strip() for x in line.split('|')]
        if len(parts) != 3 or not all(parts):
            raise SystemExit(f'{path.name}:{n}: expected pattern | condition | reason')
        rows.append(parts)
    return rows


def permitted(case, stage, skips):
    # patterns hold plain [ and ]: only * and ? are special
    return any(fnmatch.fnmatchcase(str(case), p.replace('[', '[[]')) and condition_holds(c, stage)
               for p, c, _ in skips)


def cases_of(where, record):
    """The cases in one record of Meson's log."""
    result, out = record['result'], record.get('stdout') or ''
    cases = []
    plan = re.search(r'^1\.\.(\d+)(\s*#\s*skip\S*\s*(.*))?$', out, re.M | re.I)
    if not plan and not re.search(r'^(not )?ok\b', out, re.M):
        kind = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}.get(result, 'failed')
        return [Case(where, '', kind, out.strip()[-200:] if kind == 'skipped' else result)]
    if plan and plan.group(1) == '0':
        return [Case(where, '', 'skipped', plan.group(3) or '')]
    for line in out.splitlines():
        found = CASE.match(line)
        if not found:
            continue
        verdict, number, name, _, directive, reason = found.groups()
        name = name.strip() or (reason or '').strip() or f'case {number}'
        if directive and directive.upper() == 'SKIP':
            cases.append(Case(where, name, 'skipped', (reason or '').strip()))
        elif directive:
            cases.append(Case(where, name + ' [TODO counts as a failure]', 'failed'))
        else:
            cases.append(Case(where, name, 'passed' if verdict.lower() == 'ok' else 'failed'))
    if plan and len(cases) != int(plan.group(1)):
        cases.append(Case(where, f'{len(cases)} of {plan.group(1)} planned cases ran', 'failed'))
    if result not in ('OK', 'SKIP', 'EXPECTEDFAIL') and all(x.result != 'failed' for x in cases):
        cases.append(Case(where, f'ended as {result}, exit {record.get("returncode")}', 'failed'))
    return cases


def logged(command, log, env):
    with open(log, 'ab') as sink:
        return subprocess.run(command, stdout=sink, stderr=subprocess.STDOUT, env=env,
                              stdin=subprocess.DEVNULL, check=False).returncode


def build(stage, folder):
    """Configures and compiles one stage; returns an error text or None."""
    compiler, options, _, budget = STAGES[stage]
    log = BUILD / f'{stage}.log'
    log.write_bytes(b'')
    env = dict(os.environ, CC=compiler)
    started = time.monotonic()
    if not (folder / 'build.ninja').exists():
        if logged(['meson', 'setup', folder, ROOT, *options], log, env):
            return 'does not configure', log
    if logged(['ninja', '-C', folder], log, env):
        return 'does not build', log
    seconds = time.monotonic() - started
    print(f'{stage}: built with {compiler} {" ".join(options[:1])} in {seconds:.0f} s '
          f'(budget {budget} s)', flush=True)
    return None, log


def environment(stage):
    env = dict(os.environ)
    env['ASAN_OPTIONS'] = 'detect_stack_use_after_return=1:allocator_may_return_null=1'
    env['UBSAN_OPTIONS'] = 'halt_on_error=1:print_stacktrace=1'
    env['TSAN_OPTIONS'] = 'halt_on_error=1:second_deadlock_stack=1'
    env['QKV_TEST_STAGE'] = stage
    for name in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS'):
        env.pop(name, None)
    return env


def run_meson(stage, folder, names, log):
    """Runs the named tests of a stage; returns Meson's records."""
    base = 'stage'
    # no --no-rebuild: newer Mesons make what only a test depends on here, not in `all`
    command = ['meson', 'test', '-C', folder, '--logbase', base, *names]
    if stage in ('asan', 'tsan'):
        command += ['-t', '4']
    # ThreadSanitizer's memory map does not survive a kernel that scatters addresses widely
    if stage == 'tsan' and works('setarch', '-R', 'true'):
        command += ['--wrapper', 'setarch -R']
    logs = folder / 'meson-logs'
    for path in logs.glob(f'{base}*.json'):  # a wrapper's name is appended
        path.unlink()
    logged(command, log, environment(stage))
    text = ''.join(x.read_text(encoding='utf-8') for x in logs.glob(f'{base}*.json'))
    return [json.loads(x) for x in text.splitlines() if x.strip()]


def known_tests(folder):
    """name -> its suites, as Meson knows them; the first one is its folder."""
    out = subprocess.run(['meson', 'introspect', '--tests', folder], stdout=subprocess.PIPE,
                         universal_newlines=True, check=True).stdout
    return {x['name']: [y.split(':')[-1] for y in x['suite']] for x in json.loads(out)}


def show(stage, rows):
    """rows: suite -> [seconds, cases]"""
    print(f'  {"suite":<10}{"passed":>8}{"failed":>8}{"skipped":>9}{"time":>9}{"budget":>9}')
    for suite, (seconds, cases) in rows.items():
        n = [sum(x.result == y for x in cases) for y in ('passed', 'failed', 'skipped')]
        limit = BUDGETS.get(stage, {}).get(suite)
        print(f'  {suite:<10}{n[0]:>8}{n[1]:>8}{n[2]:>9}{seconds:>7.1f} s'
              f'{f"{limit} s" if limit else "-":>9}')
    sys.stdout.flush()


def tail(text, n):
    return '\n'.join('    ' + x for x in text.rstrip().splitlines()[-n:])


def failure_text(record):
    out = [x for x in (record.get('stdout') or '').splitlines() if not x.startswith('ok ')]
    err = record.get('stderr') or ''
    return '\n'.join(['    ' + x for x in out[:40]] + [tail(err, 40)]).rstrip()


def run_stage(stage, suites, skips):
    """Returns all cases of a stage."""
    folder = BUILD / stage
    BUILD.mkdir(exist_ok=True)
    error, log = build(stage, folder)
    if error:
        print(f'{stage}: {error}; the end of {log.relative_to(ROOT)}:')
        print(tail(log.read_text(encoding='utf-8', errors='replace'), 40), flush=True)
        return [Case(stage, error, 'failed')]
    of_stage = STAGES[stage][2]
    tests = {name: x[0] for name, x in known_tests(folder).items()
             if (of_stage is None or set(x) & set(of_stage)) and (not suites or set(x) & set(suites))}
    if not tests:
        return []
    records = run_meson(stage, folder, tests, log)
    rows = {x: [0.0, []] for x in dict.fromkeys(tests.values())}
    seen = set()
    for record in records:
        name = record['name'].split(' / ')[-1]
        suite = tests[name]
        seen.add(name)
        cases = cases_of(f'{stage}/{suite}/{name}', record)
        for case in cases:
            if case.result == 'skipped' and not permitted(case, stage, skips):
                case.result = 'failed'
                case.name += f' [skipped without a line in tests/skips.txt: {case.reason}]'
        rows[suite][0] += record['duration']
        rows[suite][1] += cases
        if any(x.result == 'failed' for x in cases):
            print(f'FAILED {stage}/{suite}/{name}\n{failure_text(record)}', flush=True)
    for name, suite in tests.items():
        if name not in seen:
            rows[suite][1].append(Case(f'{stage}/{suite}/{name}', 'did not run', 'failed'))
    show(stage, rows)
    return [x for _, cases in rows.values() for x in cases]


def avx512_line(cases):
    need = {'avx512f', 'avx512vl', 'avx512bw', 'avx512dq'}
    if need - cpu_flags():
        return 'avx512: NOT RUN (CPU lacks it)'
    ran = any(x.where.startswith('gcc/kernel/') and 'avx512' in str(x) and x.result == 'passed'
              for x in cases)
    return 'avx512: run' if ran else 'avx512: NOT RUN (no case of the kernel suite names it)'


def main():
    options = argparse.ArgumentParser(description='Builds, tests, counts.')
    options.add_argument('--stage', action='append', choices=list(STAGES))
    options.add_argument('--suite', action='append')
    chosen = options.parse_args()
    started = time.monotonic()
    skips = read_skips(ROOT / 'tests' / 'skips.txt')
    cases = []
    for stage in chosen.stage or DAILY:
        cases += run_stage(stage, chosen.suite, skips)
    print()
    for case in cases:
        if case.result == 'failed':
            print(f'failed: {case}')
        elif case.result == 'skipped':
            print(f'skipped: {case} ({case.reason or "no reason given"})')
    print(avx512_line(cases))
    print(f'time {time.monotonic() - started:.0f} s (budget {TOTAL} s)')
    count = {y: sum(x.result == y for x in cases) for y in ('passed', 'failed', 'skipped')}
    print(f'{count["passed"]} passed, {count["failed"]} failed, {count["skipped"]} skipped', flush=True)
    return 0 if count['failed'] == 0 and count['passed'] > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
