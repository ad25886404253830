#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""build_page.py ARTICLE OUT - makes the page: one HTML file that needs nothing else.

ARTICLE is the program page_article (page/article.c), which prints every word and the default numbers
of the lesson. The C is compiled to wasm by clang and wasm-ld, freestanding, without imports; scripts
and styles are joined in the order of their names below; the security policy holds their hashes. All
words and numbers come from the C; this file knows tags only. Standard library only.
"""
import base64
import concurrent.futures
import hashlib
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tools'))
import page_html  # noqa: E402  (needs the folder of this file)

FLAGS = ['--target=wasm32', '-ffreestanding', '-nostdlib', '-std=c17', '-msimd128', '-mbulk-memory',
         '-mnontrapping-fptoint',
         '-msign-ext', '-ffp-contract=off', '-fno-math-errno', '-fmerge-all-constants',
         '-fvisibility=hidden', '-ffunction-sections', '-fdata-sections', '-DQKV_BUILDING',
         '-DLESSON_WITHOUT_KERNELS', '-DQKVI_WITHOUT_SENTENCES']
# What clang does for speed even where it is told to be small: copies of short functions, a second
# variable beside the one that counts a loop, one expression more so that another is rarer.
SMALL = [x for name in (
    'inline-threshold=-100', 'disable-lsr', 'disable-lftr', 'enable-pre=false', 'replexitval=never',
    'sink-common-insts', 'enable-merge-functions') for x in ('-mllvm', '-' + name)]
# A call of one of the first 128 functions takes a byte less: first the files that are called most.
CALLED_MOST = ['compose', 'view_json', 'words_text', 'memory', 'number_write', 'stages', 'wasm',
               'quiz', 'number_read', 'state_words', 'worked']
# The page computes with the float64 reference alone (docs/decisions/): of the library it has that,
# and no plan, no run, no kernel.
LIBRARY = ['src/api/abi.c', 'src/api/api_info.c', 'src/api/api_reference.c',
           'src/ref/*.c', 'src/kernel/kernels.c', 'src/cpu/cpu.c']
LEFT_OUT = {'page/article.c', 'lesson/engine.c', 'lesson/words.c'}
NO_KERNELS = '''#include "kernel/kernels.h"
#include <qkv/types.h>
static uint64_t env_enter(void) { return 0; }
static void env_leave(uint64_t before) { (void)before; }
const qkvi_kernels qkvi_kernels_scalar = {
    .name = "none", .id = QKV_ISA_SCALAR, .env_enter = env_enter, .env_leave = env_leave};
'''
EXPORTS = ['page_request_room', 'page_call', 'page_bytes']
# what loads the rest and can say that it failed; the figures, deflated in the file; the lab's first
# parts, deflated too and loaded last
SCRIPTS = ['core', 'dom', 'state', 'notice', 'start']
FIGURES = ['history', 'plane', 'field', 'tokens', 'output', 'calculator', 'edit', 'predict',
           'lookup', 'project', 'formula', 'blend', 'root', 'code', 'check', 'quiz', 'recall', 'proof']
LAB_FIRST = ['export', 'lab', 'lab_base']
STYLES = ['style']
MODEL = [f'data/minilm/minilm_layer{layer}_{part}.npy' for layer in (0, 3) for part in 'qkv']


def program(name):
    """clang or clang-19, wasm-ld or wasm-ld-14 ..."""
    for suffix in [''] + [f'-{n}' for n in range(30, 10, -1)]:
        if shutil.which(name + suffix):
            return name + suffix
    sys.exit(f'build_page.py: {name} is not installed; tools/setup wasm installs it')


def sources():
    found = [*(p for name in LIBRARY for p in ROOT.glob(name)),
             *(ROOT / 'lesson').glob('*.c'), *(ROOT / 'files/parse').glob('*.c'),
             *(ROOT / 'page').glob('*.c')]
    often = {name: place - len(CALLED_MOST) for place, name in enumerate(CALLED_MOST)}
    return sorted({p for p in found if str(p.relative_to(ROOT)) not in LEFT_OUT},
                  key=lambda p: (often.get(p.stem, 0), p))


def run(*command):
    done = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f'build_page.py: {" ".join(map(str, command[:1]))} failed\n{done.stderr[:4000]}')
    return done.stdout


def words_text(words):
    """The words that the C itself may write, as page/words_text.c reads them: all but those of the
    course that no C file names, alone or with others of its name and another number, but as a block of
    the article. Those are empty."""
    code = ''.join(p.read_text(encoding='utf-8').rpartition('/* ---- predictions')[2]
                   if p.name == 'course.c' else p.read_text(encoding='utf-8') for p in sources())
    named = {re.sub(r'\d+\w?$', '', x) for x in re.findall(r'\b(?:LESSON_W_)?([A-Z][A-Z0-9_]+)', code)}
    course = re.findall(r'LESSON_WORD\((\w+)', (ROOT / 'lesson/words_course.inc').read_text('utf-8'))
    article = {x for x in course if re.sub(r'\d+\w?$', '', x) not in named}
    return ''.join(('' if x in article else words[x]) + '\0' for x in words).encode()


def wasm():
    """The module's bytes."""
    clang, linker = program('clang'), program('wasm-ld')
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'isa_list.h').write_text('QKV_ISA(scalar)\n', encoding='utf-8')
        (folder / 'no_kernels.c').write_text(NO_KERNELS, encoding='utf-8')
        include = ['-I', ROOT, '-I', ROOT / 'include', '-I', ROOT / 'src', '-I', folder,
                   '-isystem', ROOT / 'page/system']

        def compiled(source):
            target = folder / (source.stem + '.o')
            run(clang, *FLAGS, '-Oz', '-flto', *SMALL, *include, '-c', source, '-o', target)
            return target
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(compiled, [*sources(), folder / 'no_kernels.c']))
        out = folder / 'page.wasm'
        run(linker, '--no-entry', '--gc-sections', '--strip-all', '--compress-relocations', '-O2',
            '--lto-O2', *SMALL, '--global-base=64', '-z', 'stack-size=262144',
            *[f'--export={x}' for x in EXPORTS], *objects, '-o', out)
        return out.read_bytes()


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(scripts, style):
    allowed = ' '.join(digest(x) for x in scripts)
    return (f"default-src 'none'; script-src {allowed} 'wasm-unsafe-eval'; "
            f"style-src {digest(style)}; img-src data:; base-uri 'none'; form-action 'none'; "
            "require-trusted-types-for 'script'")


