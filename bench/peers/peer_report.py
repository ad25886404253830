# SPDX-License-Identifier: MIT
"""peer_report.py RESULT.json FOLDER - FOLDER/performance.md and the charts in FOLDER/performance/ from
what compare.py measured, and nothing else: no figure of the report is written by hand.

Needs Python alone. A result without libqkv's own figures in a row is refused.
"""
import json
import pathlib
import sys

import peer_chart
import peer_profile
from peer_chart import short

NAMES = {'qkv': 'libqkv', 'torch': 'PyTorch', 'onnx': 'ONNX Runtime', 'jax': 'JAX', 'numpy': 'NumPy',
         'ggml': 'ggml'}
TITLES = {'prefill': 'Whole sequences, float32', 'masks': 'Masks', 'types': 'Other element types',
          'decode': 'One query row', 'tiny': 'A tiny call'}
UNITS = {'f16': {'avx512_fp16'}, 'bf16': {'amx_bf16', 'avx512_bf16'}}
CLOSE = 0.97


def rate(row, seconds):
    """In the unit of the row's group: GF/s, GB/s of K and V, or calls in 10^6 a second."""
    group = row['row']['group']
    amount = row['kv_bytes'] if group == 'decode' else 1e3 if group == 'tiny' else row['flops']
    return 1e-9 * amount / seconds


def unit(group):
    return {'decode': 'GB/s of K and V', 'tiny': 'million calls a second'}.get(group, 'GF/s')


def limit(row):
    """What the machine's own multiply-adds, or reads of K and V, allow; None where neither does."""
    group = row['row']['group']
    if group == 'tiny':
        return None
    if group == 'decode':
        return min(row['read_gbs'], row['peak_gflops'] * row['kv_bytes'] / row['flops'])
    return row['peak_gflops']


def best_other(row):
    """(library, seconds), or None when no other library has this row."""
    found = [(x['seconds'], name) for name, x in row['libraries'].items() if name != 'qkv']
    return min(found)[::-1] if found else None


def verdict(row, machine, kernels):
    """Whether the least ratio is reached, in a word or two."""
    least, other = row['row']['least'], best_other(row)
    if least is None or other is None:
        return ''
    ours = row['libraries']['qkv']['seconds']
    ratio = other[1] / ours
    if row['noisy']:
        return 'noisy'
    if ratio >= least:
        return 'yes'
    if UNITS.get(row['row']['dtype'], set()) & set(machine['units']):
        return 'reported'
    share = (row['row'].get('share') or {}).get(kernels)
    if share and limit(row) and least * rate(row, other[1]) > share * limit(row):
        return 'yes, by share' if rate(row, ours) >= share * limit(row) else 'no, by share'
    return 'close' if ratio >= CLOSE * least else 'no'


def table(head, rows):
    lines = ['| ' + ' | '.join(head) + ' |', '|' + ' --- |' * len(head)]
    return lines + ['| ' + ' | '.join(str(x) for x in row) + ' |' for row in rows] + ['']


def sentence(names):
    return names[0] if len(names) == 1 else ', '.join(names[:-1]) + ' and ' + names[-1]


