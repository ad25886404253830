# SPDX-License-Identifier: MIT
"""kit_links.py - links that must be refused with a sentence, and how text stands in an address."""
import urllib.parse

REFUSED = ['st=7', 'scale=</script><script>window.ran=1</script>', 't=nobody', 'Q=1,2;3',
           'Q=1,2&K=1,2,3',
           'K=2..0,1;0,2;2,0;1,1', 'V=1e400,0;3,0;0,2;0,1', 'T=0', 'mask=padding:9', 'tok=%E0%A4%A',
           'st=1&st=2', 'n=65', 'n=4&tok=a,b', 'K=NaN,1;0,2;2,0;1,1']
# read as a key that is not known, and shown by nobody
STRANGE = ['<img src=x onerror=window.ran=1>=1', 'x=</script><script>window.ran=1</script>']


def in_address(text):
    """What an address bar keeps as it is, and the rest escaped; % stays: it may be an escape."""
    return urllib.parse.quote(text, safe="=&;,:%@#!$'()*+/?~")
