// SPDX-License-Identifier: MIT
// core.js - the C: the wasm module out of its data block, and calls by name. A call is text in, text
// out; numbers that are shown come as strings and are never made or read here.
'use strict';
window.qkv = (function () {
  const encode = new TextEncoder(), decode = new TextDecoder();
  const words = JSON.parse(document.getElementById('words').textContent);
  let core = null;

  function bytesOf(id) {
    const text = atob(document.getElementById(id).textContent.trim());
    const bytes = new Uint8Array(text.length);
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
    // The module stands in the file deflated, or it would be half of it.
    load() {
      const packed = new Blob([bytesOf('core')]).stream();
      const whole = new Response(packed.pipeThrough(new DecompressionStream('deflate')));
      return whole.arrayBuffer().then((bytes) => WebAssembly.instantiate(bytes, {})).then((made) => {
        core = made.instance.exports;
        qkv.ready = true;
      });
    },
  };
  return qkv;
})();
