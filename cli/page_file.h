/* SPDX-License-Identifier: MIT */
/* page_file.h - the lesson's page as a file: where the installed one lies, and a copy of it that may
 * open on numbers of the reader's own.
 *
 * The page is data beside the command (share/qkv/qkv.html), so that building the command needs no
 * compiler for wasm. Its data block stands empty; a copy's holds what its page shall open on.
 */
#ifndef QKV_CLI_PAGE_FILE_H
#define QKV_CLI_PAGE_FILE_H

#include "cli/cli.h"

/* Writes the page to path. data: JSON for its data block, bytes long, written by our own code with
 * every < escaped; NULL leaves the block as it is. clobber: an existing file may be replaced. An exit
 * code, the message already printed. */
int cli_page_write(const char *path, const char *data, size_t bytes, bool clobber);

#endif /* QKV_CLI_PAGE_FILE_H */
