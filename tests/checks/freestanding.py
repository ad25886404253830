# SPDX-License-Identifier: MIT
"""lesson/ and files/parse/ compile and link for wasm32 without a C library.

What they leave undefined may only be libqkv's public functions: the page brings those itself.
"""
import pathlib
import re
import tempfile

import tap

FLAGS = ['--target=wasm32', '-std=c17', '-O2', '-ffreestanding', '-nostdlibinc', '-ffp-contract=off',
         '-mbulk-memory', '-Wall', '-Wextra', '-Werror', '-I', tap.ROOT, '-I', tap.ROOT / 'include']


def compile_all(folder, sources):
    made = []
    for source in sources:
        target = pathlib.Path(folder) / (str(source).replace('/', '_') + '.o')
        done = tap.run(['clang', *FLAGS, '-c', tap.ROOT / source, '-o', target])
        tap.ok(done.returncode == 0, f'{source} compiles for wasm32', done.stderr)
        if done.returncode == 0:
            made.append(target)
    return made


def undefined(folder, objects):
    """Names still missing when all objects are linked to one module that exports everything."""
    done = tap.run(['wasm-ld', '--no-entry', '--export-all', '--error-limit=0', *objects, '-o',
                    pathlib.Path(folder) / 'all.wasm'])
    names = sorted(set(re.findall(r'undefined symbol: (\S+)', done.stderr)))
    tap.ok(names or done.returncode == 0, f'{len(objects)} objects link', done.stderr)
    return names


with tempfile.TemporaryDirectory() as folder:
    sources = [p for p in tap.tree_files() if p.suffix == '.c'
               and re.match(r'(lesson|files/parse)/[^/]+$', str(p))]
    tap.ok(len(sources) >= 2, f'{len(sources)} files')
    objects = compile_all(folder, sources)
    names = undefined(folder, objects)
    tap.note('from libqkv: ' + ' '.join(x for x in names if x.startswith('qkv_')))
    foreign = [x for x in names if not x.startswith('qkv_')]
    tap.ok(not foreign, 'no symbol of a C library is missing', foreign)

    planted = pathlib.Path(folder) / 'a.c'
    planted.write_text('int puts(const char *); int f(void); int f(void) { return puts("x"); }\n')
    target = pathlib.Path(folder) / 'planted.o'
    tap.run(['clang', *FLAGS, '-c', planted, '-o', target], check=True)
    tap.ok('puts' in undefined(folder, [target]), 'a missing symbol is seen')
tap.done()
