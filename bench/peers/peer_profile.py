# SPDX-License-Identifier: MIT
"""peer_profile.py - where the time of libqkv's own runs goes (bench/profile prints it), and what this machine
leaves to reach where a target of `qkv bench` was missed.
"""

# the run of bench/profile that speaks for a target of qkv bench, and how its figure is made:
# share: of the peak; points: below the full run; half: time of the full run, half of the tiles dead;
# window: time for its FLOPs; few: as reached, sped up to what the rows reach with K and V in the cache
RUNS = {
    'prefill f32 full, S >= 2048, d = 128': ('f32, full, S 2,048, d 128', 'share'),
    'prefill f32 full, S >= 2048, d = 64': ('f32, full, S 2,048, d 64', 'share'),
    'prefill f32 causal, S >= 2048: below full': ('f32, causal, S 2,048, d 128', 'points'),
    'prefill f32 full, S = 256, d = 128': ('f32, full, S 256, d 128', 'share'),
    'prefill f32 causal, S = 256, d = 128': ('f32, causal, S 256, d 128', 'share'),
    'bool mask, half the tiles dead: time of full': ('f32, bool mask, half dead, d 128', 'half'),
    'bool mask for each head: time of full': ('f32, bool mask for each head, d 128', 'half'),
    'bias, half the tiles dead: time of full': ('f32, bias, half dead, d 128', 'half'),
    'bias for each head: time of full': ('f32, bias for each head, d 128', 'half'),
    'window 256, S = 8192: time for its FLOPs': ('f32, window 256, S 8,192, d 128', 'window'),
    'prefill f64 full, d = 128': ('f64, full, S 2,048, d 128', 'share'),
    'prefill f64 full, d = 64': ('f64, full, S 2,048, d 64', 'share'),
    **{f'one query row, G = {g}, {t}': (f'{t}, one row, G = {g}, d 128', 'few')
       for g in (4, 8) for t in ('f32', 'f16', 'bf16')},
}
FULL = 'f32, full, S 2,048, d 128'
COLUMNS = ['of the peak', 'score', 'weigh', 'blend', 'copies', 'rows in, out', 'biases', 'rest', 'pairs',
           "score's speed", "blend's speed", 'three alone', 'reading']


def parse(text):
    """{run: {column: a share as a part of 1, pairs as they are}} of the table that bench/profile prints."""
    lines = [x for x in text.splitlines() if x.startswith('|')]
    head = [x.strip() for x in lines[0].strip('|').split('|')]
    if head != ['run', *COLUMNS]:
        raise ValueError(f'the profile has the columns {head}; they must be run, {", ".join(COLUMNS)}')
    runs = {}
    for line in lines[2:]:
        name, *cells = [x.strip() for x in line.strip('|').split('|')]
        runs[name] = {c: float(x.rstrip(' %')) / (100 if x.endswith('%') else 1)
                      for c, x in zip(COLUMNS, cells, strict=True)}
    return runs


def bounds(runs, target):
    """What the target's run would reach if score, weigh and blend were all of it, and if reading every input and
    writing the output once came on top; None where the profile does not tell."""
    name, kind = RUNS.get(target['what'], (None, None))
    run, full = runs.get(name), runs.get(FULL)
    if run is None or full is None:
        return None
    if kind == 'few':
        cached = runs.get(name.replace(', d ', ', in the cache, d '))
        if cached is None:
            return None
        alone = target['reached'] * cached['of the peak'] / run['of the peak']
        return alone, 1 / (1 / alone + 1)
    share = run['of the peak']
    alone = run['three alone']
    both = 1 / (1 / alone + run['reading'] / share)
    if kind == 'share':
        return alone, both
    if kind == 'points':
        full_both = 1 / (1 / full['three alone'] + full['reading'] / full['of the peak'])
        return full['three alone'] - alone, full_both - both
    part = full['of the peak'] * (0.5 if kind == 'half' else 1)
    return part / alone, part / both


def part(result, table, amount):
    """The lines of the section; table and amount are the report's own."""
    text, bench = result.get('profile'), result.get('bench')
    if not text or not bench:
        return []
    runs = parse(text)
    lines = ['## Where the time goes', '',
             '`bench/profile` in the build folder, one thread: each function of the kernel table timed while a plan '
             'works. *copies*: values into strips, keys that are gathered, other types brought to float32. *rows '
             'in, out*: queries turned and scaled, results divided, turned and written. *biases*: looked through '
             'and laid out (adding them is part of *score*). *rest*: what is seen of a tile, bool masks, the fold '
             'tree. *pairs*: of a row and a key that score computes, for each that is asked for. The two speeds '
             'are shares of the peak while that function runs; *three alone* is the share of the peak if score, '
             'weigh and blend were all. *reading*: the time in which the same thread reads as many bytes as all '
             'inputs and the output have, once and without anything else, as a part of the run.', '']
    lines += text.splitlines() + ['']
    missed = []
    for t in bench['targets']:
        found = bounds(runs, t) if t['verdict'] == 'no' else None
        if found:
            missed.append((t['what'], ('at most ' if t['bound'] == 'most' else 'at least ') +
                           amount(t['target'], t['unit']), amount(t['reached'], t['unit']),
                           *(amount(x, t['unit']) for x in found)))
    if missed:
        lines += ['What keeps the missed targets, by that profile: what would be reached if score, weigh and blend, '
                  'at their speed of that run, were all of it; and if such plain reads came on top, which hide '
                  'behind multiply-adds in part only. Of few rows: at the speed that they have with keys and '
                  'values in the second-level cache, and if each read waited for that. Where the first figure '
                  'misses the target, everything beside the three could be free and it were missed still; and '
                  'the three come no nearer to the peak than multiply-adds that are fed from the first-level '
                  'cache (above).', '']
        lines += table(['what', 'target', 'reached', 'three alone', 'with reads on top'], missed)
    return lines
