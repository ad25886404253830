# SPDX-License-Identifier: MIT
"""Questions, recall, editing: each answer has its own reason, a thousand seeds have one right
option among different ones, recall keeps its text over a reload and its dates only after opting
in; what is typed wrong gets a sentence and changes nothing.
"""
import json
import re

import arithmetic
import face
import pagekit as kit
import wasm_core
from pagekit import case, check

DAY = 86400  # the clock is set in seconds


def text_of(pieces):
    return ''.join(x['t'] for x in pieces)


@case('the two questions of the lesson: one right, each wrong one with its own reason and a proof')
def _questions(session):
    page = session.open()
    questions = page.locator('#check fieldset.question[data-question]')
    kit.same(questions.count(), 2)
    for n in range(2):
        question = questions.nth(n)
        radios = question.get_by_role('radio')
        check(radios.count() >= 4, 'options', radios.count())
        reasons, right = set(), 0
        for option in range(radios.count()):
            radios.nth(option).check()
            face.settle(page)
            shown = question.locator('.reason')
            kit.same(shown.count(), 1)
            reasons.add(shown.locator('p').first.text_content())
            right += 'right' in shown.get_attribute('class')
            check(shown.locator('a').count() == 1, 'no way to the proof')
        kit.same(len(reasons), radios.count(), 'different reasons')
        kit.same(right, 1, 'right answers')


@case('a wrong answer may be changed; "see it" goes to the stage that proves it')
def _proof(session):
    page = session.open()
    question = page.locator('#check fieldset.question').first
    question.get_by_role('radio').first.check()
    question.locator('.reason a').click()
    face.settle(page)
    stage = int(re.search(r'\d', question.locator('.reason a').text_content())[0])
    kit.same(face.stage(page), stage)


@case('1,000 seeds: eight questions each, one right option, all different at two digits')
def _seeds(session):
    core = wasm_core.Core(session)
    lines, kinds = 0, set()
    for number in range(2, 10):
        answers = core.ask_all('question', [f'{number}\n{seed}' for seed in range(1000)])
        for seed, answer in enumerate(answers):
            made = json.loads(answer)
            texts = [text_of(x['text']) for x in made['options']]
            where = f'question {number} of seed {seed}'
            check(len(set(texts)) == len(texts) >= 3, where, texts)
            check(0 <= made['right'] < len(texts), where)
            reasons = [text_of(x['reason']) for x in made['options']]
            check(all(reasons) and len(set(reasons)) == len(reasons), where, reasons)
            bad, count = arithmetic.wrong(text_of(made['worked']))
            check(not bad, where, *bad)
            lines += count
            kinds.add(re.sub(r'[\d.,−\[\]]+', '#', text_of(made['text'])))
    check(lines > 3000, 'statements of worked lines:', lines)
    check(len(kinds) >= 6, 'kinds of questions:', len(kinds))


@case('the generated questions: next, again with another seed; the link holds seed and place')
def _quiz(session):
    page = session.open()
    first = page.locator('#quiz-question').inner_text()
    page.locator('#quiz-next').click()
    face.settle(page)
    check(page.locator('#quiz-question').inner_text() != first, 'the next question')
    check('2 of 8' in page.locator('#quiz-place').inner_text(),
          page.locator('#quiz-place').inner_text())
    page.locator('#quiz-question').get_by_role('radio').first.check()
    said = page.locator('#quiz-question .reason p').first.text_content()
    page.wait_for_timeout(700)
    page.reload()
    session.ready(page)
    check('2 of 8' in page.locator('#quiz-place').inner_text(), 'after a reload')
    kit.same(page.locator('#quiz-question .reason p').first.text_content(), said)


@case('predictions before stages 1, 3 and 4; Next never waits for them')
def _predict(session):
    page = session.open()
    seen = []
    for stage in range(5):
        face.go_stage(page, stage)
        if page.locator('#predict').is_visible():
            seen.append(stage)
            page.locator('#predict input').first.check()
            check(len(page.locator('#predict .reason').inner_text()) > 5, 'no answer')
    kit.same(seen, [0, 2, 3])


