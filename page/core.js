// SPDX-License-Identifier: MIT
// core.js - the C: the wasm module out of its data block, and calls by name. A call is text in, text
// out; numbers that are shown come as strings and are never made or read here.
'use strict';
window.qkv = (function () {
  const encode = new TextEncoder(), decode = new TextDecoder();
  const words = JSON.parse(document.getElementById('words').textContent);
  let core = null;

  function bytesOf(id) {
    const block = document.getElementById(id).textContent.trim();
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(block);
    const text = atob(block), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  // The answer's bytes, valid until the next call. request: text, or bytes behind a line of text.
  function ask(name, request, bytes) {
    const head = encode.encode(name + '\n' + request);
    const length = head.length + (bytes ? bytes.length : 0);
    const at = core.page_request_room(length);
    if (at) {
      const room = new Uint8Array(core.memory.buffer, at, length);
      room.set(head);
      if (bytes) room.set(bytes, head.length);
    }
    const answer = core.page_call(at ? length : 0);
    return new Uint8Array(core.memory.buffer, answer, core.page_bytes());
  }

  // What a data block holds deflated: half of the file would be the C and the lab's scripts otherwise.
  function inflated(id) {
    const stream = new DecompressionStream('deflate'), writer = stream.writable.getWriter();
    writer.write(bytesOf(id)).catch(() => {}); // what fails is said by the reading end
    writer.close().catch(() => {});
    return new Response(stream.readable);
  }

  const qkv = {
    ready: false,
    bytesOf,
    // A sentence of words.inc, its {0} {1} {2} filled in.
    word(id, ...fill) {
      return words[id].replace(/\{([0-2])\}/g, (all, n) => (n < fill.length ? fill[n] : all));
    },
    // Text for text.
    call(name, request, bytes) {
      return decode.decode(ask(name, request, bytes));
    },
    // A copy of the answer's bytes: pixels, files.
    bytes(name, request, bytes) {
      return ask(name, request, bytes).slice();
    },
    // A model, or {error: a sentence}.
    model(name, request, bytes) {
      return JSON.parse(qkv.call(name, request, bytes));
    },
    load() {
      const sentences = inflated('sentences').arrayBuffer();
      return inflated('core').arrayBuffer().then((bytes) => WebAssembly.instantiate(bytes, {}))
        .then((made) => {
          core = made.instance.exports;
          return sentences;
        }).then((text) => {
          ask('words', '', new Uint8Array(text));
          qkv.ready = true;
        });
    },
    // The scripts of the figures or of the lab: they run because the policy at the head of the file
    // names their hash.
    run(id) {
      return inflated(id).text().then((text) => {
        const script = document.createElement('script');
        const rules = window.trustedTypes
          && trustedTypes.createPolicy(id, { createScript: (x) => x });
        script.text = rules ? rules.createScript(text) : text;
        document.head.append(script);
      });
    },
  };
  return qkv;
})();
