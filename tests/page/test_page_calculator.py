# SPDX-License-Identifier: MIT
"""The calculator as a reader meets it: what it opens on, the four stages, each token, edited
numbers, other scales, masks, hard numbers. Golden values are the lesson's, from the definition of
attention; where they depend on what was typed, the command is asked for the same state.
"""
import json
import re

import face
import pagekit as kit
from pagekit import case, check

SCORE = ['1', '4', '2', '3']
SCALED = ['0.71', '2.83', '1.41', '2.12']
WEIGHT = ['0.06', '0.54', '0.13', '0.27']
SHARE = ['[0.06, 0.00]', '[1.62, 0.00]', '[0.00, 0.26]', '[0.00, 0.27]']
# from -> weights in the tokens' order, two decimals of the output
ROWS = {'the': (['0.12', '0.51', '0.12', '0.25'], '[1.64, 0.49]', 'cat'),
        'cat': (['0.22', '0.11', '0.45', '0.22'], '[0.55, 1.12]', 'sat'),
        'sat': (WEIGHT, '[1.68, 0.53]', 'cat'),
        'mat': (['0.12', '0.12', '0.51', '0.25'], '[0.49, 1.26]', 'sat')}
NO_NUMBER = re.compile(r'\bNaN\b|\bInfinity\b|\binf\b|\bundefined\b|\bnull\b|\[object')


def output(page):
    return face.calculator(page).locator('tfoot .share').text_content().strip()


def total(page):
    return face.calculator(page).locator('tfoot .weight').text_content().strip()


@case('opens on sat, stage 0, with its caption, key and value of each token, the query above')
def _opens(session):
    page = session.open()
    kit.same(face.stage(page), 0)
    check(face.token(page, 'sat').is_checked(), 'not on sat')
    check(face.caption(page).startswith('Stage 0 of 4.'), face.caption(page))
    kit.same(face.column(page, 'key'), ['[1, 0]', '[0, 2]', '[2, 0]', '[1, 1]'])
    kit.same(face.column(page, 'value'), ['[1, 0]', '[3, 0]', '[0, 2]', '[0, 1]'])
    head = face.calculator(page).locator('tbody').first.inner_text()
    check('sat' in head and '[1, 2]' in head, head)


@case('Next, four times: scores, scaled scores, weights that sum to 1.00, the output')
def _next(session):
    page = session.open()
    captions = {face.caption(page)}
    for stage, (column, want) in enumerate([('score', SCORE), ('scaled', SCALED),
                                            ('weight', WEIGHT),
                                            ('share', SHARE)], 1):
        face.press(page, 'Next')
        kit.same(face.stage(page), stage)
        kit.same(face.column(page, column), want, column)
        captions.add(face.caption(page))
        check(f'Stage {stage} of 4.' in face.caption(page), face.caption(page))
    kit.same((total(page), output(page)), ('1.00', '[1.68, 0.53]'))
    kit.same(len(captions), 5, 'different captions')
    check(all(len(x.split()) <= 34 for x in captions), 'a caption has more than 30 words')
    check(face.calculator(page).get_by_role('button', name='Next', exact=True).is_disabled(),
          'Next')


@case('the worked lines of the five stages speak of cat and of the first number')
def _worked(session):
    page = session.open()
    wanted = {1: ['1·0 + 2·2 = 4'], 2: ['4 ÷ √2 = 2.83'],
              3: ['e^2.8284 = 16.92', '31.40', '16.92 ÷ 31.40 = 0.54'],
              4: ['0.06·1 + 0.54·3 + 0.13·0 + 0.27·0 = 1.68']}
    for stage, parts in wanted.items():
        face.go_stage(page, stage)
        line = face.worked(page)
        for part in parts:
            check(part in line, f'stage {stage}: {line!r} lacks {part!r}')


@case('no stage shows a number of a later one')
def _later(session):
    page = session.open()
    order = ['score', 'scaled', 'weight', 'share']
    for stage in (4, 0, 3, 1, 2):
        face.go_stage(page, stage)
        for n, column in enumerate(order, 1):
            texts = face.column(page, column)
            check(all(texts) if n <= stage else not any(texts), f'stage {stage}, {column}: {texts}')
        check(bool(total(page)) == (stage >= 3) and bool(output(page)) == (stage == 4), stage)
        drawn = page.locator('#strip svg, #plane svg').count()
        check(stage == 4 or not page.locator('#strip').is_visible(), f'a strip at stage {stage}',
              drawn)


@case('Back, and straight to any stage')
def _back(session):
    page = session.open()
    check(face.calculator(page).get_by_role('button', name='Back', exact=True).is_disabled(),
          'Back')
    face.go_stage(page, 4)
    for stage in (3, 2, 1, 0):
        face.press(page, 'Back')
        kit.same(face.stage(page), stage)


@case('each token lands where the lesson says, none on itself')
def _tokens(session):
    page = session.open()
    face.go_stage(page, 4)
    for name, (weights, out, wins) in ROWS.items():
        face.pick(page, name)
        kit.same(face.column(page, 'weight'), weights, name)
        kit.same(output(page), out, name)
        kit.same(face.stage(page), 4)
        best = face.TOKENS[weights.index(max(weights))]
        kit.same(best, wins)
        check(best != name, name, 'lands on itself')


