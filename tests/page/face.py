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
    return page.locator('#calculator')


def stage(page):
    """The present stage, as the list of stages says it."""
    return int(calculator(page).locator('[aria-current=step]').first.text_content().strip()[0])


def go_stage(page, n):
    calculator(page).locator('ol').first.get_by_role('button').nth(n).click()
    settle(page)


def press(page, name):
    calculator(page).get_by_role('button', name=name, exact=True).click()
    settle(page)


def pick(page, name, index=0):
    calculator(page).get_by_role('radio', name=name, exact=True).nth(index).check()
    settle(page)
