# SPDX-License-Identifier: MIT
"""line_mode.py QKV - `qkv quiz` and `qkv recall`: questions and answers line by line, and the one file
that is kept, only when it was asked for, whole or not at all.
"""
import os
import pathlib
import re
import stat
import sys
import tempfile

import checks_tui as t
from terminal import Program

QKV = os.path.abspath(sys.argv[1])


def quiz(answers, *words, **more):
    made = t.run(QKV, 'quiz', *words, stdin=answers.encode(), **more)
    return made.returncode, made.stdout.decode(), made.stderr.decode()


def right_answers(seed):
    """The options that are right, found as a reader would: by trying."""
    found, text = [], ''
    while len(found) < 10:
        for option in '1234':
            _, text, _ = quiz('\n'.join(found + [option]) + '\n', '--seed', str(seed))
            if f'{len(found) + 1} of' in text and f'Question {len(found) + 2} of' in text or \
                    'of 10 right' in text and len(found) == 9:
                found.append(option)
                break
        else:
            raise AssertionError(text)
    return found, text


def check_quiz():
    found, text = right_answers(1)
    t.ok('10 of 10 right at the first try.' in text, 'quiz: all ten right', text)
    code, text, err = quiz('', '--seed', '1')
    t.ok(code == 0 and not err and '0 of 0 right' in text and '\x1b' not in text,
         'an end of input ends it', text)
    wrong = '2' if found[0] == '1' else '1'
    code, text, _ = quiz(f'{wrong}\n{found[0]}\nq\n')
    t.ok('No: ' in text and 'Yes.' in text and '0 of 1 right' in text,
         'a wrong answer gets its reason and another try, and does not count', text)
    code, text, _ = quiz('5\n\x1b[2J\nmaybe\n' + 'c' * 5000 + f'\n{found[0]}\nq\n')
    t.ok(code == 0 and text.count('is none of the options') == 4 and '\x1b' not in text,
         'what is no option is said to be none, and shown harmless', text)
    a, b = (quiz('', '--seed', s)[1] for s in ('2', '3'))
    t.ok(a == quiz('', '--seed', '2')[1] and a == b, 'the first question is the lesson\'s own')
    a, b = ('\n'.join(quiz('\n'.join(found[:2]) + '\n', '--seed', s)[1].split('Question 3')[1:])
            for s in ('1', '7'))
    t.ok(a != b, 'another seed asks other questions')
    code, text, err = quiz('', '--seed', '-1')
    t.ok(code == 2 and err.count('\n') == 1, 'a negative seed is refused', err)
    p = Program([QKV, 'quiz'])
    p.see('Your answer')
    p.keys(*(found[0], 'enter'))
    t.ok(p.see('Question 2 of 10') and p.sane(), 'quiz on a terminal', p.screen.text())
    p.keys('q', 'enter')
    t.ok(p.wait() == 0 and b'\x1b' not in p.raw, 'not one escape')
    p.close()
    code, text, _ = quiz('', env={'LC_ALL': 'C'})
    t.ok(code == 0 and text.isascii(), 'in the C locale all is ASCII')


def recall(answers, *words, home=None, **env):
    env = {'HOME': str(home) if home else None, 'XDG_STATE_HOME': None} | env
    env = {k: v for k, v in env.items() if v is not None}
    made = t.run(QKV, 'recall', *words, stdin=answers.encode(), env=env)
    return made.returncode, made.stdout.decode(), made.stderr.decode()


KNOW, FORGET = '\ny\n', '\nn\n'


