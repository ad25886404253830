#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_source.py [ROOT] - rules of the source text that no compiler knows; exit 1 on a fault.

Each rule is a function over (path, text) that yields the lines which break it, or one over the
whole tree. ARCHITECTURE.md says why; comments do not count as code. Paths are relative to ROOT.
"""
import pathlib
import re
import sys

CODE = ('.c', '.h', '.inc', '.inc.c')
MAX_LINES = 800
MAX_FUNCTION = 60
MATH = r'(?:exp|exp2|expm1|log|log2|log10|log1p|pow|tanh|sinh|cosh|sin|cos|erf|tgamma)[fl]?'


def code_of(text):
    """The text with comments and the insides of strings blanked, line numbers kept."""
    def blank(found):
        s = found.group(0)
        if s.startswith('/'):
            return re.sub(r'[^\n]', ' ', s)
        return s[0] + re.sub(r'[^\n]', ' ', s[1:-1]) + s[-1]
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text,
                  flags=re.S)


def lines_with(pattern, text):
    for n, line in enumerate(text.splitlines(), 1):
        if re.search(pattern, line):
            yield f'{n}: {line.strip()[:90]}'


def under(path, *folders):
    return any(str(path).startswith(x + '/') for x in folders)


def intrinsics(path, text):
    """Intrinsics and the floating-point environment live in src/kernel/simd (tests are free)."""
    if not under(path, 'src/kernel/simd', 'tests'):
        yield from lines_with(r'\b_mm\d*_|\b__m(128|256|512)|immintrin\.h|\b__builtin_ia32_|fenv\.h'
                              r'|\b_MM_|\bfe(get|set|hold|update)', code_of(text))
    if not under(path, 'src/kernel', 'tests'):
        yield from lines_with(r'\bvector_size\b', code_of(text))


def mask_kinds(path, text):
    """Masks reach the kernels as key ranges and tile kinds: no file there says 'causal'."""
    if under(path, 'src/kernel'):
        yield from lines_with(r'(?i)causal', text)


def environment(path, text):
    """The library reads no environment, opens no file and prints nothing; only the pool asks /sys
    how many CPUs the quota allows."""
    if under(path, 'src'):
        yield from lines_with(r'\b(secure_)?getenv\b|\bfopen\s*\(|\b(f|d|v)?printf\s*\(|\bputs\s*\(',
                              code_of(text))
    if under(path, 'src') and str(path) != 'src/run/workers.c':
        yield from lines_with(r'\bopen(at)?\s*\(', code_of(text))


def number_text(path, text):
    """Numbers are read and written by our own code: no locale may change them."""
    if under(path, 'src', 'lesson', 'files', 'cli'):
        yield from lines_with(r'\b(strtod|strtof|strtold|atof|localeconv)\b', code_of(text))
        yield from lines_with(r'printf[^\n]*"[^"\n]*%[-+ #0]*[\d*]*(\.[\d*]+)?L?[aefgAEFG]\b', text)


def locale(path, text):
    """Only LC_CTYPE is ever set."""
    if under(path, 'src', 'lesson', 'files', 'cli'):
        for line in lines_with(r'\b(setlocale|newlocale|uselocale)\b', code_of(text)):
            if not re.search(r'setlocale\s*\(\s*LC_CTYPE\s*,', line):
                yield line


def transcendental(path, text):
    """Nothing outside src/ computes exp, log or tanh: qkv_ref_exp is exported for that."""
    if under(path, 'lesson', 'files', 'cli'):
        yield from lines_with(r'(?<![\w.>])' + MATH + r'\s*\(', code_of(text))


def stack(path, text):
    """No alloca; variable-length arrays are the compiler's -Wvla."""
    yield from lines_with(r'\balloca\s*\(', code_of(text))


