# SPDX-License-Identifier: MIT
"""Two builds in two folders give the same bytes."""
import tap


def check(at):
    made = tap.run(['tools/build', at.prefix], cwd=at.other, env=tap.environment())
    if not tap.ok(made.returncode == 0, 'builds in a folder with a space in its name', made.stderr):
        return
    names = ['qkv', 'src/libqkv.a']
    names += [p.relative_to(at.tree / 'build').as_posix()
              for p in (at.tree / 'build' / 'src').glob('libqkv.so.*.*.*') if p.is_file()]
    tap.ok(len(names) == 3, 'the command and both libraries', names)
    for name in names:
        one, two = ((x / 'build' / name).read_bytes() for x in (at.tree, at.other))
        tap.ok(one == two, f'{name}: {len(one)} equal bytes from two folders')
