# SPDX-License-Identifier: MIT
"""The command on a CPU of 2008 (qemu's Nehalem): no illegal instruction, no AVX, the same bits.

Argument: the command. The same kernels must be refused there that are usable here.
"""
import pathlib
import sys
import tempfile

import tap

command = pathlib.Path(sys.argv[1]).resolve()
old = ['qemu-x86_64', '-cpu', 'Nehalem', command]
data = tap.ROOT / 'data' / 'minilm'

seen = tap.run([*old, '--version'])
tap.ok(seen.returncode == 0 and 'scalar' in seen.stdout, 'runs, and names the scalar kernels',
       seen.stdout + seen.stderr)
with tempfile.TemporaryDirectory() as folder:
    written = {}
    for name, start in (('old', old), ('new', [command])):
        out = pathlib.Path(folder) / f'{name}.npy'
        made = tap.run([*start, 'run', '--q', data / 'minilm_layer3_q.npy', '--k',
                        data / 'minilm_layer3_k.npy', '--v', data / 'minilm_layer3_v.npy',
                        '-o', out, '--stats'])
        tap.ok(made.returncode == 0, f'attention on a real model, {name} CPU', made.stderr)
        written[name] = (out.read_bytes() if out.exists() else b'', made.stderr)
    tap.ok(written['old'][0] and written['old'][0] == written['new'][0], 'the same bytes')
    tap.ok('scalar' in written['old'][1] and 'avx' not in written['old'][1],
           'computed by the scalar kernels', written['old'][1])
    out = pathlib.Path(folder) / 'refused.npy'
    made = tap.run([*old, 'run', '--isa', 'avx2', '--q', data / 'minilm_layer3_q.npy', '--k',
                    data / 'minilm_layer3_k.npy', '--v', data / 'minilm_layer3_v.npy', '-o', out])
    tap.ok(made.returncode == 2 and 'avx2' in made.stderr and not out.exists(),
           '--isa avx2 is refused there', made.stderr)
tap.done()
