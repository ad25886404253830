# SPDX-License-Identifier: MIT
"""The words: eight sections in order, few enough words, captions and refreshers short, every
sentence of the article also in the terminal's lesson, section by section; readable without a
script.
"""
import re

import face
import kit_words
import pagekit as kit
from pagekit import case, check

TITLES = 8


@case('title, promise, reading time, place, before and after this')
def _header(session):
    page = session.open()
    text = page.locator('header').inner_text()
    for part in ('minutes', '8 sections', 'Before this', 'After this'):
        check(part in text, repr(part), 'is not in', text)
    names = [x.strip() for x in page.locator('header summary').all_text_contents()]
    kit.same(names, ['dot product', 'softmax', 'weighted average', 'embeddings', 'matrix product'])
    for n, name in enumerate(names):
        details = page.locator('header details').nth(n)
        words = kit_words.count(details.locator('p').first.text_content())
        check(5 < words <= 40, name, 'has', words, 'words')


@case('eight sections, each with its place and its title; no link leads nowhere')
def _sections(session):
    page = session.open()
    ids = page.evaluate("[...document.querySelectorAll('main section[id]')].map((x) => x.id)")
    kit.same(ids[:8], face.SECTIONS)
    for n, name in enumerate(face.SECTIONS, 1):
        text = page.locator(f'#{name}').inner_text()
        check(re.search(rf'\b{n} of 8\b', text), name, text[:60])
    lost = page.evaluate('''() => [...document.querySelectorAll('a[href]')].map((x) =>
      x.getAttribute('href'))
      .filter((x) => !x.startsWith('#') || !document.getElementById(x.slice(1)))''')
    check(not lost, *lost)
    text = page.locator('body').inner_text().lower()
    check('coming soon' not in text and 'todo' not in text, 'something is announced')


@case('at most 1,800 words outside of details and the lab; the path takes at most 12 minutes')
def _count(session):
    page = session.open()
    words = kit_words.count(page.evaluate(kit_words.VISIBLE))
    print(f'# {words} words, {words / 200 + 0.25 * kit_words.ACTS:.1f} minutes with {kit_words.ACTS} acts')
    check(900 < words <= 1800, words)
    check(words / 200 + 0.25 * kit_words.ACTS <= 12, 'minutes')


@case('the terminal says the same sentences, section by section')
def _terminal(session):
    page = session.open()
    terminal = kit_words.terminal_sections(session)
    kit.same(len(terminal), TITLES, 'sections of the terminal')
    faults, compared = [], 0
    for name, text in zip(face.SECTIONS, terminal):
        said = kit_words.plain(text)
        for sentence in page.evaluate(kit_words.SENTENCES, name):
            compared += 1
            if kit_words.plain(sentence) not in said:
                faults.append(f'{name}: {sentence!r}')
    check(compared > 35, 'paragraphs compared:', compared)
    check(not faults, len(faults), *faults[:8])
    check(kit_words.plain('Soft lookup never answers.') not in kit_words.plain(terminal[0]),
          'the comparison finds what is not there')


@case('without a script the lesson and the calculator’s numbers can be read')
def _no_script(session):
    page = session.open(java_script_enabled=False, ready=False)
    kit.same(page.locator('section h2').count() >= 8, True)
    text = page.locator('#calculator').inner_text()
    for part in ('[1, 0]', '[0, 2]', '[3, 0]', '[1, 2]'):
        check(part in text, part, 'is missing')


@case('where wasm does not start, the calculator still reads and says so')
def _no_wasm(session):
    context = session.context()
    context.add_init_script('delete window.WebAssembly;')
    page = context.new_page()
    page.goto(session.url)
    page.wait_for_timeout(300)
    text = page.locator('#calculator').inner_text()
    check('[1, 0]' in text and '[1, 2]' in text, 'the numbers are gone')
    check(page.locator('#notice').is_visible(), 'nothing says that the page cannot compute')


kit.main()
