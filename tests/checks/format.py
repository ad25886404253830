# SPDX-License-Identifier: MIT
"""Every C file is as clang-format writes it (.clang-format); the tables in .inc are exempt."""
import tap

files = [p for p in tap.tree_files() if p.name.endswith(('.c', '.h'))]
version = tap.run(['clang-format', '--version']).stdout.strip()
tap.note(version)
made = tap.run(['clang-format', '--dry-run', '--Werror', *files], cwd=tap.ROOT)
bad = sorted({x.split(':')[0] for x in made.stderr.splitlines() if 'clang-format-violations' in x})
tap.ok(made.returncode == 0 and not bad, f'{len(files)} files are formatted',
       bad or made.stderr)

ugly = tap.run(['clang-format', '--dry-run', '--Werror', '--assume-filename=cli/a.c'], cwd=tap.ROOT,
               input='int  f( void ){return 1 ;}\n')
tap.ok(ugly.returncode != 0, 'a badly formatted file is seen')
tap.done()
