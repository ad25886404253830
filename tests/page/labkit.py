# SPDX-License-Identifier: MIT
"""labkit.py - what the tests of the lab share: files that it saves, and a look at a PNG."""
import struct
import zlib

import face
from pagekit import check


def saved(page, kind):
    with page.expect_download() as made:
        face.lab(page).get_by_role('button', name=kind, exact=True).click()
    return open(made.value.path(), 'rb').read()


def png_pixels(data):
    """Distinct bytes of the picture's rows: a blank one has very few."""
    check(data.startswith(b'\x89PNG\r\n\x1a\n'), 'no PNG')
    body, at = b'', 8
    while at < len(data):
        size, = struct.unpack('>I', data[at:at + 4])
        if data[at + 4:at + 8] == b'IDAT':
            body += data[at + 8:at + 8 + size]
        at += 12 + size
    return len(set(zlib.decompress(body)))
