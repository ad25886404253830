/* SPDX-License-Identifier: MIT */
/* input.c - opens tensor files and reads them, or the part of them that is wanted.
 *
 * A header is copied into private memory before it is parsed. Data of regular files is read by
 * position, data of pipes in order and to the end; only what is wanted stays in memory, beside one
 * piece of PIECE bytes. Large contiguous parts of regular files are mapped instead of read.
 */
#include "files/file_io.h"
#include "files/npz.h"
#include "files/parse/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (INT64_C(1) << 20)

struct files_input {
    int fd;
    bool close_fd;
    bool regular; /* read by position; "-" never is, even when redirected from a file */
    char name[FILE_NAME_SHOWN + 8];
    dev_t dev;
    ino_t ino;
    npy_header h;
    npz_array *array; /* of a .npz: a stream; NULL: the file itself */
    const char *why;  /* what was wrong with the array */
    int64_t at;       /* streams: bytes taken so far */
    char format[32];
};

/* ---- small helpers of the folder -------------------------------------------------------------- */

int file_fail(files_error *err, int exit_status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(err->text, sizeof err->text, format, values);
    va_end(values);
    err->exit_status = exit_status;
    return exit_status;
}

int file_blame(int e)
{
    switch (e) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case EROFS:
    case ENXIO:
    case ENODEV:
    case EBADF:
        return 2;
    default:
        return 1;
    }
}

