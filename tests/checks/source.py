# SPDX-License-Identifier: MIT
"""The rules of tools/check_source.py hold in this tree, and each of them can be broken."""
import pathlib

import tap
import check_source

MIT = '/* SPDX-License-Identifier: MIT */\n'
LONG = 'int f(void)\n{\n' + '    g();\n' * 61 + '}\n'
# rule, file, text that breaks it
PLANTED = [
    ('intrinsics', 'src/run/a.c', 'x = _mm256_setzero_ps();'),
    ('intrinsics', 'src/run/a.c', '__m512 x;'),
    ('intrinsics', 'cli/a.c', 'fesetround(FE_UPWARD);'),
    ('mask_kinds', 'src/kernel/body/a.inc.c', '/* the causal diagonal */'),
    ('environment', 'src/run/a.c', 'getenv("X");'),
    ('environment', 'src/run/a.c', 'printf("x");'),
    ('number_text', 'lesson/a.c', 'strtod(s, 0);'),
    ('number_text', 'cli/a.c', 'fprintf(f, "%5.2f", x);'),
    ('locale', 'cli/a.c', 'setlocale(LC_ALL, "");'),
    ('transcendental', 'lesson/a.c', 'w = exp(s);'),
    ('transcendental', 'cli/a.c', 'w = log2f(s);'),
    ('stack', 'files/a.c', 'alloca(n);'),
    ('function_length', 'cli/a.c', LONG),
    ('head', 'cli/a.c', 'int x;'),
    ('head', 'tools/build', '#!/bin/sh\ntrue\n'),
    ('file_length', 'docs/a.md', 'x\n' * 801),
    ('machine_paths', 'docs/a.md', 'see /' + 'work/main'),
    ('one_malloc', 'src/run/a.c', 'malloc(3);'),
    ('unique_names', 'cli/arena.c', 'int x;'),
    ('names_plain', 'cli/BadName.c', 'int x;'),
]
# text that looks like a fault and is none
FINE = [
    ('transcendental', 'lesson/a.c', '/* exp(x) */ y = qkv_ref_exp(x); s = "exp(s)"; t.exp(3);'),
    ('number_text', 'cli/a.c', 'fprintf(f, "%d %s %5d%%", n, s, m);'),
    ('locale', 'cli/a.c', 'setlocale(LC_CTYPE, "");'),
    ('intrinsics', 'src/kernel/simd/a.h', '__m256 x;'),
    ('environment', 'src/base/a.c', 'qkvi_text_printf_like(t);'),
    ('function_length', 'cli/a.c', LONG.replace('    g();\n', '', 1)),
    ('unique_names', 'files/parse/npy.c', 'int x;'),
]

files = [(p, tap.read(p)) for p in tap.tree_files() if b'\0' not in (tap.ROOT / p).read_bytes()]
for rule, bad in check_source.faults(files):
    function = getattr(check_source, rule)
    tap.ok(not bad, f'{rule}: {(function.__doc__ or "at most 800 lines").strip()}', bad)

base = [(pathlib.PurePosixPath('src/base/arena.c'), MIT + 'p = malloc(n);\n'),
        (pathlib.PurePosixPath('files/npy.c'), MIT)]
for planted, want in ((PLANTED, True), (FINE, False)):
    for rule, name, text in planted:
        marked = text if rule == 'head' else MIT + text
        found = dict(check_source.faults(base + [(pathlib.PurePosixPath(name), marked + '\n')]))
        tap.ok(bool(found[rule]) == want,
               f'{rule}: {name}: {text[:50]!r} is {"refused" if want else "fine"}', found[rule])
tap.done()
