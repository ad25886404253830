# SPDX-License-Identifier: MIT
"""The include law of ARCHITECTURE.md holds in this tree, and its checker sees a broken one."""
import pathlib
import tempfile

import tap
import check_layers

# file, its one line, whether the law allows it
PLANTED = [
    ('src/base/a.c', '#include "api/abi.h"', False),
    ('src/base/b.c', '#include "base/error.h"', True),
    ('src/ref/a.c', '#include "kernel/kernels.h"', False),
    ('src/mask/a.c', '#include "kernel/kernels.h"', False),
    ('src/kernel/simd/a.h', '#include "mask/mask.h"', False),
    ('src/kernel/body/a.inc.c', '#include "cpu/cpu.h"', True),
    ('src/run/a.c', '#include "cpu/cpu.h"', False),
    ('src/run/b.c', '  #  include "plan/plan.h"', True),
    ('src/plan/a.c', '#include "run/split.h"', False),
    ('src/stray/a.c', '#include <stdint.h>', False),
    ('lesson/a.c', '#include "base/error.h"', False),
    ('lesson/b.c', '#include <stdio.h>', False),
    ('lesson/c.c', '#include "files/parse/npy.h"', False),
    ('lesson/d.c', '#include <qkv/qkv.h>', True),
    ('files/parse/a.c', '#include <string.h>', False),
    ('files/parse/b.c', '#include <qkv/types.h>', False),
    ('files/a.c', '#include "lesson/stages.h"', False),
    ('files/b.c', '#include "files/parse/npy.h"', True),
    ('cli/a.c', '#include "run/pool.h"', False),
    ('cli/b.c', '#include "lesson/stages.h"', True),
    ('cli/c.c', '#include "../src/run/pool.h"', False),
    ('include/qkv/a.h', '#include <stdio.h>', False),
    ('include/qkv/b.h', '#include <qkv/types.h>', True),
    ('tests/api/a.c', '#include "plan/plan.h"', False),
    ('tests/unit/a.c', '#include "plan/plan.h"', True),
    ('tests/spec/a.c', '#include <qkv/qkv.h>', False),
]

bad, count = check_layers.check_tree(tap.ROOT)
tap.ok(not bad, f'{count} files include only what the table allows', bad)
tap.ok(count > 0 and set(check_layers.SRC) >= {'base', 'api'}, 'the table and the tree are not empty')
with tempfile.TemporaryDirectory() as folder:
    root = pathlib.Path(folder)
    for name, line, _ in PLANTED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(line + '\n')
    for name, line, good in PLANTED:
        found = list(check_layers.check_file(root, pathlib.PurePosixPath(name)))
        tap.ok(bool(found) != good, f'{name}: {line.strip()} is {"allowed" if good else "refused"}',
               found)
tap.done()