def squeezed(text):
    """A script or style without its indentation and the comments that stand alone."""
    text = re.sub(r'^\s*/\*.*?\*/\n', '', text, flags=re.S | re.M)
    lines = [x.strip() for x in text.splitlines()]
    return '\n'.join(x for x in lines if x and not x.startswith('//')) + '\n'


def joined(names, suffix):
    """The named files, in order."""
    return ''.join(squeezed((ROOT / 'page' / (n + suffix)).read_text(encoding='utf-8'))
                   for n in names)


def lab_files(suffix):
    """What the lab adds: its frame and its parts first, then every other lab_*."""
    folder = ROOT / 'page'
    first = [n for n in LAB_FIRST if (folder / (n + suffix)).exists()]
    return first + sorted(p.stem for p in folder.glob(f'lab*{suffix}') if p.stem not in first)


def model():
    """The real model's tensors, exact: a line of names, then q, k and v of each layer."""
    data = b''.join((ROOT / name).read_bytes() for name in MODEL)
    return base64.b64encode(data).decode()


def packed(data):
    """Bytes as text: deflated (zlib's form, which browsers read), then base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def data_block(value):
    """JSON that may stand inside of a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(',', ':')).replace('<', '\\u003c')


def words_of(script, words):
    """The words that scripts say: word('NAME'), a list of 'NAME's, or word('NAME_' + number)."""
    named = set(re.findall(r"'([A-Z][A-Z0-9_]*)'", script)) & set(words)
    asked = set(re.findall(r"\bword\('([A-Z0-9_]+)'", script))
    for start in [x for x in asked if x.endswith('_')]:
        named |= {x for x in words if re.fullmatch(start + r'\d+', x)}
    missing = sorted(x for x in asked - named if not x.endswith('_'))
    if missing:
        sys.exit(f'build_page.py: a script says {missing[0]}, which words.inc does not have')
    return sorted(named)


def assemble(article, core, sentences):
    script, figures, lab = (joined(x, '.js') for x in (SCRIPTS, FIGURES, lab_files('.js')))
    style = re.sub(r'\s*([{};,])\s*|(?<=:) +(?=\S)', lambda x: x[1] or '',
                   joined([*STYLES, *lab_files('.css')], '.css'))
    spoken = words_of(script + figures + lab, article['words'])
    holes = {'style': style, 'script': script, 'policy': html.escape(policy([script, figures, lab], style), False),
             'wasm': packed(core), 'sentences': packed(sentences), 'figures': packed(figures.encode()),
             'lab': packed(lab.encode()), 'model': model(),
             'words': data_block({x: article['words'][x] for x in spoken})}
    return page_html.page((ROOT / 'page/index.html').read_text(encoding='utf-8'),
                          (ROOT / 'page/figures.html').read_text(encoding='utf-8'), article, holes)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[2])
    article = json.loads(run(sys.argv[1]))
    core, sentences = wasm(), words_text(article['words'])
    page = assemble(article, core, sentences)
    out.parent.mkdir(parents=True, exist_ok=True)
    new = out.with_name(out.name + '.new')
    new.write_text(page, encoding='utf-8')
    os.replace(new, out)
    print(f'{out}: {len(page.encode())} bytes, of which wasm {len(packed(core))} (raw {len(core)}), '
          f'sentences {len(packed(sentences))} (raw {len(sentences)}), model {len(model())}')


if __name__ == '__main__':
    main()
