#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `make bench-peers` compares and writes, without another library and without measuring: the shapes
parse and are counted right, bad ones are refused, the report says what a small recorded result holds, the
profile of our own runs adds up.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import tap

PEERS = tap.ROOT / 'bench' / 'peers'
tap.sys.path.insert(0, str(PEERS))
import peer_profile  # noqa: E402
import peer_report  # noqa: E402
import peer_shapes  # noqa: E402

RECORDED = pathlib.Path(__file__).resolve().parent / 'peers_recorded.json'


def refused(line):
    try:
        peer_shapes.parse_line('x.txt line 1', line)
        return None
    except ValueError as error:
        return str(error)


def check_shapes():
    rows = peer_shapes.read_all()
    groups = {row['group'] for row in rows}
    tap.ok(groups == set(peer_shapes.GROUPS), 'a file for each group of the report', groups)
    tap.ok(all(row['group'] in peer_report.TITLES for row in rows), 'each group has a title')
    names = [(peer_shapes.name(row), row['group']) for row in rows]
    tap.ok(len(names) == len(set(names)), 'no row twice', names)
    quick = {row['group'] for row in rows if row['quick']}
    tap.ok(quick == groups, 'the short run has every group', quick)
    for what, want in (('prefill f32 S 8192 d 128 causal', ('f32', 8192, 128, 'causal')),
                       ('window', ('f32', 8192, 128, 'window')), ('bias-h', ('f32', 2048, 128, 'bias-h')),
                       ('bf16', ('bf16', 2048, 128, 'full')), ('f64', ('f64', 2048, 64, 'full')),
                       ('tiny', ('f32', 16, 64, 'full'))):
        tap.ok(any((r['dtype'], r['keys'], r['d'], r['mask']) == want for r in rows), f'a row of {what}')
    decode = {(r['h'] // r['h_kv'], r['dtype']) for r in rows if r['rows'] == 1}
    tap.ok(decode == {(g, t) for g in (1, 4, 8) for t in ('f32', 'f16', 'bf16')},
           'one query row: 1, 4 and 8 heads a group, three types', decode)


def check_counts():
    """Pairs of a small row, against every pair looked at."""
    for mask, seen in (('full', lambda i, j: True), ('causal', lambda i, j: j <= i),
                       ('window', lambda i, j: j <= i and i - j <= peer_shapes.WINDOW_LEFT)):
        row = {'mask': mask, 'rows': 384, 'keys': 384}
        want = sum(seen(i, j) for i in range(384) for j in range(384))
        tap.ok(peer_shapes.pairs(row) == want, f'pairs of {mask}', [peer_shapes.pairs(row), want])


def check_refusals():
    good = 'f32 4 4 2048 2048 128 full both 1.10 0.93 - quick'
    tap.ok(refused(good) is None, 'a good line', refused(good))
    for old, new, word in (
            ('f32', 'f8', "dtype is 'f8'"), (' 4 4 ', ' 4 3 ', 'h_kv is 3'), ('2048', '0', "rows is '0'"),
            ('128', '-1', "d is '-1'"), ('full', 'none', "mask is 'none'"), ('both', '3', "threads is '3'"),
            ('1.10', 'nan', "ratio is 'nan'"), ('0.93', '1.5', "share is '1.5'"), ('1.10 ', '', 'columns is 10'),
            ('4 4 2048 2048 128 full', '4 4 1 2048 128 causal', 'rows is 1')):
        line = good.replace(old, new, 1)
        why = refused(line)
        tap.ok(why and why.startswith('x.txt line 1: ') and word in why and 'must be' in why,
               f'refused: {word}', str(why))


def report(result):
    with tempfile.TemporaryDirectory() as folder:
        text = peer_report.write(result, folder)
        charts = {p.name: p.read_text(encoding='utf-8')
                  for p in (pathlib.Path(folder) / 'performance').glob('*.svg')}
        return text, charts


def check_report():
    result = json.loads(RECORDED.read_text(encoding='utf-8'))
    text, charts = report(result)
    tap.ok(charts and all(f'(performance/{name})' in text for name in charts), 'each chart is shown', charts)
    for name, chart in charts.items():
        root = xml.etree.ElementTree.fromstring(chart)
        bars = [x for x in root.iter() if x.tag.endswith('rect')][1:]
        threads = int(re.search(r'-(\d+)\.svg', name).group(1))
        want = sum(len(r['libraries']) for r in result['rows']
                   if (r['row']['group'], r['threads']) == (name.split('-')[0], threads))
        tap.ok(len(bars) == want, f'{name}: a bar for each measured library', f'{len(bars)}, {want}')
    lines = text.splitlines()
    full = next(x for x in lines if x.startswith('| f32, H 4, S 2048, d 128 | 1 |'))
    tap.ok(full == '| f32, H 4, S 2048, d 128 | 1 | **172** | **143** | 85.9 | – | 86 % | 1.20 | 1.1 | yes |',
           'a row of the table', full)
    want = {'causal': 'no', 'f16': 'reported', 'H 32, 1 ×': 'yes, by share', 'H 32/8': 'no, by share',
            'd 64': 'noisy', 'S 16': 'close'}
    for word, verdict in want.items():
        row = next((x for x in lines if x.startswith('| ') and word in x and x.endswith(f'| {verdict} |')), None)
        tap.ok(row, f'{word}: {verdict}', [x for x in lines if x.startswith('| ') and word in x])
    tap.ok('| prefill f32 full, S >= 2048, d = 128 | at least 95.0 % | 86.0 % | no |' in text,
           "bench's own target", text)
    tap.ok('Not available here: ggml (could not be built' in text, 'what is missing is said')
    tap.ok('differs by 2e-01' in text and 'SDPA, heads outside (1e-06)' in text, 'what was called', text)
    tap.ok('made-up processor' in text and '2026-01-02' in text, 'machine and date')
    widths = {}
    for line in lines:
        if line.startswith('|'):
            widths.setdefault(line.count('|'), line)
    tap.ok(all(line.endswith('|') for line in widths.values()), 'tables are closed', widths)
    del result['rows'][0]['libraries']['qkv']
    try:
        report(result)
        why = ''
    except ValueError as error:
        why = str(error)
    tap.ok('libqkv itself was not measured' in why, 'a row without libqkv is refused', why)


PROFILE = """| run | of the peak | score | weigh | blend | copies | rows in, out | biases | rest | pairs |\
 score's speed | blend's speed | three alone | reading |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| f32, full, S 2,048, d 128 | 80.0 % | 44.0 % | 6.0 % | 44.0 % | 2.0 % | 2.0 % | 0.0 % | 2.0 % | 1.00 | 90 % | 90 % |\
 85.0 % | 10.0 % |
"""


def check_profile():
    """The profile's table, and what it leaves of a missed target: 85 %, and 1 / (1 / 0.85 + 0.1 / 0.8) = 76.8 %."""
    result = json.loads(RECORDED.read_text(encoding='utf-8'))
    text, _ = report({**result, 'profile': PROFILE})
    tap.ok('| prefill f32 full, S >= 2048, d = 128 | at least 95.0 % | 86.0 % | 85.0 % | 76.8 % |' in text,
           'what keeps a missed target', text)
    tap.ok(PROFILE.splitlines()[2] in text, 'the table itself')
    tap.ok('Where the time goes' not in report(result)[0], 'no profile, no section')
    runs = peer_profile.parse(PROFILE)
    ask = {'what': 'window 256, S = 8192: time for its FLOPs', 'reached': 1.5}
    tap.ok(peer_profile.bounds(runs, ask) is None, 'a run that is not there says nothing')
    window = {'of the peak': 0.4, 'three alone': 0.5, 'reading': 0.1}
    found = peer_profile.bounds({**runs, 'f32, window 256, S 8,192, d 128': window}, ask)
    tap.ok(found and abs(found[0] - 1.6) < 1e-9 and abs(found[1] - 1.8) < 1e-9, 'time for the FLOPs', found)
    out = subprocess.run([sys.argv[1], '--quick'], capture_output=True, encoding='utf-8', check=False)
    runs = peer_profile.parse(out.stdout) if out.returncode == 0 else {}
    tap.ok('f32, causal, S 256, d 128' in runs, 'bench/profile runs', out.stderr)
    for name, run in runs.items():
        phases = sum(run[x] for x in peer_profile.COLUMNS[1:8])
        tap.ok(abs(phases - 1) < 0.01 and run['rest'] > -0.005, f'{name}: the parts make a whole', run)
        tap.ok(run['of the peak'] <= run['three alone'] <= 1.5, f'{name}: shares', run)
    known = {name for name, _ in peer_profile.RUNS.values()}
    source = tap.read('bench/profile.c')
    for name in known:
        what = name.split(', ', 1)[1].rsplit(', d ', 1)[0]
        tap.ok(f'"{what}"' in source, f'a run called {what}', name)
    out = subprocess.run([sys.argv[1], '--more'], capture_output=True, encoding='utf-8', check=False)
    tap.ok(out.returncode == 2 and 'usage' in out.stderr, 'another option is refused', out.stderr)


def check_lesson():
    """NumPy is measured with the lines that the lesson writes."""
    program = tap.read('lesson/program.c')
    source = tap.read('bench/peers/peer_numpy.py')
    for name in ('attention', 'attention_causal'):
        body = re.search(rf'def {name}\(Q, K, V\):\n((?:    .*\n)+)', source).group(1)
        for line in body.splitlines():
            # the lesson puts the scale and the shift of a causal mask there by value
            piece = line.replace(' / np.sqrt(d_k)', '').replace(' + 0', ' + ')
            if piece.startswith('    scaled = scores'):
                piece = '    scaled = scores'
            tap.ok(piece in program, f'{name}: {line.strip()}', 'not in lesson/program.c')


def main():
    check_shapes()
    check_counts()
    check_refusals()
    check_report()
    check_profile()
    check_lesson()
    tap.done()


if __name__ == '__main__':
    main()