@case('recall: hints one by one, a check point by point, the text survives a reload, nothing is stored')
def _recall(session):
    page = session.open()
    page.locator('#recall-text').fill('softmax(QKᵀ/√d)V, row by row')
    for n in range(1, 4):
        page.locator('#hint').click()
        kit.same(page.locator('#hints li').count(), n)
    page.locator('#compare').click()
    boxes = page.locator('#points input')
    check(boxes.count() >= 7, 'points', boxes.count())
    boxes.nth(0).check()
    boxes.nth(2).check()
    score = page.locator('#points-score').inner_text()
    check('2' in score, score)
    page.wait_for_timeout(400)
    page.reload()
    session.ready(page)
    kit.same(page.locator('#recall-text').input_value(), 'softmax(QKᵀ/√d)V, row by row')
    kit.same(page.locator('#hints li').count(), 3)
    kit.same(page.locator('#points input:checked').count(), 2)
    kit.same(page.evaluate('localStorage.length'), 0, 'stored without being asked')


@case('recall: days 1, 3, 7, 21, 60 by a false clock, dates only after opting in, gone after opting out')
def _schedule(session):
    context = session.context()
    page = context.new_page()
    session.watch(page)
    start = 1790000000
    page.clock.set_fixed_time(start)
    page.goto(session.url)
    session.ready(page)
    page.locator('#opt-in').check()
    kit.same(page.evaluate('localStorage.length'), 1)
    seen, day = [], 0
    for want in (1, 3, 7, 21, 60):
        for _ in range(40):
            if not page.locator('#card-show').is_visible():
                break
            page.locator('#card-show').click()
            page.locator('#card-knew').click()
            found = re.search(r'\d+', page.locator('#card-says').inner_text())
            seen.append(int(found[0]) if found else 1)
        check(seen and seen[-1] == want, f'after day {day}: in {seen[-3:]} days, expected {want}')
        day += want
        for early, due in ((1, False), (0, True)):
            page.clock.set_fixed_time(start + (day - early) * DAY)
            page.reload()
            session.ready(page)
            kit.same(page.locator('#card-show').is_visible(), due,
                     f'a card is due on day {day - early}')
    check(page.locator('#opt-in').is_checked(), 'the choice is forgotten')
    page.locator('#opt-in').uncheck()
    kit.same(page.evaluate('localStorage.length'), 0, 'after opting out')


@case('a card that was forgotten comes again in the same session')
def _forgotten(session):
    page = session.open()
    front = page.locator('#card-front').inner_text()
    page.locator('#card-show').click()
    page.locator('#card-forgot').click()
    fronts = []
    for _ in range(12):
        if not page.locator('#card-show').is_visible():
            break
        fronts.append(page.locator('#card-front').inner_text())
        page.locator('#card-show').click()
        page.locator('#card-knew').click()
    check(front in fronts, 'it never came again')


@case('cards for Anki: tab-separated, no markup')
def _anki(session):
    page = session.open()
    with page.expect_download() as made:
        page.locator('#anki').click()
    text = open(made.value.path(), encoding='utf-8').read()
    rows = [x for x in text.splitlines() if x and not x.startswith('#')]
    check(len(rows) >= 5 and all(x.count('\t') == 1 for x in rows), text[:300])
    check('<' not in re.sub(r'&lt;', '', text), 'markup')


WRONG = [('2..0', ['2..0']), ('1,5', ['point', '1.5']), ('1e400', ['1e400', 'large']),
         ('', ['no number']),
         ('NaN', ['NaN']), ('−−1', ['−−1']), ('two', ['two']), ('0x10', ['0x10'])]


@case('what is typed wrong: a sentence beside the field, the last good state stays')
def _typed(session):
    page = session.open('st=3')
    face.edit(page, True)
    face.cell(page, 'k1.0').focus()
    face.settle(page)
    before, weights = face.state(page), face.column(page, 'weight')
    for text, parts in WRONG:
        face.type_cell(page, 'k1.0', text)
        said = face.trouble(page)
        for part in parts:
            check(part.lower() in said.lower(), f'{text!r}: {said!r} lacks {part!r}')
        field = face.cell(page, 'k1.0')
        kit.same(field.get_attribute('aria-invalid'), 'true', text)
        told = field.get_attribute('aria-describedby')
        check(told and page.locator(f'#{told}').text_content() == said, text,
              'is not told by the field')
        kit.same((face.state(page), face.column(page, 'weight')), (before, weights), text)
    face.type_cell(page, 'k1.0', ' -0.5 ')
    kit.same(face.trouble(page), '')
    check(face.column(page, 'weight') != weights, 'a good number was not taken')


