# SPDX-License-Identifier: MIT
"""libqkv's names as a linker sees them; arguments: the shared and the static library."""
import pathlib
import sys
import tempfile

import tap
import check_symbols

shared, static = sys.argv[1:3]
for promise, bad in check_symbols.faults(shared, static):
    tap.ok(not bad, promise, bad)

# the checker sees a stray global and a stray variable
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / 'run_stray.c'
    source.write_text('int stray(void);\nstatic int seen;\nint counter = 3;\n'
                      'static const char *const names[] = {"a", "b"};\n'
                      'int stray(void) { return names[seen++ & 1][0] + counter; }\n')
    made = pathlib.Path(folder) / 'run_stray.c.o'
    tap.run(['cc', '-fPIC', '-c', source, '-o', made], check=True)
    tap.ok(check_symbols.foreign_globals(made) == ['counter', 'stray'], 'a foreign global is seen')
    seen = check_symbols.changing_variables(made)
    tap.ok(len(seen) == 2 and 'seen' in seen[0] and 'counter' in seen[1],
           'a variable that changes is seen, a constant table is not', seen)
tap.done()
