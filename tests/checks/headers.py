# SPDX-License-Identifier: MIT
"""Each installed header compiles alone, twice, as C17, C++11 and C++17, with warnings as errors."""
import pathlib
import tempfile

import tap

LANGUAGES = [('gcc', 'c', 'c17'), ('gcc', 'c', 'c99'), ('clang', 'c', 'c17'), ('g++', 'c++', 'c++11'),
             ('g++', 'c++', 'c++17'), ('clang++', 'c++', 'c++11'), ('clang++', 'c++', 'c++17')]
WARNINGS = ['-Wall', '-Wextra', '-pedantic', '-Wshadow', '-Wundef', '-Wconversion', '-Werror']

headers = sorted((tap.ROOT / 'include' / 'qkv').glob('*.h'))
tap.ok(len(headers) >= 5, f'{len(headers)} headers')
with tempfile.TemporaryDirectory() as folder:
    for header in headers:
        for compiler, language, standard in LANGUAGES:
            source = pathlib.Path(folder) / ('a.c' if language == 'c' else 'a.cc')
            line = f'#include <qkv/{header.name}>\n'
            source.write_text(line + line + 'int main() { return 0; }\n' if language == 'c++' else
                              line + line + 'int main(void) { return 0; }\n')
            made = tap.run([compiler, f'-std={standard}', *WARNINGS, '-I', tap.ROOT / 'include',
                            '-fsyntax-only', source])
            tap.ok(made.returncode == 0, f'{header.name} alone, {compiler} {standard}', made.stderr)
tap.done()