@case('editing: the weights follow, a line says what was changed, one button leads back')
def _edit(session):
    page = session.open('st=3')
    face.edit(page, True)
    face.type_cell(page, 'q.0', '2')
    face.type_cell(page, 'q.1', '0')
    text = face.state(page)
    native = json.loads(session.qkv('explain', '--state', text, '--format', 'json'))
    kit.same(face.column(page, 'weight'), [f'{x:.2f}' for x in native['weight'][2]])
    changed = page.locator('#changed')
    check(changed.is_visible() and 'changed' in changed.inner_text(), 'nothing is said')
    check('X' in changed.inner_text(), 'nothing is said of X·W')
    changed.get_by_role('button').first.click()
    face.settle(page)
    kit.same(face.column(page, 'weight'), ['0.06', '0.54', '0.13', '0.27'])
    check(not changed.is_visible(), 'the line stays')


@case('− and + step the number that was last edited, there and back')
def _step(session):
    page = session.open('st=1')
    face.edit(page, True)
    face.cell(page, 'q.0').focus()
    steps = page.locator('#stepper button')
    values = [face.cell(page, 'q.0').input_value()]
    for n in (1, 1, 0, 0, 0):
        steps.nth(n).click()
        face.settle(page)
        values.append(face.cell(page, 'q.0').input_value())
    kit.same(values[4], values[0], 'two up, two down')
    kit.same(values[1], values[3])
    check(float(values[2]) > float(values[1]) > float(values[0]) > float(values[5]), values)


@case('parts of the formula, lines of the code and the four points: each lights and leads to its stage')
def _linked(session):
    page = session.open()
    lit = "(x) => [...document.querySelectorAll(`${x} .lit`)].map((y) => y.dataset.part ?? y.dataset.stage)"
    parts = page.locator('.parts button')
    kit.same(parts.count(), 4)
    for n in range(4):
        parts.nth(n).click()
        face.settle(page)
        kit.same(face.stage(page), n + 1, 'a part leads to its stage')
        kit.same(page.evaluate(lit, '#the-formula'), [str(n + 1)], 'the part that is lit')
        kit.same(parts.nth(n).get_attribute('aria-pressed'), 'true')
        kit.same(set(page.evaluate(lit, '#listing')), {str(n + 1)}, 'lines that are lit')
    face.go_stage(page, 2)
    kit.same(page.evaluate(lit, '#the-formula'), ['2'], 'and back: the stage lights its part')
    lines = page.locator('#listing button.line')
    seen = set()
    for n in range(lines.count()):
        lines.nth(n).click()
        face.settle(page)
        kit.same(str(face.stage(page)), lines.nth(n).get_attribute('data-stage'),
                 'a line of the code')
        seen.add(face.stage(page))
    kit.same(seen, {0, 1, 2, 3, 4}, 'stages that the code names')
    points = page.locator('#check a[data-stage]')
    stages = []
    for n in range(points.count()):
        points.nth(n).click()
        face.settle(page)
        kit.same(str(face.stage(page)), points.nth(n).get_attribute('data-stage'), 'a point')
        stages.append(face.stage(page))
    kit.same(len(stages), 4, 'points to lock in')


@case('programs to copy and the state as plain text stand in boxes that can be read')
def _copied(session):
    page = session.open('st=4&t=mat')
    for button, box, words in (('copy-numpy', 'program', ['import numpy', 'attention(Q, K, V)']),
                               ('copy-c', 'program', ['#include', 'int main']),
                               ('copy-state', 'as-text', ['0.49', 't=mat'])):
        page.locator(f'#{button}').click()
        text = page.locator(f'#{box}')
        check(text.is_visible() and text.get_attribute('readonly') is not None, box)
        check(all(x in text.input_value() for x in words), button, text.input_value()[-300:])


kit.main()
