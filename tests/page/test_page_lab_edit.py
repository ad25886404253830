# SPDX-License-Identifier: MIT
"""What can be changed in the lab: how many tokens and channels, X and the matrices W, and one
option of two panels beside each other; what follows from it, in link, command and files.
"""
import csv
import io
import json
import re
import xml.dom.minidom

import face
import labkit
import pagekit as kit
from pagekit import case, check


@case('A beside B differ in the changed option only')
def _compare(session):
    page = session.open('sec=lab&st=3&T=0.5&mask=causal')
    face.lab(page).get_by_role('checkbox', name='A beside B').check()
    face.settle(page)
    a, b = page.evaluate('[window.qkv.lab.about.a, window.qkv.lab.about.b]')
    kit.same(a, b, 'B begins as A')
    face.choose(page, 'Scale', 'none')
    a, b = page.evaluate('[window.qkv.lab.about.a, window.qkv.lab.about.b]')
    differ = {x for x in a if a[x] != b[x]}
    check(differ and differ <= {'scale', 'times', 'scale_text'}, differ)
    kit.same(face.lab(page).locator('.lab-panel:visible').count(), 2, 'panels')


OPTIONS = [  # what is chosen in B, and how a link says both panels
    ('scale', lambda page: face.choose(page, 'Scale', 'none'),
     'st=3&mask=causal&T=0.5', 'st=3&mask=causal&T=0.5&scale=none'),
    ('mask', lambda page: face.choose(page, 'Mask', 'none'),
     'st=3&scale=dk&T=0.5&mask=causal', 'st=3&scale=dk&T=0.5'),
    ('sharpness', lambda page: sharpest(page),
     'st=3&scale=dk&mask=causal&T=0.5', 'st=3&scale=dk&mask=causal&T=10'),
    ('wrong way', lambda page: face.lab(page).get_by_role('checkbox',
                                                          name=re.compile('wrong')).check(),
     'st=3&scale=dk&T=0.5&mask=causal', 'st=3&scale=dk&T=0.5&mask=causal&wrong=1'),
]


def sharpest(page):
    page.locator('#lab-sharpness').focus()
    page.keyboard.press('End')


def both(page, view):
    """The four files of A beside B, taken apart: JSON and CSV of each, texts of the SVG."""
    made = json.loads(labkit.saved(page, 'JSON'))
    kit.same(list(made), ['A', 'B'], view)
    rows = list(csv.reader(io.StringIO(labkit.saved(page, 'CSV').decode())))
    tables = {x: [row[1:] for row in rows[1:] if row[0] == x] for x in 'AB'}
    kit.same([rows[0][0], {len(x) for x in rows}], ['panel', {len(rows[0])}], view)
    svg = xml.dom.minidom.parseString(labkit.saved(page, 'SVG'))
    pictures = [x for x in svg.documentElement.childNodes if x.nodeName == 'svg']
    check(labkit.png_pixels(labkit.saved(page, 'PNG')) > 8, view, 'the PNG is blank')
    return made, tables, [' '.join(y.firstChild.data for y in x.getElementsByTagName('text')
                                   if y.firstChild)
                          for x in pictures]


@case('A beside B: each option alone parts them, and all four files hold both panels')
def _both(session):
    for what, act, start, other in OPTIONS:
        for view in ('table', 'map'):
            page = session.open(f'sec=lab&view={view}&ab=1&{start}&'
                                + '&'.join('b.' + x for x in start.split('&')[1:]))
            kit.same(page.evaluate('window.qkv.lab.about.changed'), 0, what)
            face.lab(page).get_by_role('group', name='Change').get_by_role('radio',
                                                                           name='B').check()
            act(page)
            face.settle(page)
            about = page.evaluate('window.qkv.lab.about')
            kit.same(about['changed'], 1, what)
            made, tables, pictures = both(page, view)
            for x, text, drawn in zip('AB', (start, other), pictures):
                want = json.loads(session.qkv('explain', '--state', text, '--format', 'json'))
                kit.same(made[x], want, f'{what}, {view}, {x}')
                weights = [f'{y:.2f}' for y in want['weight'][2]]
                row = [f'{float(y):.2f}' for y in (tables[x][2][2:] if view == 'map' else
                                                   [z[-1] for z in tables[x][1:]])]
                kit.same(row, weights, f'CSV: {what}, {view}, {x}')
                check(all(y in drawn for y in weights if view == 'table'), what, x, drawn)
            check(made['A'] != made['B'], what, 'A and B are the same')
            page.context.close()


def typed(page, field, text):
    field.fill(text)
    field.blur()
    face.settle(page)


def follows(session, page, what):
    """Link, command and saved file say the same numbers as the page."""
    for text in (face.state(page), page.evaluate('window.qkv.link')):
        made = session.qkv('explain', '--state', text, '--format', 'json')
        kit.same(page.evaluate("window.qkv.call('json', window.qkv.text)"), made, what)
    return json.loads(made)


def step(page, group, button):
    face.lab(page).get_by_role('group', name=group, exact=True).get_by_role(
        'button', name=f'{group}: one {button}', exact=True).click(force=True)  # off is no wall
    face.settle(page)