ssize_t file_read_full(int fd, void *bytes, size_t n, int64_t offset)
{
    size_t done = 0;
    while (done < n) {
        const size_t most = n - done < (size_t)1 << 30 ? n - done : (size_t)1 << 30;
        char *const to = (char *)bytes + done;
        const ssize_t got =
            offset < 0 ? read(fd, to, most) : pread(fd, to, most, (off_t)(offset + (int64_t)done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

const char *file_shown_name(const char *path, const char *dash_name)
{
    if (strcmp(path, "-") == 0) return dash_name;
    return *path ? path : "(empty name)";
}

void file_cut_name(char *name, const char *shown)
{
    const size_t n = strlen(shown);
    if (n <= FILE_NAME_SHOWN) {
        memcpy(name, shown, n + 1);
        return;
    }
    snprintf(name, FILE_NAME_SHOWN + 8, "%.*s...%s", FILE_NAME_SHOWN / 2, shown,
             shown + n - FILE_NAME_SHOWN / 2);
}

void *files_alloc(int64_t bytes)
{
    enum { PAGE = 2 << 20, LARGE = 2 * PAGE };
    if (bytes < 0 || bytes > PTRDIFF_MAX - PAGE) return NULL;
    const size_t unit = bytes < LARGE ? 64 : PAGE;
    const size_t n = ((size_t)bytes + unit - 1) / unit * unit;
    void *const memory = aligned_alloc(unit, n > 0 ? n : unit);
    if (memory && unit == PAGE) (void)madvise(memory, n, MADV_HUGEPAGE); /* a wish */
    return memory;
}

static int no_memory(files_error *err, const char *name, int64_t bytes)
{
    return file_fail(err, 1, "%s: no memory for %" PRId64 " bytes", name, bytes);
}

static int read_failed(const files_input *in, files_error *err)
{
    if (in->why) return file_fail(err, 2, "%s cannot be read: %s", in->name, in->why);
    return file_fail(err, 1, "%s cannot be read: %s", in->name, strerror(errno));
}

/* n bytes, or up to the end; at counts for regular files only. */
static ssize_t take(files_input *in, void *to, size_t n, int64_t at)
{
    if (in->array) return npz_read(in->array, to, n, &in->why);
    return file_read_full(in->fd, to, n, in->regular ? at : -1);
}

/* ---- opening ----------------------------------------------------------------------------------- */

static int read_header(files_input *in, npy_use use, files_error *err)
{
    unsigned char *head = NULL;
    size_t have = 0, need = 32; /* less than any whole header; enough to tell what else it may be */
    npy_error bad;
    int status = 0;
    for (;;) {
        unsigned char *const longer = realloc(head, need);
        if (!longer) {
            status = no_memory(err, in->name, (int64_t)need);
            break;
        }
        head = longer;
        const ssize_t got = take(in, head + have, need - have, (int64_t)have);
        if (got < 0) {
            status = read_failed(in, err);
            break;
        }
        have += (size_t)got;
        const npy_status s = npy_parse_as(head, have, use, &in->h, &bad);
        if (s == NPY_OK) break;
        if (s == NPY_BAD) {
            char text[512];
            npy_error_text(text, sizeof text, head, &bad);
            char names[512] = "";
            if (!in->array && have > 3 && memcmp(head, "PK\3\4", 4) == 0)
                npz_names(names, sizeof names, in->fd);
            if (names[0]) {
                status = file_fail(err, 2, "%s is a .npz archive and%s", in->name, names);
                break;
            }
            status = file_fail(err, 2, "%s: %s", in->name, text);
            break;
        }
        if (have < need) {
            status = file_fail(err, 2,
                               "%s ends after %zu byte%s; a .npy header of at least %" PRId64
                               " bytes was expected",
                               in->name, have, file_s((int64_t)have), bad.need);
            break;
        }
        need = (size_t)bad.need;
    }
    in->at = (int64_t)have;
    free(head);
    return status;
}

static int open_path(files_input *in, const char *name, size_t length, files_error *err)
{
    struct stat st;
    char *const path = strndup(name, length); /* without the array's name */
    if (!path) return no_memory(err, in->name, (int64_t)length);
    if (strcmp(path, "-") == 0) {
        in->fd = STDIN_FILENO;
        free(path);
    } else {
        do {
            in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        } while (in->fd < 0 && errno == EINTR);
        const int e = errno;
        free(path);
        errno = e;
        if (in->fd < 0) {
            return file_fail(err, file_blame(errno), "%s cannot be opened: %s", in->name,
                             strerror(errno));
        }
        in->close_fd = true;
    }
    if (fstat(in->fd, &st) != 0) {
        return file_fail(err, file_blame(errno), "%s cannot be read: %s", in->name,
                         strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        return file_fail(err, 2, "%s is a directory; a tensor file was expected", in->name);
    }
    in->dev = st.st_dev;
    in->ino = st.st_ino;
    in->regular = in->close_fd && S_ISREG(st.st_mode);
    return 0;
}

static int wrong_length(const files_input *in, int64_t bytes, files_error *err)
{
    return file_fail(err, 2, "%s has %" PRId64 " byte%s; its header asks for exactly %" PRId64,
                     in->name, bytes, file_s(bytes), in->h.data_offset + in->h.data_bytes);
}

int files_open_as(files_input **out, const char *path, npy_use use, files_error *err)
{
    const char *const shown = file_shown_name(path, "standard input");
    files_input *const in = calloc(1, sizeof *in);
    *out = NULL;
    if (!in) return no_memory(err, shown, (int64_t)sizeof *in);
    in->fd = -1;
    file_cut_name(in->name, shown);
    const char *const hash = npz_hash(path);
    int status = open_path(in, path, hash ? (size_t)(hash - path) : strlen(path), err);
    if (status == 0 && hash) {
        in->regular = false; /* what is unpacked comes in order, as from a pipe */
        status = npz_open(&in->array, in->fd, in->name, hash + 1, err);
    }
    if (status == 0) status = read_header(in, use, err);
    if (status == 0 && in->regular) {
        struct stat st;
        if (fstat(in->fd, &st) != 0) {
            status = read_failed(in, err);
        } else if (st.st_size != in->h.data_offset + in->h.data_bytes) {
            status = wrong_length(in, st.st_size, err);
        }
    }
    if (status != 0) {
        files_close(in);
        return status;
    }
    snprintf(in->format, sizeof in->format, ".npy version %d%s", in->h.version,
             in->array ? " in .npz" : "");
    *out = in;
    return 0;
}

int files_open(files_input **out, const char *path, files_error *err)
{
    return files_open_as(out, path, NPY_NUMBERS, err);
}

void files_close(files_input *in)
{
    if (!in) return;
    npz_close(in->array);
    if (in->close_fd) close(in->fd);
    free(in);
}

const npy_header *files_header(const files_input *in)
{
    return &in->h;
}

const char *files_name(const files_input *in)
{
    return in->name;
}

const char *files_format(const files_input *in)
{
    return in->format;
}

void file_identity(const files_input *in, dev_t *dev, ino_t *ino)
{
    *dev = in->dev;
    *ino = in->ino;
}

/* ---- reading ----------------------------------------------------------------------------------- */

files_slice files_slice_all(const files_input *in)
{
    files_slice s = {{0}, {0}};
    for (int32_t a = 0; a < in->h.rank && a < 4; a++) s.count[a] = in->h.dim[a];
    return s;
}

/* A part of the file, in C order, that is one run of elements: `split` is the axis along which a
 * run may be cut short; all axes after it are whole. */
typedef struct plan {
    int32_t split;
    int64_t run;  /* elements of one run */
    int64_t runs; /* how many */
    int64_t elems;
} plan;

static plan make_plan(const npy_header *h, const files_slice *s)
{
    plan p = {h->rank > 0 ? h->rank - 1 : 0, 1, 1, 1};
    for (int32_t a = h->rank - 1; a > 0; a--) {
        if (s->count[a] != h->dim[a]) break;
        p.split = a - 1;
    }
    for (int32_t a = 0; a < h->rank; a++) {
        p.elems *= s->count[a]; /* a part of a product that fits */
        *(a < p.split ? &p.runs : &p.run) *= s->count[a];
    }
    return p;
}

/* First element of run number i in the file. */
static int64_t run_start(const npy_header *h, const files_slice *s, const plan *p, int64_t i)
{
    int64_t start = 0, at[4] = {0};
    for (int32_t a = p->split - 1; a >= 0; a--) {
        at[a] = i % s->count[a];
        i /= s->count[a];
    }
    for (int32_t a = 0; a < h->rank; a++) start = start * h->dim[a] + s->begin[a] + at[a];
    return start;
}

static bool native(const npy_header *h)
{
    return h->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) &&
           convert_type(h->type) == h->type;
}

static bool mappable(const files_input *in, const plan *p, int64_t above)
{
    return in->regular && !in->h.fortran && native(&in->h) && p->runs == 1 &&
           p->elems * in->h.elem_bytes > above;
}

/* In memory; 16-bit types double there, so a product that fits in a file may not fit here. */
static int64_t part_bytes(const npy_header *h, const plan *p)
{
    const int64_t each = convert_bytes(convert_type(h->type));
    return p->elems > INT64_MAX / each ? INT64_MAX : p->elems * each;
}

int64_t files_read_bytes(const files_input *in, const files_slice *slice)
{
    const plan p = make_plan(&in->h, slice);
    return mappable(in, &p, FILE_MAP_ABOVE) ? 0 : part_bytes(&in->h, &p);
}

/* n bytes that must be there, at a position of the file. */
static int read_exactly(files_input *in, void *to, int64_t n, int64_t at, files_error *err)
{
    const ssize_t got = take(in, to, (size_t)n, at);
    if (got < 0) return read_failed(in, err);
    in->at = at + got;
    if (got == n) return 0;
    if (!in->regular) return wrong_length(in, in->at, err);
    return file_fail(err, 1,
                     "%s changed while it was read: it ended at byte %" PRId64 " of %" PRId64,
                     in->name, in->at, in->h.data_offset + in->h.data_bytes);
}

/* Brings a stream to that byte. */
static int skip_to(files_input *in, int64_t at, files_error *err)
{
    char scrap[4096];
    while (!in->regular && in->at < at) {
        const int64_t left = at - in->at;
        const int64_t n = left < (int64_t)sizeof scrap ? left : (int64_t)sizeof scrap;
        const int status = read_exactly(in, scrap, n, in->at, err);
        if (status != 0) return status;
    }
    return 0;
}

/* The end of a stream: all of it, and not a byte more. */
static int finish_stream(files_input *in, files_error *err)
{
    const int64_t end = in->h.data_offset + in->h.data_bytes;
    char one;
    if (in->regular) return 0;
    const int status = skip_to(in, end, err);
    if (status != 0) return status;
    const ssize_t got = take(in, &one, 1, -1);
    if (got < 0) return read_failed(in, err);
    if (got == 0) return 0;
    return file_fail(err, 2, "%s has more than %" PRId64 " bytes; its header asks for exactly that",
                     in->name, end);
}

int files_skip(files_input *in, files_error *err)
{
    return finish_stream(in, err);
}

/* C order: run after run, straight into place where the form allows. */
static int read_runs(files_input *in, const files_slice *s, const plan *p, unsigned char *to,
                     files_error *err)
{
    const npy_header *const h = &in->h;
    const int64_t out_bytes = convert_bytes(convert_type(h->type));
    const bool grows = convert_type(h->type) != h->type;
    unsigned char *const piece = grows ? files_alloc(PIECE) : NULL;
    int status = 0;
    if (grows && !piece) return no_memory(err, in->name, PIECE);
    for (int64_t i = 0; i < p->runs && status == 0; i++) {
        int64_t start = run_start(h, s, p, i), left = p->run;
        status = skip_to(in, h->data_offset + start * h->elem_bytes, err);
        while (left > 0 && status == 0) {
            const int64_t most = PIECE / h->elem_bytes;
            const int64_t n = left < most ? left : most;
            unsigned char *const at = piece ? piece : to;
            status = read_exactly(in, at, n * h->elem_bytes, h->data_offset + start * h->elem_bytes,
                                  err);
            if (status == 0 && !native(h)) convert_elements(to, at, n, h->type, h->big_endian);
            to += n * out_bytes;
            start += n;
            left -= n;
        }
    }
    free(piece);
    return status;
}

/* Fortran order: the whole file goes by, what is wanted is put into its place. */
static int read_scattered(files_input *in, const files_slice *s, unsigned char *to,
                          files_error *err)
{
    const npy_header *const h = &in->h;
    convert_window w;
    unsigned char *const piece = files_alloc(PIECE);
    int status = 0;
    if (!piece) return no_memory(err, in->name, PIECE);
    w.rank = h->rank;
    for (int32_t a = 0; a < h->rank; a++) {
        w.begin[a] = s->begin[a];
        w.count[a] = s->count[a];
    }
    for (int64_t first = 0; first < h->elems && status == 0;) {
        const int64_t most = PIECE / h->elem_bytes;
        const int64_t n = h->elems - first < most ? h->elems - first : most;
        status =
            read_exactly(in, piece, n * h->elem_bytes, h->data_offset + first * h->elem_bytes, err);
        if (status == 0) convert_piece(to, &w, h, first, n, piece);
        first += n;
    }
    free(piece);
    return status;
}

/* True when the part could be mapped; else it is read as any other. */
static bool map_part(files_input *in, const files_slice *s, const plan *p, files_tensor *t)
{
    char sentence[FILE_NAME_SHOWN + 64];
    const npy_header *const h = &in->h;
    const int64_t begin = h->data_offset + run_start(h, s, p, 0) * h->elem_bytes;
    const int64_t lead = begin % (int64_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = (size_t)(lead + p->elems * h->elem_bytes);
    char *const m = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, in->fd, (off_t)(begin - lead));
    if (m == MAP_FAILED) return false;
    snprintf(sentence, sizeof sentence, "%s changed while it was read", in->name);
    if (file_mapping_add(m, bytes, sentence) < 0) {
        munmap(m, bytes);
        return false;
    }
    t->mapped = true;
    t->owned = m;
    t->owned_bytes = bytes;
    t->data = m + lead;
    return true;
}

int file_read_above(files_input *in, const files_slice *slice, files_tensor *t, int64_t map_above,
                    files_error *err)
{
    const npy_header *const h = &in->h;
    *t = (files_tensor){.type = convert_type(h->type), .rank = h->rank};
    if (h->rank > 4) {
        return file_fail(err, 2, "%s has %d dimensions; at most 4 are accepted", in->name, h->rank);
    }
    for (int32_t a = 0; a < h->rank; a++) t->dim[a] = slice->count[a];
    const plan p = make_plan(h, slice);
    if (mappable(in, &p, map_above) && map_part(in, slice, &p, t)) return 0;

    const int64_t bytes = part_bytes(h, &p);
    t->owned = files_alloc(bytes);
    if (!t->owned) return no_memory(err, in->name, bytes);
    t->owned_bytes = (size_t)bytes;
    t->data = t->owned;
    int status = 0;
    if (p.elems > 0) {
        status = h->fortran ? read_scattered(in, slice, t->owned, err)
                            : read_runs(in, slice, &p, t->owned, err);
    }
    if (status == 0) status = finish_stream(in, err);
    if (status != 0) files_tensor_free(t);
    return status;
}

int files_read(files_input *in, const files_slice *slice, files_tensor *t, files_error *err)
{
    return file_read_above(in, slice, t, FILE_MAP_ABOVE, err);
}

void files_tensor_free(files_tensor *t)
{
    if (t->mapped) {
        file_mapping_drop(t->owned);
        munmap(t->owned, t->owned_bytes);
    } else {
        free(t->owned);
    }
    *t = (files_tensor){0};
}
