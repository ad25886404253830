#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py QKV FOLDER - names of tokens that want to be something else, numbers at the edges, other
locales and narrow terminals, through every format of `qkv explain`. Prints TAP.

FOLDER takes a German locale where localedef can make one; without it the locale test still has
C, POSIX and C.UTF-8.
"""
import csv
import fcntl
import io
import json
import math
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
import xml.dom.minidom

sys.dont_write_bytecode = True
import kit  # noqa: E402
from kit import ok  # noqa: E402

# Python strings; lone surrogates are written to JSON as escapes
CORPUS = ['</script><script>alert(1)</script>', '"); system("id", "', '*/ int x; /*', "'''", 'a\nb',
          'a\r\nb', ']]>', '<!--', '\ud800', 'x\udfffy', '\u202egnp.exe', '\u2066\u2069', '\x1b[31mred',
          '\x1b]0;title\x07', '\x00', '\x7f', '\x9b31m', 'A' * 200, '\u4e2d' * 200, '=1+1', '+1', '-1',
          '@SUM(A1)', '\tTAB', ',', '"', '', ' ', '&amp;', '<', '\u00e9', 'e\u0301', '\u200b', '\ufeff',
          '\ufffe', '\uffff', '\U0001f600', '%s%n', '{0}', '\\u0041', 't0', '@0', 'the#1']
FORMULA = '=+-@\t\r'


def decoded(name):
    """What a lone surrogate becomes."""
    return ''.join('\ufffd' if 0xD800 <= ord(c) < 0xE000 else c for c in name)


def quiet(text, extra=''):
    """No control, no direction override, nothing invisible but what the text needs."""
    return not [c for c in text if c not in '\n' + extra and unicodedata.category(c) in ('Cc', 'Cf')]


def escaped(name):
    """How outside text is written where it may meet a terminal."""
    written = ''
    for c in name:
        kind = unicodedata.category(c)
        if kind == 'Cc':
            written += ''.join(f'\\x{b:02x}' for b in c.encode())
        else:
            written += f'\\u{{{ord(c):x}}}' if kind in ('Cf', 'Cn') else c
    return written


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1
               for c in text)


class Files:
    """Q, K, V for the corpus, one token a name."""

    def __init__(self, folder, names):
        self.args = []
        n = len(names)
        for name, d in (('q', 2), ('k', 2), ('v', 3)):
            x = [[math.sin(3.7 * i + c + d) for c in range(d)] for i in range(n)]
            kit.write_npy(folder / f'{name}.npy', x, '<f8')
            self.args += [f'--{name}', str(folder / f'{name}.npy')]
        (folder / 'names.json').write_text(json.dumps(names))
        self.args += ['--tokens', str(folder / 'names.json')]
        self.args += ['--keys', f'0:{n}']  # all of them, however many


def names_in_every_format(qkv, folder):
    files = Files(folder, CORPUS)
    want = [decoded(n) for n in CORPUS]
    raw = qkv.run('explain', *files.args, '--format', 'json').stdout
    j = json.loads(raw.decode('utf-8'))
    ok(j['tokens'] == want, 'json gives every name back', j['tokens'])
    ok(b'<' not in raw, 'json may stand in a script element')
    for view in ('table', 'map'):
        args = [*files.args, '--view', view]
        text = qkv.explain(*args)
        ok(quiet(text) and '\\x1b' in text and '\\u{202e}' in text, f'text, {view}: names are harmless',
           [c for c in text if not quiet(c)])
        wide = [line for line in text.splitlines() if columns(line) > 80]
        ok(not wide, f'text, {view}: no line is wider than 80 columns', wide)
        ascii_text = qkv.explain(*args, locale='C')
        ok(ascii_text.isascii() and quiet(ascii_text), f'text, {view}: ASCII where the locale is')
        wide = [line for line in ascii_text.splitlines() if len(line) > 80]
        ok(not wide, f'text, {view}: no ASCII line is wider', wide)
        ok(quiet(qkv.explain(*args, '--format', 'plain')), f'plain, {view}: names are harmless')
        svg = qkv.explain(*args, '--format', 'svg')
        tags = {e.tagName for e in xml.dom.minidom.parseString(svg).getElementsByTagName('*')}
        ok(quiet(svg) and tags <= {'svg', 'title', 'rect', 'line', 'text'},
           f'svg, {view}: parses, holds no other element', tags)
    for locale in 'C.UTF-8', 'C':
        sheet = qkv.explain(*files.args, '--format', 'csv', locale=locale)
        ok(quiet(sheet, '\r') and sheet.count('\r\n') == sheet.count('\n') == sheet.count('\r') ==
           len(CORPUS) + 3, f'csv, {locale}: names are harmless, a line a row',
           [c for c in sheet if not quiet(c, '\r')])
        cells = list(csv.reader(io.StringIO(sheet, newline='')))
        got = [row[1] for row in cells if row[0].isdigit()]
        ok(got == [("'" + escaped(n) if n[:1] in FORMULA and n else escaped(n)) for n in want],
           f'csv, {locale}: each name in its cell, whole, formulas with an apostrophe', got)
    grid = list(csv.reader(io.StringIO(qkv.explain(*files.args, '--format', 'csv', '--view', 'map'),
                                       newline='')))
    ok(len(grid[0]) == 2 + len(CORPUS) and all(len(r) == len(grid[0]) for r in grid),
       'csv: the map is a rectangle')


def each_name_alone(qkv, folder):
    """Chosen as the token, so that it stands in sentences and in the title."""
    bad = []
    for n, name in enumerate(CORPUS):
        files = Files(folder, ['x', name, 'y'])
        for style in ('text', 'plain', 'svg', 'json', 'csv'):
            for locale in ('C.UTF-8', 'C') if style in ('text', 'plain') else ('C.UTF-8',):
                result = qkv.run('explain', *files.args, '--token', '@1', '--format', style,
                                 locale=locale)
                text = result.stdout.decode('utf-8')  # raises when it is not UTF-8
                if result.returncode or result.stderr or not quiet(text, '\r' if style == 'csv' else ''):
                    bad.append((n, style, result.stderr))
    ok(not bad, f'{len(CORPUS)} names as the token, in every format', bad)


def bytes_that_are_not_text(qkv, folder):
    files = Files(folder, ['a', 'b'])
    args = files.args[:6] + ['--tokens', b'\xff\xfe,\xed\xa0\x80']
    raw = qkv.run('explain', *args, '--format', 'json').stdout
    ok(json.loads(raw.decode('utf-8'))['tokens'] == ['\ufffd\ufffd', '\ufffd\ufffd\ufffd'],
       'json: bytes that are not UTF-8 become U+FFFD', raw[:200])
    for style in ('text', 'plain', 'svg', 'csv'):
        text = qkv.run('explain', *args, '--format', style).stdout.decode('utf-8')
        ok('\\xff' in text, f'{style}: they are shown as \\xNN', text)


def choosing(qkv, folder):
    files = Files(folder, ['a', 'b', 'a', 'a#1', '@0', 'c'])
    for text, index in [('b', 1), ('a#0', 0), ('a#1', 3), ('@2', 2), ('@4', 4), ('c#0', 5)]:
        j = qkv.json(*files.args, '--token', text)
        ok(j['token'] == index, f'--token {text} is token {index}', j['token'])
    for text, part in [('a', "names 2 tokens: @0, @2"), ('z', 'names no token'), ('@6', '@0 to @5'),
                       ('a#2', "2 tokens are called 'a', #0 to #1"), ('@-1', '@0 to @5'), ('', 'names no token'),
                       ('@', '@0 to @5'), ('b#x', 'names no token')]:
        result = qkv.run('explain', *files.args, f'--token={text}')
        ok(result.returncode == 2 and part in result.stderr.decode() and not result.stdout,
           f"--token '{text}' is refused", result.stderr)
    ok(qkv.json(*files.args)['token'] == 0, 'without --token: the first')
    ok(qkv.json()['token'] == 2, 'without --token and files: sat')


def names_twice_and_unseen(qkv, folder):
    """The same name twice is two rows; a name that cannot be seen stands between quotes."""
    files = Files(folder, ['the', 'cat', 'the'])
    lines = qkv.explain(*files.args, '--token', '@2').splitlines()
    ok(sum(line.startswith('the  ') for line in lines) == 2 and
       'Query for the (@2) = ' in '\n'.join(lines), 'the same name twice: two rows', lines)
    files = Files(folder, ['[PAD]'] * 5)
    ok(len(qkv.json(*files.args)['weight'][0]) == 5 and
       qkv.explain(*files.args).count('\n[PAD]  ') == 5, 'five times [PAD]: five rows')
    files = Files(folder, ['', ' ', '\u3000', '\t', '\n'])
    text = qkv.explain(*files.args)
    ok(all(f'\n{name}  ' in text for name in ('""', '" "', '"\u3000"', '\\x09', '\\x0a')),
       'names that cannot be seen', text)


def edges(qkv, folder):
    inf, nan = math.inf, math.nan
    x = [[-0.0, 1e308], [inf, -inf], [nan, 5e-324]]
    for n in 'qkv':
        kit.write_npy(folder / f'{n}.npy', x, '<f8')
    args = [a for n in 'qkv' for a in (f'--{n}', str(folder / f'{n}.npy'))]
    j = qkv.json(*args)
    ok(math.copysign(1, j['q'][0][0]) == -1 and j['q'][1] == ['Infinity', '-Infinity'] and
       j['q'][2] == ['NaN', 5e-324] and j['q'][0][1] == 1e308,
       'json: -0.0, infinities, NaN, subnormals', j['q'])
    for stage in range(5):
        for style in ('text', 'plain', 'csv', 'svg'):
            for token in range(3):
                text = qkv.explain(*args, '--stage', str(stage), '--format', style, '--token',
                                   f'@{token}')
                if style == 'svg':
                    xml.dom.minidom.parseString(text)
    ok(True, 'numbers that are not finite: every stage and format prints')
    text = qkv.explain(*args, '--stage', '3', '--token', '@2')
    ok('not finite' in text, 'and the worked line says so', text)
    for n, want in (('q', [[1e300]]), ('k', [[1e-300], [2e300]]), ('v', [[1.0], [-1e300]])):
        kit.write_npy(folder / f'{n}.npy', want, '<f8')
    text = qkv.explain(*args, '--stage', '1')
    ok('1.00e300' in text and max(map(len, text.splitlines())) <= 80, 'huge numbers stay short', text)


def no_weights(qkv, folder):
    """Softmax of a score that is not finite: nobody is looked at, and no format says NaN of a key."""
    huge = ['--set-query', '1e308,1e308']
    for stage in '3', '4':
        text = qkv.explain(*huge, '--stage', stage)
        ok('looks' not in text and text.count('not finite') == 1, f'text, stage {stage}: no winner', text)
        ok('looks' not in qkv.explain(*huge, '--stage', stage, '--format', 'svg'), f'svg, stage {stage}')
    plain = qkv.explain(*huge, '--format', 'plain').splitlines()
    ok(not any(word in line for line in plain for word in ('NaN', ' inf', '∞')), 'plain: no infinity', plain)
    ok('cat NaN' not in '\n'.join(plain) and 'not finite' in plain[3] and 'sum to 1' not in plain[3] and
       'shares' not in plain[4], 'plain: no shares', plain)
    files = Files(folder, ['a', 'b', 'c'])
    kit.write_npy(folder / 'k.npy', [[math.nan, 0.0], [1.0, 0.0], [2.0, 0.0]], '<f8')
    kit.write_npy(folder / 'q.npy', [[1.0, 0.0], [-1.0, 0.0], [1e308, 0.0]], '<f8')
    for stage, want in (('1', ['c 2.00', 'b −1.00', 'c ?']), ('3', ['', '', ''])):
        args = [*files.args, '--view', 'map', '--stage', stage]
        lines = qkv.explain(*args).splitlines()[2:5]
        ok(all(line.endswith(w if w else ('?', ' ')) and 'NaN' not in line
               for line, w in zip(lines, want)), f'map, stage {stage}: the largest number', lines)
        spoken = qkv.explain(*args, '--format', 'plain').splitlines()
        ok(not any('NaN' in line or (stage == '3' and 'looks' in line) for line in spoken),
           f'map, stage {stage}: plain', spoken)


def legends(qkv, folder):
    """The last line of a map explains every sign in it, and no other."""
    del folder
    even, odd = ['--scale', '0'], ['--set-query', '1e308,1e308']
    for args, charset, want in (
            (even, 'C.UTF-8', '█ is 0'), (even, 'C', '9 is 0'),
            ([*even, '--causal'], 'C.UTF-8', '█ is 0; · is hidden'),
            ([*odd, '--rows', '2:3', '--keys', '1:4'], 'C.UTF-8', '? is not finite'),
            ([*odd, '--rows', '2:3'], 'C', '9 is 7.07e307; ? is not finite'),
            ([*even, '--causal=-9'], 'C.UTF-8', '· is hidden')):
        text = qkv.explain('--view', 'map', '--stage', '2', *args, locale=charset)
        ok(text.splitlines()[-1] == want, f'map {args}, {charset}: {want}', text)
    text = qkv.explain('--view', 'map', *odd)
    ok(text.endswith('from 0.75; ? is not\n  finite\n'), 'a map of weights says what ? is', text)


def other_sizes(qkv, folder):
    args = [a for n in 'qkv' for a in (f'--{n}', str(folder / f'{n}.npy'))]
    rows = [[math.sin(i * 7 + c) for c in range(3)] for i in range(60)]
    for n in 'qkv':
        kit.write_npy(folder / f'{n}.npy', rows, '<f4')
    text = qkv.explain(*args)
    ok('Left out: 40 of 60 keys' in text and '40 more' in text and text.count('\n') <= 33,
       'of 60 keys the 20 strongest are shown, and the others counted', text)
    grid = qkv.explain(*args, '--view', 'map')
    ok(len(grid.splitlines()) == 63 and max(map(len, grid.splitlines())) <= 80, 'a map of 60 by 60',
       grid)
    kit.write_npy(folder / 'q.npy', rows[:2], '<f4')
    text = qkv.explain(*args, '--token', '@1')
    ok('Query for @1 = ' in text and re.search(r'@1 looks most at t\d+: ', text),
       'fewer queries than keys: they have numbers, not names', text)
    wide = [[float(c % 7) for c in range(300)]]
    kit.write_npy(folder / 'q.npy', wide, '<f4')
    kit.write_npy(folder / 'k.npy', wide * 2, '<f4')
    kit.write_npy(folder / 'v.npy', wide * 2, '<f4')
    for stage in range(5):
        text = qkv.explain(*args, '--stage', str(stage))
        ok('Left out: ' in text and max(map(len, text.splitlines())) <= 80,
           f'300 channels, stage {stage}', text)
    kit.write_npy(folder / 'q.npy', [[1.0, 2.0]], '<f4')
    kit.write_npy(folder / 'k.npy', [], '<f4', '(0, 2)')
    kit.write_npy(folder / 'v.npy', [], '<f4', '(0, 3)')
    j = qkv.json(*args)
    ok(j['tokens'] == [] and j['out'] == [[0, 0, 0]] and j['lse'] == ['-Infinity'],
       'no keys at all: the output is 0', j)
    for style in ('text', 'plain', 'csv', 'svg'):
        for view in ('table', 'map'):
            qkv.explain(*args, '--format', style, '--view', view)
    kit.write_npy(folder / 'k.npy', [[1.0, 2.0]], '<f4')
    kit.write_npy(folder / 'v.npy', [[]], '<f4', '(1, 0)')
    ok(qkv.json(*args)['out'] == [[]] and qkv.explain(*args), 'values without channels')


def cells(qkv, folder):
    args = [a for n in 'qkv' for a in (f'--{n}', str(folder / f'{n}.npy'))]
    kit.write_npy(folder / 'q.npy', [[1.0]] * 1001, '<f4')
    for n in 'kv':
        kit.write_npy(folder / f'{n}.npy', [[1.0]] * 1000, '<f4')
    for style in ('text', 'json', 'svg'):
        result = qkv.run('explain', *args, '--format', style)
        text = result.stderr.decode()
        ok(result.returncode == 2 and not result.stdout and '1001000 scores' in text and
           'at most 1000000' in text and '--rows 0:1000' in text, f'{style}: 1001000 cells are refused',
           text)
    ok(len(qkv.json(*args, '--rows', '0:2', '--keys', '5:8', '--stage', '1')['score'][1]) == 3,
       'and --rows and --keys choose a part')
    j = qkv.json(*args, '--rows', '7:9', '--keys', '5:8')
    ok(j['rows'] == [7, 9] and j['keys'] == [5, 8] and j['token'] == 7 and
       j['tokens'] == ['t5', 't6', 't7'] and abs(j['weight'][0][0] - 1e-3) < 1e-15,
       'a part: the softmax runs over all keys', j)


def locales(qkv, folder):
    """The JSON is one, whatever the locale; no number has a comma."""
    args = ['--scale', '0.123', '--causal', '--temperature', '1.7']
    want = qkv.explain('--format', 'json', *args, locale='C')
    names = ['C.UTF-8', 'POSIX', '', None, 'xx_YY.ISO-8859-1']
    german = pathlib.Path(folder) / 'locale' / 'de_DE.UTF-8'
    if shutil.which('localedef') and not german.exists():
        german.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', str(german)],
                       capture_output=True)
    if german.exists():
        os.environ['LOCPATH'] = str(german.parent)
        names.append('de_DE.UTF-8')
    for name in names:
        got = qkv.explain('--format', 'json', *args, locale=name)
        ok(got == want, f'json is the same under LC_ALL={name}')
    ok(qkv.explain(locale='de_DE.UTF-8') == qkv.explain(), 'text too, where the charset is UTF-8')
    ok(qkv.explain(locale='POSIX').isascii() and '0.06*[1,0]' in qkv.explain(locale='C'),
       'signs and bars are ASCII elsewhere')


def on_terminal(qkv, args, width):
    """stdout of a run on a terminal of that width."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack('HHHH', 24, width, 0, 0))
    env = {'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', 'NO_COLOR': '1'}
    with subprocess.Popen([qkv.path, 'explain', *args], stdout=child, env=env) as process:
        os.close(child)
        text = b''
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        process.wait()
    os.close(parent)
    return text.decode('utf-8').replace('\r\n', '\n')


