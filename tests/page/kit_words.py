# SPDX-License-Identifier: MIT
"""kit_words.py - how words are counted and compared: the page's visible ones, the terminal's ones.

Marks, line breaks and how a formula is drawn are the faces' own; sentences are not.
"""
import re

# What a first reader does: a token, four stages, sharpness, nudge, dₖ, two questions, recall.
ACTS = 12

# the article's text that is drawn, without details (but for their summaries) and the lab
VISIBLE = '''() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), parts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    if (at.closest('#lab, script, style, noscript, table, svg, math, .unseen, details > :not(summary)')) continue;
    if (at.checkVisibility()) parts.push(node.data);
  }
  return parts.join(' ');
}'''

# the sentences of one section's paragraphs, points and details, figures left out
SENTENCES = '''(id) => [...document.querySelectorAll(`#${id} p, #${id} li`)]
  .filter((x) => !x.closest('figure, .formula, .quiz, .recall, .proof, .ask, .question')
    && !x.matches('.place') && !x.querySelector('p, button, input'))
  .map((x) => [...x.childNodes].filter((y) => y.localName !== 'a').map((y) =>
    y.textContent).join('')
    .trim().replace(/\\s+/g, ' ')).filter((x) => x.split(' ').length > 3)'''


# how a face may write the index of d
LOW = str.maketrans({'ₖ': 'k', 'ᵀ': 't', '⊤': 't'})


def count(text):
    return len(re.findall(r'[^\W_][\w’\'.-]*', text))


def plain(text):
    """Letters and digits only, lower case: breaks, marks and how a formula is drawn do not matter."""
    return re.sub(r'[\W_]+', '', text.translate(LOW)).lower()


def terminal_sections(session):
    """The terminal's lesson in line mode, cut at its eight section heads."""
    text = session.qkv('lesson', '--plain')
    return re.split(r'(?m)^[1-8]  \S.*$', text)[1:]
