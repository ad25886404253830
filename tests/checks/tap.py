# SPDX-License-Identifier: MIT
"""What every check shares: TAP output, the tree's files, running a program.

Not a test itself. A check calls ok() for each promise and ends with done(); a failed promise prints
its details as comments. Nothing is skipped silently: skip() names the reason.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
sys.dont_write_bytecode = True
_results = []


def ok(good, name, details=()):
    """One promise. details: text or lines, shown when it is broken."""
    _results.append(bool(good))
    name = re.sub(r'#(?=\s*(skip|todo))', '', name, flags=re.I)  # a name is no directive
    print(f'{"ok" if good else "not ok"} {len(_results)} - {name}')
    if not good:
        lines = details.splitlines() if isinstance(details, str) else [str(x) for x in details]
        for line in lines[:60]:
            print('#   ' + line)
    sys.stdout.flush()
    return good


def skip(name, reason):
    _results.append(True)
    print(f'ok {len(_results)} - {name} # SKIP {reason}')


def note(text):
    print(f'# {text}')


def done():
    print(f'1..{len(_results)}')
    sys.exit(0 if all(_results) else 1)


def run(command, **options):
    """Runs a command (a list), returns the finished process with text stdout and stderr."""
    options.setdefault('stdout', subprocess.PIPE)
    options.setdefault('stderr', subprocess.PIPE)
    options.setdefault('timeout', 300)
    return subprocess.run([str(x) for x in command], universal_newlines=True, errors='replace',
                          **options)


def have(program):
    return shutil.which(program) is not None


def tree_files():
    """Every file of the tree that is, or would be, under version control; paths from ROOT."""
    if (ROOT / '.git').exists() and have('git'):
        out = run(['git', '-c', 'safe.directory=*', '-C', ROOT, 'ls-files', '-co',
                   '--exclude-standard']).stdout.split('\n')
        names = [x for x in out if x and (ROOT / x).is_file()]
    else:
        names = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob('*') if p.is_file()]
        names = [x for x in names if not x.startswith(('build', '.git/', '.env/'))]
    return sorted(pathlib.PurePosixPath(x) for x in names if '__pycache__' not in x)


def copy_tree(to):
    """A clean checkout's files in a new folder, as they are now."""
    for path in tree_files():
        target = pathlib.Path(to) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target)
    return pathlib.Path(to)


def read(path):
    return (ROOT / path).read_text(encoding='utf-8', errors='replace')


def environment(**more):
    env = dict(os.environ, LC_ALL='C.UTF-8', **more)
    for name in ('MAKEFLAGS', 'MAKELEVEL', 'DESTDIR'):
        env.pop(name, None)
    return env
