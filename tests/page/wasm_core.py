# SPDX-License-Identifier: MIT
"""wasm_core.py - the page's wasm alone: taken out of the built file and asked in an empty document.

So a test can compare hundreds of states with the command without going through the page's own
script. What the page itself shows is looked at elsewhere.
"""
import base64
import json
import re
import zlib

import pagekit as kit

LOADER = '''async ([text, sentences]) => {
  const bytes = Uint8Array.from(atob(text), (x) => x.charCodeAt(0));
  const module = await WebAssembly.compile(bytes);
  const wanted = WebAssembly.Module.imports(module);
  const { exports } = await WebAssembly.instantiate(module, {});
  window.ask = (name, request) => {
    const data = new TextEncoder().encode(`${name}\\n${request}`);
    const room = exports.page_request_room(data.length);
    new Uint8Array(exports.memory.buffer, room, data.length).set(data);
    const at = exports.page_call(data.length);
    return new TextDecoder('utf-8', { fatal: true })
      .decode(new Uint8Array(exports.memory.buffer, at, exports.page_bytes()));
  };
  ask('words', sentences);
  window.pages = () => exports.memory.buffer.byteLength / 65536;
  return { imports: wanted.length, exports: Object.keys(exports) };
}'''


def block_bytes(text, name):
    """A block of the file: base64 of bytes deflated in zlib's form."""
    found = re.search(rf'<script[^>]*id="?{name}"?[^>]*>(.*?)</script>', text, re.S)
    kit.check(found, f'no block {name} found in the file')
    return zlib.decompress(base64.b64decode(re.sub(r'\s', '', found[1]), validate=True))


def wasm_bytes(text):
    """The module that stands in the file."""
    data = block_bytes(text, 'core')
    kit.check(data.startswith(b'\0asm'), 'the block core holds no wasm')
    return data


class Core:
    """Calls by name; an answer is text."""

    def __init__(self, session):
        self.page = session.context().new_page()
        text = session.file.read_text(encoding='utf-8')
        self.about = self.page.evaluate(LOADER, [base64.b64encode(wasm_bytes(text)).decode(),
                                                 block_bytes(text, 'sentences').decode('utf-8')])

    def ask(self, name, request=''):
        return self.page.evaluate('([name, request]) => ask(name, request)', [name, request])

    def ask_all(self, name, requests):
        """Many requests in one go: a list of answers."""
        return self.page.evaluate('([name, list]) => list.map((x) => ask(name, x))',
                                  [name, list(requests)])

    def json(self, name, request=''):
        return json.loads(self.ask(name, request))
