/* SPDX-License-Identifier: MIT */
/* npy.c - the .npy header: magic, version, length, and a Python dict literal of which exactly one
 * form is accepted: the keys descr, fortran_order and shape, each once, in any order, with spaces
 * and a trailing comma where Python allows them. Nothing is evaluated and nothing nests, so no depth
 * and no size in a hostile file costs more than one pass over its at most 1 MiB of header.
 */
#include "files/parse/npy.h"

#define VALUE_SHOWN 60

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

typedef struct cursor {
    const unsigned char *b;
    size_t at, end;
    npy_error *err;
} cursor;

static npy_status bad(npy_error *err, const char *what, size_t at, size_t length, const char *want)
{
    err->what = what;
    err->want = want;
    err->at = at;
    err->length = length;
    return NPY_BAD;
}

static npy_status bad_number(npy_error *err, const char *what, int64_t number, const char *want)
{
    err->number = number;
    return bad(err, what, 0, 0, want);
}

static size_t text_length(const char *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

static int starts_with(const unsigned char *b, size_t length, const char *s)
{
    const size_t n = text_length(s);
    if (length < n) return 0;
    for (size_t i = 0; i < n; i++) {
        if (b[i] != (unsigned char)s[i]) return 0;
    }
    return 1;
}

static int same(const unsigned char *b, size_t length, const char *s)
{
    return length == text_length(s) && starts_with(b, length, s);
}

/* ---- small pieces of the dict ----------------------------------------------------------------- */

static int peek(const cursor *c)
{
    return c->at < c->end ? c->b[c->at] : -1;
}

static void spaces(cursor *c)
{
    while (peek(c) == ' ') c->at++;
}

/* What stands at the cursor, up to a separator: for the sentence. */
static size_t word(const cursor *c, size_t from)
{
    size_t n = 0;
    while (from + n < c->end && n < VALUE_SHOWN) {
        const unsigned char x = c->b[from + n];
        if (n > 0 && (x == ',' || x == ')' || x == '}' || x == ' ' || x == ':' || x == '\n')) break;
        n++;
    }
    return n;
}

static npy_status expected(cursor *c, const char *what, const char *want)
{
    c->err->need = (int64_t)c->at; /* where it ends, when nothing stands there */
    return bad(c->err, what, c->at, word(c, c->at), want);
}

/* A quoted string without escapes; its bytes without the quotes. */
static npy_status quoted(cursor *c, const char *what, const char *want, size_t *at, size_t *length)
{
    const int quote = peek(c);
    if (quote != '\'' && quote != '"') return expected(c, what, want);
    size_t i = c->at + 1;
    while (i < c->end && c->b[i] != quote && c->b[i] != '\\' && c->b[i] != '\n') i++;
    if (i >= c->end || c->b[i] != quote) return expected(c, what, want);
    *at = c->at + 1;
    *length = i - *at;
    c->at = i + 1;
    return NPY_OK;
}

static npy_status boolean(cursor *c, int32_t *value)
{
    const size_t n = word(c, c->at);
    if (same(c->b + c->at, n, "True")) {
        *value = 1;
    } else if (same(c->b + c->at, n, "False")) {
        *value = 0;
    } else {
        return expected(c, "fortran_order", "it must be True or False");
    }
    c->at += n;
    return NPY_OK;
}

/* ---- values ----------------------------------------------------------------------------------- */

static const char *refused_kind(int kind)
{
    switch (kind) {
    case 'O':
        return "object arrays are not supported, only float16, bfloat16, float32 and float64";
    case 'U':
    case 'S':
    case 'a':
        return "strings are not supported, only float16, bfloat16, float32 and float64";
    case 'c':
    case 'F':
    case 'D':
        return "complex numbers are not supported, only float16, bfloat16, float32 and float64";
    case 'M':
    case 'm':
        return "dates and times are not supported, only float16, bfloat16, float32 and float64";
    case 'i':
    case 'u':
        return "integers are not supported, only float16, bfloat16, float32 and float64";
    case 'V':
        return "raw and structured types are not supported, only float16, bfloat16, float32 and "
               "float64";
    default:
        return "this type is not supported, only <f2 <f4 <f8, or > or = in place of <";
    }
}

/* int32, int64 or uint8 where those are asked for */
static npy_status whole_type(cursor *c, npy_header *h, npy_use use, size_t at, size_t n)
{
    const unsigned char *const d = c->b + at;
    if (use == NPY_BYTES && n == 3 && (d[1] == 'u' && d[2] == '1')) {
        h->type = NPY_U1;
        h->elem_bytes = 1;
        return NPY_OK;
    }
    const int ordered = n == 3 && (d[0] == '<' || d[0] == '>' || d[0] == '=');
    if (use == NPY_INTEGERS && ordered && d[1] == 'i' && (d[2] == '4' || d[2] == '8')) {
        h->type = d[2] == '4' ? NPY_I4 : NPY_I8;
        h->elem_bytes = d[2] - '0';
        h->big_endian = d[0] == '>' || (d[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        return NPY_OK;
    }
    return bad(c->err, "descr", n ? at : at - 1,
               n == 0            ? 2
               : n < VALUE_SHOWN ? n
                                 : VALUE_SHOWN,
               use == NPY_BYTES ? "bytes of packed bits are needed: uint8"
                                : "integers are needed: int32 or int64");
}

static npy_status dtype(cursor *c, npy_header *h, npy_use use)
{
    if (peek(c) == '[' || peek(c) == '(' || peek(c) == '{') {
        return expected(c, "descr",
                        "structured types are not supported, only float16, bfloat16, float32 and "
                        "float64");
    }
    size_t at = 0, n = 0;
    const npy_status s = quoted(c, "descr", "it must be a string such as '<f4'", &at, &n);
    if (s != NPY_OK) return s;
    if (use >= NPY_INTEGERS) return whole_type(c, h, use, at, n);
    const unsigned char *d = c->b + at;
    if (same(d, n, "|b1")) {
        h->type = NPY_B1;
        h->elem_bytes = 1;
        return NPY_OK;
    }
    const int ordered = n == 3 && (d[0] == '<' || d[0] == '>' || d[0] == '=');
    if (ordered && d[1] == 'f' && (d[2] == '2' || d[2] == '4' || d[2] == '8')) {
        h->type = d[2] == '2' ? NPY_F2 : d[2] == '4' ? NPY_F4 : NPY_F8;
        h->elem_bytes = d[2] - '0';
        h->big_endian = d[0] == '>' || (d[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        return NPY_OK;
    }
    const int anywhere = ordered || (n == 3 && d[0] == '|');
    if ((anywhere && same(d + 1, 2, "V2")) ||
        (ordered && use == NPY_WORDS && same(d + 1, 2, "u2"))) {
        h->type = NPY_BF2;
        h->elem_bytes = 2;
        h->big_endian =
            d[0] == '>' || ((d[0] == '=' || d[0] == '|') && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        return NPY_OK;
    }
    const int marked = n > 0 && (d[0] == '<' || d[0] == '>' || d[0] == '=' || d[0] == '|');
    const size_t kind = marked ? 1 : 0;
    if (n == 0) return bad(c->err, "descr", at - 1, 2, refused_kind(-1));
    return bad(c->err, "descr", at, n < VALUE_SHOWN ? n : VALUE_SHOWN,
               refused_kind(n > kind ? d[kind] : -1));
}

static npy_status dimension(cursor *c, npy_header *h, int64_t index)
{
    const size_t from = c->at;
    int64_t value = 0;
    int fits = 1;
    c->err->index = (int32_t)index;
    while (peek(c) >= '0' && peek(c) <= '9') {
        const int64_t digit = peek(c) - '0';
        if (value > (INT64_MAX - digit) / 10) fits = 0;
        if (fits) value = value * 10 + digit;
        c->at++;
    }
    const size_t n = word(c, from);
    const size_t digits = c->at - from;
    if (peek(c) == '-' && digits == 0) return expected(c, "dimension", "it must be 0 or more");
    if (digits == 0 || (digits < n && n < VALUE_SHOWN) || (digits > 1 && c->b[from] == '0')) {
        c->at = from;
        return expected(c, "dimension", "it must be a whole number, 0 or more");
    }
    if (!fits) return bad(c->err, "dimension", from, n, "it must be below 2^63");
    if (index < NPY_MAX_RANK) h->dim[index] = value;
    c->err->index = -1;
    return NPY_OK;
}

static npy_status shape(cursor *c, npy_header *h, size_t *at, size_t *length)
{
    const char *const tuple = "it must be a tuple of whole numbers such as (13, 32) or (5,)";
    const size_t from = c->at;
    int64_t rank = 0;
    int commas = 0;
    if (peek(c) != '(') return expected(c, "shape", tuple);
    c->at++;
    spaces(c);
    while (peek(c) != ')') {
        if (c->at >= c->end) return bad(c->err, "shape", from, word(c, from), tuple);
        const npy_status s = dimension(c, h, rank);
        if (s != NPY_OK) return s;
        rank++;
        spaces(c);
        if (peek(c) == ',') {
            commas++;
            c->at++;
            spaces(c);
        } else if (peek(c) != ')') {
            return expected(c, "shape", tuple);
        }
    }
    c->at++;
    *at = from;
    *length = c->at - from < VALUE_SHOWN ? c->at - from : VALUE_SHOWN;
    if (rank == 1 && commas == 0) return bad(c->err, "shape", from, *length, tuple);
    if (rank > NPY_MAX_RANK) {
        return bad_number(c->err, "the number of dimensions", rank, "at most 32 are accepted");
    }
    h->rank = (int32_t)rank;
    return NPY_OK;
}

/* ---- the whole -------------------------------------------------------------------------------- */

enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

static npy_status entry(cursor *c, npy_header *h, npy_use use, int *seen, size_t *shape_at,
                        size_t *shape_length)
{
    size_t at = 0, n = 0;
    npy_status s = quoted(c, "the header's dict", "a key in quotes was expected", &at, &n);
    if (s != NPY_OK) return s;
    const unsigned char *key = c->b + at;
    const int which = same(key, n, "descr")           ? DESCR
                      : same(key, n, "fortran_order") ? ORDER
                      : same(key, n, "shape")         ? SHAPE
                                                      : 0;
    const size_t shown = n < VALUE_SHOWN ? n : VALUE_SHOWN;
    if (which == 0) {
        return bad(c->err, "a key of the header", at - 1, shown + 2,
                   "only descr, fortran_order and shape may stand there");
    }
    if (*seen & which) {
        return bad(c->err, "a second key of the header", at, shown, "each may stand only once");
    }
    *seen |= which;
    spaces(c);
    if (peek(c) != ':') return expected(c, "the header's dict", "a colon was expected");
    c->at++;
    spaces(c);
    if (which == DESCR) return dtype(c, h, use);
    if (which == ORDER) return boolean(c, &h->fortran);
    return shape(c, h, shape_at, shape_length);
}

static npy_status dict(cursor *c, npy_header *h, npy_use use, size_t *shape_at,
                       size_t *shape_length)
{
    int seen = 0;
    spaces(c);
    if (peek(c) != '{') return expected(c, "the header", "it must be a dict in { }");
    c->at++;
    spaces(c);
    while (peek(c) != '}') {
        const npy_status s = entry(c, h, use, &seen, shape_at, shape_length);
        if (s != NPY_OK) return s;
        spaces(c);
        if (peek(c) == ',') {
            c->at++;
            spaces(c);
        } else if (peek(c) != '}') {
            return expected(c, "the header's dict", "a comma or } was expected");
        }
    }
    c->at++;
    spaces(c);
    if (peek(c) == '\n') c->at++;
    if (c->at < c->end) {
        return expected(c, "the text after the header's dict",
                        "only spaces and a newline may follow");
    }
    const int keys = (seen & 1) + (seen >> 1 & 1) + (seen >> 2 & 1);
    if (!(seen & DESCR)) {
        return bad_number(c->err, "the number of keys", keys, "3 are needed, descr is missing");
    }
    if (!(seen & ORDER)) {
        return bad_number(c->err, "the number of keys", keys,
                          "3 are needed, fortran_order is missing");
    }
    if (!(seen & SHAPE)) {
        return bad_number(c->err, "the number of keys", keys, "3 are needed, shape is missing");
    }
    return NPY_OK;
}

/* The product of the lengths that are not 0 must fit, so that every part of it does too. */
static npy_status sizes(npy_header *h, npy_error *err, size_t shape_at, size_t shape_length)
{
    int64_t product = h->elem_bytes;
    int empty = 0;
    for (int32_t i = 0; i < h->rank; i++) {
        if (h->dim[i] == 0) {
            empty = 1;
        } else if (product > INT64_MAX / h->dim[i]) {
            return bad(err, "shape", shape_at, shape_length, "its bytes must stay below 2^63");
        } else {
            product *= h->dim[i];
        }
    }
    h->elems = empty ? 0 : product / h->elem_bytes;
    h->data_bytes = empty ? 0 : product;
    if (product > INT64_MAX - h->data_offset) {
        return bad(err, "shape", shape_at, shape_length, "its bytes must stay below 2^63");
    }
    return NPY_OK;
}

static npy_status bad_magic(const unsigned char *bytes, size_t length, npy_error *err)
{
    const char *want = "a .npy file starts with \\x93NUMPY";
    size_t shown = 0;
    while (shown < length && shown < 24 && bytes[shown] != '\n' && bytes[shown] != 0) shown++;
    if (starts_with(bytes, length, "version https://git-lfs")) {
        want = "a .npy file starts with \\x93NUMPY; this looks like a Git LFS pointer";
    } else if (starts_with(bytes, length, "PK\003\004")) {
        want = "a .npy file starts with \\x93NUMPY; this looks like a zip archive or .npz";
    } else if (length > 0 && bytes[0] == '<') {
        want = "a .npy file starts with \\x93NUMPY; this looks like a web page";
    }
    return bad(err, "the file's beginning", 0, shown > 0 ? shown : 1, want);
}

static npy_status more(npy_error *err, size_t need)
{
    err->need = (int64_t)need;
    return NPY_MORE;
}

/* Member by member: a whole struct set to zero is a call of memset, and there is no C library. */
static void clear(npy_header *h, npy_error *err)
{
    h->version = h->type = h->big_endian = h->fortran = h->rank = h->elem_bytes = 0;
    h->elems = h->data_offset = h->data_bytes = 0;
    for (int32_t i = 0; i < NPY_MAX_RANK; i++) h->dim[i] = 0;
    err->what = err->want = NULL;
    err->at = err->length = 0;
    err->number = err->index = -1;
    err->need = 0;
}

static npy_status parse(const unsigned char *bytes, size_t length, npy_header *h, npy_use use,
                        npy_error *err)
{
    clear(h, err);
    for (size_t i = 0; i < sizeof magic && i < length; i++) {
        if (bytes[i] != magic[i]) return bad_magic(bytes, length, err);
    }
    if (length >= 7 && (bytes[6] < 1 || bytes[6] > 3)) {
        return bad_number(err, "the .npy version", bytes[6], "1, 2 and 3 are accepted");
    }
    if (length >= 8 && bytes[7] != 0) {
        return bad_number(err, "the minor part of the .npy version", bytes[7], "it must be 0");
    }
    if (length < NPY_FIRST_BYTES) return more(err, NPY_FIRST_BYTES);
    h->version = bytes[6];
    const size_t fixed = h->version == 1 ? 10 : 12;
    uint64_t dict_bytes = (uint64_t)bytes[8] | (uint64_t)bytes[9] << 8;
    if (h->version > 1) dict_bytes |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
    if (dict_bytes > NPY_MAX_HEADER - fixed) {
        return bad_number(err, "the header's length", (int64_t)(dict_bytes + fixed),
                          "at most 1048576 bytes are accepted");
    }
    const size_t total = fixed + (size_t)dict_bytes;
    if (length < total) return more(err, total);
    h->data_offset = (int64_t)total;

    cursor c = {bytes, fixed, total, err};
    size_t shape_at = 0, shape_length = 0;
    const npy_status s = dict(&c, h, use, &shape_at, &shape_length);
    if (s != NPY_OK) return s;
    return sizes(h, err, shape_at, shape_length);
}

npy_status npy_parse(const unsigned char *bytes, size_t length, npy_header *h, npy_error *err)
{
    return parse(bytes, length, h, NPY_NUMBERS, err);
}

npy_status npy_parse_as(const unsigned char *bytes, size_t length, npy_use use, npy_header *h,
                        npy_error *err)
{
    return parse(bytes, length, h, use, err);
}

/* ---- sentences -------------------------------------------------------------------------------- */

typedef struct sink {
    char *text;
    size_t size, at;
} sink;

static void put(sink *s, char x)
{
    if (s->at + 1 < s->size) s->text[s->at++] = x;
}

static void put_text(sink *s, const char *x)
{
    while (*x) put(s, *x++);
}

static void put_number(sink *s, int64_t x)
{
    char digits[20];
    int n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    while (n > 0) put(s, digits[--n]);
}

static void put_bytes(sink *s, const unsigned char *b, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        if (b[i] >= 0x20 && b[i] != 0x7f) {
            put(s, (char)b[i]);
        } else {
            put_text(s, "\\x");
            put(s, hex[b[i] >> 4]);
            put(s, hex[b[i] & 15]);
        }
    }
}

size_t npy_error_text(char *text, size_t size, const unsigned char *bytes, const npy_error *err)
{
    sink s = {text, size, 0};
    if (size == 0) return 0;
    if (err->what) {
        put_text(&s, err->what);
        if (err->index >= 0) {
            put(&s, ' ');
            put_number(&s, err->index);
            put_text(&s, " of the shape");
        }
        put_text(&s, err->length > 0 || err->number >= 0 ? " is " : " ends too early, at byte ");
        if (err->length > 0) {
            const int bare = bytes[err->at] == '\'' || bytes[err->at] == '"';
            if (!bare) put(&s, '\'');
            put_bytes(&s, bytes + err->at, err->length);
            if (!bare) put(&s, '\'');
        } else {
            put_number(&s, err->number >= 0 ? err->number : err->need);
        }
        put_text(&s, "; ");
        put_text(&s, err->want);
    }
    text[s.at] = 0;
    return s.at;
}

/* ---- writing ---------------------------------------------------------------------------------- */

size_t npy_header_write(unsigned char *bytes, size_t size, int32_t type, int32_t rank,
                        const int64_t *dim)
{
    static const char *const descr[NPY_BF2] = {"<f2", "<f4", "<f8", "|b1", "<V2"};
    if (rank < 0 || rank > NPY_MAX_RANK || type < NPY_F2 || type > NPY_BF2) return 0;
    char text[1024];
    sink s = {text, sizeof text, 0};
    put_text(&s, "{'descr': '");
    put_text(&s, descr[type - NPY_F2]);
    put_text(&s, "', ");
    put_text(&s, "'fortran_order': False, 'shape': (");
    for (int32_t i = 0; i < rank; i++) {
        if (dim[i] < 0) return 0;
        if (i > 0) put_text(&s, ", ");
        put_number(&s, dim[i]);
    }
    put_text(&s, rank == 1 ? ",), }" : "), }");

    const size_t fixed =
        10; /* 32 dimensions of 19 digits stay far below version 1's 65,535 bytes */
    const size_t total = (fixed + s.at + 1 + 63) / 64 * 64;
    if (total > size) return 0;
    for (size_t i = 0; i < sizeof magic; i++) bytes[i] = magic[i];
    bytes[6] = 1;
    bytes[7] = 0;
    bytes[8] = (unsigned char)((total - fixed) & 255);
    bytes[9] = (unsigned char)((total - fixed) >> 8);
    for (size_t i = 0; i < total - fixed; i++) {
        bytes[fixed + i] = i < s.at ? (unsigned char)text[i] : ' ';
    }
    bytes[total - 1] = '\n';
    return total;
}
