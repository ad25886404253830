# SPDX-License-Identifier: MIT
"""What WCAG 2.2 asks and axe cannot see: order, focus, names, targets, zoom, spacing, motion, one
message an act, and that typing or focusing never moves the page.
"""
import re

import face
import pagekit as kit
from pagekit import case, check

FOCUS = '''() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const box = at.getBoundingClientRect();
  const shown = at.labels?.length && ['radio', 'checkbox'].includes(at.type) ? at : at;
  const style = getComputedStyle(shown);
  const x = Math.min(Math.max(box.left + box.width / 2, 0), innerWidth - 1);
  const y = Math.min(Math.max(box.top + box.height / 2, 0), innerHeight - 1);
  const over = document.elementFromPoint(x, y);
  window.count ??= new Map();
  if (!window.count.has(at)) window.count.set(at, window.count.size);
  return { number: window.count.get(at), name: at.getAttribute('aria-label')
    || at.labels?.[0]?.textContent
      || at.textContent || at.value || '', tag: at.localName, type: at.type ?? '', id: at.id,
    section: at.closest('section, header, footer, nav')?.id ?? '', top: box.top + scrollY,
    left: box.left, outline: parseFloat(style.outlineWidth) * (style.outlineStyle !== 'none'),
    shadow: style.boxShadow, inside: box.top >= -1 && box.height > innerHeight
      // a browser scrolls to the caret of a text area, not to its end
      || box.top >= -1 && (at.localName === 'textarea' ? box.top + 32
        : box.bottom) <= innerHeight + 1,
    covered: !(over && (at.contains(over) || over.contains(at)
      || over.closest('label')?.control === at
      || (at.closest('details') && at.closest('details').contains(over)))),
        over: over?.outerHTML.slice(0, 80) };
}'''


def tab_through(page, most=400):
    stops = []
    for _ in range(most):
        page.keyboard.press('Tab')
        at = page.evaluate(FOCUS)
        if at is None or (stops and at['number'] == 0 and len(stops) > 3):
            break
        stops.append(at)
    return stops


@case('language, title, one h1, headings in order, landmarks, no id twice')
def _document(session):
    page = session.open()
    kit.same(page.evaluate('document.documentElement.lang'), 'en')
    check(page.title(), 'no title')
    before = page.title()
    face.go_stage(page, 2)
    check('2' in page.title(), 'the title carries the stage:', before, '->', page.title())
    kit.same(page.locator('h1').count(), 1)
    kit.same(page.locator('main').count(), 1)
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5')]"
                           ".filter((x) => x.checkVisibility()).map((x) => +x.localName[1])")
    check(all(b <= a + 1 for a, b in zip(levels, levels[1:])), 'headings skip a level', levels)
    kit.same(page.evaluate("[...document.querySelectorAll('section h2')].map((x) => x.closest('section').id)")[:8],
             face.SECTIONS)
    kit.same(face.probe(page, 'ids'), [])


@case('the first tab stop is the way to the calculator, and it works')
def _skip(session):
    page = session.open()
    page.keyboard.press('Tab')
    at = page.evaluate(FOCUS)
    check('calculator' in at['name'].lower(), at)
    check(at['inside'] and not at['covered'], 'it is not seen when it has the focus', at)
    page.keyboard.press('Enter')
    face.settle(page)
    page.keyboard.press('Tab')
    at = page.evaluate(FOCUS)
    kit.same(at['section'], 'calculator', at)


for width, height in (face.SIZES[0], face.SIZES[2]):
    @case(f'Tab goes through everything at {width} px, in reading order, seen, not covered, out again')
    def _order(session, width=width, height=height):
        page = session.open(width=width, height=height)
        stops = tab_through(page)
        check(20 < len(stops) < 390, 'stops:', len(stops))
        sections = [x['section'] for x in stops if x['section'] in face.SECTIONS]
        order = [face.SECTIONS.index(x) for x in sections]
        check(order == sorted(order), 'sections are left and come again:',
              list(dict.fromkeys(sections)))
        faults = [f'{x["tag"]} {x["name"].strip()[:30]!r}: {why}' for x in stops for why in (
            'no ring of 2 px' * (x['outline'] < 2 and x['shadow'] == 'none'
                                 and x['type'] != 'range'),
            'out of the screen' * (not x['inside']), f'covered by {x["over"]}' * x['covered'],
            'no name' * (not x['name'].strip() and x['type'] not in ('text', 'range')))
            if why]
        check(not faults, len(faults), *faults[:10])


