/* SPDX-License-Identifier: MIT */
/* convert.c - element bytes between file form and machine form. Loads and stores go byte by byte, so
 * that neither alignment nor the machine's own byte order matters; compilers make single moves of
 * them. The window walk visits each element of a piece once, runs inside one row at a time.
 */
#include "files/parse/convert.h"

static uint16_t load2(const unsigned char *p, int big)
{
    return (uint16_t)(big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static uint32_t load4(const unsigned char *p, int big)
{
    return big ? (uint32_t)load2(p, 1) << 16 | load2(p + 2, 1)
               : (uint32_t)load2(p + 2, 0) << 16 | load2(p, 0);
}

static uint64_t load8(const unsigned char *p, int big)
{
    return big ? (uint64_t)load4(p, 1) << 32 | load4(p + 4, 1)
               : (uint64_t)load4(p + 4, 0) << 32 | load4(p, 0);
}

static void store4(unsigned char *p, uint32_t x)
{
    __builtin_memcpy(p, &x, 4);
}

static void store8(unsigned char *p, uint64_t x)
{
    __builtin_memcpy(p, &x, 8);
}

uint32_t convert_f2(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exponent = h >> 10 & 31u;
    uint32_t fraction = h & 0x3ffu;
    if (exponent == 31) {
        return sign | 0x7f800000u | fraction << 13 | (fraction != 0 ? 0x400000u : 0u);
    }
    if (exponent == 0) {
        if (fraction == 0) return sign;
        exponent = 1; /* value = fraction * 2^-24: shift the leading one up to bit 10 */
        uint32_t down = 0;
        while (!(fraction & 0x400u)) {
            fraction <<= 1;
            down++;
        }
        return sign | (127 - 15 + exponent - down) << 23 | (fraction & 0x3ffu) << 13;
    }
    return sign | (exponent + 127 - 15) << 23 | fraction << 13;
}

int32_t convert_type(int32_t file_type)
{
    return file_type == NPY_F2 || file_type == NPY_BF2 ? NPY_F4
           : file_type == NPY_I4                       ? NPY_I8
                                                       : file_type;
}

int32_t convert_bytes(int32_t type)
{
    if (type == NPY_F8 || type == NPY_I8) return 8;
    if (type == NPY_F4 || type == NPY_I4) return 4;
    return type == NPY_F2 || type == NPY_BF2 ? 2 : 1;
}

void convert_elements(void *out, const void *in, int64_t n, int32_t type, int32_t big_endian)
{
    unsigned char *o = out;
    const unsigned char *p = in;
    for (int64_t i = 0; i < n; i++) {
        switch (type) {
        case NPY_F8:
        case NPY_I8:
            store8(o + 8 * i, load8(p + 8 * i, big_endian));
            break;
        case NPY_F4:
            store4(o + 4 * i, load4(p + 4 * i, big_endian));
            break;
        case NPY_F2:
            store4(o + 4 * i, convert_f2(load2(p + 2 * i, big_endian)));
            break;
        case NPY_BF2:
            store4(o + 4 * i, (uint32_t)load2(p + 2 * i, big_endian) << 16);
            break;
        case NPY_I4:
            store8(o + 8 * i, (uint64_t)(int64_t)(int32_t)load4(p + 4 * i, big_endian));
            break;
        default:
            o[i] = p[i];
            break;
        }
    }
}

/* One file row is the run along the axis that varies fastest in the file. Its elements lie
 * out_step apart in the window. */
typedef struct walk {
    int32_t fast;  /* that axis */
    int64_t run;   /* its length in the file */
    int64_t outer; /* number of the row */
} walk;

/* Place in the window of the row's element 0 of axis fast, were it inside; -1 when another axis
 * lies outside. Also the distance of two neighbours along fast. */
static int64_t row_place(const convert_window *w, const npy_header *h, const walk *k,
                         int64_t *out_step)
{
    int64_t place = 0, scale = 1, rest = k->outer, at[NPY_MAX_RANK];
    for (int32_t a = 0; a < h->rank; a++) {
        const int32_t axis = h->fortran ? a : h->rank - 1 - a; /* fastest first */
        if (axis == k->fast) {
            at[axis] = 0;
            continue;
        }
        at[axis] = rest % h->dim[axis] - w->begin[axis];
        rest /= h->dim[axis];
        if (at[axis] < 0 || at[axis] >= w->count[axis]) return -1;
    }
    *out_step = 1;
    for (int32_t axis = h->rank - 1; axis >= 0; axis--) {
        if (axis == k->fast) *out_step = scale;
        place += at[axis] * scale;
        scale *= w->count[axis];
    }
    return place;
}

void convert_piece(void *out, const convert_window *w, const npy_header *h, int64_t first,
                   int64_t n, const void *in)
{
    unsigned char *const o = out;
    const unsigned char *p = in;
    const int64_t out_bytes = convert_bytes(convert_type(h->type));
    if (h->rank == 0) {
        if (n > 0) convert_elements(o, p, 1, h->type, h->big_endian);
        return;
    }
    walk k = {h->fortran ? 0 : h->rank - 1, 0, 0};
    k.run = h->dim[k.fast];
    const int64_t low = w->begin[k.fast], high = low + w->count[k.fast];
    while (n > 0) { /* n > 0 elements exist, so no length is 0 */
        const int64_t from = first % k.run;
        const int64_t left = k.run - from;
        const int64_t here = left < n ? left : n;
        int64_t step = 1;
        k.outer = first / k.run;
        const int64_t place = row_place(w, h, &k, &step);
        const int64_t a = from > low ? from : low;
        const int64_t b = from + here < high ? from + here : high;
        if (place >= 0 && a < b) {
            const unsigned char *src = p + (a - from) * h->elem_bytes;
            if (step == 1) {
                convert_elements(o + (place + a - low) * out_bytes, src, b - a, h->type,
                                 h->big_endian);
            } else {
                for (int64_t i = 0; i < b - a; i++) {
                    convert_elements(o + (place + (a - low + i) * step) * out_bytes,
                                     src + i * h->elem_bytes, 1, h->type, h->big_endian);
                }
            }
        }
        p += here * h->elem_bytes;
        first += here;
        n -= here;
    }
}
