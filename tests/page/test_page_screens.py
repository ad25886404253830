# SPDX-License-Identifier: MIT
"""Pictures of every section and stage at three sizes, light and dark, in forced colours, on paper
and without the fonts that tests install. They are put on contact sheets for people
(docs/screens.md).

What fails here: a picture that is empty, or a page that cannot be brought there.
"""
import os
import shutil
import tempfile

import face
import pagekit as kit
import sheets
from pagekit import case, check

SHEET = {320: (8, 240), 768: (5, 384), 1280: (4, 480)}


def take(page, caption, **options):
    data = page.screenshot(**options)
    check(len(data) > 4000, caption, 'is nearly empty:', len(data), 'bytes')
    return caption, data


def to(page, selector):
    # a section may be without a box of its own: its first line has one
    page.evaluate('''(x) =>
      (document.querySelector(`${x} .place, ${x} h2`) ?? document.querySelector(x))
      .scrollIntoView({ block: 'start' })''', selector)
    face.settle(page)


def sections(page):
    shots = [take(page, 'top')]
    for name in face.SECTIONS:
        if page.locator(f'#{name} h2').first.is_visible():
            to(page, f'#{name}')
            shots.append(take(page, name))
    return shots


def stages(page):
    shots = []
    for n in range(5):
        face.go_stage(page, n)
        to(page, '#calculator')
        figure = page.locator('#calculator-figure table').first
        if figure.bounding_box()['y'] + 200 > page.viewport_size['height']:
            page.evaluate("document.querySelector('#calculator-figure fieldset').scrollIntoView()")
        face.settle(page)
        shots.append(take(page, f'stage {n}'))
    return shots


for width, height in face.SIZES:
    for scheme in ('light', 'dark'):
        @case(f'pictures at {width} by {height}, {scheme}')
        def _size(session, width=width, height=height, scheme=scheme):
            page = session.open(width=width, height=height, color_scheme=scheme)
            shots = sections(page) + stages(page)
            columns, wide = SHEET[width]
            sheets.sheet(session, session.pictures / f'sheet_{width}_{scheme}.png', shots, columns,
                         wide)
            page.evaluate('scrollTo(0, 0)')
            page.screenshot(path=session.pictures / f'whole_{width}_{scheme}.png', full_page=True)


def lab_pictures(page):
    """The lab: a token, its parts open, a map, A beside B, the trained model with its heads."""
    shots = []
    face.open_lab(page)

    def shot(name, at='#lab'):
        page.evaluate('(x) => document.querySelector(x).scrollIntoView()', at)
        face.settle(page)
        shots.append(take(page, name))
    face.go_lab_stage(page, 3)
    shot('lab')
    face.lab_part(page, 'Edit all numbers')
    face.lab_part(page, 'Edit X')
    shot('X and W', '#lab-weights')
    face.lab_part(page, 'Change a later token')
    shot('a later token', '#lab-weights ~ details')
    face.choose(page, 'Show', 'all pairs')
    shot('map', '#lab .lab-main')
    face.lab(page).get_by_role('checkbox', name='A beside B').check()
    page.locator('#lab input[value=dk]').check()
    shot('A and B', '#lab .lab-main')
    face.choose(page, 'Numbers', 'trained model')
    shot('model', '#lab .lab-main')
    shot('heads', '#lab .lab-heads')
    return shots


@case('pictures of the lab')
def _lab(session):
    for width, height in (face.SIZES[0], face.SIZES[2]):
        shots = []
        for scheme in ('light', 'dark'):
            page = session.open(width=width, height=height, color_scheme=scheme)
            shots += [(f'{scheme} {x}', data) for x, data in lab_pictures(page)]
            faults = face.probe(page, 'clipped') + face.probe(page, 'overlaps')
            check(not faults, width, scheme, *faults[:6])
        sheets.sheet(session, session.pictures / f'sheet_lab_{width}.png', shots, 7,
                     400 if width > 640 else 240)


@case('pictures in forced colours')
def _forced(session):
    shots = []
    for scheme in ('light', 'dark'):
        page = session.open(width=1280, height=800, color_scheme=scheme, forced_colors='active')
        shots += [(f'{scheme} {caption}', data) for caption,
                  data in sections(page)[:9:2] + stages(page)]
    sheets.sheet(session, session.pictures / 'sheet_forced.png', shots, 4, 480)


@case('on paper: the light set, no control is needed')
def _print(session):
    page = session.open(width=794, height=1123, color_scheme='dark')
    page.emulate_media(media='print', color_scheme='dark')
    ground = page.evaluate('getComputedStyle(document.body).backgroundColor')
    ink = page.evaluate('getComputedStyle(document.body).color')
    check(sum(map(int, kit.re.findall(r'\d+', ink)[:3])) < 200, 'ink on paper is', ink)
    check(ground.endswith(', 0)') or min(map(int, kit.re.findall(r'\d+', ground)[:3])) > 240,
          'the ground on paper is', ground)
    shots = []
    whole = page.evaluate('document.documentElement.scrollHeight')
    for n in range(min(12, -(-whole // 1123))):
        page.evaluate(f'scrollTo(0, {n * 1123})')
        shots.append(take(page, f'print {n + 1}'))
    sheets.sheet(session, session.pictures / 'sheet_print.png', shots, 4, 400)


FONTS = '''<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir><cachedir>{}</cachedir></fontconfig>'''


@case('pictures without the fonts that the page asks for')
def _plain_fonts(session):
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, 'fonts.conf')
        with open(config, 'w', encoding='utf-8') as file:
            file.write(FONTS.format(folder))
        browser = session.browser.browser_type.launch(
            executable_path=shutil.which('chromium'), args=kit.FLAGS, chromium_sandbox=False,
            env=dict(os.environ, FONTCONFIG_FILE=config))
        other = kit.Session(browser, session.file, session.command, session.pictures)
        shots, faults = [], []
        for width, height in (face.SIZES[0], face.SIZES[2]):
            page = other.open(width=width, height=height)
            shots += [(f'{width} {x}', data) for x, data in sections(page)[:5] + stages(page)[2:]]
            high = page.evaluate("document.getElementById('caption').getBoundingClientRect().height")
            for stage in range(5):
                face.go_stage(page, stage)
                now = page.evaluate("document.getElementById('caption').getBoundingClientRect().height")
                if abs(now - high) > 1:
                    faults.append(f'{width}: the caption of stage {stage} is {now} px high, not {high}')
            faults += [f'{width}: {x}' for x in face.probe(page, 'clipped')]
            room = page.evaluate('''(() => { const box = document.querySelector('.tablebox');
              return [box.scrollWidth, box.clientWidth]; })()''')
            if room[0] > room[1]:
                faults.append(f'{width}: the table is {room[0]} px wide, its room {room[1]}')
        sheets.sheet(other, session.pictures / 'sheet_plain_fonts.png', shots, 4, 400)
        faults += other.close()
        browser.close()
        check(not faults, *faults[:8])


kit.main()
