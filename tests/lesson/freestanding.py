#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""freestanding.py ROOT FOLDER... - lesson/ and files/parse/ need no C library.

Compiles every C file of the folders for wasm32, freestanding, and links them: the only symbols that
may stay undefined are those that the public header declares. A planted call of strlen must fail, or
the test would prove nothing. Prints TAP.
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ['--target=wasm32', '-ffreestanding', '-nostdlib', '-std=c17', '-msimd128',
         '-mbulk-memory', '-O2', '-ffp-contract=off', '-fno-math-errno', '-Wall', '-Wextra',
         '-Werror']


def program(name):
    """clang or clang-19, wasm-ld or wasm-ld-14 ..."""
    for suffix in [''] + [f'-{n}' for n in range(30, 10, -1)]:
        if shutil.which(name + suffix):
            return name + suffix
    return None


def compiled(clang, root, source, target):
    """What the compiler said, empty when all is well."""
    done = subprocess.run([clang, *FLAGS, '-I', str(root), '-I', str(root / 'include'), '-c',
                           str(source), '-o', str(target)], capture_output=True, text=True)
    return done.stderr if done.returncode else ''


def linked(linker, root, objects, folder):
    """What the linker said, empty when all is well."""
    header = ''.join(p.read_text() for p in sorted((root / 'include/qkv').glob('*.h')))
    allowed = sorted(set(re.findall(r'QKV_API[^;]*?\b(qkv_\w+)\(', header)))
    (folder / 'allowed').write_text('\n'.join(allowed) + '\n')
    done = subprocess.run([linker, '--no-entry', '--export-all',
                           f'--allow-undefined-file={folder}/allowed', *objects, '-o',
                           f'{folder}/all.wasm'], capture_output=True, text=True)
    return done.stderr if done.returncode else ''


def main():
    root = pathlib.Path(sys.argv[1])
    clang, linker = program('clang'), program('wasm-ld')
    if not clang or not linker:
        print(f'1..0 # SKIP no {"wasm-ld" if clang else "clang"}')
        return 0
    print('1..3')
    failed = 0

    def result(good, what, why=''):
        nonlocal failed
        failed += not good
        print(f'{"" if good else "not "}ok - {what}')
        for line in why.splitlines()[:20]:
            print(f'# {line}')

    sources = [p for folder in sys.argv[2:] for p in sorted((root / folder).glob('*.c'))]
    result(all(any(p.parent == root / f for p in sources) for f in sys.argv[2:]),
           'each folder has C files')
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        planted = folder / 'planted.c'
        planted.write_text('#include <stddef.h>\nsize_t strlen(const char *);\n'
                           'size_t planted(const char *);\n'
                           'size_t planted(const char *s) { return strlen(s); }\n')
        objects = [str(folder / f'{n}.o') for n in range(len(sources) + 1)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = list(pool.map(lambda both: compiled(clang, root, *both),
                                 zip([*sources, planted], objects)))
        why = ''.join(said) or linked(linker, root, objects[:-1], folder)
        result(not why, f'{len(sources)} files link for wasm32 without a C library', why)
        why = linked(linker, root, objects, folder)
        result('strlen' in why, 'a planted call of strlen is found', why)
    return 1 if failed else 0


sys.exit(main())
