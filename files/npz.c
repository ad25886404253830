/* SPDX-License-Identifier: MIT */
/* npz.c - see npz.h. Zip archives are libzip's business: its checks of lengths and of the sum over the
 * bytes hold here. A build without libzip says so.
 */
#include "files/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *npz_hash(const char *path)
{
    static const char mark[] = ".npz#";
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, mark)) != NULL; at++) found = at;
    return found && found[sizeof mark - 1] ? found + sizeof mark - 2 : NULL;
}

#ifdef FILES_WITH_ZIP

#include <zip.h>

struct npz_array {
    zip_t *zip;
    zip_file_t *file;
};

/* The archive, on a descriptor of its own; NULL: *why says what was wrong. */
static zip_t *open_archive(int archive, char *why, size_t size)
{
    int code = 0;
    const int own = dup(archive);
    zip_t *const zip = own < 0 ? NULL : zip_fdopen(own, 0, &code);
    if (zip) return zip;
    if (own >= 0) close(own);
    zip_error_t e;
    zip_error_init_with_code(&e, code);
    snprintf(why, size, "%s", zip_error_strerror(&e));
    zip_error_fini(&e);
    return NULL;
}

/* The first names, without ".npy", cut at size. */
static void list_names(char *text, size_t size, zip_t *zip)
{
    const zip_int64_t n = zip_get_num_entries(zip, 0);
    size_t used = 0;
    text[0] = 0;
    for (zip_int64_t i = 0; i < n && used < size; i++) {
        const char *const name = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (!name) continue;
        const size_t length = strlen(name);
        const size_t kept =
            length > 4 && strcmp(name + length - 4, ".npy") == 0 ? length - 4 : length;
        if (i == 8) {
            used += (size_t)snprintf(text + used, size - used, " ... (%lld in all)", (long long)n);
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", i > 0 ? ", " : "",
                                 kept > 40 ? 40 : (int)kept, name);
    }
    if (n == 0) snprintf(text, size, "nothing");
}

/* Place of NAME.npy, or of NAME as it is; -1: not there. */
static zip_int64_t find(zip_t *zip, const char *name)
{
    char member[FILE_NAME_SHOWN];
    const int n = snprintf(member, sizeof member, "%s.npy", name);
    const zip_int64_t at = n < (int)sizeof member ? zip_name_locate(zip, member, 0) : -1;
    return at >= 0 ? at : zip_name_locate(zip, name, 0);
}

int npz_open(npz_array **array, int archive, const char *shown, const char *name, files_error *err)
{
    char text[512];
    *array = NULL;
    zip_t *const zip = open_archive(archive, text, sizeof text);
    if (!zip) return file_fail(err, 2, "%s cannot be read as a .npz archive: %s", shown, text);
    const zip_int64_t at = find(zip, name);
    if (at < 0) {
        list_names(text, sizeof text, zip);
        zip_discard(zip);
        return file_fail(err, 2, "%s has no array of that name; it holds %s", shown, text);
    }
    zip_file_t *const file = zip_fopen_index(zip, (zip_uint64_t)at, 0);
    npz_array *const a = malloc(sizeof *a);
    if (!file || !a) {
        const int status =
            file ? file_fail(err, 1, "%s: no memory", shown)
                 : file_fail(err, 2, "%s cannot be read: %s", shown, zip_strerror(zip));
        if (file) zip_fclose(file);
        zip_discard(zip);
        free(a);
        return status;
    }
    *a = (npz_array){zip, file};
    *array = a;
    return 0;
}

ssize_t npz_read(npz_array *array, void *bytes, size_t n, const char **why)
{
    size_t done = 0;
    while (done < n) {
        const zip_int64_t got = zip_fread(array->file, (char *)bytes + done, n - done);
        if (got < 0) {
            *why = zip_file_strerror(array->file);
            return -1;
        }
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

void npz_close(npz_array *array)
{
    if (!array) return;
    zip_fclose(array->file);
    zip_discard(array->zip);
    free(array);
}

void npz_names(char *text, size_t size, int archive)
{
    char names[400];
    text[0] = 0;
    zip_t *const zip = open_archive(archive, names, sizeof names);
    if (!zip) return;
    list_names(names, sizeof names, zip);
    snprintf(text, size, " holds %s; name one with # behind the file's name", names);
    zip_discard(zip);
}

#else

int npz_open(npz_array **array, int archive, const char *shown, const char *name, files_error *err)
{
    (void)archive;
    (void)name;
    *array = NULL;
    return file_fail(err, 2, "%s cannot be read: this build has no libzip, which .npz needs",
                     shown);
}

ssize_t npz_read(npz_array *array, void *bytes, size_t n, const char **why)
{
    (void)array;
    (void)bytes;
    (void)n;
    *why = "this build has no libzip";
    return -1;
}

void npz_close(npz_array *array)
{
    (void)array;
}

void npz_names(char *text, size_t size, int archive)
{
    (void)archive;
    if (size > 0) text[0] = 0;
}

#endif
