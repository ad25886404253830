# SPDX-License-Identifier: MIT
"""Tensor files from nothing but Python's standard library: written in every form, read back from
the one form that qkv writes. For the tests of the command.
"""
import re
import struct

CODE = {'f2': 'e', 'f4': 'f', 'f8': 'd', 'b1': '?', 'i2': 'h', 'u2': 'H', 'V2': 'H',
        'i4': 'i', 'i8': 'q', 'u1': 'B'}


def count_of(shape):
    n = 1
    for x in shape:
        n *= x
    return n


def fortran(values, shape):
    """Values in C order, reordered so that the first axis varies fastest."""
    strides = [count_of(shape[a + 1:]) for a in range(len(shape))]
    out = []
    for place in range(len(values)):
        number = 0
        for a, length in enumerate(shape):
            number += place % length * strides[a]
            place //= length
        out.append(values[number])
    return out


def header(text, version=1, align=64):
    """Magic, version, length and text, padded with spaces to a multiple of align."""
    fixed = 10 if version == 1 else 12
    total = -(-(fixed + len(text) + 1) // align) * align
    length = struct.pack('<H' if version == 1 else '<I', total - fixed)
    return (b'\x93NUMPY' + bytes([version, 0]) + length +
            text.encode('latin-1').ljust(total - fixed - 1) + b'\n')


def dict_text(descr, shape, order=False):
    shape = f'({shape[0]},)' if len(shape) == 1 else f'({", ".join(map(str, shape))})'
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"


def to_bf16(x):
    """Bits of the bfloat16 nearest to a float32 number, ties to even."""
    bits = struct.unpack('<I', struct.pack('<f', x))[0]
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16 if x == x else 0x7fc0


def from_bf16(bits):
    return struct.unpack('<f', struct.pack('<I', bits << 16))[0]


def npy(values, shape, descr='<f4', order=False, version=1, align=64):
    values = list(values)
    assert len(values) == count_of(shape)
    if order:
        values = fortran(values, shape)
    if descr[1:] in ('V2', 'u2'):
        values = [to_bf16(x) for x in values]
    end = '>' if descr[0] == '>' else '<'
    data = struct.pack(f'{end}{len(values)}{CODE[descr[1:]]}', *values)
    return header(dict_text(descr, shape, order), version, align) + data


def parse(data):
    """(shape, descr, values) of a file as qkv writes it: version 1, little-endian, C order."""
    assert data[:8] == b'\x93NUMPY\x01\x00'
    offset = 10 + struct.unpack('<H', data[8:10])[0]
    assert offset % 64 == 0, offset
    text = data[10:offset].decode('ascii')
    found = re.fullmatch(r"\{'descr': '(<f[248]|<V2|\|b1)', 'fortran_order': False, "
                         r"'shape': \(([0-9, ]*)\), \} *\n", text)
    assert found, text
    descr = found.group(1)
    shape = tuple(int(x) for x in found.group(2).split(',') if x.strip())
    n = count_of(shape)
    assert len(data) - offset == n * int(descr[2]), 'length of the data'
    values = list(struct.unpack(f'<{n}{CODE[descr[1:]]}', data[offset:]))
    return shape, descr, [from_bf16(x) for x in values] if descr == '<V2' else values


def gen(seed, shape):
    """Multiples of 1/64 in [-1, 1), which every type holds exactly; the same numbers anywhere."""
    out = []
    for i in range(count_of(shape)):
        x = (i * 2654435761 + seed * 40503 + 12345) & 0xffffffff
        x = (x ^ x >> 15) * 2246822519 & 0xffffffff
        x = (x ^ x >> 13) * 3266489917 & 0xffffffff
        out.append((x >> 25) / 64 - 1)
    return out
