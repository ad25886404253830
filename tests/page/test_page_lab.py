# SPDX-License-Identifier: MIT
"""The lab: what it opens on, the trained model, maps with their table twin, comparing, own tables and
what is wrong with them, hostile names, files out of it, the later token that earlier ones never notice.
"""
import csv
import io
import json
import re
import struct
import xml.dom.minidom
import zlib

import face
import pagekit as kit
from pagekit import case, check

HOSTILE = ['</script>', '<img src=x onerror="window.ran=1">', 'a&b', '\u202eright to left', '\x1b[31mred',
           'x' * 200, '=1+1', 'twin', 'twin', '"; system("', "'''", ']]>']
NO_NUMBER = re.compile(r'\bNaN\b|\bInfinity\b|\bundefined\b|\[object|\bnull\b')


@case('"Open in the lab" carries the state over')
def _carried(session):
    page = session.open()
    face.pick(page, 'mat')
    face.go_stage(page, 3)
    face.open_lab(page)
    check(face.lab(page).get_by_role('radio', name='weights', exact=True).is_checked(), 'stage')
    kit.same(page.evaluate('window.qkv.about.token'), 3)
    check('mat' in face.lab(page).inner_text(), 'the token')


@case('the trained model opens on layer 3, head 1, row "it": cat 0.49, [CLS] 0.20, mat 0.14')
def _model(session):
    page = session.open('sec=lab')
    face.choose(page, 'Numbers', 'trained model')
    about = page.evaluate('window.qkv.lab.about')
    kit.same((about['layer'], about['head'], about['rows']), (3, 1, 13))
    row = dict(face.lab_row(page))
    kit.same((row['cat'], row['[CLS]'], row['mat']), ('0.49', '0.20', '0.14'), 'row of "it"')
    check('“it”' in face.lab(page).locator('.lab-list-title').first.text_content().replace('\u2068', '')
          .replace('\u2069', ''), 'the title of the row')
    text = face.lab(page).inner_text()
    check('explanation' in text, 'no caption says that a weight is no explanation')
    heads = face.lab(page).locator('.lab-heads button')
    kit.same(heads.count(), 12, 'heads')
    names = heads.evaluate_all('(all) => all.map((x) => x.getAttribute("aria-label") || x.textContent)')
    check(all(re.search(r'Head \d+.* (to|→) .*\d\.\d\d$', x) for x in names), names)
    heads.nth(5).click()
    face.settle(page)
    kit.same(page.evaluate('window.qkv.lab.about.head'), 5)


@case('the map has a table twin with the same numbers as the JSON')
def _twin(session):
    page = session.open('sec=lab&view=map&st=3')
    face.lab(page).locator('.lab-twin summary').first.click()
    face.settle(page)
    shown = page.locator('#lab .lab-twin tbody tr').evaluate_all(
        '(rows) => rows.map((x) => [...x.cells].slice(1).map((y) => y.textContent))')
    made = json.loads(page.evaluate("window.qkv.call('json', window.qkv.text)"))
    kit.same(shown, [[f'{x:.2f}' for x in row] for row in made['weight']])


@case('the map is a grid of one tab stop: arrows, Home, End, row and column')
def _grid(session):
    page = session.open('sec=lab&view=map&st=3')
    grid = face.lab(page).get_by_role('grid')
    kit.same(grid.locator('[tabindex="0"]').count(), 1, 'tab stops')
    grid.locator('[tabindex="0"]').focus()
    for key, want in (('Home', (2, 0)), ('ArrowRight', (2, 1)), ('ArrowDown', (3, 1)), ('End', (3, 3)),
                      ('Control+Home', (0, 0))):
        page.keyboard.press(key)
        face.settle(page)
        kit.same(tuple(page.evaluate('[window.qkv.lab.row, window.qkv.lab.key]')), want, key)
        label = page.evaluate('document.activeElement.getAttribute("aria-label")')
        check(re.fullmatch(r'from \S+ to \S+: .+', label or ''), key, label)
    page.keyboard.press('Control+Space')
    face.settle(page)
    check(face.lab(page).get_by_role('radio', name='column', exact=True).is_checked(), 'the column')
    page.keyboard.press('Tab')
    check(not page.evaluate('document.activeElement.closest("[role=grid]")'), 'Tab stays in the grid')


