// SPDX-License-Identifier: MIT
// formula.js - the parts of the formula are buttons: each goes to its stage, and the part of the
// present stage is marked in the formula.
(function (qkv) {
  const formula = qkv.id('the-formula'), parts = document.querySelector('.parts');
  parts.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button) qkv.goStage(button.dataset.stage);
  });
  for (const link of document.querySelectorAll('a[data-stage]'))
    link.addEventListener('click', () => qkv.goStage(link.dataset.stage));
  qkv.figure(null, () => {
    const stage = String(qkv.about.stage);
    for (const part of formula.querySelectorAll('[data-part]'))
      part.classList.toggle('lit', part.dataset.part === stage);
    for (const button of parts.querySelectorAll('button')) {
      const on = button.dataset.stage === stage;
      button.setAttribute('aria-pressed', on ? 'true' : 'false');
    }
  });
})(window.qkv);
