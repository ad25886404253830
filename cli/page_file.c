/* SPDX-License-Identifier: MIT */
/* page_file.c - finds and copies the lesson's page. It is looked for beside the command, where
 * `make install` puts it, and where `make page` leaves it in a source tree.
 */
#include "cli/page_file.h"
#include "cli/qkv_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, PAGE_MOST = 16 << 20 };

static const char block[] = "<script type=\"application/json\" id=\"data\">{}</script>";
enum { BLOCK_TAIL = 11 }; /* "{}</script>" */

/* The place of the command itself, without its name; false when the system does not tell. */
static bool own_folder(char *path)
{
    const ssize_t n = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    if (n <= 0) return false;
    path[n] = 0;
    char *const slash = strrchr(path, '/');
    if (slash == NULL) return false;
    *slash = 0;
    return true;
}

static FILE *open_page(void)
{
    static const char *const places[] = {"/../share/qkv/qkv.html", "/../dist/qkv.html"};
    char folder[PATH_BYTES], path[PATH_BYTES + 32];
    if (!own_folder(folder)) return NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        FILE *const f = fopen(path, "rb");
        if (f != NULL) return f;
    }
    return NULL;
}

/* The whole page; NULL after a message. */
static char *read_page(size_t *bytes)
{
    FILE *const f = open_page();
    if (f == NULL) {
        cli_failed("the page is not there: it belongs at ../share/qkv/qkv.html beside the command; "
                   "`make install` puts it there, `make page` makes it");
        return NULL;
    }
    char *const text = malloc(PAGE_MOST);
    *bytes = text != NULL ? fread(text, 1, PAGE_MOST, f) : 0;
    const bool whole = text != NULL && feof(f) && !ferror(f);
    fclose(f);
    if (whole) return text;
    cli_failed("the page could not be read");
    free(text);
    return NULL;
}

static const char *find(const char *text, size_t bytes, const char *what, size_t length)
{
    for (size_t i = 0; i + length <= bytes; i++)
        if (text[i] == what[0] && memcmp(text + i, what, length) == 0) return text + i;
    return NULL;
}

static int write_parts(files_output *out, const char *page, size_t bytes, const char *data,
                       size_t data_bytes, files_error *err)
{
    const size_t length = sizeof block - 1;
    const char *const at = data != NULL ? find(page, bytes, block, length) : NULL;
    if (at == NULL) return files_write(out, page, bytes, err);
    const size_t before = (size_t)(at - page) + length - BLOCK_TAIL;
    int bad = files_write(out, page, before, err);
    if (!bad) bad = files_write(out, data, data_bytes, err);
    if (!bad) bad = files_write(out, page + before + 2, bytes - before - 2, err);
    return bad;
}

int cli_page_write(const char *path, const char *data, size_t bytes, bool clobber)
{
    files_output *out = NULL;
    files_error err;
    size_t page_bytes = 0;
    char *const page = read_page(&page_bytes);
    if (page == NULL) return CLI_FAILED;
    int bad = 0;
    if (data != NULL && find(page, page_bytes, block, sizeof block - 1) == NULL) {
        free(page);
        return cli_failed("the page has no empty data block: it belongs to another version");
    }
    bad = files_create(&out, path, clobber ? 0 : FILES_NO_CLOBBER, &err);
    if (!bad) bad = write_parts(out, page, page_bytes, data, bytes, &err);
    if (!bad) {
        bad = files_commit(&out, 1, &err);
        out = NULL;
    }
    files_discard(out);
    free(page);
    return bad ? cli_files_error(&err) : CLI_DONE;
}
