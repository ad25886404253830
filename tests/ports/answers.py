#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""answers.py ANSWERS QKV [EMULATOR WORD...] - what the command writes, byte for byte, on whatever
machine it was built for: exit status, text and files of every call below, as digests that stand in
ANSWERS. Prints TAP.

    answers.py --write ANSWERS QKV    writes ANSWERS

The answers come from x86-64, so a build for another machine is judged by them. Files are read in both
byte orders, and what holds the same numbers has to give the same bytes.
"""
import hashlib
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'cli'))
from npy_file import gen, npy  # noqa: E402

B, H, S, K, D = 2, 4, 37, 300, 24
MINILM = HERE.parent.parent / 'data' / 'minilm'
# name of a set of q, k, v -> descr, Fortran order, version of the format, words for the command
SETS = {
    'f32': ('<f4', False, 1, ()), 'f32_high_first': ('>f4', False, 1, ()),
    'f32_fortran': ('<f4', True, 2, ()), 'f32_high_first_fortran': ('>f4', True, 3, ()),
    'f64': ('<f8', False, 1, ()), 'f64_high_first': ('>f8', False, 1, ()),
    'f16': ('<f2', False, 1, ()), 'f16_high_first': ('>f2', False, 1, ()),
    'bf16': ('<V2', False, 1, ()), 'bf16_high_first': ('>V2', False, 1, ()),
    'bf16_words': ('<u2', False, 1, ('--in-dtype', 'bf16')),
    'bf16_words_high_first': ('>u2', False, 1, ('--in-dtype', 'bf16')),
}
# the same numbers, so the same bytes
SAME = [('f32', 'f32_high_first', 'f32_fortran', 'f32_high_first_fortran'), ('f64', 'f64_high_first'),
        ('f16', 'f16_high_first'), ('bf16', 'bf16_high_first', 'bf16_words', 'bf16_words_high_first')]
KEPT = ('--lse', 'lse.npy', '--row-max', 'top.npy', '--key-sums', 'sums.npy', '--scores',
        'raw=raw.npy,capped=capped.npy,biased=biased.npy,weight=weight.npy')
# name -> words of `qkv run` beside q, k, v of f32
RUNS = {
    'causal': ('--causal=263',), 'offsets': ('--causal', '--q-offset', '263,5'),
    'window': ('--window', '60,9', '--q-offset', '200'), 'prefix': ('--prefix', '70', '--q-offset', '20'),
    'lengths': ('--kv-len', '300,131', '--q-len', '30,37'), 'padding': ('--kv-start', '3,150'),
    'mask': ('--mask', 'mask.npy'), 'mask_drops': ('--mask', 'mask.npy', '--mask-true-drops'),
    'bias_f32': ('--bias', 'bias_f4.npy'), 'bias_f16': ('--bias', 'bias_f2.npy'),
    'bias_f64': ('--bias', 'bias_f8.npy'), 'bias_bf16': ('--bias', 'bias_V2.npy'),
    'alibi': ('--alibi', '8', '--causal=263'), 'softcap': ('--softcap', '0.7'),
    'sink': ('--sink', '0.5,-1,2,0'), 'dropout': ('--dropout', '0.4', '--seed', '77'),
    'packed': ('--cu-q', '0,10,37', '--cu-k', '0,200,300', '--batch', '1', '--causal=bottom-right'),
    'rows': ('--rows', '30,2,2', '--weights', 'some.npy'), 'scale': ('--scale', '0.3'),
    'out_f16': ('--out-dtype', 'f16'), 'out_bf16': ('--out-dtype', 'bf16'),
    'out_f64': ('--out-dtype', 'f64'), 'reference': ('--isa', 'reference'),
    'scalar': ('--isa', 'scalar'), 'wide16': ('--isa', 'wide16'), 'threads': ('--threads', '3'),
    'kept': KEPT,
    'everything': ('--causal=263', '--window', '250,0', '--kv-len', '300,250', '--mask', 'mask.npy',
                   '--bias', 'bias_f2.npy', '--alibi', '4', '--softcap', '5', '--sink', '0.5,-1,2,0',
                   '--dropout', '0.1', '--seed', '3', *KEPT),
}
# name -> words; `qkv` itself comes before
OTHERS = {
    'decode': ('run', '--q', 'q_one.npy', '--k', 'k_f16.npy', '--v', 'v_bf16.npy', '-o', 'out.npy',
               '--causal=299', '--lse', 'lse.npy'),
    'model': ('run', '--q', MINILM / 'minilm_layer3_q.npy', '--k', MINILM / 'minilm_layer3_k.npy',
              '--v', MINILM / 'minilm_layer3_v.npy', '-o', 'out.npy', '--lse', 'lse.npy'),
    'info': ('info', 'q_f64_high_first.npy'), 'refused': ('info', 'text.npy'),
    'explain': ('explain',), 'explain_json': ('explain', '--json'),
    'explain_causal': ('explain', '--causal', '--temperature', '0.7', '--json'),
    'explain_svg': ('explain', '--format', 'svg'), 'explain_csv': ('explain', '--format', 'csv'),
    'explain_plain': ('explain', '--format', 'plain'), 'explain_map': ('explain', '--view', 'map'),
    'explain_state': ('explain', '--state', 't=cat&st=3&T=0.5', '--json'),
    'explain_model': ('explain', '--q', MINILM / 'minilm_layer3_q.npy', '--k',
                      MINILM / 'minilm_layer3_k.npy', '--v', MINILM / 'minilm_layer3_v.npy',
                      '--tokens', MINILM / 'minilm_tokens.json', '--head', '2', '--json'),
}


def make_inputs():
    for name, (descr, fortran, version, _) in SETS.items():
        for tensor, seed, n in (('q', 1, S), ('k', 2, K), ('v', 3, K)):
            shape = (B, H if tensor == 'q' else H // 2, n, D)
            x = [4 * y for y in gen(seed, shape)] if tensor == 'q' else gen(seed, shape)
            pathlib.Path(f'{tensor}_{name}.npy').write_bytes(
                npy(x, shape, descr, order=fortran, version=version))
    pathlib.Path('q_one.npy').write_bytes(npy(gen(9, (B, H, 1, D)), (B, H, 1, D)))
    sees = [(i * 7 + j * 5 + i * j) % 3 != 0 for i in range(S) for j in range(K)]
    pathlib.Path('mask.npy').write_bytes(npy(sees, (S, K), '|b1'))
    bias = [x if n % 11 else -math.inf for n, x in enumerate(gen(4, (H, S, K)))]
    for descr in ('>f4', '<f2', '>f8', '<V2'):
        pathlib.Path(f'bias_{descr[1:]}.npy').write_bytes(npy(bias, (H, S, K), descr))
    pathlib.Path('text.npy').write_text('no tensor\n', encoding='ascii')


def calls():
    """Pairs (name, words)."""
    def run(name, *words):
        files = (x for t in 'qkv' for x in ('--' + t, f'{t}_{name}.npy'))
        return ('run', *files, '-o', 'out.npy', *SETS[name][3], *words)
    for name in SETS:
        yield name, run(name, *KEPT)
    for name, words in RUNS.items():
        yield 'run_' + name, run('f32', *words)
    yield from OTHERS.items()


def digest(command, words):
    """Exit status, both texts and every file that appeared."""
    before = set(os.listdir('.'))
    env = dict(os.environ, LC_ALL='C.UTF-8', COLUMNS='80')
    done = subprocess.run([*command, *map(str, words)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=120, check=False, env=env)
    hashed = hashlib.sha256()
    parts = [b'%d' % done.returncode, done.stdout, done.stderr]
    for name in sorted(set(os.listdir('.')) - before):
        parts += [name.encode(), pathlib.Path(name).read_bytes()]
        os.remove(name)
    for part in parts:
        hashed.update(b'%d:' % len(part) + part)
    said = done.stderr.decode(errors='replace').strip().replace('\n', ' / ')
    return hashed.hexdigest()[:32], f'exit {done.returncode}; stderr: {said[:200]}'


def main():
    write = sys.argv[1:2] == ['--write']
    answers, qkv, *emulator = sys.argv[2:] if write else sys.argv[1:]
    answers = pathlib.Path(answers).resolve()
    command = [*emulator, str(pathlib.Path(qkv).resolve())]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs()
        got = {name: digest(command, words) for name, words in calls()}
        os.chdir('/')
    if write:
        lines = ['# Written by answers.py --write on x86-64, never by hand.',
                 *(f'{name} {x}' for name, (x, _) in got.items())]
        answers.write_text('\n'.join(lines) + '\n', encoding='ascii')
        return 0
    rows = [x.split() for x in answers.read_text(encoding='ascii').splitlines() if x[0] != '#']
    want = dict(rows)
    number, bad = 0, 0
    for name, (x, said) in got.items():
        number += 1
        good = want.get(name) == x
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        if not good:
            print(f'#   {x}, not {want.get(name)}; {said}')
            bad += 1
    checks = [(f'{names[0]} in every form', len({got[x][0] for x in names}) == 1) for names in SAME]
    checks.append(('every answer was asked for', set(want) == set(got)))
    refused = [name for name, (_, said) in got.items() if not said.startswith('exit 0')]
    checks.append((f'one thing is refused: {", ".join(refused)}', refused == ['refused']))
    for name, good in checks:
        number += 1
        bad += not good
        print(f'{"ok" if good else "not ok"} {number} - {name}')
    print(f'1..{number}')
    return bad != 0


sys.exit(main())
