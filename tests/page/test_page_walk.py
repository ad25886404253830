# SPDX-License-Identifier: MIT
"""The scripted walk: a newcomer with a keyboard and no network goes through the whole lesson, at
320 and at 1280 px, from the first Tab to a saved picture. No mouse, no call of the page's own
script.
"""
import re
import xml.dom.minidom

import face
import kit_words
import pagekit as kit
from pagekit import case, check

MOST_KEYS = 12


class Hands:
    """A keyboard that counts, and eyes on what has the focus."""

    def __init__(self, page):
        self.page, self.keys = page, 0

    def press(self, key):
        self.page.keyboard.press(key)
        self.keys += 1
        face.settle(self.page)

    def on(self, selector):
        return self.page.evaluate('(x) => document.activeElement.matches(x)', selector)

    def tab_to(self, selector, back=False, most=260):
        for _ in range(most):
            if self.on(selector):
                return
            self.page.keyboard.press('Shift+Tab' if back else 'Tab')
            self.keys += 1
        raise kit.Broken(f'{selector} was not reached by Tab')

    def type(self, text):
        self.page.keyboard.type(text)
        self.keys += len(text)


def to_stage_4(hands, page):
    hands.press('Tab')
    hands.press('Enter')
    hands.tab_to('#calculator-figure button[data-stage="4"]')
    hands.press('Enter')
    kit.same(face.stage(page), 4)
    check(hands.keys <= MOST_KEYS, 'keys from load to stage 4:', hands.keys)


def pick_mat(hands, page):
    hands.tab_to('#calculator-figure fieldset.tokens input', back=True)
    hands.press('ArrowRight')
    check(face.token(page, 'mat').is_checked(), 'mat')
    weights = face.column(page, 'weight')
    kit.same((max(weights), weights.index(max(weights))), ('0.51', 2), 'mat lands on sat')


def set_query(hands, page, session):
    hands.tab_to('#edit')
    hands.press('Enter')
    hands.tab_to('#calculator-figure input.cell[data-f="q.0"]', back=not hands.on('input.cell'))
    for code, value in (('q.0', '2'), ('q.1', '0')):
        check(hands.on(f'input.cell[data-f="{code}"]'), 'tab order of the query’s fields', code)
        hands.press('Control+a')
        hands.type(value)
        hands.press('Tab')
    plain = session.qkv('explain', '--state', face.state(page), '--format', 'plain')
    hands.tab_to('#copy-state', most=320)
    hands.press('Enter')
    shown = page.locator('#as-text')
    check(shown.is_visible(), 'the state as plain text is not shown')
    check(shown.input_value().startswith(plain), 'the page says', shown.input_value()[:200],
          'the command says', plain[:200])


def questions(hands, page):
    for n in range(2):
        own = f'#check fieldset.question[data-question="{n}"] input'
        if not hands.on(own):
            hands.tab_to(own, back=n == 0)
        hands.press('Space')
        for _ in range(6):
            if page.locator(f'#check fieldset.question[data-question="{n}"] .reason.right').count():
                break
            reason = page.locator(f'#check fieldset.question[data-question="{n}"] .reason')
            check(reason.is_visible() and len(reason.inner_text()) > 20,
                  'no reason for a wrong answer')
            hands.press('ArrowDown')
        else:
            raise kit.Broken(f'question {n}: no right answer by arrow keys')


def recall(hands, page, session):
    hands.tab_to('#recall-text')
    hands.type('softmax of Q K over root d, times V')
    hands.tab_to('#hint')
    hands.press('Enter')
    hands.tab_to('#compare')
    hands.press('Enter')
    hands.tab_to('#points input')
    hands.press('Space')
    page.wait_for_timeout(400)
    page.reload()
    session.ready(page)
    kit.same(page.locator('#recall-text').input_value(), 'softmax of Q K over root d, times V')
    kit.same(page.locator('#points input:checked').count(), 1)


def export(hands, page):
    page.evaluate('document.activeElement.blur()')
    hands.press('Tab')
    hands.press('Enter')
    hands.tab_to('#calculator-figure a[href="#lab"]')
    hands.press('Enter')
    page.wait_for_selector('#lab .lab-panel', state='visible')
    for _ in range(120):
        hands.press('Tab')
        if page.evaluate('document.activeElement.textContent.trim()') == 'SVG':
            break
    with page.expect_download() as made:
        hands.press('Enter')
    text = open(made.value.path(), encoding='utf-8').read()
    texts = xml.dom.minidom.parseString(text).getElementsByTagName('text')
    check(len(texts) > 10, 'the saved picture holds', len(texts), 'texts')


for width, height in (face.SIZES[0], face.SIZES[2]):
    @case(f'the walk by keyboard at {width} px: stages, token, query, questions, recall, picture')
    def _walk(session, width=width, height=height):
        page = session.open(width=width, height=height)
        words = kit_words.count(page.evaluate(kit_words.VISIBLE))
        hands = Hands(page)
        to_stage_4(hands, page)
        pick_mat(hands, page)
        set_query(hands, page, session)
        questions(hands, page)
        recall(hands, page, session)
        export(hands, page)
        minutes = words / 200 + kit_words.ACTS * 15 / 60
        print(f'# {hands.keys} keys, {words} words, {minutes:.1f} minutes')
        check(minutes <= 12, f'{minutes:.1f} minutes')


@case('sliders by keyboard: sharpness, the blend’s query, dₖ; no act needs a drag')
def _sliders(session):
    page = session.open()
    for name in ('sharpness', 'blend-x', 'root-channels'):
        slider = page.locator(f'#{name}')
        slider.focus()
        before = slider.input_value()
        page.keyboard.press('ArrowRight')
        face.settle(page)
        check(slider.input_value() != before, name, 'does not move')
        said = slider.get_attribute('aria-valuetext') or slider.input_value()
        check(re.search(r'\S', said), name)
    kit.same(page.locator('input[type=range]:not([aria-label]):not([id])').count(), 0)


@case('the plane’s query moves by keys or number fields as well')
def _plane(session):
    page = session.open()
    fields = page.locator('#lookup-figure input[type=text]')
    check(fields.count() >= 2, 'number fields of the query', fields.count())
    before = page.locator('#lookup-figure').inner_text()
    fields.nth(0).fill('2')
    fields.nth(0).press('Enter')
    face.settle(page)
    check(page.locator('#lookup-figure').inner_text() != before, 'nothing follows')


kit.main()
