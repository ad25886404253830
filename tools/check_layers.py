#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_layers.py [ROOT] - the law of who may include whom (ARCHITECTURE.md), read from the files.

Reads the #include lines of every C file and prints each one that the table forbids; exit 1 if there
is one. A folder may always include itself. Includes are written from a root: "base/error.h" inside
src/, <qkv/types.h> for the public header, "files/npy.h" outside src/. A name without a folder means
the includer's own folder. The table is law: change it only together with ARCHITECTURE.md.
"""
import pathlib
import re
import sys

# src/: folder -> folders of src/ it may include besides itself
SRC = {
    'base': '',
    'cpu': 'base',
    'ref': 'base',
    'mask': 'base',
    'kernel': 'base cpu',
    'plan': 'base cpu mask kernel',
    'run': 'base mask kernel ref plan',
    'api': 'base cpu ref mask kernel plan run',
}
# outside src/: folder -> what it may include besides itself; PUBLIC is include/qkv/
OUTSIDE = {
    'include': '',
    'files/parse': '',
    'files': 'files/parse',
    'lesson': 'PUBLIC',
    'cli': 'PUBLIC lesson files files/parse',
    'page': 'PUBLIC lesson files/parse',
    'tests': 'PUBLIC lesson files files/parse cli page',
    'tests/spec': 'tests/golden',
    'tests/golden': 'PUBLIC',
    'tests/api': 'PUBLIC tests/golden',
    'tests/prop': 'PUBLIC tests/api tests/golden',
    'tests/unit': 'PUBLIC SRC tests/api lesson files files/parse cli page',
    'tests/kernel': 'PUBLIC SRC tests/api tests/golden',
    'tests/oom': 'PUBLIC SRC tests/api lesson files files/parse cli',
}
# folders whose files may use these headers of the system only; all others are free
FREESTANDING = {'stddef.h', 'stdint.h', 'float.h', 'limits.h', 'stdbool.h', 'stdarg.h'}
SYSTEM = {'include': {'stddef.h', 'stdint.h', 'string.h'}, 'files/parse': FREESTANDING,
          'lesson': FREESTANDING}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def unit_of(path):
    """The row of the table that a file belongs to: the longest folder named there."""
    parts = path.parts
    if parts[0] == 'src':
        return 'src/' + parts[1] if len(parts) > 2 else 'src'
    for n in range(len(parts) - 1, 0, -1):
        name = '/'.join(parts[:n])
        if name in OUTSIDE:
            return name
    return None


def target_of(root, includer, name):
    """The row that an included name belongs to, or None for a header of the system."""
    if name.startswith('qkv/'):
        return 'PUBLIC'
    beside = includer.parent / name
    if '/' not in name:
        return unit_of(beside) if (root / beside).exists() else None
    first = name.split('/')[0]
    if first in SRC:
        return 'src/' + first
    if first in {k.split('/')[0] for k in OUTSIDE} or (root / beside).exists():
        return unit_of(pathlib.PurePosixPath(name)) or unit_of(beside)
    return None


def allowed(unit):
    if unit.startswith('src/'):
        return {'PUBLIC'} | {'src/' + x for x in SRC.get(unit[4:], '').split()}
    words = OUTSIDE[unit].split()
    if 'SRC' in words:
        words += ['src/' + x for x in SRC]
    return set(words)


def check_file(root, path):
    """Yields a sentence for each include of root/path that the table forbids."""
    unit = unit_of(path)
    if unit is None or unit == 'src' or (unit.startswith('src/') and unit[4:] not in SRC):
        yield f'{path}: its folder is not in the table of tools/check_layers.py'
        return
    text = (root / path).read_text(encoding='utf-8', errors='replace')
    for quote, name in INCLUDE.findall(text):
        target = target_of(root, path, name)
        if '..' in name.split('/'):
            yield f'{path}: includes "{name}": write it from the root, without ..'
        elif target is None:
            if quote == '<' and unit in SYSTEM and name not in SYSTEM[unit]:
                yield f'{path}: {unit} may not include <{name}>'
        elif target != unit and target not in allowed(unit):
            if not (unit == 'include' and target == 'PUBLIC'):
                yield f'{path}: {unit} may not include {target} ({name})'


def check_tree(root):
    root = pathlib.Path(root)
    bad, count = [], 0
    for top in ['src'] + sorted({k.split('/')[0] for k in OUTSIDE}):
        for path in sorted((root / top).rglob('*')):
            if path.suffix in ('.c', '.h', '.inc') and path.is_file():
                count += 1
                bad += check_file(root, pathlib.PurePosixPath(path.relative_to(root).as_posix()))
    return bad, count


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    bad, count = check_tree(root)
    for line in bad:
        print(line)
    print(f'{count} files, {len(bad)} forbidden includes')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
