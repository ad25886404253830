# SPDX-License-Identifier: MIT
"""How the page is set: nothing cut off, nothing over another, few families, sizes and colours,
lines of a readable length, a table that stays where it is while the stages pass.

The probes are tried on a page with planted faults first.
"""
import face
import pagekit as kit
from pagekit import case, check

PLANTED = '''<!doctype html><meta charset=utf-8><style>
body { font: 15px/24px serif; margin: 0; width: 600px }
#cut { width: 40px; overflow: hidden; white-space: nowrap }
#over { position: absolute; top: 30px; left: 0 } #wide { position: absolute; left: 5000px;
  top: 90px }
.hide { position: absolute; width: 1px; height: 1px; overflow: hidden }
p { width: 1500px } i { font: 20px monospace; color: #123 }</style>
<div id=cut>this text is cut by its box</div><div>under all of this</div><div id=over>over it all</div>
<div id=wide>far out</div><div class=hide>only heard, not seen, and not to be counted</div>
<p>%s</p><i>x</i><button style="width:20px;height:10px;padding:0"></button><b id=a></b><b id=a></b>
''' % ('words of a long line ' * 30)


@case('the probes see planted faults')
def _probes(session):
    page = session.context().new_page()
    page.set_content(PLANTED)
    clipped = ' '.join(face.probe(page, 'clipped'))
    check('this text is cut' in clipped and 'far out' in clipped, clipped)
    check('only heard' not in clipped, 'hidden text counts as cut')
    overlaps = face.probe(page, 'overlaps')
    check(len(overlaps) == 1 and 'over it all' in overlaps[0], *overlaps)
    looks = face.probe(page, 'looks')
    check(len(looks['families']) == 2 and '20px' in looks['sizes'], looks)
    check('17 34 51' in looks['colours'], looks['colours'])
    check(max(x['most'] for x in face.probe(page, 'lines', 'p')) > 75, 'a long line is not seen')
    check(any(x['height'] < 24 for x in face.probe(page, 'targets')), 'a small target is not seen')
    kit.same(face.probe(page, 'ids'), ['a'])


FOUND = {}  # by probe; one walk serves all


def everywhere(session, probe):
    """What a probe finds at every size, light and dark, at stages 0 and 4."""
    for width, height in face.SIZES if not FOUND else ():
        for scheme in ('light', 'dark'):
            page = session.open(width=width, height=height, color_scheme=scheme)
            for stage in (0, 4):
                face.go_stage(page, stage)
                for name in ('clipped', 'overlaps'):
                    FOUND.setdefault(name, []).extend(f'{width} {scheme} stage {stage}: {x}'
                                                      for x in face.probe(page, name))
            page.context.close()
    return FOUND[probe]


@case('no text is cut off or leaves the page')
def _clipped(session):
    faults = everywhere(session, 'clipped')
    check(not faults, len(faults), *faults[:12])


@case('no text covers another')
def _overlaps(session):
    faults = everywhere(session, 'overlaps')
    check(not faults, len(faults), *faults[:12])


@case('nothing scrolls sideways at 320, 768, 1280 px, nor at 640 by 320')
def _sideways(session):
    for width, height in [*face.SIZES, (640, 320)]:
        page = session.open(width=width, height=height)
        for stage in range(5):
            face.go_stage(page, stage)
            most = page.evaluate('document.documentElement.scrollWidth')
            check(most <= width, f'{width} px at stage {stage}: {most} px wide')
        page.context.close()


@case('three families, five sizes, twelve colours at most')
def _looks(session):
    for width, height in face.SIZES:
        for scheme in ('light', 'dark'):
            page = session.open(width=width, height=height, color_scheme=scheme)
            got = {'families': {}, 'sizes': {}, 'colours': {}}
            for stage in (0, 2, 4):
                face.go_stage(page, stage)
                for kind, found in face.probe(page, 'looks').items():
                    got[kind].update(found)
            for kind, most in (('families', 3), ('sizes', 5), ('colours', 12)):
                check(len(got[kind]) <= most, f'{width} {scheme}: {len(got[kind])} {kind}:',
                      got[kind])
            page.context.close()


@case('prose has 45 to 75 characters a line from 768 px up')
def _lines(session):
    for width, height in face.SIZES[1:]:
        page = session.open(width=width, height=height)
        found = face.probe(page, 'lines', 'section p')
        check(len(found) > 8, 'paragraphs seen:', len(found))
        bad = [x for x in found if x['most'] < 45 or x['least'] > 75]
        check(not bad, width, *bad[:6])
        page.context.close()


@case('first screen at 1280 by 800: title, hook, the token row of the first figure')
def _first(session):
    page = session.open()
    kit.same(page.evaluate('scrollY'), 0, 'scrolled')
    for what in (page.locator('h1'), page.locator('#lookup p').first,
                 page.get_by_role('radio', name='sat', exact=True).first):
        box = what.bounding_box()
        check(box and box['y'] + box['height'] <= 800, what, box)


