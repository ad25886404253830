/* SPDX-License-Identifier: MIT */
/* files.h - tensors and token lists from files, pipes and standard input; results to files, pipes,
 * devices and standard output. For the command only; knows nothing of attention.
 *
 * Every function that can fail returns 0, or the command's exit status (1: the work failed, 2: the
 * input was refused) with one sentence in *err that names the file, the value and the bound. Text
 * from outside stands in it raw, on one line: it is the printer's duty to make it safe.
 * No output exists under its own name before files_commit().
 */
#ifndef FILES_FILES_H
#define FILES_FILES_H

#include "files/parse/npy.h"

#include <stdbool.h>

typedef struct files_error {
    int32_t exit_status;
    char text[1024]; /* without program name, without newline */
} files_error;

/* ---- signals -------------------------------------------------------------------------------- */

/* SIGINT, SIGTERM, SIGHUP remove temporary files and exit 128 + n (those that were ignored stay
 * ignored); SIGPIPE ends the command quietly; SIGBUS in a mapped file says that it changed while it
 * was read and exits 1. line turns a raw sentence into the whole safe line to print, newline
 * included. Once, from main(); reading and writing work without it. */
void files_signals(void (*line)(char *out, size_t size, const char *sentence));

/* ---- memory --------------------------------------------------------------------------------- */

/* 64-aligned, zero bytes give a valid pointer; NULL when there is no memory. Huge pages are asked for
 * from 4 MiB on. free() releases. */
void *files_alloc(int64_t bytes);

/* ---- reading tensors ------------------------------------------------------------------------ */

typedef struct files_input files_input; /* open, header read and parsed, data not read */

/* path "-" is standard input, "FILE.npz#NAME" an array of a .npz file. A regular file must be exactly as long as its header says. */
int files_open(files_input **in, const char *path, files_error *err);
/* The same for a file of which something else is wanted. */
int files_open_as(files_input **in, const char *path, npy_use use, files_error *err);
void files_close(files_input *in); /* NULL is fine; tensors that were read stay */

const npy_header *files_header(const files_input *in);
const char *files_name(const files_input *in);   /* to print, raw: "standard input" for "-" */
const char *files_format(const files_input *in); /* ".npy version 1" */

/* The part that is wanted, by axis; everything to start with. rank <= 4. */
typedef struct files_slice {
    int64_t begin[4], count[4];
} files_slice;

files_slice files_slice_all(const files_input *in);

/* Bytes of memory files_read() will take for that slice (a mapped file takes none). */
int64_t files_read_bytes(const files_input *in, const files_slice *slice);

typedef struct files_tensor {
    int32_t type; /* NPY_F4 (also from files of 16-bit types), NPY_F8, NPY_B1; NPY_I8, NPY_U1 */
    int32_t rank;
    int64_t dim[4];   /* of the slice */
    const void *data; /* dense, C order, the machine's byte order; any alignment; never NULL */
    void *owned;      /* private, as the rest */
    size_t owned_bytes;
    bool mapped;
} files_tensor;

/* Reads data once; of a pipe, all of it, to its end. *t needs files_tensor_free(). */
int files_read(files_input *in, const files_slice *slice, files_tensor *t, files_error *err);
void files_tensor_free(files_tensor *t);

/* For a pipe or a regular file whose data nobody needs: is all of it there, and nothing more? */
int files_skip(files_input *in, files_error *err);

/* ---- reading token names ---------------------------------------------------------------------- */

typedef struct files_tokens {
    int64_t count;
    char **name;    /* UTF-8 (checked), ended by 0; may hold any other character */
    size_t *length; /* bytes; a name with \u0000 is longer than strlen says */
} files_tokens;

/* A JSON array of strings, at most 64 MiB; path "-" is standard input. */
int files_tokens_read(files_tokens *tokens, const char *path, files_error *err);
void files_tokens_free(files_tokens *tokens);

/* ---- writing ---------------------------------------------------------------------------------- */

typedef struct files_output files_output;

enum { FILES_NO_CLOBBER = 1 }; /* refuse an existing regular file */

/* Finds out where path leads (symlinks followed) and opens it: a temporary file beside the target,
 * or the device or pipe itself; "-" is standard output (a terminal is refused: the data is binary).
 * Does not touch an existing file. */
int files_create(files_output **out, const char *path, int flags, files_error *err);

/* Refuse when an output is the same file as an input, or as another output (device and inode).
 * option is how the caller calls it: "-o". Character devices, such as /dev/null, may meet. */
int files_apart_input(const files_output *out, const char *option, const files_input *in,
                      const char *in_option, files_error *err);
int files_apart_output(const files_output *a, const char *a_option, const files_output *b,
                       const char *b_option, files_error *err);

int files_write(files_output *out, const void *bytes, size_t n, files_error *err);
/* A whole .npy file: little-endian, C order, from dense data of that type in the machine's byte order
 * (bool: a byte each, 0 or 1). */
int files_write_npy(files_output *out, int32_t type, int32_t rank, const int64_t *dim,
                    const void *data, files_error *err);

/* Syncs all, then gives all their names, then frees them. On failure nothing appears that was not
 * there before the first rename, and they are discarded. NULL entries are skipped. */
int files_commit(files_output **outs, int n, files_error *err);
void files_discard(files_output *out); /* removes the temporary; NULL is fine */

#endif /* FILES_FILES_H */