@case('every target has 24 px both ways; 32 for buttons, 44 below 480 px')
def _targets(session):
    for width, height in (face.SIZES[0], face.SIZES[2]):
        page = session.open(width=width, height=height)
        face.go_stage(page, 4)
        least = 44 if width < 480 else 32
        found = face.probe(page, 'targets')
        check(len(found) > 20, 'targets seen:', len(found))
        # numbers of a table: 24 px; inside of a vector their width is that of the text, and arrow
        # keys reach the same
        faults = [f'{x["name"]} {x["width"]:.0f} x {x["height"]:.0f}' for x in found
                  if not x['inline'] and (
                      x['height'] < 24 or x['width'] < (1 if x['vector'] else 24)
                      or x['name'].startswith('button') and not x['number']
                      and x['height'] < least - 0.5)]
        check(not faults, width, len(faults), *faults[:12])
        page.context.close()


@case('names of controls contain their visible text')
def _names(session):
    page = session.open()
    faults = page.evaluate('''() =>
      [...document.querySelectorAll('button[aria-label], a[aria-label]')]
      .filter((x) => x.checkVisibility() && /[a-z0-9]/i.test(x.textContent))
      .filter((x) => !x.getAttribute('aria-label').toLowerCase().includes(
        x.textContent.trim().replace(/\\s+/g, ' ').toLowerCase())).map((x) => x.outerHTML.slice(0,
          120))''')
    check(not faults, *faults[:5])


@case('formulas are MathML, and √ covers dₖ as a root')
def _formulas(session):
    page = session.open()
    roots = page.evaluate("[...document.querySelectorAll('#formula math msqrt')].map((x) => x.textContent)")
    check(any('d' in x and 'k' in x for x in roots), roots)
    inside = page.evaluate('''() => { const root = document.querySelector('#formula math msqrt');
      const a = root.getBoundingClientRect(), b = root.firstElementChild.getBoundingClientRect();
      return a.left < b.left && a.right >= b.right - 1 && a.top < b.top; }''')
    check(inside, 'the root does not cover what is under it')


@case('the calculator is a table: header cells of columns and rows, no role of its own')
def _table(session):
    page = session.open()
    face.go_stage(page, 4)
    table = face.calculator(page).locator('table').first
    got = table.evaluate('''(x) => ({ role: x.getAttribute('role'),
      columns: x.querySelectorAll('thead th[scope=col]').length,
      rows: x.querySelectorAll('tbody th[scope=row]').length,
      name: x.caption?.textContent || x.getAttribute('aria-label')
        || document.getElementById(x.getAttribute('aria-labelledby'))?.textContent || '' })''')
    kit.same(got['role'], None)
    check(got['columns'] >= 6 and got['rows'] >= 5, got)
    check(got['name'].strip(), 'the table has no name')


COUNT_MESSAGES = '''() => {
  window.messages = [];
  const all = [...document.querySelectorAll('[role=status], [aria-live]:not([aria-live=off])')];
  for (const region of all) {
    new MutationObserver(() =>
      { if (region.textContent.trim()) window.messages.push(region.textContent); })
      .observe(region, { childList: true, characterData: true, subtree: true });
  }
  return all.map((x) => x.getAttribute('aria-live') ?? x.getAttribute('role'));
}'''


@case('one polite live region, and at most one message an act')
def _live(session):
    page = session.open()
    regions = page.evaluate(COUNT_MESSAGES)
    check(len(regions) == 1 and regions[0] in ('polite', 'status'), regions)
    acts = {'Next': lambda: face.press(page, 'Next'),
            'Next again': lambda: face.press(page, 'Next'),
            'pick mat': lambda: face.pick(page, 'mat'), 'Back': lambda: face.press(page, 'Back')}
    said = 0
    for name, act in acts.items():
        page.evaluate('window.messages = []')
        act()
        page.wait_for_timeout(60)
        got = page.evaluate('window.messages')
        said += len(got)
        check(len(got) <= 1, name, got)
    check(said >= 3, 'messages in all:', said)


