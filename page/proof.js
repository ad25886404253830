// SPDX-License-Identifier: MIT
// proof.js - the live demonstrations behind the questions for a teacher: a later token changes and the
// rows above it keep every bit; the twelve heads of a real model, each with its strongest pair. Drawn
// only while their details are open.
(function (qkv) {
  const el = qkv.el, causal = qkv.id('causal-proof'), heads = qkv.id('heads-proof');
  const open = (node) => node.closest('details').open;
  let done = false;

  function drawCausal() {
    if (!open(causal)) return;
    const model = qkv.model('lab_causal', [qkv.text, 0, 0, 0, qkv.about.tokens - 1].join('\n'));
    if (model.error) {
      causal.replaceChildren(el('p', {}, model.error));
      return;
    }
    const head = (name) => el('th', { scope: 'col' }, qkv.word(name));
    const row = (r) => el('tr', {}, el('th', { scope: 'row' }, el('bdi', {}, r.name)), el('td', {}, r.before),
      el('td', {}, r.after), el('td', {}, qkv.word(r.same ? 'LAB_CAUSAL_SAME' : 'LAB_CAUSAL_CHANGED')));
    causal.replaceChildren(el('table', { class: 'grid' },
      el('thead', {}, el('tr', {}, head('HEAD_TOKEN'), head('LAB_CAUSAL_BEFORE'), head('LAB_CAUSAL_AFTER'),
        head('LAB_CAUSAL_BITS'))), el('tbody', {}, ...model.causal.rows.map(row))));
  }

  function drawHeads() {
    if (!open(heads) || done) return;
    done = true;
    qkv.whole.then(drawn);
  }

  function drawn() {
    qkv.lab.needModel();
    const model = qkv.model('lab_heads', 'data=model&st=3\n0\n0\n0');
    heads.replaceChildren(el('ol', { class: 'heads', start: 0 }, ...(model.heads || []).map((h) =>
      el('li', {}, h.pair ? qkv.word('LAB_PAIR', h.pair[0], h.pair[1], h.pair[2]) : ''))),
      el('p', { class: 'small' }, qkv.word('LAB_HEADS_NOTE')));
  }

  causal.closest('details').addEventListener('toggle', drawCausal);
  heads.closest('details').addEventListener('toggle', drawHeads);
  qkv.figure(null, drawCausal);
})(window.qkv);
