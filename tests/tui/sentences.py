# SPDX-License-Identifier: MIT
"""sentences.py QKV LESSON_TOOL - the terminal says what the course says: every sentence, section by
section, in order, on the screen and line by line. Nothing here knows a sentence itself.
"""
import os
import re
import subprocess
import sys

import checks_tui as t
from terminal import Program

QKV, TOOL = (os.path.abspath(x) for x in sys.argv[1:3])
SECTIONS = ['lookup', 'projections', 'formula', 'calculator', 'blend', 'root', 'code', 'check']


def without_marks(text):
    """The words as they are read: see lesson/course.h for the marks."""
    text = re.sub(r'\$([^$]+)\$', lambda m: m.group(1).replace('_k', 'ₖ').replace('^T', 'ᵀ'), text)
    text = re.sub(r'\[[qkv]\|([^]]*)\]', r'\1', text)
    text = re.sub(r'\*([^*]+)\*', r'\1', text)
    return re.sub(r'`([^`]+)`', r'\1', text)


def course():
    """section -> its texts in reading order."""
    made = subprocess.run([TOOL, 'course'], capture_output=True, check=True, timeout=60)
    found = {name: [] for name in SECTIONS}
    for line in made.stdout.decode().splitlines():
        where, kind, _, text = line.split('\t')
        if where == 'refresher' and kind == 'text':
            found['lookup'].append(without_marks(text))
        elif where in found and kind != 'figure':
            found[where].append(without_marks(text))
    return found


def flat(text):
    return ' '.join(text.split())


def missing(texts, shown):
    """Those that are not there, or not behind the one before."""
    at, bad = 0, []
    shown = flat(shown)
    for text in texts:
        found = shown.find(flat(text), at)
        if found < 0:
            bad.append(text)
        else:
            at = found
    return bad


def open_all(p):
    """Every fold of the section is opened."""
    for _ in range(120):
        text = p.screen.reversed_text()
        if text.startswith('▸'):
            p.keys('enter')
        before = p.screen.y, p.screen.x
        if '▾' in text or '▸' in text:
            p.keys('right')
            if (p.screen.y, p.screen.x) != before:
                continue
        p.keys('tab')
        if p.screen.find('▸') is None:
            return


COURSE = course()
for number, name in enumerate(SECTIONS, 1):
    texts = COURSE[name]
    plain = t.text(QKV, 'lesson', '--plain', '--section', str(number))
    bad = missing(texts, plain)
    t.ok(texts and not bad, f'{name}: {len(texts)} texts line by line, in order', '\n'.join(bad))
    p = Program([QKV, 'lesson', '--section', str(number)], rows=200)
    p.see(f'section {number} of 8')
    p.settle()
    open_all(p)
    bad = missing(texts, p.screen.text())
    t.ok(not bad, f'{name}: the same on the screen', '\n'.join(bad) + '\n' + p.screen.text())
    p.close()
made = t.run(QKV, 'lesson', '--plain')
whole = made.stdout.decode()
t.ok(not missing([x for name in SECTIONS for x in COURSE[name]], whole), 'all of it from one call')
long = [line for line in whole.splitlines() if len(line) > 80]
t.ok(not long, 'no line is wider than 80', '\n'.join(long))
ascii_text = t.run(QKV, 'lesson', '--plain', env={'LC_ALL': 'C'}).stdout
t.ok(ascii_text and max(ascii_text) < 127, 'in the C locale all is ASCII',
     sorted({c for c in ascii_text.decode('utf-8', 'replace') if ord(c) > 126}))
sys.exit(t.done())
