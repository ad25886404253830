# SPDX-License-Identifier: MIT
"""tools/run_tests.py counts what really happened: this is the test of the count itself."""
import pathlib
import tempfile

import tap
import run_tests

# Meson's result, the test's standard output, the counts (passed, failed, skipped)
RECORDS = [
    ('OK', '1..2\nok 1 - a\nok 2 - b\n', (2, 0, 0)),
    ('FAIL', '1..2\nok 1 - a\nnot ok 2 - b\n# why\n', (1, 1, 0)),
    ('OK', 'ok 1 - a\nok 2 # SKIP no CPU\n1..2\n', (1, 0, 1)),
    ('SKIP', '1..0 # SKIP nothing here\n', (0, 0, 1)),
    ('ERROR', '1..3\nok 1 - a\n', (1, 1, 0)),
    ('FAIL', '1..1\nok 1 - a\n', (1, 1, 0)),
    ('TIMEOUT', '1..2\nok 1 - a\nok 2 - b\n', (2, 1, 0)),
    ('ERROR', '', (0, 1, 0)),
    ('OK', 'plain text, exit 0\n', (1, 0, 0)),
    ('FAIL', 'plain text, exit 1\n', (0, 1, 0)),
    ('OK', '1..1\nok 1 - says "not ok" # and more\n    ok 1 - indented\n', (1, 0, 0)),
    ('OK', '1..2\nok 1 - a\nok 2 - b # TODO later\n', (1, 1, 0)),
]


def counts(cases):
    return tuple(sum(x.result == y for x in cases) for y in ('passed', 'failed', 'skipped'))


for result, out, want in RECORDS:
    got = counts(run_tests.cases_of('gcc/unit/t', {'result': result, 'stdout': out, 'returncode': 1}))
    tap.ok(got == want, f'{result} {out[:30]!r} counts {want}', str(got))

case = run_tests.Case('asan/kernel/checkkernel', 'avx512 score', 'skipped', 'CPU lacks it')
tap.ok(run_tests.permitted(case, 'asan', [('*/kernel/*: avx512*', 'stage asan tsan', 'why')]),
       'a listed skip is permitted where its condition holds')
tap.ok(not run_tests.permitted(case, 'gcc', [('*/kernel/*: avx512*', 'stage asan tsan', 'why')]),
       'and refused where it does not')
tap.ok(not run_tests.permitted(case, 'asan', [('*/kernel/*: avx2*', 'stage asan', 'why')]),
       'and refused when no pattern fits')
tap.ok(run_tests.condition_holds('cpu-lacks no_such_flag', 'gcc')
       and not run_tests.condition_holds('no-program sh', 'gcc'), 'conditions look at this machine')
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'skips.txt'
    for text, good in (('# nothing\n\n', True), ('a | stage gcc | why\n', True), ('a | b\n', False),
                       ('a | | why\n', False)):
        path.write_text(text)
        try:
            run_tests.read_skips(path)
            seen = True
        except SystemExit:
            seen = False
        tap.ok(seen == good, f'skips.txt {text!r} is {"read" if good else "refused"}')
skips = run_tests.read_skips(tap.ROOT / 'tests' / 'skips.txt')
for pattern, condition, _ in skips:
    run_tests.condition_holds(condition, 'gcc')
tap.ok(True, f'the {len(skips)} lines of tests/skips.txt are well formed')
tap.ok(set(run_tests.BUDGETS) == set(run_tests.DAILY), 'every stage of `make test` has its budgets')
suites = sum(sum(x.values()) for x in run_tests.BUDGETS.values())
builds = sum(run_tests.STAGES[x][3] for x in run_tests.DAILY)
tap.ok(suites / 2 + builds <= run_tests.TOTAL,
       f'{suites} s of suites, two at a time, and {builds} s of builds fit {run_tests.TOTAL} s')
tap.done()
