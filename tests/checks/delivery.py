# SPDX-License-Identifier: MIT
"""What leaves the tree: built twice in two places, installed once, used as others would use it.

One clean copy of the tree is built and installed by `make install`; the checks of delivery_*.py
look at the result. Nothing outside a temporary folder is touched.
"""
import pathlib
import tempfile
import types

import tap
import delivery_consumers
import delivery_install
import delivery_readme
import delivery_twice

with tempfile.TemporaryDirectory() as folder:
    base = pathlib.Path(folder)
    at = types.SimpleNamespace(tree=tap.copy_tree(base / 'a' / 'qkv'), prefix=base / 'installed',
                               other=tap.copy_tree(base / 'another' / 'longer place' / 'qkv'),
                               scratch=base / 'scratch')
    at.scratch.mkdir()
    made = tap.run(['make', 'install', f'PREFIX={at.prefix}'], cwd=at.tree, env=tap.environment())
    if tap.ok(made.returncode == 0, 'make install PREFIX=', made.stdout + made.stderr):
        for part in (delivery_install, delivery_twice, delivery_consumers, delivery_readme):
            part.check(at)
tap.done()
