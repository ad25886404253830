/* SPDX-License-Identifier: MIT */
/* explain_token.c - see explain_token.h. A name that several tokens have is never guessed: the sentence
 * says which ones, and how to name each.
 */
#include "cli/explain_token.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static bool has_name(const lesson_input *in, int64_t i, const char *text, size_t n)
{
    return in->name[i].bytes == n && memcmp(in->name[i].text, text, n) == 0;
}

static int64_t count_name(const lesson_input *in, const char *text, size_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < in->keys; i++) count += has_name(in, i, text, n);
    return count;
}

/* Two tokens of one name: which ones? */
static int refuse_ambiguous(const lesson_input *in, const char *text)
{
    char list[160];
    size_t n = 0;
    const size_t length = strlen(text);
    for (int64_t i = 0; i < in->keys; i++) {
        if (!has_name(in, i, text, length)) continue;
        if (n + 48 > sizeof list) {
            n += (size_t)snprintf(list + n, sizeof list - n, ", ...");
            break;
        }
        n += (size_t)snprintf(list + n, sizeof list - n, "%s@%" PRId64, n ? ", " : "", i);
    }
    return cli_refuse("--token '%s' names %" PRId64
                      " tokens: %s; write one of these, or '%s#0' for "
                      "the first",
                      text, count_name(in, text, length), list, text);
}

/* NAME#N, when no token is called that in full. */
static int find_occurrence(const lesson_input *in, const char *text, int64_t *row)
{
    const char *const sharp = strrchr(text, '#');
    int64_t which = 0;
    if (!sharp || lesson_number_parse_integer(sharp + 1, strlen(sharp + 1), &which) != 0)
        return cli_refuse("--token '%s' names no token; @INDEX chooses one of the %" PRId64
                          " by place, @0 to @%" PRId64,
                          text, in->keys, in->keys - 1);
    const size_t n = (size_t)(sharp - text);
    const int64_t count = count_name(in, text, n);
    if (which < 0 || which >= count) {
        if (count == 0)
            return cli_refuse("--token '%s': no token is called '%.*s'", text, (int)n, text);
        if (count == 1)
            return cli_refuse("--token '%s': only one token is called '%.*s', and that is '%.*s#0'",
                              text, (int)n, text, (int)n, text);
        return cli_refuse("--token '%s': %" PRId64 " tokens are called '%.*s', #0 to #%" PRId64,
                          text, count, (int)n, text, count - 1);
    }
    for (int64_t i = 0; i < in->keys; i++) {
        if (!has_name(in, i, text, n) || which-- > 0) continue;
        *row = i;
        return CLI_DONE;
    }
    return CLI_REFUSED;
}

int cli_explain_token(const lesson_input *in, const char *text, int64_t *row)
{
    if (text[0] == '@') {
        if (lesson_number_parse_integer(text + 1, strlen(text + 1), row) != 0 || *row < 0 ||
            *row >= in->rows)
            return cli_refuse("--token must be @0 to @%" PRId64 " for %" PRId64 " quer%s, not '%s'",
                              in->rows - 1, in->rows, cli_ies(in->rows), text);
        return CLI_DONE;
    }
    if (in->rows != in->keys)
        return cli_refuse("--token '%s': names belong to the %" PRId64 " key%s, not to the %" PRId64
                          " quer%s; choose one with @0 to @%" PRId64,
                          text, in->keys, cli_s(in->keys), in->rows, cli_ies(in->rows),
                          in->rows - 1);
    const size_t n = strlen(text);
    const int64_t count = count_name(in, text, n);
    if (count > 1) return refuse_ambiguous(in, text);
    if (count == 0) return find_occurrence(in, text, row);
    for (int64_t i = 0; i < in->keys; i++)
        if (has_name(in, i, text, n)) *row = i;
    return CLI_DONE;
}
