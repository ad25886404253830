# SPDX-License-Identifier: MIT
"""axe-core in the page, with the page's own security policy in force: no violation of WCAG 2.2 A
and AA in any of its looks, and nothing that axe leaves open without a measured answer below.

axe finds about half of what can be wrong; test_page_access.py holds what it cannot see.
"""
import shutil
import tempfile
import pathlib

import face
import pagekit as kit
from pagekit import case, check

TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
RUN = '''([tags, part]) => axe.run(part ? document.querySelector(part) : document, {
  runOnly: { type: 'tag', values: tags }, resultTypes: ['violations',
    'incomplete'] }).then((result) =>
  ['violations', 'incomplete'].flatMap((kind) => result[kind].flatMap((rule) =>
    rule.nodes.map((node) => ({
    kind, rule: rule.id, target: node.target.flat().join(' '), html: node.html.slice(0, 120),
    why: [...node.any, ...node.all, ...node.none].map((x) => x.message).join('; ').slice(0,
      200) })))))'''
# What axe leaves open, and what answers it: (rule, words in its reason). Contrast of signs that axe does
# not take for text, or whose ground it cannot find, is measured here against the nearest opaque ground.
ANSWERED = [('color-contrast', 'non-text characters'), ('color-contrast', 'too short to determine'),
            ('color-contrast', 'background color could not')]
LEAST = 4.5


def axe(page, part=None, measured=None):
    """Faults of the document or of a part; what axe leaves open goes to `measured` with its value."""
    if not page.evaluate('!!window.axe'):
        page.evaluate(kit.axe_source())
    faults = []
    for item in page.evaluate(RUN, [TAGS, part]):
        if item['kind'] == 'incomplete' and any(
                rule == item['rule'] and words in item['why'] for rule, words in ANSWERED):
            value = face.probe(page, 'contrast', item['target'])
            if measured is not None:
                measured[item['target']] = min(value, measured.get(item['target'], value))
            if value >= LEAST:
                continue
            item['why'] += f' (measured {value:.2f})'
        faults.append(f'{item["kind"]} {item["rule"]} at {item["target"]}: {item["why"]}: {item["html"]}')
    return faults


@case('axe sees what is wrong: a planted fault')
def _planted(session):
    page = session.open()
    page.evaluate('''() => { const image = document.createElement('img');
      image.src = 'data:,'; document.querySelector('main').append(image); }''')
    check(any('image-alt' in x for x in axe(page)), 'an image without a text is not seen')


@case('a sign of too little contrast that axe leaves open is measured')
def _faint(session):
    page = session.open()
    page.evaluate('''() => { const faint = document.createElement('p');
      faint.textContent = '×'; faint.style.color = '#bbb'; faint.id = 'faint';
      document.querySelector('main').append(faint); }''')
    check(any('#faint' in x and ('measured' in x or 'violations' in x) for x
              in axe(page, '#faint')),
          axe(page, '#faint'))


# ---- what a page can be brought to: one after the other, on one page -----------------------------

def start(page):
    face.go_stage(page, 0)


def wrong_number(page):
    """Editing, with an error shown."""
    face.edit(page, True)
    face.type_cell(page, 'k1.0', '2..0')
    check(face.trouble(page), 'no error is shown')


def end(page):
    """Stage 4, changed numbers, everything answered wrongly, all that folds out open."""
    face.type_cell(page, 'k1.0', '3')
    face.edit(page, False)
    face.go_stage(page, 4)
    page.evaluate("document.querySelectorAll('main details, header details').forEach((x) => { x.open = true; })")
    page.locator('#listing-figure input[value=c]').check()
    page.locator('#large').check()
    page.locator('#copy-numpy').click()
    page.locator('#copy-state').click()
    for question in page.locator('#check fieldset.question').all():
        question.get_by_role('radio').first.check()
        check(question.locator('.reason').count() == 1, 'no reason is shown')
    for name in ('hint', 'compare', 'card-show', 'opt-in'):
        page.locator(f'#{name}').click()


