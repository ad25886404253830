# SPDX-License-Identifier: MIT
"""tools/setup asks dpkg first, installs only what lacks, and says what it cannot do itself.

dpkg-query, apt-get, id, sudo and tools/page_env are replaced by scripts that write down how they
were called.
"""
import os
import pathlib
import re
import shutil
import tempfile

import tap

SETUP = tap.ROOT / 'tools' / 'setup'


def fake(folder, name, body):
    path = pathlib.Path(folder) / name
    path.write_text('#!/bin/sh\n' + body)
    path.chmod(0o755)


def try_setup(groups, installed, uid, sudo):
    """Runs setup in a world of four fake programs; returns (process, calls)."""
    with tempfile.TemporaryDirectory() as folder:
        calls = pathlib.Path(folder) / 'calls'
        calls.write_text('')
        pattern = '|'.join(installed) or '-'
        fake(folder, 'dpkg-query', f'for x; do :; done\ncase $x in {pattern}) echo installed ;;\n'
             '*) echo not-installed; exit 1 ;; esac\n')
        fake(folder, 'apt-get', f'echo "apt-get $*" >>{calls}\n')
        fake(folder, 'id', f'echo {uid}\n')
        if sudo:
            fake(folder, 'sudo', f'echo sudo >>{calls}\nexec "$@"\n')
        for name in ('env', 'sh', 'cat', 'echo', 'dirname'):
            os.symlink(shutil.which(name), pathlib.Path(folder) / name)
        fake(folder, 'page_env', f'echo page_env >>{calls}\n')
        mine = shutil.copy(SETUP, folder)
        made = tap.run([mine, *groups], env={'PATH': folder})
        return made, calls.read_text().splitlines()


def packages(group):
    text = SETUP.read_text().replace('\\\n', ' ')
    return re.search(rf'^    {group}\)\s+echo (.*?)(;;|\n)', text, re.M).group(1).split()


build, test, page = packages('build'), packages('test'), packages('page')
tap.ok('gcc' in build and 'libcmocka-dev' in test and 'chromium' in page, 'the groups are read')
tap.ok(not [x for x in build + test + page if re.search(r'-\d|\d\.\d', x)],
       'no name holds a version')

made, calls = try_setup(['build', 'test'], build + test, 0, False)
tap.ok(made.returncode == 0 and not calls, 'all is there: apt-get is not called', calls)
made, calls = try_setup(['build'], build[1:], 0, False)
tap.ok(made.returncode == 0 and len(calls) == 2 and calls[0].startswith('apt-get update')
       and calls[1] == f'apt-get install -y -q --no-install-recommends {build[0]}',
       'one lacks, root: update, then that one only', calls + [made.stderr])
made, calls = try_setup(['build'], build[1:], 1000, True)
tap.ok(made.returncode == 0 and calls[:1] == ['sudo'] and len(calls) == 4,
       'one lacks, a user with sudo: through sudo', calls + [made.stderr])
made, calls = try_setup(['build'], [], 1000, False)
line = f'apt-get update && apt-get install -y -q --no-install-recommends {" ".join(build)}'
tap.ok(made.returncode == 1 and not calls and line in made.stderr,
       'no root, no sudo: prints the line to run, exit 1', made.stderr)
made, calls = try_setup(['page'], page, 0, False)
tap.ok(made.returncode == 0 and calls == ['page_env'], 'page: then the Python packages', calls)
made, calls = try_setup(['build', 'page'], build + page[1:], 0, False)
tap.ok(made.returncode == 0 and len(calls) == 3 and calls[2] == 'page_env',
       'page: those come after what Debian lacks', calls)
made, calls = try_setup(['nonsense'], build, 0, False)
tap.ok(made.returncode == 2 and "'nonsense'" in made.stderr and not calls,
       'an unknown group is refused by name', made.stderr)

if tap.run(['unshare', '-n', 'true']).returncode == 0:
    made = tap.run(['unshare', '-n', SETUP, 'build', 'test', 'page'])
    tap.ok(made.returncode == 0 and not made.stderr, 'here, again, without a network', made.stderr)
else:
    tap.skip('here, again, without a network', 'unshare -n is not allowed')
tap.done()
