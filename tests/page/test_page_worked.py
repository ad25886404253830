# SPDX-License-Identifier: MIT
"""Every shown number is visited and its worked line worked out from its printed operands: in the
page for the lesson's states, in the page's core for 200 random states. A line holds where the
printed operation gives the printed result within one unit of its last digit (exactly, for whole
numbers).
"""
import json
import random
import re

import arithmetic
import face
import pagekit as kit
import random_states
import wasm_core
from pagekit import case, check

# letters of the numbers that are the result of something; q, k, v are what the reader was given
WORKED = 'scwhzo'


@case('the evaluator sees wrong lines and is not fooled by words')
def _evaluator(session):
    surprises = arithmetic.try_out()
    check(not surprises, *surprises)


@case('each number of each stage, by keyboard: the line speaks of it and holds')
def _visited(session):
    page = session.open()
    visited, faults = 0, []
    for token in face.TOKENS:
        face.pick(page, token)
        for stage in range(5):
            face.go_stage(page, stage)
            numbers = face.calculator(page).locator('table .num')
            seen = set()
            for code in numbers.evaluate_all('(all) => all.map((x) => x.dataset.f)'):
                shown = page.evaluate('''(code) => {
                  const at = document.querySelector(`#calculator-figure .num[data-f="${code}"]`);
                  at.focus(); return [at.textContent, document.activeElement === at]; }''', code)
                check(shown[1], code, 'took no focus')
                line = face.worked(page)
                bad, count = arithmetic.wrong(line)
                visited += 1
                seen.add(line)
                faults += [f'{token} stage {stage} {code}: {x} in {line!r}' for x in bad]
                if code[0] in WORKED and not count:
                    faults.append(f'{token} stage {stage} {code}: no arithmetic in {line!r}')
                if code[0] in 'scwo' and shown[0] not in line:
                    faults.append(f'{token} stage {stage} {code}: {shown[0]!r} is not in {line!r}')
            check(len(seen) > 3, token, stage, 'all numbers share', len(seen), 'lines')
    check(visited > 300, visited)
    check(not faults, len(faults), *[f'\n{x}' for x in faults[:12]])


def codes(r, model, about):
    """Some of the numbers that a model shows."""
    found = []
    for n, row in enumerate(model['rows']):
        for name, letter in (('score', 's'), ('scaled', 'c'), ('weight', 'w')):
            if name in row:
                found.append(f'{letter}{n}')
        found += [f'h{n}.{c}' for c in range(len(row.get('share', [])))]
    found += [f'o.{c}' for c in range(len(model.get('output', [])))]
    found += ['z'] if 'sum' in model else []
    r.shuffle(found)
    return found[:about]


@case('why √dₖ: each statistic stands in a worked line that holds, whatever is sampled')
def _root(session):
    core, faults, lines = wasm_core.Core(session), [], 0
    states = [f'rd={d}&rseed={seed}&rn={seed % 5}&dig={digits}' for d in (1, 2, 3, 16, 64, 100, 256)
              for seed in (1, 2, 7) for digits in (2, 4)]
    for text, answer in zip(states, core.ask_all('root', states)):
        model = json.loads(answer)
        said = {x: ''.join(y['t'] for y in model[x]) for x in ('spread', 'stuck', 'moves', 'work')}
        bad, count = arithmetic.wrong(said['work'])
        lines += count
        faults += [f'{text}: {x}' for x in bad]
        shown = re.findall(r'deviation ([\d.]+)|\. (\d+) of 100|moves ([\d.]+) of|undivided, ([\d.]+) div',
                           said['spread'] + said['moves'])
        numbers = [x for found in shown for x in found if x]
        check(len(numbers) == 4, text, numbers, said)
        faults += [f'{text}: {x} has no line in {said["work"]}' for x in numbers
                   if f'= {x}' not in said['work']]
        check(not arithmetic.wrong(said['spread'])[0], said['spread'])  # √64 = 8
        counts = re.findall(r'in (\d+) (?:of 64 rows|divided)', said['stuck'])
        check(len(counts) == 2 and all(int(x) <= 64 for x in counts), 'counts of rows',
              said['stuck'])
    kit.same(lines, 5 * len(states), 'statements')
    check(not faults, len(faults), *[f'\n{x}' for x in faults[:12]])
    page = session.open('sec=root&rd=16')
    check(page.locator('#root-work').is_visible(), 'the line is not shown')
    kit.same(arithmetic.wrong(page.locator('#root-work').evaluate(face.READ)), ([], 5))


@case('a blend, not a pick: the changes stand in a worked line that holds, all along the slider')
def _blend(session):
    core, faults = wasm_core.Core(session), []
    states = [f'b={n / 20}&dig={digits}' for n in range(0, 39) for digits in (2, 4)]
    for text, answer in zip(states, core.ask_all('blend', states)):
        model = json.loads(answer)
        line = ''.join(x['t'] for x in model['work'])
        bad, count = arithmetic.wrong(line)
        faults += [f'{text}: {x}' for x in bad]
        shown = re.findall(r'[−+]?[\d.]+', ''.join(x['t'] for x in model['blends'][2]))
        check(count == 2 == len(shown), text, line, shown)
        faults += [f'{text}: {x} is not in {line}' for x in shown if f'= {x.lstrip("+")}' not
                   in line]
    check(not faults, len(faults), *[f'\n{x}' for x in faults[:12]])


@case('200 random states: lines of numbers that are seen hold')
def _random(session):
    core = wasm_core.Core(session)
    r = random.Random(random_states.SEED)
    states = random_states.states(200, seed=random_states.SEED + 7)
    faults, lines = [], 0
    for text, answer in zip(states, core.ask_all('calc', states)):
        model = json.loads(answer)
        check('error' not in model, text[:200], model.get('error'))
        asked = codes(r, model, 8)
        for code, made in zip(asked, core.ask_all('calc', [f'{text}&f={x}' for x in asked])):
            piece = json.loads(made)
            line = ''.join(x['t'] for x in piece.get('work', []))
            bad, count = arithmetic.wrong(line)
            lines += count
            faults += [f'{code} of {text[:160]}: {x} in {line!r}' for x in bad]
    check(lines > 600, 'statements:', lines)
    check(not faults, len(faults), *[f'\n{x}' for x in faults[:12]])


@case('above a scaled score of 20 the line of a weight subtracts the maximum and says so')
def _maximum(session):
    page = session.open('scale=none&K=1,0;0,20;2,0;1,1&st=3')
    line = face.worked(page)
    check('largest' in line, line)
    check(not arithmetic.wrong(line)[0] and arithmetic.wrong(line)[1], line)


@case('no vector is written with more numbers than stand in it, no minus zero, a true minus sign')
def _signs(session):
    core = wasm_core.Core(session)
    for text, answer in zip(*(lambda s: (s, core.ask_all('calc', s)))(
            random_states.states(120, most=8, seed=random_states.SEED + 8))):
        shown = json.dumps([x for x in flat(json.loads(answer))], ensure_ascii=False)
        check('−0.00"' not in shown and '"−0"' not in shown, text[:120])
        for word in flat(json.loads(answer)):
            check(not (word[:1] == '-' and word[1:2].isdigit()), 'a hyphen as a minus:', word,
                  text[:100])


def flat(x):
    """All strings of a model that are numbers."""
    if isinstance(x, dict):
        return [z for k, y in x.items() if k not in ('name', 'who', 'work', 'caption') for z
                in flat(y)]
    if isinstance(x, list):
        return [z for y in x for z in flat(y)]
    return [x] if isinstance(x, str) else []


kit.main()
