#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page_command.py QKV DATA - `qkv page` and `qkv explain --format html`: the page that lies beside the
command is copied as it is, or with a data block that holds the reader's numbers. The page here is a
stand-in; what a browser makes of the block is looked at in tests/page. Prints TAP.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

DATA = pathlib.Path(sys.argv[2]).resolve()
PAGE = ('<!DOCTYPE html>\n<title>stand-in</title>\n<script type="application/json" id="data">{}</script>\n'
        '<p>the end</p>\n')
RESULTS = []


def case(name, good, why=''):
    RESULTS.append(bool(good))
    print(f'{"ok" if good else "not ok"} {len(RESULTS)} - {name}')
    for line in [] if good else str(why).splitlines()[:20]:
        print(f'# {line[:300]}')


def run(*words):
    done = subprocess.run([str(x) for x in words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout, done.stderr


def block(path):
    found = re.fullmatch(re.escape(PAGE).replace(re.escape('{}'), '(.*)'),
                         path.read_text(encoding='utf-8'), re.S)
    return json.loads(found[1]) if found else None


def main():
    print('1..9')
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / 'bin').mkdir()
        qkv, out = root / 'bin' / 'qkv', root / 'out.html'
        shutil.copy2(sys.argv[1], qkv)
        status = run(qkv, 'page', '-o', out)
        case('without a page: exit 1, how to make one, and no file',
             status[0] == 1 and 'make page' in status[2] and not out.exists(), status)
        (root / 'share/qkv').mkdir(parents=True)
        (root / 'share/qkv/qkv.html').write_text(PAGE, encoding='utf-8')
        status = run(qkv, 'page', '-o', out)
        case('page copies it', status == (0, '', '') and out.read_text() == PAGE, status)
        status = run(qkv, 'page', '-o', out, '--no-clobber')
        case('--no-clobber keeps what is there', status[0] == 2 and out.read_text() == PAGE, status)
        status = run(qkv, 'explain', '--token', 'cat', '--stage', '3', '--format', 'html', '-o', out)
        got = block(out)
        case('explain --format html: the lesson as a state',
             status == (0, '', '') and got and 'st=3' in got['state'] and 't=cat' in got['state'], got)
        text = 'st=2&tok=%3C/script%3E,b&n=2'
        status = run(qkv, 'explain', '--state', text, '--format', 'html', '-o', out)
        got = block(out)
        inner = out.read_text(encoding='utf-8').split('id="data">')[1].split('</script>')[0]
        case('--state goes in as it was read; no name ends the block',
             status[0] == 0 and got and '%3C%2Fscript' in got['state'] and '<' not in inner, got)
        layer = DATA / 'minilm_layer3'
        files = ['--q', f'{layer}_q.npy', '--k', f'{layer}_k.npy', '--v', f'{layer}_v.npy',
                 '--tokens', DATA / 'minilm_tokens.json', '--head', '1', '--token', 'it']
        status = run(qkv, 'explain', *files, '--format', 'html', '-o', out)
        got = block(out)
        native = run(qkv, 'explain', '--state', got['state'] if got else '', '--token', 'x')
        plain = run(qkv, 'explain', '--state', got['state'] if got else '', '--format', 'plain')
        same = run(qkv, 'explain', *files, '--format', 'plain')
        case('tensors of files: the page explains what the command explains',
             status[0] == 0 and plain[1] == same[1] and len(plain[1]) > 100 and native[0] == 2,
             plain[1][:300] + same[1][:300])
        case('html without -o is refused', run(qkv, 'explain', '--format', 'html')[0] == 2)
        case('-o without html is refused', run(qkv, 'explain', '-o', out)[0] == 2)
        (root / 'share/qkv/qkv.html').write_text('<p>other</p>', encoding='utf-8')
        status = run(qkv, 'explain', '--format', 'html', '-o', root / 'new.html')
        case('a page without a data block: exit 1 and no file',
             status[0] == 1 and not (root / 'new.html').exists(), status)
    return 0 if all(RESULTS) else 1


sys.exit(main())
