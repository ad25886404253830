/* SPDX-License-Identifier: MIT */
/* tokens.c - token names from a JSON array of strings. The file is read whole (names are short) and
 * walked twice: once to count and check, once to decode; all names lie in one block.
 */
#include "files/file_io.h"
#include "files/parse/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKENS_MAX (64 << 20) /* bytes of the file */

typedef struct bytes {
    unsigned char *p;
    size_t n;
} bytes;

static int read_all(bytes *b, int fd, const char *name, files_error *err)
{
    size_t room = 1 << 16;
    b->p = NULL;
    b->n = 0;
    for (;;) {
        unsigned char *const longer = realloc(b->p, room);
        if (!longer) return file_fail(err, 1, "%s: no memory for %zu bytes", name, room);
        b->p = longer;
        const ssize_t got = file_read_full(fd, b->p + b->n, room - b->n, -1);
        if (got < 0) {
            return file_fail(err, file_blame(errno), "%s cannot be read: %s", name,
                             strerror(errno));
        }
        b->n += (size_t)got;
        if (b->n < room) return 0;
        if (room > TOKENS_MAX) {
            return file_fail(err, 2, "%s has more than %d bytes; token files may not be longer",
                             name, TOKENS_MAX);
        }
        room *= 2;
    }
}

static int bad_json(const json_reader *r, const char *name, files_error *err)
{
    return file_fail(err, 2,
                     "%s: byte %zu of the JSON text is %s; an array of strings was expected", name,
                     r->at, r->error);
}

static const char *event_name(json_event event)
{
    switch (event) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_NUMBER:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    case JSON_ERROR:
    case JSON_END:
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_KEY:
        break;
    }
    return "something else";
}

/* Counts the names and the bytes that they take, zeros included. */
static int count(const bytes *b, const char *name, int64_t *names, size_t *text, files_error *err)
{
    json_reader r;
    json_begin(&r, b->p, b->n);
    *names = 0;
    *text = 0;
    const json_event first = json_next(&r);
    if (first == JSON_ERROR) return bad_json(&r, name, err);
    if (first != JSON_ARRAY) {
        return file_fail(err, 2, "%s holds %s; an array of strings was expected", name,
                         event_name(first));
    }
    for (;;) {
        const json_event event = json_next(&r);
        if (event == JSON_ARRAY_END) break;
        if (event == JSON_ERROR) return bad_json(&r, name, err);
        if (event != JSON_STRING) {
            return file_fail(err, 2, "%s: element %" PRId64 " is %s; a string was expected", name,
                             *names, event_name(event));
        }
        *text += json_string(&r, NULL, 0) + 1;
        ++*names;
    }
    return json_next(&r) == JSON_END ? 0 : bad_json(&r, name, err);
}

static int decode(const bytes *b, const char *name, files_tokens *tokens, files_error *err)
{
    int64_t names = 0;
    size_t text = 0;
    const int status = count(b, name, &names, &text, err);
    if (status != 0) return status;
    /* one block: pointers, lengths, text */
    const size_t table = (size_t)names * (sizeof(char *) + sizeof(size_t));
    char *const block = malloc(table + text + 1);
    if (!block) return file_fail(err, 1, "%s: no memory for %zu bytes", name, table + text + 1);
    tokens->count = names;
    tokens->name = (char **)(void *)block;
    tokens->length = (size_t *)(void *)(block + (size_t)names * sizeof(char *));
    char *to = block + table;

    json_reader r;
    json_begin(&r, b->p, b->n);
    json_next(&r);
    for (int64_t i = 0; i < names; i++) {
        json_next(&r);
        tokens->name[i] = to;
        tokens->length[i] = json_string(&r, to, (size_t)(block + table + text + 1 - to));
        to += tokens->length[i] + 1;
    }
    return 0;
}

int files_tokens_read(files_tokens *tokens, const char *path, files_error *err)
{
    const bool dash = strcmp(path, "-") == 0;
    const char *const shown = file_shown_name(path, "standard input");
    char name[FILE_NAME_SHOWN + 8];
    file_cut_name(name, shown);
    *tokens = (files_tokens){0};
    const int fd = dash ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        const int e = errno;
        if (fd > 0) close(fd);
        return file_fail(err, file_blame(e), "%s cannot be opened: %s", name, strerror(e));
    }
    bytes b = {NULL, 0};
    int status = S_ISDIR(st.st_mode)
                     ? file_fail(err, 2, "%s is a directory; a JSON file was expected", name)
                     : read_all(&b, fd, name, err);
    if (status == 0) status = decode(&b, name, tokens, err);
    free(b.p);
    if (!dash) close(fd);
    return status;
}

void files_tokens_free(files_tokens *tokens)
{
    free(tokens->name);
    *tokens = (files_tokens){0};
}
