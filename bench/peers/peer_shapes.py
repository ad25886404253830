# SPDX-License-Identifier: MIT
"""peer_shapes.py - reads bench/shapes/*.txt: what is compared with other libraries.

A row is a dict; a file that says something else is refused with a sentence that names the file, the
line, the value and what was expected. Operations and bytes of a row are counted here, the same way
for everybody: only pairs of a row and a key that it sees.
"""
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent.parent / 'shapes'
GROUPS = ['prefill', 'masks', 'types', 'decode', 'tiny']  # in the order of the report
DTYPES = {'f32': 4, 'f64': 8, 'f16': 2, 'bf16': 2}  # bytes
MASKS = ['full', 'causal', 'window', 'bool', 'bool-h', 'bias', 'bias-h']
NUMBERS = ['h', 'h_kv', 'rows', 'keys', 'd']
WINDOW_LEFT = 256  # keys that a window shows to the left of a row
TILE = 128  # rows and keys of a tile of a mask


def refuse(where, what, value, wanted):
    raise ValueError(f'{where}: {what} is {value!r}; it must be {wanted}')


def number_or_none(where, what, word, most):
    if word == '-':
        return None
    if not re.fullmatch(r'\d+(\.\d+)?', word) or not 0 < float(word) <= most:
        refuse(where, what, word, f'a number above 0, at most {most}, or -')
    return float(word)


def parse_line(where, line):
    words = line.split()
    quick = words[-1] == 'quick'
    words = words[:-1] if quick else words
    if len(words) != 11:
        refuse(where, 'number of columns', len(words), '11, and "quick" or nothing after them')
    row = {'dtype': words[0], 'mask': words[6], 'threads': words[7], 'quick': quick}
    if row['dtype'] not in DTYPES:
        refuse(where, 'dtype', row['dtype'], 'one of ' + ', '.join(DTYPES))
    for name, word in zip(NUMBERS, words[1:6]):
        if not (word.isascii() and word.isdigit() and 0 < int(word) <= 1 << 20):
            refuse(where, name, word, 'a whole number from 1 to 1048576')
        row[name] = int(word)
    if row['h'] % row['h_kv']:
        refuse(where, 'h_kv', row['h_kv'], f'a divisor of {row["h"]} heads')
    if row['mask'] not in MASKS:
        refuse(where, 'mask', row['mask'], 'one of ' + ', '.join(MASKS))
    if row['mask'] != 'full' and row['rows'] != row['keys']:
        refuse(where, 'rows', row['rows'], f'as many as the {row["keys"]} keys under a mask')
    if row['threads'] not in ('1', 'all', 'both'):
        refuse(where, 'threads', row['threads'], '1, all or both')
    row['least'] = number_or_none(where, 'ratio', words[8], 1000)
    row['share'] = {'avx2': number_or_none(where, 'share', words[9], 1),
                    'avx512': number_or_none(where, 'share', words[10], 1)}
    return row


def read_file(path):
    rows = []
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        line = line.partition('#')[0].strip()
        if line:
            row = parse_line(f'{path.name} line {number}', line)
            rows.append({'group': path.stem, **row})
    return rows


def read_all(folder=FOLDER):
    """Every row of every file, files in the order of GROUPS, others after them by name."""
    paths = sorted(folder.glob('*.txt'),
                   key=lambda p: (GROUPS.index(p.stem) if p.stem in GROUPS else 99, p.stem))
    return [row for path in paths for row in read_file(path)]


def pairs(row):
    """Pairs of a row and a key that it sees, of one head; of drawn tiles exactly half."""
    if row['mask'] == 'causal':
        return row['keys'] * (row['keys'] + 1) / 2
    if row['mask'] == 'window':
        left = min(WINDOW_LEFT, row['keys'])
        return left * (left + 1) / 2 + (row['keys'] - left) * (left + 1)
    return row['rows'] * row['keys'] / (1 if row['mask'] == 'full' else 2)


def flops(row):
    return 4 * pairs(row) * row['h'] * row['d']


def kv_bytes(row):
    return 2 * row['h_kv'] * row['keys'] * row['d'] * DTYPES[row['dtype']]


def name(row):
    """Short, for a table: the heads, the sizes and the mask."""
    heads = f'H {row["h"]}' + (f'/{row["h_kv"]}' if row['h'] != row['h_kv'] else '')
    size = f'S {row["keys"]}' if row['rows'] == row['keys'] else f'{row["rows"]} × {row["keys"]}'
    return f'{row["dtype"]}, {heads}, {size}, d {row["d"]}, {row["mask"]}'
