# SPDX-License-Identifier: MIT
"""Every C file is as clang-format writes it (.clang-format); the tables in .inc are exempt.

Version 14 judges everything. Later versions lay out braces inside macros differently, so with them
the lines of a #define are not judged.
"""
import re

import tap


def macro_lines(text):
    """Numbers of the lines that belong to a #define, continuations included."""
    found, inside = set(), False
    for n, line in enumerate(text.splitlines(), 1):
        if inside or re.match(r'\s*#\s*define\b', line):
            found.add(n)
            inside = line.endswith('\\')
        else:
            inside = False
    return found


def violations(stderr, judge_macros):
    """file:line of each complaint that counts."""
    bad = set()
    for name, line in re.findall(r'^(\S+?):(\d+):\d+: error: .*clang-format-violations', stderr, re.M):
        if judge_macros or int(line) not in macro_lines(tap.read(name)):
            bad.add(f'{name}:{line}')
    return sorted(bad)


files = [p for p in tap.tree_files() if p.name.endswith(('.c', '.h'))]
version = tap.run(['clang-format', '--version']).stdout.strip()
major = int(re.search(r'version (\d+)', version).group(1))
tap.note(version)
made = tap.run(['clang-format', '--dry-run', '--Werror', *files], cwd=tap.ROOT)
bad = violations(made.stderr, major == 14)
tap.ok(not bad and (made.returncode == 0 or major != 14), f'{len(files)} files are formatted',
       bad or made.stderr)

ugly = tap.run(['clang-format', '--dry-run', '--Werror', '--assume-filename=cli/a.c'], cwd=tap.ROOT,
               input='int  f( void ){return 1 ;}\n')
tap.ok(ugly.returncode != 0, 'a badly formatted file is seen')
tap.ok(macro_lines('a\n#define B \\\n  {0}\nc\n') == {2, 3}, 'lines of a macro are known')
tap.done()
