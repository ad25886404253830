# SPDX-License-Identifier: MIT
"""axe-core in the page, with the page's own security policy in force: no violation of WCAG 2.2 A and AA
in any of its looks, and nothing that axe leaves open without a measured answer below.

axe finds about half of what can be wrong; test_page_access.py holds what it cannot see.
"""
import shutil
import tempfile
import pathlib

import face
import pagekit as kit
from pagekit import case, check

TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
RUN = '''(tags) => axe.run(document, { runOnly: { type: 'tag', values: tags }, resultTypes:
  ['violations', 'incomplete'] }).then((result) => ['violations', 'incomplete'].flatMap((kind) =>
  result[kind].flatMap((rule) => rule.nodes.map((node) => ({ kind, rule: rule.id,
    target: node.target.flat().join(' '), html: node.html.slice(0, 120),
    why: [...node.any, ...node.all, ...node.none].map((x) => x.message).join('; ').slice(0, 200),
    contrast: node.any.map((x) => x.data?.contrastRatio).find((x) => x) ?? null })))))'''
# What axe leaves open, and what answers it: (rule, words in its reason). Contrast of signs that axe does
# not take for text, or whose ground it cannot find, is measured here against the nearest opaque ground.
ANSWERED = [('color-contrast', 'non-text characters'), ('color-contrast', 'too short to determine'),
            ('color-contrast', 'background color could not')]
LEAST = 4.5


def axe(page):
    page.evaluate(kit.axe_source())
    faults = []
    for item in page.evaluate(RUN, TAGS):
        if item['kind'] == 'incomplete' and any(
                rule == item['rule'] and words in item['why'] for rule, words in ANSWERED):
            measured = face.probe(page, 'contrast', item['target'])
            if measured >= LEAST:
                continue
            item['why'] += f' (measured {measured:.2f})'
        faults.append(f'{item["kind"]} {item["rule"]} at {item["target"]}: {item["why"]}: {item["html"]}')
    return faults


def looks(session):
    for scheme in ('light', 'dark'):
        for width, height in (face.SIZES[0], face.SIZES[2]):
            yield f'{scheme} {width}', session.open(width=width, height=height, color_scheme=scheme)


def everywhere(session, bring, what):
    faults = []
    for where, page in looks(session):
        bring(page)
        face.settle(page)
        faults += [f'{where}: {x}' for x in axe(page)]
        page.context.close()
    check(not faults, what, len(faults), *[f'\n{x}' for x in dict.fromkeys(faults)][:12])


@case('axe sees what is wrong: a planted fault')
def _planted(session):
    page = session.open()
    page.evaluate('''() => { const image = document.createElement('img');
      image.src = 'data:,'; document.querySelector('main').append(image); }''')
    check(any('image-alt' in x for x in axe(page)), 'an image without a text is not seen')


@case('axe: the page as it opens, stage 0')
def _start(session):
    everywhere(session, lambda page: face.go_stage(page, 0), 'stage 0')


@case('axe: stage 4, all details open')
def _end(session):
    def bring(page):
        face.go_stage(page, 4)
        page.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    everywhere(session, bring, 'stage 4')


@case('axe: editing, with an error shown')
def _error(session):
    def bring(page):
        face.edit(page, True)
        face.type_cell(page, 'k1.0', '2..0')
    everywhere(session, bring, 'an error')


@case('axe: the lab')
def _lab(session):
    everywhere(session, face.open_lab, 'the lab')


@case('an inline script that was put into the file does not run')
def _injected(session):
    text = session.file.read_text(encoding='utf-8')
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / 'injected.html'
        shutil.copy(session.file, copy)
        at = text.index('<body') if '<body' in text else text.index('<main')
        copy.write_text(text[:at] + '<script>window.ran = 1</script>' + text[at:], encoding='utf-8')
        page = session.context().new_page()
        blocked = []
        page.on('console', lambda x: blocked.append(x.text))
        page.goto(copy.as_uri())
        session.ready(page)
        check(page.evaluate('window.ran') is None, 'it ran')
        check(any('Content Security Policy' in x for x in blocked), *blocked)


@case('a script or a handler that is made later does not run either')
def _later(session):
    page = session.context().new_page()
    page.goto(session.url)
    session.ready(page)
    got = page.evaluate('''async () => {
      const tried = [];
      const attempt = (name, act) => { try { act(); } catch (fault) { tried.push(`${name}: ${fault.name}`); } };
      attempt('script', () => { const made = document.createElement('script');
        made.textContent = 'window.ran = 1'; document.body.append(made); });
      attempt('handler', () => { const made = document.createElement('img');
        made.setAttribute('onerror', 'window.ran = 2'); made.src = 'data:,x'; document.body.append(made); });
      attempt('markup', () => { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); });
      // what a test evaluates may itself use eval; what it leaves behind may not
      setTimeout(() => attempt('eval', () => { eval('window.ran = 3'); }), 0);
      await new Promise((done) => setTimeout(done, 100));
      return { ran: window.ran ?? null, tried };
    }''')
    kit.same(got['ran'], None)
    for what in ('markup', 'eval'):
        check(any(x.startswith(what) for x in got['tried']), what, got['tried'])


kit.main()