def machine_part(result):
    m, bench = result['machine'], result.get('bench')
    rows = [('processor', f'{m["processor"]}, {m["family_model"]}' + (', virtual' if m['virtual'] else '')),
            ('CPUs used', m['cpus']), ('caches of one', m['caches']), ('memory', f'{m["memory_gib"]} GiB'),
            ('transparent huge pages', m['huge_pages'] or 'unknown'),
            ('system', f'{m["distribution"]}, {m["system"]}'), ('compiler', m['compiler']),
            ('Python', m['python']), ('kernels of libqkv', result['versions']['kernels'])]
    if bench:
        for key, name in (('peak_gflops', 'FMA peak, float32'), ('peak_gflops_f64', 'FMA peak, float64'),
                          ('fed_gflops', 'fed from the first-level cache, float32'),
                          ('fed_gflops_f64', 'fed from the first-level cache, float64'),
                          ('read_gbs', 'plain reads')):
            if key not in bench:
                continue
            word = 'GB/s' if key == 'read_gbs' else 'GF/s'
            rows.append((name, ', '.join(f'{short(x)} {word} with {n} thread{"s" * (n != "1")}'
                                         for n, x in bench[key].items())))
    versions = [f'{name} {version}' for name, version in result['versions'].items() if name != 'kernels']
    lines = ['## The machine and what ran on it', '', *table(['', ''], rows),
             f'Measured on {result["date"]}. Versions: {", ".join(versions)}.', '']
    for name, why in result['missing'].items():
        lines += [f'Not available here: {NAMES.get(name, name)} ({why}).', '']
    return lines


def amount(value, kind):
    if kind == 'share':
        return f'{100 * value:.1f} %'
    if kind == 'points':
        return f'{100 * value:.1f} points'
    return f'{value:.2f}' + ({'us': ' µs', 'MB': ' MB'}.get(kind, ''))


def bench_part(result):
    bench = result.get('bench')
    if not bench:
        return []
    lines = ["## Against the machine's own limits", '',
             f'`qkv bench`, kernels {bench["isa"]}. A share is of the FMA peak that the same run measured, or of '
             'plain reads where those limit; "close" misses by 3 points or 3 % at most; "noisy" rows '
             'have no verdict ([measuring.md](measuring.md)).', '']
    if 'fed_gflops' in bench:
        f32, f64 = (100 * bench['fed_gflops' + t]['1'] / bench['peak_gflops' + t]['1'] for t in ('', '_f64'))
        lines += [f'Multiply-adds that read their operands from the first-level cache, in the chains of the score '
                  f'kernel and with nothing else to do, reach {f32:.0f} % of this peak in float32 and {f64:.0f} % in '
                  f'float64 (1 thread): a target beyond that is beyond any kernel on this machine. What score, weigh '
                  f'and blend leave of it together, and what few rows let a thread read when memory costs nothing, '
                  f'is in [hardware.md](hardware.md); where the time of whole runs goes, below.', '']
    if bench['targets']:
        lines += table(['what', 'target', 'reached', 'verdict'], [
            (t['what'], ('at most ' if t['bound'] == 'most' else 'at least ') + amount(t['target'], t['unit']),
             amount(t['reached'], t['unit']), t['verdict']) for t in bench['targets']])
    lines += table(['row', 'type', 'heads', 'S', 'd', 'mask', 'threads', 'GF/s', 'median', 'share'], [
        (r['what'], r['dtype'], r['h'] if r['h'] == r['h_kv'] else f'{r["h"]}/{r["h_kv"]}', r['s'], r['d'],
         r['mask'], r['threads'], short(r['gflops']), short(r['median']),
         f'{100 * r["share"]:.1f} %' + (', noisy' if r['noisy'] else '')) for r in bench['rows']])
    return lines


def shape_name(row):
    return row['name'].replace(', full', '').replace('float32', 'f32')


def group_table(rows, result, libraries):
    head = ['shape', 'threads', *(NAMES[x] for x in libraries), 'of the limit', 'ratio to the best', 'asked',
            'verdict']
    lines = []
    for row in rows:
        cells = []
        other = best_other(row)
        for name in libraries:
            found = row['libraries'].get(name)
            value = short(rate(row, found['seconds'])) if found else '–'
            cells.append(f'**{value}**' if found and (name == 'qkv' or other and name == other[0]) else value)
        ours = row['libraries']['qkv']['seconds']
        share = f'{100 * rate(row, ours) / limit(row):.0f} %' if limit(row) else ''
        least = row['row']['least']
        lines.append([shape_name(row), row['threads'], *cells, share,
                      f'{other[1] / ours:.2f}' if other else '', f'{least:g}' if least else '',
                      verdict(row, result['machine'], result['versions']['kernels'])])
    return table(head, lines)