@case('A beside B differ in the changed option only')
def _compare(session):
    page = session.open('sec=lab&st=3&T=0.5&mask=causal')
    face.lab(page).get_by_role('checkbox', name='A beside B').check()
    face.settle(page)
    a, b = page.evaluate('[window.qkv.lab.about.a, window.qkv.lab.about.b]')
    kit.same(a, b, 'B begins as A')
    face.choose(page, 'Scale', 'none')
    a, b = page.evaluate('[window.qkv.lab.about.a, window.qkv.lab.about.b]')
    differ = {x for x in a if a[x] != b[x]}
    check(differ and differ <= {'scale', 'times', 'scale_text'}, differ)
    kit.same(face.lab(page).locator('.lab-panel:visible').count(), 2, 'panels')


OPTIONS = [  # what is chosen in B, and how a link says both panels
    ('scale', lambda page: face.choose(page, 'Scale', 'none'),
     'st=3&mask=causal&T=0.5', 'st=3&mask=causal&T=0.5&scale=none'),
    ('mask', lambda page: face.choose(page, 'Mask', 'none'),
     'st=3&scale=dk&T=0.5&mask=causal', 'st=3&scale=dk&T=0.5'),
    ('sharpness', lambda page: sharpest(page),
     'st=3&scale=dk&mask=causal&T=0.5', 'st=3&scale=dk&mask=causal&T=10'),
    ('wrong way', lambda page: face.lab(page).get_by_role('checkbox', name=re.compile('wrong')).check(),
     'st=3&scale=dk&T=0.5&mask=causal', 'st=3&scale=dk&T=0.5&mask=causal&wrong=1'),
]


def sharpest(page):
    page.locator('#lab-sharpness').focus()
    page.keyboard.press('End')


def both(page, view):
    """The four files of A beside B, taken apart: JSON and CSV of each, texts of the SVG."""
    made = json.loads(saved(page, 'JSON'))
    kit.same(list(made), ['A', 'B'], view)
    rows = list(csv.reader(io.StringIO(saved(page, 'CSV').decode())))
    tables = {x: [row[1:] for row in rows[1:] if row[0] == x] for x in 'AB'}
    kit.same([rows[0][0], {len(x) for x in rows}], ['panel', {len(rows[0])}], view)
    svg = xml.dom.minidom.parseString(saved(page, 'SVG'))
    pictures = [x for x in svg.documentElement.childNodes if x.nodeName == 'svg']
    check(png_pixels(saved(page, 'PNG')) > 8, view, 'the PNG is blank')
    return made, tables, [' '.join(y.firstChild.data for y in x.getElementsByTagName('text') if y.firstChild)
                          for x in pictures]


@case('A beside B: each option alone parts them, and all four files hold both panels')
def _both(session):
    for what, act, start, other in OPTIONS:
        for view in ('table', 'map'):
            page = session.open(f'sec=lab&view={view}&ab=1&{start}&'
                                + '&'.join('b.' + x for x in start.split('&')[1:]))
            kit.same(page.evaluate('window.qkv.lab.about.changed'), 0, what)
            face.lab(page).get_by_role('group', name='Change').get_by_role('radio', name='B').check()
            act(page)
            face.settle(page)
            about = page.evaluate('window.qkv.lab.about')
            kit.same(about['changed'], 1, what)
            made, tables, pictures = both(page, view)
            for x, text, drawn in zip('AB', (start, other), pictures):
                want = json.loads(session.qkv('explain', '--state', text, '--format', 'json'))
                kit.same(made[x], want, f'{what}, {view}, {x}')
                weights = [f'{y:.2f}' for y in want['weight'][2]]
                row = [f'{float(y):.2f}' for y in (tables[x][2][2:] if view == 'map' else
                                                   [z[-1] for z in tables[x][1:]])]
                kit.same(row, weights, f'CSV: {what}, {view}, {x}')
                check(all(y in drawn for y in weights if view == 'table'), what, x, drawn)
            check(made['A'] != made['B'], what, 'A and B are the same')
            page.context.close()


