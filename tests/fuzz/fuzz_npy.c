/* SPDX-License-Identifier: MIT */
/* fuzz_npy.c - any bytes as a .npy file: the parser must end, stay inside its bytes, and give a
 * header that is true to its own promises; what it accepts must survive a rewrite, and its data
 * must go through the window walk.
 */
#include "files/parse/convert.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>

static void check_text(const unsigned char *bytes, const npy_error *err)
{
    char text[512], small[9];
    const size_t n = npy_error_text(text, sizeof text, bytes, err);
    const size_t cut = npy_error_text(small, sizeof small, bytes, err);
    FUZZ_CHECK(n > 0 && n < sizeof text && text[n] == 0);
    FUZZ_CHECK(cut < sizeof small && small[cut] == 0);
    for (size_t i = 0; i < n; i++) FUZZ_CHECK((unsigned char)text[i] >= 0x20);
}

static void check_header(const npy_header *h, size_t size)
{
    uint64_t product = 1;
    FUZZ_CHECK(h->version >= 1 && h->version <= 3);
    FUZZ_CHECK(h->rank >= 0 && h->rank <= NPY_MAX_RANK);
    FUZZ_CHECK(h->data_offset > 0 && (uint64_t)h->data_offset <= size);
    FUZZ_CHECK(h->data_offset <= NPY_MAX_HEADER);
    for (int32_t a = 0; a < h->rank; a++) {
        FUZZ_CHECK(h->dim[a] >= 0);
        product *= (uint64_t)h->dim[a];
    }
    FUZZ_CHECK(h->elems >= 0 && product == (uint64_t)h->elems);
    FUZZ_CHECK(h->data_bytes == h->elems * h->elem_bytes);
    FUZZ_CHECK(h->data_bytes <= INT64_MAX - h->data_offset);
}

static void check_rewrite(const npy_header *h)
{
    unsigned char bytes[1024];
    npy_header again;
    npy_error err;
    if (h->type != NPY_F4 && h->type != NPY_F8 && h->type != NPY_B1) return;
    const size_t n = npy_header_write(bytes, sizeof bytes, h->type, h->rank, h->dim);
    FUZZ_CHECK(n > 0 && n % 64 == 0);
    FUZZ_CHECK(npy_parse(bytes, n, &again, &err) == NPY_OK);
    FUZZ_CHECK(again.type == h->type && again.rank == h->rank && again.elems == h->elems);
    for (int32_t a = 0; a < h->rank; a++) FUZZ_CHECK(again.dim[a] == h->dim[a]);
}

/* Half of each axis, data in two pieces, into memory of exactly the size it needs. */
static void check_walk(const npy_header *h, const unsigned char *data, size_t size)
{
    convert_window w;
    int64_t wanted = 1;
    if (h->elems > 4096 || (uint64_t)h->data_bytes > size) return;
    w.rank = h->rank;
    for (int32_t a = 0; a < h->rank; a++) {
        w.begin[a] = h->dim[a] / 2;
        w.count[a] = h->dim[a] - w.begin[a];
        wanted *= w.count[a];
    }
    const int64_t each = convert_bytes(convert_type(h->type)), cut = h->elems / 3;
    unsigned char *const out = malloc((size_t)(wanted * each) + 1);
    FUZZ_CHECK(out != NULL);
    convert_piece(out, &w, h, 0, cut, data);
    convert_piece(out, &w, h, cut, h->elems - cut, data + cut * h->elem_bytes);
    free(out);
}

static void check_use(const uint8_t *data, size_t size, npy_use use)
{
    npy_header h;
    npy_error err;
    const npy_status s = npy_parse_as(data, size, use, &h, &err);
    if (s == NPY_OK) {
        check_header(&h, size);
        check_rewrite(&h);
        check_walk(&h, data + h.data_offset, size - (size_t)h.data_offset);
    } else if (s == NPY_MORE) {
        FUZZ_CHECK(err.need > (int64_t)size && err.need <= NPY_MAX_HEADER);
    } else {
        FUZZ_CHECK(s == NPY_BAD);
        check_text(data, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int use = NPY_NUMBERS; use <= NPY_BYTES; use++) check_use(data, size, (npy_use)use);
    return 0;
}