def lab_token(page):
    """The lab's table of a token: every part open, an error in each place that can show one."""
    face.open_lab(page)
    parts = page.locator('#lab details')
    parts.evaluate_all('(all) => all.forEach((x) => { x.open = true; })')
    face.settle(page)
    for field in ('#lab input[data-w="K"][data-r="1"][data-c="0"]',
                  '#lab-weights input[data-w="q"]'):
        page.locator(field).first.fill('2..0')
        page.locator(field).first.blur()
    face.choose(page, 'Scale', '× your own')
    page.locator('#lab-times').fill('x')
    page.locator('#lab-times').blur()
    face.paste(page, '1,0\n2')
    shown = page.locator('#lab .trouble:visible').count()
    check(shown == 4, 'errors shown:', shown)


def lab_map(page):
    """A beside B as maps with their table twins, masked the wrong way, a column listed."""
    face.choose(page, 'Scale', 'none')
    face.choose(page, 'Show', 'all pairs')
    face.choose(page, 'Mask', 'causal')
    for name in ('the wrong way: zero after softmax', 'A beside B'):
        face.lab(page).get_by_role('checkbox', name=name).check()
    page.locator('#lab input[value=dk]').check()
    face.choose(page, 'List the', 'column')
    page.locator('#lab .lab-twin').evaluate_all('(all) => all.forEach((x) => { x.open = true; })')
    check(page.locator('#lab .lab-panel:visible').count() == 2, 'panels')


def lab_model(page):
    """The trained model and all its heads."""
    face.lab(page).get_by_role('checkbox', name='A beside B').uncheck()
    face.choose(page, 'Numbers', 'trained model')
    check(page.locator('#lab .lab-heads button:visible').count() == 12, 'heads')


def lab_file(page):
    """A table of the reader's own, of 40 tokens."""
    face.paste(page, '\n'.join(f'{n},{n % 3},{n % 5}' for n in range(40)))
    check(page.evaluate('window.qkv.lab.about.data') == 'file', face.own_trouble(page))


# what, how, the part that axe looks at; None: all of it
STATES = [('stage 0', start, None), ('an error', wrong_number, '#calculator'),
          ('stage 4', end, None),
          ('lab, a token', lab_token, None), ('lab, A and B', lab_map, '#lab'),
          ('lab, the model', lab_model, '#lab'), ('lab, a file', lab_file, '#lab')]


for width, height in (face.SIZES[0], face.SIZES[2]):
    for scheme in ('light', 'dark'):
        @case(f'axe: every section, stages 0 and 4, errors, all parts of the lab; {width} px, {scheme}')
        def _everywhere(session, width=width, height=height, scheme=scheme):
            faults, measured = [], {}
            page = session.open(width=width, height=height, color_scheme=scheme)
            for what, bring, part in STATES:
                bring(page)
                face.settle(page)
                if part is None:
                    unseen = [x for x in face.SECTIONS if not page.locator(f'#{x} h2').is_visible()]
                    check(not unseen, what, 'sections that are not shown:', unseen)
                faults += [f'{what}: {x}' for x in axe(page, part, measured)]
            shut = page.evaluate('[...document.querySelectorAll("main details:not([open])")].map((x) => x.id '
                                 '|| x.textContent.slice(0, 40))')
            check(not shut, 'never opened:', shut)
            for target in sorted(measured, key=measured.get)[:3]:
                print(f'# left open by axe, measured {measured[target]:.2f}: {target[:80]}')
            print(f'# left open by axe and measured: {len(measured)}')
            check(not faults, len(faults), *[f'\n{x}' for x in dict.fromkeys(faults)][:12])


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
      const attempt = (name, act) => { try { act();
        } catch (fault) { tried.push(`${name}: ${fault.name}`); } };
      attempt('script', () => { const made = document.createElement('script');
        made.textContent = 'window.ran = 1'; document.body.append(made); });
      attempt('handler', () => { const made = document.createElement('img');
        made.setAttribute('onerror', 'window.ran = 2'); made.src = 'data:,x';
          document.body.append(made); });
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