@case('masks, the wrong way, sharpness: the sum says what went wrong')
def _wrong_way(session):
    page = session.open('sec=lab&view=map&st=3&t=cat')
    face.choose(page, 'Mask', 'causal')
    total = face.lab(page).locator('.lab-side tfoot td').first
    kit.same(total.text_content(), '1.00')
    face.lab(page).get_by_role('checkbox', name=re.compile('wrong way')).check()
    face.settle(page)
    check(total.text_content() != '1.00', 'the sum is', total.text_content())
    check('too late' in face.lab(page).inner_text(), 'nothing says why')


TABLES = [
    ('the,1,0\ncat,0,2,3\nsat,2,0', ['Row 2', '4', '3']),
    ('the,1,0\ncat,0,x\n', ['Row 2', 'column 3', 'x']),
    ('1,0\n0,NaN\n', ['Row 2', 'column 2', 'NaN']),
    ('1;0\n1,5;2\n', ['Row 2', 'column 1', 'point', '1.5']),
    ('1 0\n2 1e400\n', ['Row 2', 'column 2', 'large']),
    ('1,0\n,\n', ['Row 2', 'column 1', 'empty']),
    ('', ['nothing']),
    ('a,b\n', ['number']),
]


@case('a table that is wrong: a sentence names row and column; the last good one stays')
def _tables(session):
    page = session.open('sec=lab')
    face.paste(page, 'the,1,0\ncat,0,2\nsat,2,0\nmat,1,1')
    before = face.lab_row(page)
    check(before, 'the good table was not read', face.own_trouble(page))
    for text, parts in TABLES:
        face.paste(page, text)
        said = face.own_trouble(page)
        for part in parts:
            check(part.lower() in said.lower(), f'{text!r}: {said!r} lacks {part!r}')
        kit.same(face.lab_row(page), before, f'{text!r} changed what was good')


@case('a table with a row of headings is read and says so; a million cells do not hold the page up')
def _large(session):
    page = session.open('sec=lab')
    face.paste(page, 'name,x,y\nthe,1,0\ncat,0,2')
    check('heading' in face.lab(page).locator('#lab-own').inner_text(), 'nothing is said of headings')
    page.evaluate('''() => { window.longest = 0; let last = performance.now();
      const tick = () => { const now = performance.now(); window.longest = Math.max(window.longest, now - last);
        last = now; if (!window.stop) setTimeout(tick, 0); }; tick();
      document.getElementById('lab-text').value = Array.from({ length: 2000 }, (x, r) =>
        Array.from({ length: 500 }, (y, c) => (r * 7 + c) % 10).join(',')).join('\\n');
      window.longest = 0; }''')
    face.lab(page).get_by_role('button', name='Read the table', exact=True).click()
    read = 'window.qkv.lab.about.rows === 2000'
    for _ in range(150):  # a machine that does other work needs its time
        if face.own_trouble(page) or page.evaluate(read):
            break
        page.wait_for_timeout(200)
    check(face.own_trouble(page) or page.evaluate(read), 'nothing was said')
    page.evaluate('window.stop = true')
    longest = page.evaluate('window.longest')
    check(longest < 1000, 'the page stood still for', longest, 'ms')


