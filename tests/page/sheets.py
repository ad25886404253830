# SPDX-License-Identifier: MIT
"""sheets.py - contact sheets: many screenshots on one picture, set by the browser itself.

By-products to look at, never compared pixel by pixel: fonts differ between machines.
"""
import base64

STYLE = '''body { margin: 16px; background: #777; font: 13px sans-serif; display: grid;
  grid-template-columns: repeat(COLUMNS, WIDTHpx); gap: 16px; width: max-content }
figure { margin: 0 } img { display: block; width: 100% } figcaption { color: #fff;
  padding: 3px 0 }'''


def sheet(session, path, shots, columns, width):
    """shots: (caption, PNG bytes)."""
    page = session.context(width=columns * (width + 16) + 32, height=600).new_page()
    page.set_content('<!doctype html><meta charset=utf-8><style>'
                     + STYLE.replace('COLUMNS', str(columns)).replace('WIDTH', str(width))
                     + '</style><body>')
    page.evaluate('''(shots) => Promise.all(shots.map(([caption, data]) => {
      const figure = document.createElement('figure'), image = new Image();
      image.src = `data:image/png;base64,${data}`;
      const text = document.createElement('figcaption');
      text.textContent = caption;
      figure.append(text, image);
      document.body.append(figure);
      return image.decode();
    }))''', [[caption, base64.b64encode(data).decode()] for caption, data in shots])
    page.screenshot(path=path, full_page=True)
    page.context.close()