@case('an act changes neither the focus nor the place of the page')
def _still(session):
    page = session.open()
    next_button = face.calculator(page).get_by_role('button', name='Next', exact=True)
    next_button.scroll_into_view_if_needed()
    next_button.focus()
    before = page.evaluate('[scrollX, scrollY]')
    for _ in range(3):
        page.keyboard.press('Enter')
        face.settle(page)
        check(next_button.evaluate('(x) => x === document.activeElement'), 'the focus left Next')
        kit.same(page.evaluate('[scrollX, scrollY]'), before)
    kit.same(face.stage(page), 3)
    page.keyboard.press('Enter')
    face.settle(page)
    kit.same(face.stage(page), 4)
    check(page.evaluate('document.activeElement !== document.body'),
          'the focus is lost at the last stage')


# headers of neighbouring columns that leave less than a letter between them
TOUCHING = '''() => { const heads = [...document.querySelectorAll('#calculator-figure thead th')]
    .filter((x) => x.offsetWidth).map((x) => { const range = document.createRange();
      range.selectNodeContents(x.firstElementChild);
      return [x.textContent, range.getBoundingClientRect()]; });
  return heads.filter(([, a], n) => n + 1 < heads.length && heads[n + 1][1].left - a.right < 4)
    .map(([text]) => `the head "${text}" touches the next`); }'''
SPACING = '''* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
  word-spacing: 0.16em !important } p { margin-bottom: 2em !important }'''


@case('200 % zoom and the text spacing of WCAG 1.4.12 cut nothing')
def _zoom(session):
    faults = []
    for width, what, css in ((320, 'spacing', SPACING), (640, 'spacing', SPACING),
                             (640, 'text 200 %', 'html { font-size: 200% } ')):
        page = session.open(width=width, height=640)
        for stage in (0, 4):
            face.go_stage(page, stage)
            sheet = page.evaluate('''(css) => { const made = new CSSStyleSheet();
              made.replaceSync(css);
              document.adoptedStyleSheets = [made]; return document.adoptedStyleSheets.length;
                }''', css)
            kit.same(sheet, 1)
            face.settle(page)
            faults += [f'{width} {what}, stage {stage}: {x}' for x in face.probe(page, 'clipped')
                       + face.probe(page, 'overlaps') + page.evaluate(TOUCHING)]
        page.context.close()
    check(not faults, len(faults), *faults[:10])


@case('reduced motion: nothing runs; else only after an act, one thing, no loop')
def _motion(session):
    running = 'document.getAnimations().filter((x) => x.playState === "running").length'
    page = session.open(reduced_motion='reduce')
    face.press(page, 'Next')
    kit.same(page.evaluate(running), 0, 'with reduced motion')
    page = session.open(reduced_motion='no-preference')
    page.wait_for_timeout(300)
    kit.same(page.evaluate(running), 0, 'before an act')
    calc = face.calculator(page)
    calc.get_by_role('button', name='Next', exact=True).click()
    endless = page.evaluate('document.getAnimations().some((x) => x.effect.getComputedTiming()'
                            '.iterations === Infinity || x.effect.getComputedTiming().duration > 400)')
    check(not endless, 'an animation loops or is long')
    page.wait_for_timeout(500)
    kit.same(page.evaluate(running), 0, 'half a second after')


@case('no key but Tab, arrows, Enter, Space, Home, End does anything to the page')
def _letters(session):
    page = session.open()
    before = page.evaluate('location.hash')
    face.calculator(page).get_by_role('button', name='Next', exact=True).focus()
    shown = page.locator('main').inner_text()
    for key in 'abcegmnsx?+-':
        page.keyboard.press(key)
    face.settle(page)
    kit.same(page.evaluate('location.hash'), before)
    check(page.locator('main').inner_text() == shown, 'a letter changed something')


@case('forced colours: the present stage and the chosen token are told by more than colour')
def _forced(session):
    page = session.open(forced_colors='active')
    face.go_stage(page, 2)
    now, other = page.evaluate('''() => ['[aria-current=step]',
      'button:not([aria-current])'].map((x) => {
      const style = getComputedStyle(document.querySelector(`#calculator-figure ol ${x}`));
      return [style.fontWeight, style.textDecorationLine, style.borderBottomWidth,
        style.outlineStyle,
        style.backgroundColor,
          getComputedStyle(document.querySelector(`#calculator-figure ol ${x}`), '::after')
          .content].join('|'); })''')
    check(now != other, now)


@case('marks of Q, K and V differ without colour: ring, square, diamond')
def _marks(session):
    page = session.open()
    for scheme in ('light', 'dark'):
        page.emulate_media(color_scheme=scheme)
        text = page.locator('#calculator-figure thead').inner_text()
        check(re.search(r'K', text) and re.search(r'V', text), 'no letters in the heads:', text)


kit.main()