def narrow(qkv):
    """No number is dropped where it has room."""
    whole = {32: (0, 0), 40: (1, 0), 44: (1, 1), 48: (1, 1), 52: (1, 1), 60: (1, 1)}
    for width, (k, v) in whole.items():
        for stage in '0', '4':
            text = on_terminal(qkv, ['--stage', stage], width)
            ok(('Key K' in text, 'Value V' in text) == (bool(k), bool(v)) and
               text.count('\ncat    [0,2]') == k and text.count('[0,2]  [3,0]') == v and '…' not in text and
               ('Left out: ' in text) == (not v), f'{width} columns, stage {stage}: whole vectors', text)
    long = on_terminal(qkv, ['--keys', '0:1'], 40)
    ok('see --format json' not in long and max(map(len, long.splitlines())) <= 40,
       'the hint stays away where it would cost a line', long)


def widths(qkv, data):
    base = [x for n in 'qkv' for x in (f'--{n}', str(data / f'minilm_layer3_{n}.npy'))]
    base += ['--tokens', str(data / 'minilm_tokens.json'), '--head', '1', '--token', 'it']
    for width in (32, 40, 60, 79, 81, 132, 250):
        for args in ([], ['--causal', '--stage', '3'], base, [*base, '--stage', '1'],
                     [*base, '--view', 'map'], [*base, '--stage', '2', '--view', 'map']):
            text = on_terminal(qkv, args, width)
            wide = [line for line in text.splitlines() if len(line) > width]
            if not ok(text and not wide, f'{width} columns: {args[-2:]}', '\n'.join(wide)):
                return
    color = qkv.explain('--color', 'always')
    ok('\x1b[' in color and re.sub(r'\x1b\[\d+m', '', color) == qkv.explain(),
       'colour adds nothing but colour')


def main():
    qkv = kit.Command(sys.argv[1])
    data = pathlib.Path(sys.argv[3])
    for test in (names_in_every_format, each_name_alone, bytes_that_are_not_text, choosing, edges,
                 names_twice_and_unseen, no_weights, legends,
                 other_sizes, cells):
        with tempfile.TemporaryDirectory() as folder:
            test(qkv, pathlib.Path(folder))
    locales(qkv, sys.argv[2])
    narrow(qkv)
    widths(qkv, data)
    return kit.done()


sys.exit(main())
