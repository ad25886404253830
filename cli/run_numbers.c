/* SPDX-License-Identifier: MIT */
/* run_numbers.c - see run_numbers.h. What begins as a number does, and holds nothing else or a comma, is
 * a list; all other text is the name of a file (./3 is one, too).
 */
#include "cli/run_numbers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t cli_pieces(const char *text)
{
    int64_t n = 1;
    for (const char *p = text; *p; p++) n += *p == ',';
    return n;
}

void cli_piece(char out[64], const char *text, int64_t i)
{
    for (; i > 0; i--) text = strchr(text, ',') + 1;
    const size_t n = strcspn(text, ",");
    if (n < 64)
        snprintf(out, 64, "%.*s", (int)n, text);
    else
        snprintf(out, 64, "%.60s\xe2\x80\xa6", text);
}

static bool is_list(const char *text)
{
    const char *const digits = text + (*text == '-' || *text == '+');
    if (*digits < '0' || *digits > '9') return false;
    return strchr(text, ',') || digits[strspn(digits, "0123456789")] == 0;
}

static int no_memory(const cli_option *option)
{
    return cli_failed("no memory for the numbers of --%s", option->name);
}

static int read_list(cli_numbers *list, const cli_option *option, const char *text)
{
    list->n = cli_pieces(text);
    list->x = malloc((size_t)list->n * sizeof *list->x);
    if (!list->x) return no_memory(option);
    for (int64_t i = 0; i < list->n; i++) {
        char word[64];
        cli_piece(word, text, i);
        if (!cli_parse_int(word, list->x + i))
            return cli_refuse("--%s has '%s' as number %" PRId64
                              "; integers with commas between them are needed",
                              option->name, word, i);
    }
    return CLI_DONE;
}

static int read_file(cli_numbers *list, const cli_option *option, const char *path)
{
    files_error err;
    files_tensor t;
    if (files_open_as(&list->file, path, NPY_INTEGERS, &err) != 0) return cli_files_error(&err);
    const npy_header *const h = files_header(list->file);
    if (h->rank > 1)
        return cli_refuse("%s has rank %d; --%s needs a list, rank 1", files_name(list->file),
                          h->rank, option->name);
    const files_slice all = files_slice_all(list->file);
    if (files_read(list->file, &all, &t, &err) != 0) return cli_files_error(&err);
    list->n = h->elems;
    list->x = files_alloc(list->n * (int64_t)sizeof *list->x);
    if (list->x) memcpy(list->x, t.data, (size_t)list->n * sizeof *list->x);
    files_tensor_free(&t);
    return list->x ? CLI_DONE : no_memory(option);
}

int cli_numbers_read(cli_numbers *list, const cli_option *option, const char *text)
{
    if (text[0] == 0)
        return cli_refuse("--%s is empty; integers with commas between them, or a file, are needed",
                          option->name);
    return is_list(text) ? read_list(list, option, text) : read_file(list, option, text);
}

void cli_numbers_close(cli_numbers *list)
{
    files_close(list->file);
    free(list->x);
    *list = (cli_numbers){0};
}
