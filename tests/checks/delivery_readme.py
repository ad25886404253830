# SPDX-License-Identifier: MIT
"""README.md does what it says: its C compiles and runs, its shell runs, its pictures are exact.

Blocks: ```c is a whole program, ```sh a script, ```console begins with "$ command" and goes on with
that command's exact output. They run in the root of the built tree, with qkv in the path.
"""
import re

import tap


def blocks(text, kind):
    return re.findall(rf'^```{kind}\n(.*?)^```$', text, re.M | re.S)


def c_programs(at, text, env):
    libdir = next(at.prefix.rglob('libqkv.a')).parent
    for n, code in enumerate(blocks(text, 'c'), 1):
        source, program = at.scratch / f'readme{n}.c', at.scratch / f'readme{n}'
        source.write_text(code)
        made = tap.run(['cc', '-std=c17', '-Wall', '-Wextra', '-pedantic', '-Werror', source, '-I',
                        at.prefix / 'include', libdir / 'libqkv.a', '-pthread', '-lm', '-o', program])
        tap.ok(made.returncode == 0, f'C program {n} compiles', made.stderr)
        said = re.search(r'prints "([^"]*)"', code)
        seen = tap.run([program], env=env) if made.returncode == 0 else made
        tap.ok(seen.returncode == 0 and said and seen.stdout.strip() == said.group(1),
               f'C program {n} prints what its comment says', [seen.stdout, seen.stderr])


def shell_scripts(at, text, env):
    for n, code in enumerate(blocks(text, 'sh'), 1):
        if re.match(r'make (demo|test)', code):
            continue  # the front door itself: this test is part of it
        made = tap.run(['sh', '-eu', '-c', code], cwd=at.tree, env=env)
        tap.ok(made.returncode == 0, f'shell block {n} runs', made.stdout + made.stderr)


def pictures(at, text, env):
    found = blocks(text, 'console')
    tap.ok(found, 'there is a picture of the calculator')
    for block in found:
        command, _, shown = block.partition('\n')
        made = tap.run(['sh', '-c', command[2:]], cwd=at.tree, env=env)
        same = command.startswith('$ ') and made.returncode == 0 and made.stdout == shown
        tap.ok(same, f'{command}: the output is the picture', made.stdout + made.stderr)


def check(at):
    text = (at.tree / 'README.md').read_text(encoding='utf-8')
    env = tap.environment(PATH=f'{at.prefix}/bin:/usr/bin:/bin', TERM='dumb', COLUMNS='80')
    tap.ok(text.count('\n') < 150, f'README.md has {text.count(chr(10))} lines, under 150')
    tap.ok(blocks(text, 'c') and blocks(text, 'sh'), 'it holds C and shell')
    c_programs(at, text, env)
    shell_scripts(at, text, env)
    pictures(at, text, env)
