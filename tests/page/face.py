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
    return page.evaluate(f'(args) => ({PROBES[PROBES.index("({"):].rstrip()}).{name}(...args)', list(args))


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


def pick(page, name, index=0):
    calculator(page).get_by_role('radio', name=name, exact=True).nth(index).check()
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
    if (node.localName === 'sup') return /[ +−-]/.test(inner.slice(1)) ? `^(${inner})` : `^${inner}`;
    return node.classList?.contains('root') && !inner.startsWith('√') ? `√${inner}` : inner;
  };
  return read(x).trim().replace(/\\s+/g, ' ');
}'''
