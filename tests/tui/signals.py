# SPDX-License-Identifier: MIT
"""signals.py QKV - whatever happens to the lesson, the terminal is sane afterwards.

Leaving, signals, Ctrl-C, Ctrl-Z and back, a terminal that goes away, sizes that change under it, and
terminals that have no screen.
"""
import os
import signal
import sys
import time

import checks_tui as t
from terminal import Program

QKV = os.path.abspath(sys.argv[1])
HERE = 'section 1 of 8'


def start(*words, **more):
    p = Program([QKV, 'lesson', *words], **more)
    p.see('section ')
    return p


def leaves():
    p = start()
    p.keys('q')
    t.ok(p.wait() == 0 and p.sane(), 'q leaves with 0, the terminal is as before', p.screen.text())
    p.close()
    for number, name in ((signal.SIGTERM, 'SIGTERM'), (signal.SIGHUP, 'SIGHUP'),
                         (signal.SIGINT, 'SIGINT'), (signal.SIGQUIT, 'SIGQUIT')):
        p = start()
        p.kill(number)
        code = p.wait()
        t.ok(code == 128 + number and p.sane(), f'{name} ends with {128 + number}, all sane',
             (code, p.screen.text()))
        p.close()
    p = start()
    p.keys('\x03')
    code = p.wait()
    t.ok(code == 130 and p.sane(), 'Ctrl-C ends with 130, all sane', code)
    p.close()


def in_a_field():
    p = start('--section', '4')
    p.keys('tab', 'tab', 'tab', 'tab', 'enter', '7')
    p.kill(signal.SIGTERM)
    t.ok(p.wait() == 143 and p.sane(), 'SIGTERM while a number is typed: all sane', p.screen.text())
    p.close()


def sleeps():
    script = (f'"{QKV}" lesson; echo SLEEPS; stty -a | grep -q " icanon" && echo COOKED; '
              'sleep 0.2; fg >/dev/null; echo LEFT $?')
    p = Program(['/bin/sh', '-mc', script])
    p.see(HERE)
    p.keys('4', '\x1a')
    slept = p.see('COOKED')
    t.ok(slept, 'Ctrl-Z: the shell has its terminal back', p.screen.text())
    t.ok(p.see('section 4 of 8'), 'fg: the lesson is drawn again where it was', p.screen.text())
    p.keys('q')
    t.ok(p.see('LEFT 0') and p.wait() == 0 and p.sane(), 'and leaves as ever', p.screen.text())
    p.close()
    p = start()
    p.kill(signal.SIGSTOP)
    time.sleep(0.1)
    p.kill(signal.SIGCONT)
    p.keys('n')
    t.ok(p.see('section 2 of 8'), 'stopped and continued from outside: goes on', p.screen.text())
    p.close()


def resized():
    p = start('--section', '4')
    good = True
    for rows, columns in ((24, 40), (50, 200), (5, 20), (2, 8), (1, 1), (10, 300), (24, 80)):
        p.resize(rows, columns)
        good = good and p.process.poll() is None
    t.ok(good and p.see('The calculator'), 'sizes from 1 by 1 to 300 columns, and back',
         p.screen.text())
    for _ in range(30):
        p.set_size(20 + _ % 7, 60 + _)
    p.resize(24, 80)
    t.ok(p.see('The calculator') and not p.screen.unknown, 'many changes of size at once',
         p.screen.text())
    p.keys('q')
    t.ok(p.wait() == 0 and p.sane(), 'sane after all of them')
    p.close()


def gone():
    p = start()
    os.close(p.fd)
    p.fd = os.open('/dev/null', os.O_RDONLY)
    end = time.monotonic() + 20
    while p.process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    code = p.process.poll()
    t.ok(code in (-signal.SIGHUP, 0), 'the terminal goes away: the lesson ends', code)
    p.close()


def without_a_screen():
    for env, name in (({'TERM': 'dumb'}, 'TERM=dumb'), ({'TERM': 'no-such-terminal'}, 'unknown TERM'),
                      ({'TERM': None}, 'no TERM'), ({'TERM': ''}, 'empty TERM')):
        p = Program([QKV, 'lesson', '--section', '3'], env=env)
        code = p.wait()
        t.ok(code == 0 and b'\x1b' not in p.raw and b'In words' in p.raw,
             f'{name}: line by line, not one escape', (code, p.raw[:400]))
        p.close()
    made = t.run(QKV, 'lesson', env={'TERM': 'xterm-256color'})
    t.ok(made.returncode == 0 and b'\x1b' not in made.stdout and b'Check and recall' in made.stdout,
         'in a pipe: line by line, all eight', made)
    for words in (('--section', '0'), ('--section', '9'), ('--section', 'x'), ('--state', 't=%'),
                  ('more',)):
        made = t.run(QKV, 'lesson', *words)
        t.ok(made.returncode == 2 and made.stderr.count(b'\n') == 1 and not made.stdout,
             f'refused in one line: {" ".join(words)}', made)


for part in (leaves, in_a_field, sleeps, resized, gone, without_a_screen):
    part()
sys.exit(t.done())