BOXES = '''() => Object.fromEntries([...document.querySelectorAll('#calculator-figure table td[data-c]')]
  .map((x) => [x, x.getBoundingClientRect(), x.closest('table').getBoundingClientRect()])
  .filter(([, box]) => box.width > 0)
  .map(([x, box, all]) => [`${x.dataset.c} ${x.dataset.r}`, [box.left - all.left,
    box.top - all.top, box.width, box.height]]))'''


@case('the calculator: from the token row, table, line and buttons stay where they are')
def _skeleton(session):
    for width, height in face.SIZES:
        page = session.open(width=width, height=height)
        first = {}
        for stage in range(5):
            face.go_stage(page, stage)
            for name, top in page.evaluate(TOPS).items():
                old = first.setdefault(name, (stage, top))
                check(abs(top - old[1]) <= 1, f'{width} px: {name} moved by {top - old[1]:.1f} px '
                      f'from stage {old[0]} to {stage}')
        page.context.close()


TOPS = '''() => { const all = document.getElementById('calculator-figure');
  const from = all.querySelector('fieldset').getBoundingClientRect().top;
  return Object.fromEntries(['.stages', '#caption', 'table', '#worked', '#next'].map((x) =>
    [x, all.querySelector(x).getBoundingClientRect().top - from])); }'''


@case('the calculator: no cell moves by more than 1 px over the stages')
def _still(session):
    for width, height in face.SIZES:
        page = session.open(width=width, height=height)
        first, seen = {}, 0
        for stage in range(5):
            face.go_stage(page, stage)
            for name, box in page.evaluate(BOXES).items():
                old = first.setdefault(name, (stage, box))
                seen += 1
                # the compact table shows other columns at each stage: only rows are compared there
                parts = (1, 3) if width < 640 else (0, 1, 2, 3)
                worst = max(abs(box[i] - old[1][i]) for i in parts)
                check(worst <= 1, f'{width} px: {name} moved by {worst} px from stage {old[0]} to {stage}')
        check(seen > (40 if width < 640 else 90), width, 'cells seen:', seen)
        page.context.close()


@case('320 px: every caption takes the four lines that it has')
def _captions(session):
    page = session.open(width=320, height=640)
    for choice in ('', 'scale=none', 'scale=dk', 'scale=2', 'mask=causal', 'mask=causal&wrong=1'):
        face.set_state(page, choice)
        for stage in range(5):
            face.go_stage(page, stage)
            high = page.locator('#caption').bounding_box()['height']
            check(abs(high - 96) < 1, f'{choice} stage {stage}: {high} px')


@case('the calculator beside its text: the first row is on the screen, whatever the stage')
def _beside(session):
    page = session.open()
    for stage in range(5):
        face.go_stage(page, stage)
        page.evaluate("document.querySelector('#calculator .place').scrollIntoView()")
        face.settle(page)
        box = page.locator('#calculator-figure').bounding_box()
        check(0 <= box['y'] and box['y'] + box['height'] <= 800, stage, box)


@case('the blend’s middle label stands under the thumb, inside of the axis')
def _thumb(session):
    for width in (320, 1280):
        page = session.open(width=width, height=800)
        for text in ('0', '50', '130', '200'):
            page.locator('#blend-x').evaluate('''(x, v) => { x.value = v;
              x.dispatchEvent(new Event('input')); }''', text)
            face.settle(page)
            now, line, graph = (page.locator(x).bounding_box() for x in (
                '#blend-here', '#blend-graph path.q', '#blend-graph'))
            middle, thumb = now['x'] + now['width'] / 2, line['x']
            check(abs(middle - thumb) < 2 or text in ('0', '200'), width, text, middle, thumb)
            check(abs(middle - thumb) <= now['width'] / 2 + 2, width, text, middle, thumb)
            check(now['x'] >= graph['x'] and now['x'] + now['width'] <= graph['x'] + graph['width'],
                  width, text, now, graph)
        page.context.close()


@case('the two tables of the maximum are level')
def _level(session):
    page = session.open()
    a, b = (page.locator(x).bounding_box()['y'] for x in ('#naive', '#safe'))
    check(abs(a - b) < 1, a, b)


@case('on paper nothing is wider than the figure it was drawn for')
def _paper(session):
    page = session.open(width=1280, height=800)
    page.emulate_media(media='print')
    # printing tells a page nothing: what was drawn for the screen has to do
    page.evaluate("addEventListener('resize', (x) => x.stopImmediatePropagation(), true)")
    for width in (1280, 718, 480):
        page.set_viewport_size({'width': width, 'height': 1000})
        page.evaluate('() => new Promise((done) => setTimeout(done, 50))')
        bad = page.evaluate('''() => { const out = [], wide = innerWidth;
          for (const x of document.querySelectorAll('.picture, .axis-labels p')) {
            const box = x.getBoundingClientRect();
            if (box.width && box.right > wide + 1) out.push(x.outerHTML.slice(0, 60) + box.right); }
          const graph = document.querySelector('#blend-graph .picture').getBoundingClientRect();
          const end = document.getElementById('blend-to').getBoundingClientRect();
          if (end.right > graph.right + 1) out.push(`label ${end.right}, graph ${graph.right}`);
          return out; }''')
        check(not bad, width, *bad)

