# SPDX-License-Identifier: MIT
"""face.py - where things are in the page, and what a reader does there; one place for all tests.

Things are found by role and name, as a screen reader finds them, or by the data attributes that the
page's own script uses. Nothing here judges.
"""
import pathlib

SECTIONS = ['lookup', 'projections', 'formula', 'calculator', 'blend', 'root', 'code', 'check']
LAB = 'lab'
TOKENS = ['the', 'cat', 'sat', 'mat']
SIZES = [(320, 640), (768, 1024), (1280, 800)]
PROBES = (pathlib.Path(__file__).resolve().parent / 'probes.js').read_text(encoding='utf-8')


def probe(page, name, *args):
    """Calls one function of probes.js inside of the page."""
    return page.evaluate(f'(args) => ({PROBES[PROBES.index("({"):].rstrip()}).{name}(...args)',
                         list(args))


def settle(page):
    """Two frames: what an act changes is drawn."""
    page.evaluate('() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')


def calculator(page):
    return page.locator('#calculator-figure')


def stage(page):
    """The present stage, as the list of stages says it."""
    return int(calculator(page).locator('[aria-current=step]').text_content().strip()[0])


def go_stage(page, n):
    calculator(page).locator(f'button[data-stage="{n}"]').click()
    settle(page)


def press(page, name):
    calculator(page).get_by_role('button', name=name, exact=True).click()
    settle(page)


def token(page, name, figure='calculator'):
    """A radio of "Attend from token"."""
    return page.locator(f'#{figure}-figure fieldset.tokens').get_by_role('radio', name=name,
                                                                         exact=True)


def pick(page, name, index=0):
    token(page, name).nth(index).check()
    settle(page)


def column(page, name):
    """The texts of one column of the calculator, top to bottom."""
    cells = calculator(page).locator(f'tbody td[data-c={name}]')
    return cells.evaluate_all(OPEN_TEXT)


def caption(page):
    return page.locator('#caption').text_content().strip()


def worked(page):
    """The worked line as a reader would write it: a raised power as e^x, a root as √x."""
    return page.locator('#worked').evaluate(READ)


def set_state(page, text):
    """As when the reader opens a link: by the address."""
    page.evaluate('(x) => { location.hash = x; }', text)
    settle(page)


def state(page):
    """The whole state, as the page's own script holds it."""
    return page.evaluate('window.qkv.text')


# without what is hidden from a screen reader, such as the bracket between two columns
OPEN_TEXT = '''(cells) => cells.map((cell) => { const copy = cell.cloneNode(true);
  copy.querySelectorAll('[aria-hidden=true]').forEach((x) => x.remove());
  return copy.textContent.trim(); })'''

READ = '''(x) => {
  const read = (node) => {
    if (node.nodeType === 3) return node.data;
    const inner = [...node.childNodes].map(read).join('');
    if (node.localName === 'sup') return /[ +−-]/.test(inner.slice(1)) ? `^(${inner})`
      : `^${inner}`;
    return node.classList?.contains('root') && !inner.startsWith('√') ? `√${inner}` : inner;
  };
  return read(x).trim().replace(/\\s+/g, ' ');
}'''


# ---- editing -------------------------------------------------------------------------------------

def edit(page, on):
    """"Edit numbers", or done with it."""
    if (page.locator('#calculator-figure input.cell').count() > 0) != on:
        page.locator('#edit').click()
        settle(page)


def cell(page, code):
    """The field of a number: "q.0", "k1.0" (key 1, number 0), "v2.1"."""
    return page.locator(f'#calculator-figure input.cell[data-f="{code}"]')


def type_cell(page, code, text):
    cell(page, code).fill(text)
    cell(page, code).blur()
    settle(page)


def trouble(page):
    place = page.locator('#trouble')
    return place.text_content() if place.is_visible() else ''


# ---- the lab -------------------------------------------------------------------------------------

def open_lab(page):
    page.locator('#calculator-figure a[href="#lab"]').click()
    page.wait_for_selector('#lab .lab-panel', state='visible')
    settle(page)


def lab(page):
    return page.locator('#lab')


def choose(page, group, option):
    """A radio of the lab, by its legend and its label."""
    lab(page).get_by_role('group', name=group, exact=True).get_by_role(
        'radio', name=option, exact=True).check()
    settle(page)


def undo(page):
    lab(page).get_by_role('button', name='Undo', exact=True).click()


def redo(page):
    lab(page).get_by_role('button', name='Redo', exact=True).click()


def paste(page, text, into=None):
    """A table as a reader pastes it."""
    page.evaluate("document.getElementById('lab-own').open = true")
    if into:
        lab(page).locator('#lab-own').get_by_role('radio', name=into, exact=True).check()
    page.locator('#lab-text').fill(text)
    lab(page).get_by_role('button', name='Read the table', exact=True).click()
    settle(page)


def own_trouble(page):
    place = page.locator('#lab-own-trouble')
    return place.text_content() if place.is_visible() else ''


def go_lab_stage(page, n):
    lab(page).get_by_role('group', name='Stage', exact=True).get_by_role('radio').nth(n).check()
    settle(page)


def lab_part(page, title):
    """A part of the lab that is folded away, opened."""
    part = lab(page).locator('details.lab-part').filter(has=page.locator('summary', has_text=title))
    part.evaluate('(x) => { x.open = true; }')
    settle(page)
    return part


def weight(page, table, row, column):
    """A field of X ("X") or of a matrix W ("q", "k", "v") in the lab."""
    return page.locator(f'#lab-weights input[data-w="{table}"][data-r="{row}"][data-c="{column}"]')


def lab_row(page):
    """The list beside the map: [[name, number], ...]."""
    return page.locator('#lab .lab-side table.lab-list tbody tr').evaluate_all(
        '(rows) => rows.map((x) => [x.cells[0].textContent, x.cells[1].textContent])')
