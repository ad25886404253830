#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""golden.py QKV DATA - the numbers and words that `qkv explain` must show for the lesson's four tokens
and for a real model's head, in every format and at every stage. Prints TAP.
"""
import csv
import io
import math
import pathlib
import re
import struct
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True
import kit  # noqa: E402
import worked  # noqa: E402
from kit import ok  # noqa: E402

NAMES = ['the', 'cat', 'sat', 'mat']
X = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0]]
W = {'wq': [[0, 1], [2, 1], [1, 2], [-1, -1]], 'wk': [[1, 0], [1, 1], [2, 0], [-1, 1]],
     'wv': [[1, 0], [0, 1], [0, 2], [3, -1]]}
Q = [[0, 1], [1, 0], [1, 2], [2, 1]]
K = [[1, 0], [0, 2], [2, 0], [1, 1]]
V = [[1, 0], [3, 0], [0, 2], [0, 1]]
SCORES = [[0, 2, 0, 1], [1, 0, 2, 1], [1, 4, 2, 3], [2, 2, 4, 3]]
WEIGHTS = [[.122829520, .505228570, .122829520, .249112390],
           [.221181016, .109057434, .448580533, .221181016],
           [.064584839, .538776070, .130985479, .265653612],
           [.122829520, .122829520, .505228570, .249112390]]
OUTS = [[1.638515230, .494771430], [.548353319, 1.118342082], [1.680913050, .527624570],
        [.491318080, 1.259569530]]


def numbers(qkv):
    j = qkv.json()
    ok(j['contract'] >= 1 and j['tokens'] == NAMES and j['token'] == 2 and j['d_k'] == 2 and
       j['d_v'] == 2 and j['mask'] == 'none' and j['scale'] == 1 / math.sqrt(2),
       'json says what is explained', j)
    ok(j['q'] == Q and j['k'] == K and j['v'] == V, 'X W gives Q, K and V exactly')
    ok(j['score'] == SCORES, 'scores 1 4 2 3 of sat, and the other rows', j['score'])
    ok(not kit.far(j['weight'], WEIGHTS, 1e-9), 'weights of every row', j['weight'])
    ok(not kit.far(j['weight'][2], [.0645848, .5387761, .1309855, .2656536], 1e-7),
       'weights of sat to 1e-7')
    ok(not kit.far(j['out'], OUTS, 1e-9), 'outputs of every row', j['out'])
    ok(not kit.far(j['out'][2], [1.680913, .527625], 1e-6), 'output of sat')
    for name, landing in zip(NAMES, ['cat', 'sat', 'cat', 'sat']):
        text = qkv.explain('--token', name)
        ok(f'{name} looks most at {landing}: ' in text, f'{name} lands on {landing}', text)
    engine = j['engine']
    ok(engine['max_difference'] < 1e-6 and not kit.far(engine['out'], OUTS, 1e-6) and
       not kit.far(engine['weight'], WEIGHTS, 1e-6), "the library's kernels agree", engine)


def variants(qkv):
    causal = qkv.json('--causal')
    ok(causal['mask'] == 'causal:0' and causal['score'] == SCORES,
       'causal: scores are numbers for hidden keys too')
    ok(not kit.far(causal['weight'], [[1, 0, 0, 0], [.669761549, .330238451, 0, 0],
                                      [.087948739, .733681106, .178370155, 0], WEIGHTS[3]], 1e-9),
       'causal: weights', causal['weight'])
    ok(causal['weight'][0] == [1, 0, 0, 0] and causal['engine']['weight'][0] == [1, 0, 0, 0],
       'causal: the first row is exactly 1 0 0 0')
    ok(not kit.far(causal['out'], [[1, 0], [1.660476901, 0], [2.288992058, .356740309], OUTS[3]],
                   1e-9), 'causal: outputs', causal['out'])
    for scale, want in [('dk', [.1015, .4551, .1674, .2760]), ('none', [.0321, .6439, .0871, .2369])]:
        got = qkv.json('--scale', scale)['weight'][2]
        ok(all(round(a, 4) == b for a, b in zip(got, want)), f'--scale {scale} gives its own row',
           got)
        ok(kit.far(got, WEIGHTS[2], 1e-2), f'--scale {scale} is not the usual row')
    hot = qkv.json('--temperature', '10')
    ok([round(w, 3) for w in hot['weight'][2]] == [.224, .277, .241, .258] and
       abs(hot['scale'] - 1 / math.sqrt(2) / 10) < 1e-17, '--temperature 10 blurs')
    cold = qkv.json('--temperature', '0.01')
    ok(cold['weight'][2][1] > 0.99999, '--temperature 0.01 picks cat')
    empty = qkv.json('--causal=-1')
    ok(empty['lse'][0] == '-Infinity' and empty['out'][0] == [0, 0] and
       empty['weight'][0] == [0, 0, 0, 0] and empty['engine']['out'][0] == [0, 0],
       'a row that sees no key: lse -Infinity, weights and output 0')
    text = qkv.explain('--causal=-1', '--token', 'the')
    ok('the may look at no key' in text and 'NaN' not in text, 'and the text says so', text)
    moved = qkv.json('--set-query', '1,1.3')
    ok(moved['q'][2] == [1, 1.3] and moved['q'][1] == Q[1] and
       not kit.far(moved['score'][2], [1, 2.6, 2, 2.3], 1e-15), '--set-query moves one query')
    ok('(set by you)' in qkv.explain('--set-query', '1,1.3'), 'and the text says whose it is')


LINES = {1: 'cat: 1·0 + 2·2 = 4', 2: 'cat: 4 ÷ √2 = 2.83',
         3: "cat: e^2.8284 = 16.92; all four e's sum to 31.40; 16.92 ÷ 31.40 = 0.54",
         4: '0.06·[1,0] + 0.54·[3,0] + 0.13·[0,2] + 0.27·[0,1] = [1.68,0.53]'}
HEADS = {'sqrt': '÷ √dₖ', 'none': '÷ 1', 'dk': '÷ dₖ', '0.25': '× 0.25'}


def words(qkv):
    for stage in range(5):
        text = qkv.explain('--stage', str(stage))
        page = worked.Page(text)
        caption = page.caption.partition('.')[2].partition('Query for')[0]
        ok(page.caption.startswith(f'Stage {stage} of 4.') and 5 < len(caption.split()) <= 30,
           f'stage {stage}: its name, and a caption of at most 30 words', page.caption)
        ok('Query for sat = [1,2]\n' in text, f'stage {stage}: the query line')
        ok(re.split(r'  +', page.head) == ['token', 'Key K', 'Value V', 'Q·Kᵀ', '÷ √dₖ',
                                           'weight w'], f'stage {stage}: the columns', page.head)
        if stage:
            ok(page.after[-1] == LINES[stage], f'stage {stage}: the worked line', page.after)
        want = [['1', '0.71', '0.06'], ['4', '2.83', '0.54'], ['2', '1.41', '0.13'],
                ['3', '2.12', '0.27']]
        got = [[c for c in page.rows[n][2:] if c[0].isdigit()] for n in NAMES]
        ok(got == [w[:stage] for w in want], f'stage {stage}: the numbers of its columns', got)
        ok(page.rows.get('sum') == (['1.00'] if stage >= 3 else None), f'stage {stage}: the sum')
    for scale, head in HEADS.items():
        text = qkv.explain('--scale', scale)
        ok(re.split(r'  +', worked.Page(text).head)[4] == head, f'--scale {scale}: header {head}')
        for stage in (2, 3):
            text = qkv.explain('--scale', scale, '--stage', str(stage), '--causal')
            caption = text.partition('.')[2].partition('\n\n')[0]
            ok(len(caption.split()) <= 30, f'--scale {scale}: caption of stage {stage}', caption)
    ok('subtract the largest, 40, first: e^(40 − 40) = 1.00; all four' in
       qkv.explain('--scale', '10', '--stage', '3'), 'above 20 the maximum is subtracted, and said')
    ok('the: 1 × (−0.5) = −0.50' in qkv.explain('--scale', '-0.5', '--stage', '2'),
       'a negative factor stands in parentheses')
    bars = worked.Page(qkv.explain()).rows
    length = {n: len(bars[n][-1]) for n in NAMES}
    ok(length['cat'] > length['mat'] > length['sat'] > length['the'] > 0, 'bars show the weights',
       length)


def plain(qkv):
    lines = qkv.explain('--format', 'plain').splitlines()
    ok(len(lines) == 5 and all(line.startswith(f'Stage {n} of 4: ') and line.endswith('.')
                               for n, line in enumerate(lines)), 'plain: one sentence a step', lines)
    ok(all(ord(c) < 127 for line in lines for c in line), 'plain: no signs')
    ok('the 0.06, cat 0.54, sat 0.13, mat 0.27.' in lines[3] and '1.68, 0.53.' in lines[4],
       'plain: weights and output', lines)
    ok('minus 2' in qkv.explain('--format', 'plain', '--set-query', '1,-2', '--stage', '0'),
       'plain: a negative number says minus')
    even = qkv.explain('--format', 'plain', '--view', 'map', '--scale', '0', '--causal').splitlines()
    ok(even[1:4] == ['the looks most at the, with 1.00.', 'cat looks most at the and 1 more, with 0.50.',
                     'sat looks most at the and 2 more, with 0.33.'], 'plain: a tie is no winner', even)
    ok(qkv.explain('--format', 'plain', '--view', 'map').splitlines()[2] ==
       'sat looks most at cat, with 0.54.', 'plain: the map is a sentence a row')


def masked(qkv):
    """Under a causal mask every stage says so, and which keys are hidden."""
    said = {'the': ('the sees no key after the; hidden keys: 3.', 'hides every key after the.', 3),
            'cat': ('cat sees no key after cat; hidden keys: 2.', 'hides every key after cat.', 2),
            'mat': ('mat sees every key.', 'hides no key.', 0)}
    for stage in '01234':
        for name, (line, spoken, count) in said.items():
            args = ['--causal', '--stage', stage, '--token', name]
            text = qkv.explain(*args)
            page = worked.Page(text)
            hidden = [n for n in NAMES if 'hidden' in page.rows[n]]
            ok(f'\nCausal mask: {line}\n' in text and hidden == NAMES[len(NAMES) - count:],
               f'{args}: text', text)
            # 'hidden' stands in one column, under the head of the weights
            places = {row.index('hidden') for row in text.splitlines() if row.endswith(' hidden')}
            ok(places <= {page.head.index('weight w') + 5}, f'{args}: one column', text)
            steps = qkv.explain(*args, '--format', 'plain').splitlines()
            ok(steps[0].endswith(f'; the causal mask {spoken}') and
               all(step.count(' hidden') == count for step in steps[1:4]), f'{args}: plain', steps)
            svg = qkv.explain(*args, '--format', 'svg')
            ok(f'>Causal mask: {line}<' in svg and svg.count('>hidden<') == count, f'{args}: svg', svg)
        if stage == '0':
            continue
        for args, line in ((['--causal'], 'Causal mask: a query sees'), (['--causal=-1'], 'Causal mask, shift')):
            for style in ('text', 'plain', 'svg'):
                text = qkv.explain(*args, '--stage', stage, '--view', 'map', '--format', style)
                ok(text.count(line) == 1, f'{args}, stage {stage}: the map, {style}', text)
    for style in ('text', 'plain', 'svg'):
        for view in ('table', 'map'):
            text = qkv.explain('--format', style, '--view', view)
            ok('ask' not in text.replace('asks', '') and 'hidden' not in text, f'{style}, {view}: no mask, no word',
               text)
    ok('Causal mask: the sees no key.' in qkv.explain('--causal=-1', '--token', 'the', '--stage', '1') and
       qkv.explain('--causal=-1', '--token', 'the', '--format', 'plain', '--stage', '0').endswith(
           'hides every key.\n'), 'a mask that hides every key')
    ok('Causal mask: the sees no key after sat; hidden keys: 1.' in
       qkv.explain('--causal=2', '--token', 'the', '--stage', '1'), 'a shift')


def choices(qkv):
    """A number that the reader chose stands there as it is, in the notation of the tables."""
    for scale, head in (('1e300', '× 1e300'), ('-2.5e-7', '× −2.5e−7'), ('-0', '× 0'), ('-0.0', '× 0'),
                        ('0.00125', '× 0.00125'), ('1e21', '× 1e21'), ('123456789012', '× 123456789012')):
        for stage in '0', '2', '4':
            text = qkv.explain('--scale', scale, '--stage', stage)
            ok(re.split(r'  +', worked.Page(text).head)[4] == head, f'--scale {scale}, stage {stage}', text)
        ok(f' {head}' in qkv.explain('--scale', scale, '--view', 'map', '--stage', '2') and
           f'>{head}<' in qkv.explain('--scale', scale, '--format', 'svg'),
           f'--scale {scale}: the map, the picture')
        spoken = head[2:].replace('−2', 'minus 2').replace('−', '-')
        text = qkv.explain('--scale', scale, '--format', 'plain', '--stage', '2')
        ok(f'multiplied by {spoken}, ' in text and not re.search(r'−|minus 0[ ,.]*(?!\d)', text),
           f'--scale {scale}: plain', text)
    text = qkv.explain('--temperature', '0.00125', '--format', 'plain', '--stage', '2')
    ok('by the temperature 0.00125, ' in text, 'plain: the temperature, not rounded', text)
    text = qkv.explain('--temperature', '1e-20', '--stage', '2')
    ok('T = 1e−20: ' in text and '4 ÷ √2 ÷ 1e−20 = 2.83e20' in text, 'a small temperature', text)


def tables(qkv):
    rows = list(csv.DictReader(io.StringIO(qkv.explain('--format', 'csv'))))
    ok([r['token'] for r in rows] == ['sat', *NAMES, 'sat'] and
       [float(r['score']) for r in rows[1:5]] == SCORES[2] and
       not kit.far([float(r['weight']) for r in rows[1:5]], WEIGHTS[2], 1e-9) and
       [float(rows[0][c]) for c in ('k0', 'k1')] == Q[2] and
       not kit.far([float(rows[5][c]) for c in ('v0', 'v1')], OUTS[2], 1e-9),
       'csv: the table', rows)
    raw = qkv.explain('--format', 'csv')
    ok(raw.count('\r\n') == raw.count('\n') == 7, 'csv: CRLF')
    grid = list(csv.reader(io.StringIO(qkv.explain('--format', 'csv', '--view', 'map'))))
    ok(grid[0] == ['row', 'from', *NAMES] and
       not kit.far([[float(x) for x in r[2:]] for r in grid[1:]], WEIGHTS, 1e-9), 'csv: the map')


def pictures(qkv):
    for args in ([], ['--view', 'map'], ['--stage', '1', '--view', 'map'], ['--causal']):
        text = qkv.explain('--format', 'svg', *args)
        svg = xml.dom.minidom.parseString(text).documentElement
        names = {e.tagName for e in svg.getElementsByTagName('*')}
        ok(svg.tagName == 'svg' and names <= {'title', 'rect', 'line', 'text'} and
           'href' not in text and 'style=' not in text, f'svg {args}: plain shapes and text', names)
        texts = [t.firstChild.data for t in svg.getElementsByTagName('text') if t.firstChild]
        ok(all(n in texts for n in NAMES), f'svg {args}: the tokens', texts)


def later_stages(qkv):
    """Stage by stage, no format shows a number of a later one."""
    later = {1: ['4', '3'], 2: ['0.71', '2.83', '1.41', '2.12', '.7071'],
             3: ['0.06', '0.54', '0.13', '0.27', '.0645', '.5387'], 4: ['1.68', '0.53', '1.6809']}
    keys = {1: ['score'], 2: ['scaled'], 3: ['weight', 'lse', 'engine'], 4: ['out']}
    for stage in range(4):
        j = qkv.json('--stage', str(stage))
        ok(not any(k in j for s in range(stage + 1, 5) for k in keys[s]) and
           all(k in j for s in range(1, stage + 1) for k in keys[s]),
           f'json, stage {stage}: keys', list(j))
        ok('out' not in j.get('engine', {}), f'json, stage {stage}: no output of the engine')
        for style in ('text', 'plain', 'csv', 'svg'):
            text = qkv.explain('--stage', str(stage), '--format', style)
            text = re.sub(r'="[^"]*"|\S of 4', '', text)  # attributes; "Stage 1 of 4"
            found = [x for s in range(stage + 1, 5) for x in later[s]
                     if re.search(rf'(?<![\d.])0?{re.escape(x)}(?!\d)' if x[0] != '.' else
                                  rf'(?<!\d)0?{re.escape(x)}', text)]
            if stage == 0:
                found = [x for x in found if x != '3']  # V of cat
            ok(not found, f'{style}, stage {stage}: nothing later', f'{found} in\n{text}')


def real_model(qkv, data):
    files = {n: str(data / f'minilm_layer3_{n}.npy') for n in 'qkv'}
    base = [x for n in 'qkv' for x in (f'--{n}', files[n])]
    base += ['--tokens', str(data / 'minilm_tokens.json')]
    weights = kit.read_npy(data / 'minilm_layer3_weights_f64.npy')[1]
    outs = {n: kit.read_npy(data / f'minilm_layer{n}_out_f64.npy')[1] for n in (0, 3)}
    worst = worst_out = worst_engine = 0.0
    for layer in (0, 3):
        args = [x.replace('layer3', f'layer{layer}') for x in base]
        for head in range(12):
            j = qkv.json(*args, '--head', str(head))
            if layer == 3:
                want = weights[head * 169:(head + 1) * 169]
                worst = max([worst] + [abs(a - b) for w in (j['weight'], j['engine']['weight'])
                                       for a, b in zip(kit.flatten(w), want)])
            for i in range(13):
                want = outs[layer][(head * 13 + i) * 32:][:32]
                top = max(map(abs, want))
                worst_out = max([worst_out] + [abs(a - b) / top for a, b in zip(j['out'][i], want)])
                worst_engine = max([worst_engine] + [abs(a - b) / top for a, b in
                                                     zip(j['engine']['out'][i], want)])
    ok(worst <= 1e-6, 'MiniLM: weights within 1e-6', worst)
    ok(worst_out <= 1e-12 and worst_engine <= 1.5e-6, 'MiniLM: outputs', (worst_out, worst_engine))
    text = qkv.explain(*base, '--head', '1', '--token', 'it', '--stage', '3')
    ok('it looks most at cat: 0.49.' in text and len(text.splitlines()) <= 22 and
       max(map(len, text.splitlines())) <= 80, 'MiniLM: "it" looks at "cat", on one screen', text)
    for more in ([], ['--causal']):
        for stage in '01234':
            text = qkv.explain(*base, '--head', '1', '--token', 'it', '--stage', stage, *more)
            ok(text.count('\n') <= 23 and max(map(len, text.splitlines())) <= 80,
               f'MiniLM, stage {stage} {more}: a screen of 24 lines has room for a prompt', text)
    grid = qkv.explain(*base, '--head', '1', '--token', 'it', '--view', 'map').splitlines()
    row = next(line for line in grid if line.startswith('> it'))
    ok(row.endswith('cat 0.49') and '▒▒▒▒' in row and len(grid) <= 18 and
       max(map(len, grid)) <= 80 and 'from (query)' in grid[1] and 'to (key)' in grid[1],
       'MiniLM: the map', '\n'.join(grid))
    plain_map = qkv.explain(*base, '--head', '1', '--view', 'map', locale='C')
    ok(plain_map.isascii() and re.search(r'it +2222\.\.\.\.4444', plain_map),
       'MiniLM: the map in ASCII is digits', plain_map)


def like_run(qkv, data):
    """engine.out is what qkv run writes, bit for bit."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / 'out.npy'
        base = [x for n in 'qkv' for x in (f'--{n}', str(data / f'minilm_layer3_{n}.npy'))]
        for extra in ([], ['--causal'], ['--scale', 'dk'], ['--scale', '0.3', '--causal=2']):
            args = [*base, '--head', '4', *extra]
            result = qkv.run('run', *args, '-o', str(out))
            got = kit.flatten(qkv.json(*args)['engine']['out'])
            want = kit.read_npy(out)[1] if result.returncode == 0 else []
            ok(struct.pack(f'{len(got)}f', *got) == struct.pack(f'{len(want)}f', *want),
               f'engine.out has the bits of qkv run {extra}', result.stderr.decode())


def projection(qkv):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        args = []
        for name, x in {'x': X, **W}.items():
            kit.write_npy(folder / f'{name}.npy', x, '<f4')
            args += [f'--{name}', str(folder / f'{name}.npy')]
        j = qkv.json(*args, '--tokens', 'the,cat,sat,mat', '--token', 'sat')
        ok(j == qkv.json(), '--x --wq --wk --wv give the same as the preset', j)


def main():
    qkv = kit.Command(sys.argv[1])
    data = pathlib.Path(sys.argv[2])
    numbers(qkv)
    variants(qkv)
    words(qkv)
    plain(qkv)
    masked(qkv)
    choices(qkv)
    tables(qkv)
    pictures(qkv)
    later_stages(qkv)
    projection(qkv)
    real_model(qkv, data)
    like_run(qkv, data)
    return kit.done()


sys.exit(main())