def npy(shape, data=b'', header=None, descr='<f4'):
    text = header or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    text += ' ' * (-(len(text) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode() + data


FILES = [
    ('cut.npy', npy((2, 2), b'\0' * 12), ['cut', '144']),
    ('huge.npy', npy((2 ** 40, 2 ** 40)), ['.npy']),
    ('hostile.npy', npy((), header="{'descr': __import__('os'), 'shape': (2, 2)}"), ['.npy']),
    ('rank.npy', npy((2,), struct.pack('<2f', 1, 2)), ['axes']),
    ('nan.npy', npy((2, 2), struct.pack('<4f', 1, 2, float('nan'), 3)), ['row 2', 'column 1']),
    ('bad.json', b'{"q": [[1, 2], [3]]}', ['line 1']),
    ('deep.json', b'[' * 5000, ['JSON']),
    ('text.csv', b'\xff\xfe\x00', ['']),
]


@case('files: .npy, JSON and CSV are read by the core; hostile ones get a sentence')
def _files(session):
    page = session.open('sec=lab')
    page.evaluate("document.getElementById('lab-own').open = true")
    good = npy((2, 2), struct.pack('<4f', 1, 0, 0.5, 2))
    page.locator('#lab-file').set_input_files({'name': 'a.npy', 'mimeType': '', 'buffer': good})
    page.wait_for_selector('#lab .lab-side tbody tr')
    kit.same(page.evaluate('[window.qkv.lab.about.data, window.qkv.lab.about.rows]'), ['file', 2])
    before = face.lab_row(page)
    for name, data, parts in FILES:
        page.locator('#lab-file').set_input_files({'name': name, 'mimeType': '', 'buffer': data})
        page.wait_for_timeout(80)
        said = face.own_trouble(page)
        check(said, name, 'nothing was said')
        for part in parts:
            check(part.lower() in said.lower(), f'{name}: {said!r} lacks {part!r}')
        kit.same(face.lab_row(page), before, name)


@case('names from outside are text and nothing else, everywhere')
def _hostile(session):
    quote = lambda x: '"' + x.replace('"', '""') + '"'
    page = session.open('sec=lab')
    table = '\n'.join(f'{quote(name)},{n % 3},{n % 2}' for n, name in enumerate(HOSTILE))
    count = page.evaluate('document.querySelectorAll("script, img, b, i").length')
    face.paste(page, table)
    kit.same(page.evaluate('window.qkv.lab.about.rows'), len(HOSTILE), face.own_trouble(page))
    kit.same(page.evaluate('window.ran ?? null'), None)
    check(page.evaluate('document.querySelectorAll("img").length') == 0, 'an image was made')
    check(page.evaluate('document.querySelectorAll("script").length') <= count, 'a script was made')
    kit.same(face.probe(page, 'clipped'), [])
    names = [x for x, _ in face.lab_row(page)]
    check(len(set(names)) == len(names), 'two tokens of one name are not told apart:', names)
    check(not [x for x in names if '\x1b' in x], 'an escape is shown as it is')
    for kind in ('CSV', 'JSON', 'SVG'):
        text = saved(page, kind).decode()
        check('<script' not in text.lower() and '<img' not in text.lower() or kind in ('JSON', 'CSV'), kind)
        if kind == 'CSV':
            cells = [x for row in csv.reader(io.StringIO(text)) for x in row]
            check("'=1+1" in cells and '=1+1' not in cells, 'a formula in the CSV')
        if kind == 'SVG':
            xml.dom.minidom.parseString(text)
        if kind == 'JSON':
            json.loads(text)


def saved(page, kind):
    with page.expect_download() as made:
        face.lab(page).get_by_role('button', name=kind, exact=True).click()
    return open(made.value.path(), 'rb').read()


def png_pixels(data):
    """Distinct bytes of the picture's rows: a blank one has very few."""
    check(data.startswith(b'\x89PNG\r\n\x1a\n'), 'no PNG')
    body, at = b'', 8
    while at < len(data):
        size, = struct.unpack('>I', data[at:at + 4])
        if data[at + 4:at + 8] == b'IDAT':
            body += data[at + 8:at + 8 + size]
        at += 12 + size
    return len(set(zlib.decompress(body)))


@case('SVG, PNG, CSV and JSON of a token and of a map carry the same numbers')
def _exports(session):
    for view in ('table', 'map'):
        page = session.open(f'sec=lab&view={view}&st=3')
        made = json.loads(saved(page, 'JSON'))
        weights = [f'{x:.2f}' for row in made['weight'] for x in row]
        if view == 'table':
            weights = [f'{x:.2f}' for x in made['weight'][2]]
        rows = list(csv.reader(io.StringIO(saved(page, 'CSV').decode())))
        check(len(rows) >= 5, view, 'CSV rows', rows)
        flat = [f'{float(x):.2f}' for row in rows[1:] for x in row if re.fullmatch(r'-?\d+(\.\d+)?(e-?\d+)?', x)]
        for number in weights:
            check(number in flat, view, number, 'is not in the CSV', flat)
        svg = xml.dom.minidom.parseString(saved(page, 'SVG'))
        texts = [x.firstChild.data for x in svg.getElementsByTagName('text') if x.firstChild]
        shown = [x for x in weights if x in ' '.join(texts)]
        check(len(shown) >= len(weights) // 2, view, 'numbers of the SVG', texts)
        check(png_pixels(saved(page, 'PNG')) > 8, view, 'the PNG is blank')
        page.context.close()


@case('the JSON that is saved is the command’s')
def _json(session):
    page = session.open('sec=lab&st=4&t=mat&Q=0,1;1,0;1,2;2,0')
    kit.same(saved(page, 'JSON').decode(), session.qkv('explain', '--state', face.state(page), '--format',
                                                       'json'))


@case('change a later token: under the causal mask every earlier output keeps its bits')
def _later(session):
    page = session.open('sec=lab')
    face.lab(page).locator('summary', has_text='Change a later token').click()
    face.settle(page)
    rows = page.locator('#lab details[open] table tbody tr').evaluate_all(
        '(all) => all.map((x) => [...x.cells].map((y) => y.textContent))')
    kit.same([x[3] for x in rows], ['same bits'] * 3 + ['changed'], 'causal')
    check('changed' in [x[4] for x in rows][:3], 'without a mask', rows)
    kit.same([x[1] for x in rows][:3], [x[2] for x in rows][:3])
    part = face.lab_part(page, 'Change a later token')
    with page.expect_download() as made:
        part.get_by_role('button', name='CSV', exact=True).click()
    table = list(csv.reader(io.StringIO(open(made.value.path(), encoding='utf-8').read())))
    kit.same(table[0], ['token', 'output 0', 'output 1', 'after the change 0', 'after the change 1',
                        'causal mask', 'no mask'], 'one number a column')
    for row, shown in zip(table[1:], rows):
        numbers = [float(x) for x in row[1:5]]  # every digit, where the table has two
        for pair, text in ((numbers[:2], shown[1]), (numbers[2:], shown[2])):
            kit.same('[' + ', '.join(f'{x:.2f}' for x in pair) + ']', text)
        kit.same(row[5:], shown[3:5])
    with page.expect_download() as made:
        part.get_by_role('button', name='JSON', exact=True).click()
    json.loads(open(made.value.path(), encoding='utf-8').read())


def typed(page, field, text):
    field.fill(text)
    field.blur()
    face.settle(page)


def follows(session, page, what):
    """Link, command and saved file say the same numbers as the page."""
    for text in (face.state(page), page.evaluate('window.qkv.link')):
        made = session.qkv('explain', '--state', text, '--format', 'json')
        kit.same(page.evaluate("window.qkv.call('json', window.qkv.text)"), made, what)
    return json.loads(made)


@case('X and W can be edited: Q, K and V follow, and so do link, command, files and undo')
def _weights(session):
    page = session.open('sec=lab&st=3')
    part = face.lab_part(page, 'Edit X')
    kit.same(part.locator('input').count(), 16 + 3 * 8, 'fields')
    first = face.state(page)
    # the: [1,0,0,0] W^Q; its query is W^Q's first row
    typed(page, face.weight(page, 'q', 0, 1), '2.5')
    kit.same(follows(session, page, 'W')['q'][0], [0, 2.5], 'query of the')
    typed(page, face.weight(page, 'X', 0, 1), '-1')
    made = follows(session, page, 'X')
    kit.same((made['q'][0], made['k'][0], made['v'][0]), ([-2, 1.5], [0, -1], [1, -1]), 'after X')
    page.wait_for_timeout(400)
    check('WQ=' in page.url and 'X=' in page.url, 'the fragment is', page.url)
    kit.same(json.loads(saved(page, 'JSON')), made, 'the saved file')
    for want in ('2.5', '1'):
        face.undo(page)
        face.settle(page)
        kit.same(face.weight(page, 'q', 0, 1).input_value(), want)
    kit.same(face.state(page), first, 'undone')
    face.redo(page)
    face.settle(page)
    kit.same(face.weight(page, 'q', 0, 1).input_value(), '2.5', 'done again')


@case('a bad number of X or W: the same sentence as elsewhere, beside the fields; the last stays')
def _bad_weight(session):
    page = session.open('sec=lab')
    face.lab_part(page, 'Edit all numbers')
    face.lab_part(page, 'Edit X')
    for text in ('2..0', '1,5', '1e400', '', 'NaN'):
        said = []
        for table, place in (('K', '#lab-numbers-trouble'), ('k', '#lab-weights-trouble')):
            before = face.state(page)
            field = page.locator(f'#lab input[data-w="{table}"][data-r="1"][data-c="0"]')
            typed(page, field, text)
            kit.same(field.get_attribute('aria-describedby'), place[1:], text)
            kit.same(face.state(page), before, f'{text!r} changed the state')
            said.append(page.locator(place).text_content())
            typed(page, field, '1')
            check(not page.locator(place).is_visible(), 'the sentence stays')
        check(said[0].startswith('K,'), said[0])
        kit.same(said[1], said[0].replace('K,', 'WK,', 1))


@case('W^K tied to W^Q makes the scores symmetric, and so do no projections; the lesson’s are not')
def _symmetric(session):
    page = session.open('sec=lab&st=1&Q=9,9;1,0;1,2;2,1')
    part = face.lab_part(page, 'Edit X')
    check('Q no longer comes from X' in part.inner_text(), 'nothing says that Q is typed')
    part.get_by_role('button', name='Reconnect Q', exact=True).click()
    face.settle(page)
    say = page.locator('#lab-symmetric')
    kit.same(say.text_content(), 'The grid of scores is not symmetric: cat scores sat with 2, and sat '
             'scores cat with 4.')
    page.evaluate("window.qkv.edit('K', 0, 0, '7')")
    for button, words in (('Tie W', 'K'), ('No projections', 'K and X')):
        part.get_by_role('button', name=button).click()
        face.settle(page)
        check('grid of scores is symmetric' in say.text_content(), button, say.text_content())
        made = follows(session, page, button)
        rows = made['score']
        check(rows == [list(x) for x in zip(*rows)], words, rows)
        check('no longer' not in part.inner_text(), 'still detached')
    kit.same(made['q'], made['k'], 'Q and K')
    kit.same(made['v'], [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]], 'V')
    part.get_by_role('button', name='The lesson’s numbers again').click()
    face.settle(page)
    check('not symmetric' in say.text_content(), 'the lesson’s own')


@case('1,024 tokens and 2,048 tokens: only what is seen is drawn, input stays live')
def _big(session):
    page = session.open('sec=lab')
    page.evaluate('''() => { const n = 2048; document.getElementById('lab-text').value =
      Array.from({ length: n }, (x, i) => `${i % 7 - 3},${i % 5},${(i * i) % 11}`).join('\\n'); }''')
    page.evaluate("document.getElementById('lab-own').open = true")
    face.lab(page).get_by_role('button', name='Read the table', exact=True).click()
    page.wait_for_timeout(1200)
    kit.same(page.evaluate('window.qkv.lab.about.rows'), 2048, face.own_trouble(page))
    cells = page.locator('#lab [role=gridcell]').count()
    check(0 < cells <= 256, 'cells in the document:', cells)
    size = page.evaluate('(() => { const c = document.querySelector("#lab canvas"); return c.width * c.height; })()')
    check(size < 4e6, 'the canvas has', size, 'pixels')
    gap = page.evaluate('''() => new Promise((done) => { let worst = 0, last = performance.now(), n = 0;
      const tick = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now;
        if (++n < 60) setTimeout(tick, 0); else done(worst); }; tick(); })''')
    check(gap < 400, 'the page stood still for', gap, 'ms')
    check(not NO_NUMBER.search(face.lab(page).inner_text()), 'no number')


@case('1,000 recomputations take no more memory than 100')
def _memory(session):
    page = session.open('sec=lab&view=map&st=3')
    grow = '''async (n) => { for (let i = 0; i < n; i++) { window.qkv.edit('K', 1, 1, String(i % 9));
      if (i % 50 === 49) await new Promise((done) => setTimeout(done, 0)); } }'''
    tools = page.context.new_cdp_session(page)
    page.evaluate(grow, 100)
    tools.send('HeapProfiler.collectGarbage')
    first = tools.send('Runtime.getHeapUsage')['usedSize']
    page.evaluate(grow, 400)
    tools.send('HeapProfiler.collectGarbage')
    second = tools.send('Runtime.getHeapUsage')['usedSize']
    check(second < first * 1.3 + 400000, f'{first} bytes after 100, {second} after 500')


kit.main()