EXTREMES = {
    'six digits': 'V=-123456.789,-123456.789;-123456.789,-123456.789;-123456.789,1;1,1',
    'six digits everywhere': 'Q=0,1;1,0;-123456.789,-123456.789;2,1&K=-123456.789,-123456.789;0,'
    '-123456.789;-123456.789,0;1,1&V=-123456.789,-123456.789;-123456.789,-123456.789;-123456.789,1;'
    '1,1',
    '1e300': 'Q=1e300,0;1,0;1e300,1;2,1&V=1e300,-1e300;3,0;0,2;0,1',
    'the largest': 'Q=0,1;1,0;1e308,-1e308;2,1&K=1,0;-1e308,1e308;2,0;1,1&V=1e308,-1e308;-1e308,1e308;'
    '0,2;0,1',
    'small, and -0': 'Q=0,1;1,0;0.000001,-0.000001;2,1&K=0.000001,0.000001;-0,2;-0.000001,0;1,1&'
    'V=0.000001,-0;-0.000001,0;0,2;0,1',
    'three channels': 'dk=3&dv=3&V=-1234.5,1,-1234.5;1,1,1;-0.25,2,2;-123456.789,0.5,-0.5',
    'points on one another': 'K=1,0;1,0;1,0;1,0&V=1,1;1,1;1,1;1,1',
    'long names': 'tok=' + ','.join(['%E5%AD%97' * 40, 'w' * 40, 'w' * 40, 'iiii'])
    + '&V=-123456.789,1;1,1;1,1;1,1',
}
BARS = '''() => { const faults = [];
  for (const bar of document.querySelectorAll('#calculator-figure .bar')) {
    const a = bar.getBoundingClientRect();
    if (!a.width) continue;
    for (const num of bar.closest('tr').querySelectorAll('.num')) {
      const range = document.createRange();
      range.selectNodeContents(num);
      for (const b of range.getClientRects())
        if (b.right > a.left + 1 && b.left < a.right - 1) faults.push(num.textContent + ' under a bar');
    } }
  return faults; }'''
WIDER = '''() => [...document.querySelectorAll('#calculator-figure .tablebox')].filter((x) =>
  x.scrollWidth > x.clientWidth + 1).map((x) => `the table is ${x.scrollWidth - x.clientWidth} px wider`)
  .concat(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [])'''


def faults_of(page, whole):
    """In the calculator's table; in the whole page, too."""
    found = page.evaluate(BARS) + page.evaluate(WIDER)
    return found + face.probe(page, 'clipped') + face.probe(page, 'overlaps') if whole else found


@case('numbers of any size: nothing cut, covered or wider than its place; fields show them whole')
def _extremes(session):
    faults = []
    for width, height in (face.SIZES[0], face.SIZES[2]):
        page = session.open(width=width, height=height)
        for what, state in EXTREMES.items():
            face.set_state(page, state)
            tops = set()
            for stage in range(5):
                face.go_stage(page, stage)
                faults += [f'{width} {what}, stage {stage}: {x}'
                           for x in faults_of(page, whole=stage in (0, 4))]
                tops.add(round(page.evaluate(LAST_ROW)))
            if max(tops) - min(tops) > 1:
                faults.append(f'{width} {what}: the last row moves: {tops}')
            face.edit(page, True)
            for stage in (4, 0):
                face.go_stage(page, stage)
                faults += [f'{width} {what}, edited, stage {stage}: {x}'
                           for x in faults_of(page, whole=stage == 0)]
            face.edit(page, False)
        page.context.close()
    check(not faults, len(faults), *faults[:12])


@case('the lab’s fields show long numbers whole')
def _lab_fields(session):
    for width, height in (face.SIZES[0], face.SIZES[2]):
        page = session.open(f"sec=lab&{EXTREMES['six digits everywhere']}&X=-0.000001,1,1,1;1,1,1,"
                            '-123456.789;1,1,1,1;1,1,1,1e-300', width=width, height=height)
        for title in ('Edit all numbers', 'Edit X and the matrices W'):
            face.lab_part(page, title)
        fields = page.locator('#lab .lab-fields input')
        check(fields.count() > 40, 'fields:', fields.count())
        faults = face.probe(page, 'clipped')
        check(not faults, width, len(faults), *faults[:8])
        page.context.close()


LAST_ROW = '''() => { const table = document.querySelector('#calculator-figure table');
  return table.tFoot.getBoundingClientRect().top - table.getBoundingClientRect().top; }'''


kit.main()
