# SPDX-License-Identifier: MIT
"""Exactly the promised files are installed; none of them knows where it was built."""
import re

import tap

WANTED = [
    r'bin/qkv',
    r'include/qkv/(attention|experimental|pool|qkv|types)\.h',
    r'lib(/[^/]+)?/libqkv\.(a|so|so\.0|so\.\d+\.\d+\.\d+)',
    r'lib(/[^/]+)?/pkgconfig/qkv\.pc',
    r'lib(/[^/]+)?/cmake/qkv/qkvConfig(Version)?\.cmake',
    r'share/man/man1/qkv\.1',
    r'share/qkv/qkv\.html',
    r'share/bash-completion/completions/qkv',
    r'share/zsh/site-functions/_qkv',
    r'share/fish/vendor_completions\.d/qkv\.fish',
]


def check(at):
    names = sorted(p.relative_to(at.prefix).as_posix() for p in at.prefix.rglob('*') if not p.is_dir())
    strays = [x for x in names if not any(re.fullmatch(w, x) for w in WANTED)]
    tap.ok(not strays, 'nothing else is installed', strays)
    missing = [w for w in WANTED if not any(re.fullmatch(w, x) for x in names)]
    tap.ok(not missing, 'all that is promised is installed', missing)
    where = str(at.tree.parent).encode()
    knowing = [x for x in names if where in (at.prefix / x).read_bytes()]
    tap.ok(not knowing, 'no installed file holds the path of the build', knowing)
    made = tap.run([at.prefix / 'bin' / 'qkv', '--version'])
    tap.ok(made.returncode == 0 and made.stdout, 'the installed command runs', made.stderr)
    copy = at.prefix.parent / 'page-copy.html'
    made = tap.run([at.prefix / 'bin' / 'qkv', 'page', '-o', copy])
    tap.ok(made.returncode == 0 and copy.read_bytes() == (at.prefix / 'share/qkv/qkv.html').read_bytes(),
           'the installed command finds its page', made.stderr)
    made = tap.run(['make', 'install', 'PREFIX=relative'], cwd=at.tree, env=tap.environment())
    tap.ok(made.returncode != 0 and "'relative'" in made.stderr, 'a relative PREFIX is refused',
           made.stderr)