@case('1 to 16 tokens, 1 to 8 channels; a new one is 0 everywhere, the rest stays')
def _sizes(session):
    page = session.open('sec=lab&st=3')
    step(page, 'dₖ', 'more')
    made = follows(session, page, 'dk 3')
    kit.same([f'{x:.2f}' for x in made['weight'][2]], ['0.09', '0.49', '0.15', '0.27'], 'dk = 3')
    kit.same(made['score'][2], [1, 4, 2, 3], 'scores stay')
    step(page, 'Tokens', 'more')
    made = follows(session, page, 'n 5')
    kit.same((made['tokens'][4], made['k'][4], made['v'][4]), ('t4', [0, 0, 0], [0, 0]),
             'a new token')
    for group, least, most in (('Tokens', 1, 16), ('dₖ', 1, 8)):
        key = 'rows' if group == 'Tokens' else 'dk'
        for button, end in (('less', least), ('more', most)):
            for _ in range(17):
                step(page, group, button)
            kit.same(page.evaluate(f'window.qkv.lab.about.{key}'), end, group)
            off = face.lab(page).get_by_role('button', name=f'{group}: one {button}', exact=True)
            kit.same(off.get_attribute('aria-disabled'), 'true', f'{group} {button}')
    check(not face.lab(page).locator('.trouble:visible').count(), 'an error is shown')


@case('X and W can be edited: Q, K and V follow, and so do link, command, files and undo')
def _weights(session):
    page = session.open('sec=lab&st=3')
    part = face.lab_part(page, 'Edit X')
    kit.same(part.locator('input').count(), 16 + 3 * 8, 'fields')
    first = face.state(page)
    # the: [1,0,0,0] W^Q; its query is W^Q's first row
    typed(page, face.weight(page, 'q', 0, 1), '2.5')
    kit.same(follows(session, page, 'W')['q'][0], [0, 2.5], 'query of the')
    typed(page, face.weight(page, 'X', 0, 1), '-1')
    made = follows(session, page, 'X')
    kit.same((made['q'][0], made['k'][0], made['v'][0]), ([-2, 1.5], [0, -1], [1, -1]), 'after X')
    page.wait_for_timeout(400)
    check('WQ=' in page.url and 'X=' in page.url, 'the fragment is', page.url)
    kit.same(json.loads(labkit.saved(page, 'JSON')), made, 'the saved file')
    for want in ('2.5', '1'):
        face.undo(page)
        face.settle(page)
        kit.same(face.weight(page, 'q', 0, 1).input_value(), want)
    kit.same(face.state(page), first, 'undone')
    face.redo(page)
    face.settle(page)
    kit.same(face.weight(page, 'q', 0, 1).input_value(), '2.5', 'done again')


@case('a bad number of X or W: the same sentence as elsewhere, beside the fields; the last stays')
def _bad_weight(session):
    page = session.open('sec=lab')
    face.lab_part(page, 'Edit all numbers')
    face.lab_part(page, 'Edit X')
    for text in ('2..0', '1,5', '1e400', '', 'NaN'):
        said = []
        for table, place in (('K', '#lab-numbers-trouble'), ('k', '#lab-weights-trouble')):
            before = face.state(page)
            field = page.locator(f'#lab input[data-w="{table}"][data-r="1"][data-c="0"]')
            typed(page, field, text)
            kit.same(field.get_attribute('aria-describedby'), place[1:], text)
            kit.same(face.state(page), before, f'{text!r} changed the state')
            said.append(page.locator(place).text_content())
            typed(page, field, '1')
            check(not page.locator(place).is_visible(), 'the sentence stays')
        check(said[0].startswith('K,'), said[0])
        kit.same(said[1], said[0].replace('K,', 'WK,', 1))


@case('W^K tied to W^Q makes the scores symmetric, and so do no projections; the lesson’s are not')
def _symmetric(session):
    page = session.open('sec=lab&st=1&Q=9,9;1,0;1,2;2,1')
    part = face.lab_part(page, 'Edit X')
    check('Q no longer comes from X' in part.inner_text(), 'nothing says that Q is typed')
    part.get_by_role('button', name='Reconnect Q', exact=True).click()
    face.settle(page)
    say = page.locator('#lab-symmetric')
    kit.same(say.text_content(), 'The grid of scores is not symmetric: cat scores sat with 2, and sat '
             'scores cat with 4.')
    page.evaluate("window.qkv.edit('K', 0, 0, '7')")
    for button, words in (('Tie W', 'K'), ('No projections', 'K and X')):
        part.get_by_role('button', name=button).click()
        face.settle(page)
        check('grid of scores is symmetric' in say.text_content(), button, say.text_content())
        kit.same(page.locator('#live').text_content(), say.text_content(), 'what is said')
        made = follows(session, page, button)
        rows = made['score']
        check(rows == [list(x) for x in zip(*rows)], words, rows)
        check('no longer' not in part.inner_text(), 'still detached')
    kit.same(made['q'], made['k'], 'Q and K')
    kit.same(made['v'], [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]], 'V')
    part.get_by_role('button', name='The lesson’s numbers again').click()
    face.settle(page)
    check('not symmetric' in say.text_content(), 'the lesson’s own')


def link(page):
    page.wait_for_timeout(350)
    return page.evaluate('location.hash')


@case('a link says how large the opened table was that it leaves out')
def _lost(session):
    page = session.open('sec=lab')
    for rows, columns in ((2, 3), (4, 300), (5, 1)):
        face.paste(page, '\n'.join([','.join(['1'] * columns)] * rows))
        check(f'lost={rows}x{columns}x{columns}&' in link(page), rows, columns, link(page))
    part = face.lab(page).locator('#lab-own')
    check('5 rows of 1.' in part.inner_text(), part.inner_text())
    face.paste(page, '1,2')
    check('1 row of 2.' in part.inner_text() and '1 rows' not in part.inner_text(),
          part.inner_text())
    face.paste(page, '1\n' * 5)
    face.paste(page, '1,2\n3,4', into='values')
    check('' != face.own_trouble(page), 'two values for five keys')
    check('lost=5x1x1&' in link(page), link(page))
    face.paste(page, '1,2\n' * 5, into='values')
    check('lost=5x1x2&' in link(page), link(page))


kit.main()
