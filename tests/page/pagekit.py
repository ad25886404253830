# SPDX-License-Identifier: MIT
"""pagekit.py - what the page's tests share: one browser, the page from a file, and TAP.

A case is a function of a Session, marked by @case; it uses check() for what must hold. After each
case the kit itself looks whether the page asked for anything over a network, wrote to the console
or threw: any of these fails the case. The page's content security policy is never switched off.
Arguments of every test: the page, the command qkv, a folder for pictures, then names of cases.
"""
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
try:
    from playwright.sync_api import sync_playwright
except ImportError:  # tools/setup page put it into a folder of its own
    if os.environ.get('QKV_PAGE_ENV'):
        raise
    made = subprocess.run([ROOT / 'tools' / 'page_env'], stdout=subprocess.PIPE, check=False)
    if made.returncode:
        print('1..1\nnot ok 1 - the Python packages of tests/page/requirements.txt are installed')
        sys.exit(1)
    PYTHON = made.stdout.decode().strip()
    os.execve(PYTHON, [PYTHON, *sys.argv], dict(os.environ, QKV_PAGE_ENV='1'))

FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic',
         '--no-first-run', '--disable-background-networking', '--disable-component-update',
         '--disable-sync', '--force-color-profile=srgb']
CASES = []


class Broken(Exception):
    """What must hold does not."""


def check(good, *why):
    if not good:
        raise Broken(' '.join(str(x) for x in why))


def same(got, want, what=''):
    if got == want:
        return
    text = f'got {got!r}, expected {want!r}'
    if isinstance(got, str) and isinstance(want, str) and len(text) > 300:
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b),
                  min(len(got), len(want)))
        text = f'at {at} got …{got[at - 40:at + 60]!r}, expected …{want[at - 40:at + 60]!r}'
    check(False, f'{what}:' if what else '', text)


def case(name):
    def put(function):
        CASES.append((name, function))
        return function
    return put


class Session:
    """One browser; each case gets pages in contexts of its own."""

    def __init__(self, browser, page, command, pictures):
        self.browser, self.file, self.command, self.pictures = browser, page, command, pictures
        self.url = page.as_uri()
        self.contexts, self.trouble = [], []
        self.quiet = True

    def context(self, width=1280, height=800, **options):
        options.setdefault('reduced_motion', 'reduce')
        options.setdefault('color_scheme', 'light')
        made = self.browser.new_context(viewport={'width': width, 'height': height},
                                        accept_downloads=True, **options)
        made.set_default_timeout(8000)
        self.contexts.append(made)
        return made

    def open(self, fragment='', width=1280, height=800, context=None, ready=True, **options):
        """The page, loaded once from its file, with every other request aborted and noted."""
        page = (context or self.context(width, height, **options)).new_page()
        self.watch(page)
        page.goto(self.url + (f'#{fragment}' if fragment else ''))
        if ready:
            self.ready(page)
        return page

    def watch(self, page):
        def route(route):
            if route.request.url.split('#')[0] == self.url:
                route.continue_()
            elif route.request.url.startswith('data:'):
                route.continue_()
            else:
                self.trouble.append(f'asked for {route.request.url}')
                route.abort()
        page.route('**/*', route)
        page.on('console', lambda x: self.trouble.append(f'console {x.type}: {x.text}')
                if x.type in ('error', 'warning', 'assert') else None)
        page.on('pageerror', lambda x: self.trouble.append(f'threw: {x}'))

    @staticmethod
    def ready(page):
        # not wait_for_function: that would want 'unsafe-eval'
        page.wait_for_selector('html[data-ready][data-whole]', state='attached')

    def close(self):
        for context in self.contexts:
            context.close()
        self.contexts = []
        trouble, self.trouble = self.trouble, []
        return trouble

    def qkv(self, *args, text=True, code=0):
        """Standard output of the command; the exit status must be as said."""
        env = {'PATH': '/usr/bin:/bin', 'TERM': 'dumb', 'LC_ALL': 'C.UTF-8'}
        made = subprocess.run([self.command, *args], env=env, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, check=False)
        if made.returncode != code:
            raise Broken(f'qkv {" ".join(map(str, args))[:300]}: exit {made.returncode}: '
                         f'{made.stderr.decode()[:300]}')
        return made.stdout.decode('utf-8') if text else made.stdout


@functools.lru_cache(None)
def axe_source():
    import axe_playwright_python
    folder = pathlib.Path(axe_playwright_python.__file__).parent
    return (folder / 'axe.min.js').read_text(encoding='utf-8')


def _one(session, name, function):
    why = []
    try:
        function(session)
    except Broken as broken:
        line = traceback.extract_tb(broken.__traceback__)
        here = [x for x in line if 'pagekit.py' not in x.filename]
        why.append(f'{broken} (line {here[-1].lineno})' if here else str(broken))
    except Exception as fault:  # the test's own, or a time limit of the browser's
        mine = [x for x in traceback.extract_tb(fault.__traceback__) if 'tests/page' in x.filename]
        why += [f'{pathlib.Path(x.filename).name}:{x.lineno}: {x.line}' for x in mine[-3:]]
        why += f'{type(fault).__name__}: {fault}'.splitlines()[:6]
    try:
        why += session.close()
    except Exception as broken:
        why.append(f'closing: {broken}')
    return why


def main():
    page, command, pictures = (pathlib.Path(x).resolve() for x in sys.argv[1:4])
    wanted = [(n, f) for n, f in CASES
              if not sys.argv[4:] or any(x in n or x == f.__name__ for x in sys.argv[4:])]
    pictures.mkdir(parents=True, exist_ok=True)
    if not page.exists():
        print('1..1\nnot ok 1 - the page was built')
        sys.exit(1)
    print(f'1..{len(wanted)}', flush=True)
    failed = 0
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which('chromium'), args=FLAGS,
                                       chromium_sandbox=False)
        session = Session(browser, page, command, pictures)
        for count, (name, function) in enumerate(wanted, 1):
            why = _one(session, name, function)
            failed += bool(why)
            name = re.sub(r'#(?=\s*(skip|todo))', '', name, flags=re.I)
            print(f'{"not ok" if why else "ok"} {count} - {name}')
            for line in [y for x in why for y in str(x).splitlines()][:40]:
                print(f'#   {line[:600]}')
            sys.stdout.flush()
        browser.close()
    sys.exit(1 if failed or not wanted else 0)
