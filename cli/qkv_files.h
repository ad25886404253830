/* SPDX-License-Identifier: MIT */
/* qkv_files.h - the three tensor files of a command line as one checked thing: they exist, they fit
 * each other, and --head and --batch have chosen a part that exists. Messages name the files.
 *
 * What is refused here is never seen by the library; what the library refuses beyond (a scale, an
 * offset) does not depend on files.
 */
#ifndef QKV_CLI_QKV_FILES_H
#define QKV_CLI_QKV_FILES_H

#include "cli/cli.h"
#include "files/files.h"

enum { CLI_Q, CLI_K, CLI_V };

typedef struct cli_qkv {
    files_input *file[3];
    files_slice slice[3];           /* the part that --head and --batch chose */
    files_tensor tensor[3];         /* after cli_qkv_read() */
    int32_t rank;                   /* 2, 3 or 4, of all three */
    int32_t dtype;                  /* QKV_F32 or QKV_F64: what will be computed in */
    int64_t head, entry;            /* those that were chosen; -1: all */
    int64_t all_heads, all_entries; /* of the queries' file */
    int64_t batch, heads, kv_heads, queries, keys, d, d_v; /* of that part */
    qkv_shape q, k, v, out;                                /* dense, of that part */
    int64_t out_dim[4]; /* in the files' rank; the first rank - 1 are lse's */
} cli_qkv;

/* Opens and checks; reads no data. path: of q, k, v. head and batch: -1 for all. An exit code, the
 * message already printed. cli_qkv_close() in any case. */
int cli_qkv_open(cli_qkv *t, const char *const path[3], int64_t head, int64_t batch);
/* The same; NPY_WORDS: files of 16-bit unsigned integers hold bfloat16. */
int cli_qkv_open_as(cli_qkv *t, const char *const path[3], int64_t head, int64_t batch,
                    npy_use use);
/* Of an axis that has more than one entry, counted from the end, only the one that is chosen; at -1: all. */
void cli_slice_choose(files_slice *s, int32_t rank, int from_end, int64_t at);
/* Bytes of memory the data of all three will take. */
uint64_t cli_qkv_bytes(const cli_qkv *t);
int cli_qkv_read(cli_qkv *t);
void cli_qkv_close(cli_qkv *t);

/* Prints err's sentence; returns its exit code. */
int cli_files_error(const files_error *err);
/* Makes signals remove temporary files; once, at the start of a command that opens files. */
void cli_files_signals(const char *command);
/* "(13, 32)" or "(5,)": cut at size. */
void cli_shape_text(char *text, size_t size, const int64_t *dim, int32_t rank);
/* "float32" and so on, for an npy_type. */
const char *cli_type_name(int32_t type);

#endif /* QKV_CLI_QKV_FILES_H */
