# SPDX-License-Identifier: MIT
"""peer_chart.py - bars as SVG: for each shape a bar a library, the longer the faster.

Every bar carries its name and number in text, so nothing rests on colour alone. The picture brings its
own white ground and asks for no font but a plain one.
"""
from xml.sax.saxutils import escape

COLOURS = {'qkv': '#b03a00', 'torch': '#0072b2', 'onnx': '#4a90c2', 'jax': '#00795a',
           'numpy': '#7a7a7a', 'ggml': '#a87400'}
WIDTH, LEFT, RIGHT, BAR, GAP = 760, 12, 150, 15, 30


def text(x, y, words, more=''):
    return f'<text x="{x}" y="{y}"{more}>{escape(words)}</text>'


def bars(title, description, unit, blocks):
    """blocks: (label, [(library, shown name, value)]) in order; values of one unit, above 0."""
    most = max(value for _, found in blocks for _, _, value in found)
    lines, y = [], 46
    for label, found in blocks:
        lines.append(text(LEFT, y, label, ' font-weight="600"'))
        y += 7
        for library, shown, value in found:
            length = max(1.0, (WIDTH - LEFT - RIGHT) * value / most)
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 3}" '
                         f'fill="{COLOURS.get(library, "#555")}"/>')
            lines.append(text(f'{LEFT + length + 6:.1f}', y + BAR - 5, f'{shown} {short(value)}'))
            y += BAR
        y += GAP
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" '
            f'viewBox="0 0 {WIDTH} {y}" role="img" aria-labelledby="t d" '
            'font-family="sans-serif" font-size="12" fill="#1a1a1a">')
    return '\n'.join([head, f'<title id="t">{escape(title)}</title>',
                      f'<desc id="d">{escape(description)}</desc>',
                      f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>',
                      text(LEFT, 22, f'{title}, {unit}', ' font-size="15" font-weight="600"'),
                      *lines, '</svg>', ''])


def short(x):
    """Three digits, no exponent."""
    return f'{x:.0f}' if x >= 99.95 else f'{x:.1f}' if x >= 9.995 else f'{x:.2f}'
