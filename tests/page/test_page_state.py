# SPDX-License-Identifier: MIT
"""State and numbers: for the same state the page's JSON is the command's, byte for byte; a link
brings back what it was made from; old, newer, cut and hostile links; the address; undo and redo.
"""
import json
import pathlib

import face
import kit_links
import pagekit as kit
import random_states
import wasm_core
from pagekit import case, check

LINKS = pathlib.Path(__file__).resolve().parent.parent / 'lesson' / 'links.table'


@case('the module imports nothing and exports its three calls and its memory')
def _module(session):
    about = wasm_core.Core(session).about
    kit.same(about['imports'], 0)
    kit.same(sorted(about['exports']), ['memory', 'page_bytes', 'page_call', 'page_request_room'])


@case('200 random states: the page’s JSON is that of qkv explain, byte for byte')
def _json(session):
    core = wasm_core.Core(session)
    states = ['', *random_states.states(199)]
    answers = core.ask_all('json', states)
    for text, got in zip(states, answers):
        want = session.qkv('explain', '--state', text, '--format', 'json')
        kit.same(got, want, text[:200])
        json.loads(got)


@case('60 random states: plain sentences and CSV are the command’s, too')
def _plain(session):
    core = wasm_core.Core(session)
    for name in ('plain', 'csv'):
        states = random_states.states(60, most=16, seed=random_states.SEED + 1)
        for text, got in zip(states, core.ask_all(name, states)):
            kit.same(got, session.qkv('explain', '--state', text, '--format', name),
                     f'{name} {text[:120]}')


@case('500 random states: what is written reads back as itself, whole and as a link')
def _round(session):
    core = wasm_core.Core(session)
    states = random_states.states(500, most=16, seed=random_states.SEED + 2)
    first = [json.loads(x) for x in core.ask_all('state', states)]
    again = [json.loads(x) for x in core.ask_all('state', [x.get('state', '') for x in first])]
    link = [json.loads(x) for x in core.ask_all('state', [x.get('link', '') for x in first])]
    for text, a, b, c in zip(states, first, again, link):
        check('error' not in a, text[:200], a.get('error'))
        kit.same(b['state'], a['state'], f'state {text[:100]}')
        if a['fits']:
            kit.same(c['state'], a['state'], f'link {text[:100]}')
            check(len(a['link']) <= 8000, len(a['link']))


@case('a link opens the state that it holds, in a page of its own')
def _opens(session):
    for text in random_states.states(6, most=8, seed=random_states.SEED + 3):
        page = session.open(text)
        kit.same(page.evaluate("window.qkv.call('json', window.qkv.text)"),
                 session.qkv('explain', '--state', text, '--format', 'json'))
        page.context.close()


@case('links of the past open as they always did')
def _old(session):
    core, count = wasm_core.Core(session), 0
    for line in LINKS.read_text(encoding='utf-8').splitlines():
        if not line.strip() or line.startswith('#'):
            continue
        text, want, said = (x.strip() for x in line.split(' | '))
        got, count = core.json('state', text), count + 1
        if want == '!':
            kit.same(got.get('error'), said, text)
            continue
        kit.same(got['link'], '' if want == '-' else want, text)
        kit.same(got.get('note', '-'), said, text)
    check(count > 40, count)


@case('a refused link: a sentence, and the page stays usable')
def _refused(session):
    page = session.open(kit_links.in_address(kit_links.REFUSED[0]))
    for n, text in enumerate(kit_links.REFUSED):
        if n:
            face.set_state(page, 'st=0')
            face.set_state(page, kit_links.in_address(text))
        notice = page.locator('#notice')
        check(notice.is_visible() and len(notice.inner_text()) > 10, text, 'says nothing')
        kit.same(page.locator('main script, main img').count(), 0, text)
        face.press(page, 'Next')
        kit.same(face.stage(page), 1)


@case('markup in a link is text, or nothing')
def _strange(session):
    for text in kit_links.STRANGE:
        page = session.open(kit_links.in_address(text))
        kit.same(page.evaluate('window.ran ?? null'), None, text)
        kit.same(page.locator('main script, main img').count(), 0, text)
        page.context.close()