def check_recall(folder):
    home = folder / 'home'
    home.mkdir()
    file = home / '.local' / 'state' / 'qkv' / 'recall'
    code, text, _ = recall(KNOW * 10, home=home)
    t.ok(code == 0 and '10 cards' in text and 'Nothing was stored' in text, 'recall: ten cards', text)
    t.ok(not list(home.iterdir()), 'nothing is stored without --save')
    code, text, err = recall(KNOW * 10, '--save', '--day', '20000', home=home)
    t.ok(code == 0 and file.exists() and text.count('tomorrow') == 10, '--save keeps dates', text + err)
    mode = stat.S_IMODE(file.parent.stat().st_mode)
    t.ok(mode == 0o700, 'in a folder of the reader\'s own', oct(mode))
    t.ok([x.name for x in file.parent.iterdir()] == ['recall'], 'no temporary is left')
    code, text, _ = recall('', '--day', '20000', home=home)
    t.ok(code == 0 and 'Nothing is due' in text, 'nothing is due on the same day', text)
    day, gaps = 20000, []
    for _ in range(5):
        for gap in range(1, 100):
            text = recall('', '--day', str(day + gap), home=home)[1]
            if 'Nothing is due' not in text:
                break
        gaps.append(gap)
        day += gap
        recall(KNOW * 10, '--day', str(day), home=home)
    t.ok(gaps == [1, 3, 7, 21, 60], 'cards come back after 1, 3, 7, 21 and 60 days', gaps)
    day += 60
    code, text, _ = recall(FORGET + KNOW * 10, '--day', str(day), home=home)
    t.ok(text.count('Did you know it') == 11 and 'end of this round' in text,
         'what was forgotten comes again before the end', text)
    before = file.read_bytes()
    code, text, _ = recall('\nq\n', '--day', str(day), '--all', home=home)
    t.ok(code == 0 and file.read_bytes() == before, 'q leaves, nothing changes', text)
    code, text, _ = recall(KNOW + '\n', '--day', str(day + 1), '--all', home=home)
    t.ok(file.read_bytes() != before, 'an answer is kept at once, though the reader went away')
    bad_files(file, home)
    code, text, _ = recall('', '--forget', home=home)
    t.ok(code == 0 and not file.exists() and 'removed' in text, '--forget removes them', text)
    code, text, _ = recall('', '--forget', home=home)
    t.ok(code == 0 and 'No dates' in text, 'and says when there are none', text)


def bad_files(file, home):
    good = file.read_bytes()
    for name, data in (('empty', b''), ('other text', b'hello\n'), ('too long', b'r1;' + b'1:1;' * 5000),
                       ('cut', good[:len(good) // 2]), ('escape', b'\x1b[2J' + good)):
        file.write_bytes(data)
        code, text, err = recall(KNOW * 10, home=home)
        t.ok(code == 2 and err.count('\n') == 1 and '\x1b' not in err and not text
             and file.read_bytes() == data, f'a file that is {name} is refused and left alone', (code, err))
    file.write_bytes(good)


def places(folder):
    code, _, err = recall('', '--save', XDG_STATE_HOME=str(folder / 'state'))
    t.ok(code == 0 and (folder / 'state' / 'qkv' / 'recall').exists(), 'XDG_STATE_HOME is heeded', err)
    code, _, err = recall('', '--save')
    t.ok(code == 2 and 'HOME' in err, 'without HOME --save says what it needs', err)
    (folder / 'file').write_text('x')
    code, _, err = recall('', '--save', XDG_STATE_HOME=str(folder / 'file'))
    t.ok(code == 1 and err.count('\n') == 1, 'a folder that cannot be made: one sentence', err)
    target = folder / 'elsewhere'
    target.mkdir()
    (folder / 'linked' / 'qkv').mkdir(parents=True)
    (folder / 'linked' / 'qkv' / 'recall').symlink_to(target / 'plan')
    code, _, err = recall('', '--save', XDG_STATE_HOME=str(folder / 'linked'))
    t.ok(code == 0 and (target / 'plan').exists() and (folder / 'linked/qkv/recall').is_symlink(),
         'a link is followed, not replaced', err)


def cards():
    made = t.run(QKV, 'recall', '--anki')
    lines = [x for x in made.stdout.decode().splitlines() if not x.startswith('#')]
    t.ok(made.returncode == 0 and len(lines) == 10 and all(x.count('\t') == 1 for x in lines),
         '--anki: ten lines of two fields', made.stdout)
    for words in (('--save', '--forget'), ('--day', '-1'), ('--day', 'x'), ('card',)):
        code, text, err = recall('', *words)
        t.ok(code == 2 and err.count('\n') == 1 and not text, f'refused: {" ".join(words)}', err)


def check_plain():
    p = Program([QKV, 'lesson', '--plain'], rows=60)
    p.see('Enter reads on')
    for answer, sentence in (('', '2  Three vectors'), ('back', '1  A lookup'), ('4', '4  The calculator'),
                             ('token cat', 'cat asks with the query 1, 0'), ('token dog', 'No token is called'),
                             ('set q 3,x', 'is not a number'), ('set q 3,1', 'the query 3, 1'),
                             ('set \x02', 'Enter: the next section'), ('?', 'set KEY VALUE'),
                             ('stage 9', 'must be'), ('8', 'Questions for a teacher')):
        p.screen.__init__(60, 80)
        p.keys(answer, 'enter')
        t.ok(p.see(sentence, 10), f'lesson --plain: {answer!r} answers {sentence!r}', p.screen.text())
    p.keys('enter')
    t.ok(p.wait() == 0 and b'\x1b' not in p.raw and p.sane(), 'after the last section it ends')
    p.close()


check_plain()
check_quiz()
with tempfile.TemporaryDirectory() as made_folder:
    check_recall(pathlib.Path(made_folder))
    places(pathlib.Path(made_folder))
cards()
sys.exit(t.done())