def function_length(path, text):
    """Functions stay under 60 lines, the written-once bodies of kernels excepted."""
    if under(path, 'src/kernel/body', 'src/kernel/simd', 'tests'):
        return
    begin, name = None, ''
    for n, line in enumerate(text.splitlines(), 1):
        if line.startswith('{'):
            begin = n
        elif line.startswith('}') and begin is not None:
            if n - begin - 1 > MAX_FUNCTION and re.search(r'\)\s*$', name):
                yield f'{begin}: {n - begin - 1} lines: {name.strip()[:80]}'
            begin = None
        if begin is None:
            name = line


def head(path, text):
    """The first lines name the licence; a head comment says what the file is."""
    first = text.splitlines()[:2]
    if not any('SPDX-License-Identifier: MIT' in x for x in first):
        yield '1: no SPDX-License-Identifier: MIT in the first two lines'


def file_length(path, text):
    n = text.count('\n')
    if n > MAX_LINES:
        yield f'{n} lines, at most {MAX_LINES}'


def machine_paths(path, text):
    """The tree knows no machine but the reader's own."""
    yield from lines_with(r'(?<![\w.])/(work|root|home|farm)/', text)


C_RULES = [intrinsics, mask_kinds, environment, number_text, locale, transcendental, stack,
           function_length]


def one_malloc(files):
    """Memory comes from the caller, or from one call in base/arena.c."""
    seen = []
    for path, text in files:
        if under(path, 'src'):
            pattern = r'\b(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup)\s*\('
            seen += [f'{path}:{x}' for x in lines_with(pattern, code_of(text))]
    good = len(seen) == 1 and seen[0].startswith('src/base/arena.c')
    return [] if good or not seen else seen


def unique_names(files):
    """A base name says which file is meant; a format in files/ and its parser share theirs."""
    first, bad = {}, []
    for path, _ in files:
        if path.name == 'README.md' or not path.name.endswith(CODE + ('.py',)):
            continue
        other = first.setdefault(path.name, path)
        pair = {str(path.parent), str(other.parent)}
        if other != path and pair != {'files', 'files/parse'}:
            bad.append(f'{other} and {path}')
    return bad


def names_plain(files):
    """snake_case, at most 40 characters."""
    return [str(p) for p, _ in files if p.name.endswith(CODE + ('.py',))
            and not re.fullmatch(r'[a-z][a-z0-9_]{0,39}(\.inc)?\.(c|h|py|inc)', p.name)]


TREE_RULES = [one_malloc, unique_names, names_plain]


def faults(files):
    """files: pairs (path, text). Yields (rule, what it promises, list of faults)."""
    files = list(files)
    for rule in C_RULES:
        bad = [f'{p}:{x}' for p, t in files if p.name.endswith(CODE) for x in rule(p, t)]
        yield rule.__name__, bad
    sources = [(p, t) for p, t in files if p.name.endswith(CODE + ('.py', '.sh', 'meson.build', '.in'))
               or (p.parts[0] == 'tools' and '.' not in p.name)]
    yield 'head', [f'{p}:{x}' for p, t in sources for x in head(p, t)]
    yield 'file_length', [f'{p}: {x}' for p, t in files if not under(p, 'data', 'tests/golden')
                          for x in file_length(p, t)]
    yield 'machine_paths', [f'{p}:{x}' for p, t in files if p.name != 'check_source.py'
                            for x in machine_paths(p, t)]
    for rule in TREE_RULES:
        yield rule.__name__, rule(files)


def tree(root):
    """The text files of a tree; build folders and data are not looked at."""
    root = pathlib.Path(root)
    for path in sorted(root.rglob('*')):
        rel = pathlib.PurePosixPath(path.relative_to(root).as_posix())
        if rel.parts[0] in ('.git', '.env', 'dist') or rel.parts[0].startswith('build'):
            continue
        if not path.is_file() or '__pycache__' in rel.parts:
            continue
        data = path.read_bytes()
        if b'\0' not in data[:4096]:
            yield rel, data.decode('utf-8', 'replace')


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    status = 0
    for name, bad in faults(tree(root)):
        print(f'{"no: " if bad else "yes:"} {name}')
        for line in bad:
            print('  ' + line)
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main())
