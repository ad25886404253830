# SPDX-License-Identifier: MIT
"""The lab: what it opens on, the trained model, maps with their table twin, own tables and what is
wrong with them, hostile names, files out of it, the later token that earlier ones never notice.
What can be changed there: test_page_lab_edit.py.
"""
import csv
import io
import json
import re
import struct
import xml.dom.minidom

import face
import labkit
import pagekit as kit
from pagekit import case, check

HOSTILE = ['</script>', '<img src=x onerror="window.ran=1">', 'a&b', '\u202eright to left',
           '\x1b[31mred',
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
    for key, want in (('Home', (2, 0)), ('ArrowRight', (2, 1)), ('ArrowDown', (3, 1)), ('End', (3,
      3)),
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
    check(not page.evaluate('document.activeElement.closest("[role=grid]")'),
      'Tab stays in the grid')


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
    ('the,1,0\ncat,0,2,3\nsat,2,0', ['Row 2', 'column 4', 'column 3']),
    ('the,1,0\ncat,0,x\n', ['Row 2', 'column 3', 'x']),
    ('1,0\n0,NaN\n', ['Row 2', 'column 2', 'NaN']),
    ('1;0\n1,5;2\n', ['Row 2', 'column 1', 'point', '1.5']),
    ('1 0\n2 1e400\n', ['Row 2', 'column 2', 'large']),
    ('1,0\n,\n', ['Row 2', 'column 1', 'empty']),
    ('', ['nothing']),
    ('a,b\n', ['number']),
    ('[[1,2],[3,null]]', ['Row 2', 'column 2', 'number']),
    ('[[1,2],[3]]', ['Row 2', 'column 1', 'column 2']),
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
    check('heading' in face.lab(page).locator('#lab-own').inner_text(),
      'nothing is said of headings')
    page.evaluate('''() => { window.longest = 0; let last = performance.now();
      const tick = () => { const now = performance.now(); window.longest = Math.max(window.longest,
                                                                                    now - last);
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
    ('bad.json', b'{"q": [[1, 2], [3]]}', ['row 2', 'column 1', 'column 2', '“q”']),
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
        text = labkit.saved(page, kind).decode()
        check('<script' not in text.lower() and '<img' not in text.lower() or kind in ('JSON',
          'CSV'), kind)
        if kind == 'CSV':
            cells = [x for row in csv.reader(io.StringIO(text)) for x in row]
            check("'=1+1" in cells and '=1+1' not in cells, 'a formula in the CSV')
        if kind == 'SVG':
            xml.dom.minidom.parseString(text)
        if kind == 'JSON':
            json.loads(text)


@case('SVG, PNG, CSV and JSON of a token and of a map carry the same numbers')
def _exports(session):
    for view in ('table', 'map'):
        page = session.open(f'sec=lab&view={view}&st=3')
        made = json.loads(labkit.saved(page, 'JSON'))
        weights = [f'{x:.2f}' for row in made['weight'] for x in row]
        if view == 'table':
            weights = [f'{x:.2f}' for x in made['weight'][2]]
        rows = list(csv.reader(io.StringIO(labkit.saved(page, 'CSV').decode())))
        check(len(rows) >= 5, view, 'CSV rows', rows)
        flat = [f'{float(x):.2f}' for row in rows[1:] for x in row if re.fullmatch(r'-?\d+(\.\d+)?(e-?\d+)?', x)]
        for number in weights:
            check(number in flat, view, number, 'is not in the CSV', flat)
        svg = xml.dom.minidom.parseString(labkit.saved(page, 'SVG'))
        texts = [x.firstChild.data for x in svg.getElementsByTagName('text') if x.firstChild]
        shown = [x for x in weights if x in ' '.join(texts)]
        check(len(shown) >= len(weights) // 2, view, 'numbers of the SVG', texts)
        check(labkit.png_pixels(labkit.saved(page, 'PNG')) > 8, view, 'the PNG is blank')
        page.context.close()


@case('the JSON that is saved is the command’s')
def _json(session):
    page = session.open('sec=lab&st=4&t=mat&Q=0,1;1,0;1,2;2,0')
    kit.same(labkit.saved(page, 'JSON').decode(), session.qkv('explain', '--state',
      face.state(page), '--format',
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
    gap = page.evaluate('''() => new Promise((done) => { let worst = 0, last = performance.now(),
      n = 0;
      const tick = () => { const now = performance.now(); worst = Math.max(worst,
                                                                           now - last); last = now;
        if (++n < 60) setTimeout(tick, 0); else done(worst); }; tick(); })''')
    check(gap < 400, 'the page stood still for', gap, 'ms')
    check(not NO_NUMBER.search(face.lab(page).inner_text()), 'no number')


@case('1,000 recomputations take no more memory than 100')
def _memory(session):
    page = session.open('sec=lab&view=map&st=3')
    grow = '''async (n) => { for (let i = 0; i < n; i++) { window.qkv.edit('K', 1, 1,
      String(i % 9));
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
