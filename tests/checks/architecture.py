# SPDX-License-Identifier: MIT
"""ARCHITECTURE.md and the tree side by side show one picture: folders, the include table, paths."""
import re

import tap
import check_layers

text = tap.read('ARCHITECTURE.md')
files = tap.tree_files()
folders = {str(x) for p in files for x in p.parents if str(x) != '.'}


def drawn(block):
    """The folders in the picture: two blanks of indentation a level, the name ends with a slash."""
    found, above = set(), []
    for line in block.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0] if line.strip() else ''
        if name.endswith('/'):
            above = above[:depth] + [name.rstrip('/')]
            found.add('/'.join(above))
    return found


block = re.search(r'^## Folders\n+```\n(.*?)^```', text, re.M | re.S).group(1)
picture = drawn(block)
tap.ok(len(picture) > 10, f'{len(picture)} folders are drawn')
missing = sorted(x for x in picture if x not in folders)
tap.ok(not missing, 'every folder that is drawn exists', missing)
# the rows of tests and docs name their folders as words
words = {top: set(re.findall(r'[\w.]+', line)) for top, line in
         re.findall(r'^(tests|docs)/ +(.*)$', block, re.M)}
hidden = []
for folder in sorted(folders):
    parts = folder.split('/')
    known = folder in picture or any(x.startswith(folder + '/') for x in picture)
    if parts[0] in words and len(parts) >= 2:
        known = parts[1] in words[parts[0]]
    if not known and not any(folder.startswith(x + '/') for x in ('data', '.ci')) and folder != '.ci':
        hidden.append(folder)
tap.ok(not hidden, 'every folder of the tree is drawn', hidden)
listed = sorted(f'{top}/{x}' for top in words for x in words[top]
                if not (tap.ROOT / top / x).exists() and '.' in x)
tap.ok(not listed, 'every file that the picture names in tests/ and docs/ exists', listed)

rows = dict(re.findall(r'^\| `(\w+)` \| ([^|]*) \| [^|]* \|$', text, re.M))
table = {}
for name in check_layers.SRC:
    may = rows.get(name, 'no row').strip().strip('`')
    table[name] = {'–': set(), 'all of `src/': set(check_layers.SRC) - {'api'}}.get(may, set(may.split()))
wrong = [f'{k}: {sorted(table[k])}, but check_layers.py says {v}' for k, v in check_layers.SRC.items()
         if table[k] != set(v.split())]
tap.ok(not wrong, 'the table of who may include whom is the one that is checked', wrong)

names = {str(p) for p in files}
gone = []
for path in re.findall(r'`([\w./-]+/[\w.-]+\.\w+)`', text):
    if not any(x == path or x.endswith('/' + path) for x in names):
        gone.append(path)
tap.ok(not gone, 'every path in the text exists', sorted(set(gone)))
tap.ok(drawn('src/   x\n  a/  y\n    b/  z\n  c/\nd/\n') == {'src', 'src/a', 'src/a/b', 'src/c', 'd'},
       'the picture is read as it is drawn')
tap.done()
