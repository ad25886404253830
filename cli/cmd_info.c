/* SPDX-License-Identifier: MIT */
/* cmd_info.c - `qkv info FILE`: what a tensor file holds, from its header, and whether all of its
 * data is there. Nothing is computed and no data is kept.
 */
#include "cli/qkv_files.h"

#include <inttypes.h>
#include <string.h>

static int info(const cli_args *args)
{
    files_input *in = NULL;
    files_error err;
    char shape[800];
    cli_files_signals("info");
    if (files_open(&in, args->operand, &err) != 0) return cli_files_error(&err);
    if (files_skip(in, &err) != 0) {
        files_close(in);
        return cli_files_error(&err);
    }
    const npy_header *const h = files_header(in);
    cli_shape_text(shape, sizeof shape, h->dim, h->rank);
    printf("file: ");
    cli_put_text(stdout, files_name(in), strlen(files_name(in)), 0);
    printf("\nformat: %s\n", files_format(in));
    printf("type: %s%s\n", cli_type_name(h->type),
           h->type == NPY_B1 ? ""
           : h->big_endian   ? ", big-endian"
                             : ", little-endian");
    printf("shape: %s\n", shape);
    printf("order: %s\n", h->fortran ? "Fortran (the first axis varies fastest)"
                                     : "C (the last axis varies fastest)");
    printf("elements: %" PRId64 "\n", h->elems);
    printf("data: %" PRId64 " byte%s from byte %" PRId64 "\n", h->data_bytes, cli_s(h->data_bytes),
           h->data_offset);
    files_close(in);
    return CLI_DONE;
}

const cli_command cli_command_info = {
    .name = "info",
    .summary = "say what a tensor file holds",
    .about = "Prints format, type, shape and size of a .npy file (versions 1, 2 and 3). A file "
             "whose data is not complete, or that `qkv run` could not read, is refused with the "
             "reason.",
    .operand = "FILE",
    .options = (const cli_option *const[]){NULL},
    .examples = (const char *const[]){"qkv info Q.npy", "what Q.npy holds", "qkv info - < Q.npy",
                                      "the same from standard input", NULL},
    .run = info,
};