def chart(rows, group, threads, libraries):
    blocks = [(shape_name(row), [(name, NAMES[name], rate(row, row['libraries'][name]['seconds']))
                                 for name in libraries if name in row['libraries']]) for row in rows]
    count = f'{threads} thread' + 's' * (threads > 1)
    return peer_chart.bars(f'{TITLES[group]}, {count}',
                           'Speed of each library for each shape; the numbers are in the table beside it.',
                           unit(group), blocks)


def peers_part(result, folder):
    libraries = [x for x in NAMES if any(x in r['libraries'] for r in result['rows'])]
    lines = ['## Beside other libraries', '',
             'Every library in a process of its own, all on the same inputs, '
             'one after another in each round; a figure is the median of the rounds (the fastest call of '
             'each). Where a library can do it in several ways, the fastest of them on this machine '
             'is measured. Only pairs of a row and a key that are seen count as work. The best other '
             'library is bold.', '',
             '"yes" or "no": the ratio to the best other library against what was asked. "by share": that ratio '
             "would need more of the machine's limit than is asked of libqkv, so the share decides. "
             '"reported": the processor has units for this type that libqkv does not use. '
             '"noisy": the peak moved by more than 3 % meanwhile, or other programs took the CPUs.', '']
    for group, title in TITLES.items():
        rows = [r for r in result['rows'] if r['row']['group'] == group]
        if not rows:
            continue
        lines += [f'### {title} ({unit(group)})', '', *group_table(rows, result, libraries)]
        for threads in sorted({r['threads'] for r in rows}):
            name = f'{group}-{threads}.svg'
            mine = [r for r in rows if r['threads'] == threads]
            (folder / name).write_text(chart(mine, group, threads, libraries), encoding='utf-8')
            lines += [f'![{title}, {threads} thread{"s" * (threads > 1)}: the numbers of the table above as bars]'
                      f'(performance/{name})', '']
    return lines


def details_part(result):
    """Which way of each library was measured, how far its numbers were from ours, what it lacks."""
    libraries = [x for x in NAMES if x != 'qkv' and any(x in r['libraries'] for r in result['rows'])]
    lines = ['## What was called, and what came out', '',
             'The way of each library that was fastest, and in brackets the largest difference of its result '
             "from libqkv's, as a part of the largest number of the result.", '']
    rows = []
    for row in result['rows']:
        cells = []
        for name in libraries:
            found = row['libraries'].get(name)
            cells.append(f'{found["variant"]} ({found["difference"]:.0e})' if found else
                         row['absent'].get(name, 'not available').replace('|', '/'))
        rows.append([shape_name(row), row['threads'], *cells])
    return lines + table(['shape', 'threads', *(NAMES[x] for x in libraries)], rows)


def write(result, folder):
    folder = pathlib.Path(folder)
    charts = folder / 'performance'
    charts.mkdir(parents=True, exist_ok=True)
    for row in result['rows']:
        if 'qkv' not in row['libraries']:
            raise ValueError(f'{row["name"]}: libqkv itself was not measured')
    for old in charts.glob('*.svg'):
        old.unlink()
    quick = ', the short run' if result['quick'] else ''
    lines = ['# Performance', '',
             f'Written by `make bench-peers`{quick}; measured numbers only. To measure your own machine, run it: '
             'it writes this file anew.', '', *machine_part(result), *bench_part(result),
             *peer_profile.part(result, table, amount), *peers_part(result, charts), *details_part(result)]
    text = '\n'.join(lines).rstrip('\n') + '\n'
    (folder / 'performance.md').write_text(text, encoding='utf-8')
    (charts / 'measured.json').write_text(json.dumps(result) + '\n', encoding='utf-8')
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    write(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')), sys.argv[2])


if __name__ == '__main__':
    main()