@case('a link of a newer version and one that was cut say so, and show what they can')
def _newer(session):
    for text, word in (('v=9&st=2&hue=red&z=', 'newer'), ('v=1&st=2&Q=1,2;3', 'cut')):
        page = session.open(text)
        notice = page.locator('#notice')
        check(notice.is_visible() and word in notice.inner_text().lower(), text,
              notice.text_content())
        kit.same(face.stage(page), 2, text)
        page.context.close()


@case('keys that the page does not know are kept in the address')
def _unknown(session):
    page = session.open('v=9&hue=red&st=1&z=')
    face.press(page, 'Next')
    page.wait_for_timeout(700)
    address = page.evaluate('location.hash')
    check('hue=red' in address and 'st=2' in address, address)


@case('the address follows, at most once in 300 ms, without new entries in the history')
def _address(session):
    page = session.open()
    page.evaluate('''() => { window.times = []; const old = history.replaceState.bind(history);
      history.replaceState = (...x) => { window.times.push(performance.now()); return old(...x); };
      const push = history.pushState; history.pushState = () => { window.pushed = true; }; }''')
    before = page.evaluate('history.length')
    for stage in (1, 2, 3, 4, 3, 2, 1, 2, 3, 4) * 2:
        face.go_stage(page, stage)
    page.wait_for_timeout(700)
    times = page.evaluate('window.times')
    check(times, 'the address never changed')
    check(all(b - a >= 290 for a, b in zip(times, times[1:])), times)
    kit.same(page.evaluate('history.length'), before)
    check('st=4' in page.evaluate('location.hash'), page.evaluate('location.hash'))


@case('a fragment that names an element scrolls there and leaves the state alone')
def _place(session):
    page = session.open('formula')
    top = page.locator('#formula h2').evaluate('(x) => x.getBoundingClientRect().top')
    check(abs(top) < 120, 'the formula is at', top)
    kit.same(face.stage(page), 0)
    face.go_stage(page, 3)
    page.evaluate("location.hash = 'blend'")
    face.settle(page)
    kit.same(face.stage(page), 3)


@case('without a fragment it opens at the top')
def _top(session):
    page = session.open()
    kit.same(page.evaluate('scrollY'), 0)


@case('beyond 16 tokens or 8 channels the link holds the settings, and the page says so')
def _large(session):
    n = 17
    page = session.open(f'n={n}&st=2&sec=lab&V=' + ';'.join(f'{i},1' for i in range(n)))
    about = page.evaluate('window.qkv.about')
    check(not about['fits'] and 'V=' not in about['link'], about['link'][:200])
    check('link' in page.locator('body').inner_text(),
          'nothing says that the data is not in the link')


@case('undo and redo: 50 edits back and forth')
def _undo(session):
    page = session.open('sec=lab')
    seen = [face.state(page)]
    for n in range(50):
        page.evaluate("(n) => window.qkv.edit('K', n % 4, n % 2, String(n - 20.5))", n)
        seen.append(face.state(page))
    check(len(set(seen)) == 51, len(set(seen)))
    for want in reversed(seen[:-1]):
        face.undo(page)
        kit.same(face.state(page), want)
    for want in seen[1:]:
        face.redo(page)
        kit.same(face.state(page), want)


@case('undo takes back numbers, not the way: section, stage and token stay')
def _undo_walk(session):
    page = session.open()
    page.evaluate("window.qkv.edit('K', 1, 0, '7')")
    face.pick(page, 'mat')
    face.go_stage(page, 3)
    face.open_lab(page)
    for act, kept in ((face.undo, ''), (face.redo, 'K=1,0;7,2;2,0;1,1&')):
        act(page)
        page.wait_for_timeout(400)
        got = page.evaluate('location.hash')
        check(all(x in got for x in ('sec=lab', 'st=3', 't=mat')), got)
        check(('K=' in got) == bool(kept) and kept in got, got)
    # where the token is not there any more, all is as it was
    page.evaluate("window.qkv.set({ n: 6 }, 'tokens')")
    page.evaluate("window.qkv.set({ t: '@5' }, 'token')")
    face.undo(page)
    kit.same(page.evaluate('window.qkv.about.tokens'), 4)


kit.main()