@case('both token rows are one control')
def _one_control(session):
    page = session.open()
    face.token(page, 'mat', 'lookup').check()
    face.settle(page)
    check(face.token(page, 'mat').is_checked(), 'calculator')
    face.pick(page, 'cat')
    check(face.token(page, 'cat', 'lookup').is_checked(), 'lookup')


@case('arrow keys move the choice of token')
def _arrows(session):
    page = session.open()
    face.go_stage(page, 3)
    radio = face.token(page, 'sat')
    radio.focus()
    page.keyboard.press('ArrowRight')
    face.settle(page)
    kit.same(face.column(page, 'weight'), ROWS['mat'][0])


@case('÷ dₖ and no scaling give the rows of the lesson, and their heads say so')
def _scales(session):
    page = session.open()
    for text, want in (('scale=dk', ['0.10', '0.46', '0.17', '0.28']),
                       ('scale=none', ['0.03', '0.64', '0.09', '0.24'])):
        face.set_state(page, f'{text}&st=3')
        kit.same(face.column(page, 'weight'), want, text)
    check('÷ 1' in face.calculator(page).locator('thead').inner_text().replace('\u00a0', ' '),
          'head')


@case('a changed query: the page has the command’s own bytes, and says that numbers were changed')
def _edited(session):
    page = session.open()
    text = 't=mat&st=4&Q=0,1;1,0;1,2;2,0'
    face.set_state(page, text)
    native = session.qkv('explain', '--state', text, '--format', 'json')
    kit.same(page.evaluate("window.qkv.call('json', window.qkv.text)"), native)
    plain = session.qkv('explain', '--state', text, '--format', 'plain')
    for name, weight in zip(face.TOKENS, face.column(page, 'weight')):
        check(weight in plain, name, weight)
    check('changed' in page.locator('main').inner_text().lower()
          or 'changed' in page.locator('#notice').inner_text().lower(), 'nothing says so')


@case('causal: after mat was changed, rows the, cat and sat keep every bit')
def _causal(session):
    page = session.open()
    outs = []
    for more in ('', '&K=1,0;0,2;2,0;9,-7&V=1,0;3,0;0,2;-5,1e30'):
        face.set_state(page, f'mask=causal&st=4{more}')
        outs.append(json.loads(page.evaluate("window.qkv.call('json', window.qkv.text)"))['out'])
    kit.same(outs[0][:3], outs[1][:3])
    check(outs[0][3] != outs[1][3], 'the change did not reach mat')


@case('a row that sees no key says so; no NaN stands anywhere')
def _nothing(session):
    page = session.open()
    face.set_state(page, 'mask=padding:4&st=4')
    text = page.locator('main').inner_text()
    check(re.search(r'no key', text), 'nothing says that there is no key')
    check(not NO_NUMBER.search(text), NO_NUMBER.findall(text))


@case('1e30, −1e30, 1e-40, 0: no NaN, no Infinity')
def _hard(session):
    page = session.open()
    for x in ('1e30', '-1e30', '1e-40', '0', '1e200', '1e308'):
        for stage in (3, 4):
            face.set_state(page, f'Q={x},{x};{x},0;0,{x};{x},{x}&K={x},1;0,{x};1,1;{x},{x}&st={stage}')
            text = page.locator('body').inner_text()
            check(not NO_NUMBER.search(text), x, NO_NUMBER.findall(text))
            check(face.column(page, 'weight'), 'the table is gone')


NOT_FINITE = 'Q=0,1;1,0;1e308,1e308;2,1&K=1e308,1e308;1e308,1e308;1e308,1e308;1e308,1e308'


@case('a row that is not finite says so, whatever number is looked at or edited')
def _odd(session):
    page = session.open('st=4&' + NOT_FINITE)
    calc = face.calculator(page)
    sentence = 'number that is not finite'
    kit.same(calc.inner_text().count(sentence), 1, 'at first')
    face.edit(page, True)
    kit.same(calc.inner_text().count(sentence), 1, 'while editing')
    for code in ('v1.0', 'v0.1', 'q.1'):
        face.cell(page, code).focus()
        face.settle(page)
        kit.same(calc.inner_text().count(sentence), 1, code)
    face.type_cell(page, 'v1.0', '2..0')
    check(sentence in calc.inner_text() and face.trouble(page), calc.inner_text())
    face.type_cell(page, 'v1.0', '2')
    face.go_stage(page, 1)  # long numbers: the keys are there up to this stage
    check(sentence in calc.inner_text(), calc.inner_text())
    for n in range(4):
        face.type_cell(page, f'k{n}.0', '1')
        face.type_cell(page, f'k{n}.1', '0')
    face.go_stage(page, 4)
    check(sentence not in calc.inner_text(), calc.inner_text())
    face.go_stage(page, 0)
    check(sentence not in calc.inner_text(), 'stage 0 has only finite numbers')


kit.main()
