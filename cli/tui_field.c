/* SPDX-License-Identifier: MIT */
/* tui_field.c - one line of typing: what is in it, where its cursor is, and the part of it that is
 * shown.
 *
 * The text is UTF-8 as typed; the cursor stands between user-perceived characters, and Backspace
 * takes a whole one. Controls cannot get in. What is shown goes through the face's filter.
 */
#include "cli/tui.h"

#include <string.h>

void field_open(tui_field *field, const char *text, size_t limit)
{
    field->open = field->fresh = true;
    field->limit = limit < TUI_FIELD_BYTES - 8 ? limit : TUI_FIELD_BYTES - 8;
    field->n = strlen(text);
    if (field->n > field->limit) field->n = field->limit;
    memcpy(field->text, text, field->n);
    field->text[field->n] = 0;
    field->at = field->n;
}

static void remove_bytes(tui_field *field, size_t from, size_t n)
{
    memmove(field->text + from, field->text + from + n, field->n - from - n + 1);
    field->n -= n;
    field->at = from;
}

static size_t encode(char utf8[5], uint32_t c)
{
    size_t n = 0;
    if (c < 0x80) {
        utf8[n++] = (char)c;
    } else if (c < 0x800) {
        utf8[n++] = (char)(0xC0 | c >> 6);
    } else if (c < 0x10000) {
        utf8[n++] = (char)(0xE0 | c >> 12);
        utf8[n++] = (char)(0x80 | (c >> 6 & 63));
    } else {
        utf8[n++] = (char)(0xF0 | c >> 18);
        utf8[n++] = (char)(0x80 | (c >> 12 & 63));
        utf8[n++] = (char)(0x80 | (c >> 6 & 63));
    }
    if (c >= 0x80) utf8[n++] = (char)(0x80 | (c & 63));
    utf8[n] = 0;
    return n;
}

static bool insert(tui_field *field, int key)
{
    if (key < 32 || key == 127 || (key >= 0x80 && key < 0xA0) || key > 0x10FFFF) return false;
    char utf8[5];
    const size_t n = encode(utf8, (uint32_t)key);
    if (field->fresh) field->n = field->at = 0;
    if (field->n + n > field->limit) return true;
    memmove(field->text + field->at + n, field->text + field->at, field->n - field->at);
    memcpy(field->text + field->at, utf8, n);
    field->n += n;
    field->at += n;
    field->text[field->n] = 0;
    return true;
}

static bool move_or_delete(tui_field *field, int key)
{
    const size_t before = tui_last_cluster(field->text, field->at);
    const size_t after = tui_first_cluster(field->text + field->at, field->n - field->at);
    switch (key) {
    case TUI_KEY_LEFT:
        field->at -= before;
        return true;
    case TUI_KEY_RIGHT:
        field->at += after;
        return true;
    case TUI_KEY_HOME:
        field->at = 0;
        return true;
    case TUI_KEY_END:
        field->at = field->n;
        return true;
    case TUI_KEY_BACKSPACE:
        remove_bytes(field, field->at - before, before);
        return true;
    case TUI_KEY_DELETE:
        remove_bytes(field, field->at, after);
        return true;
    case 21:
        remove_bytes(field, 0, field->at);
        return true; /* Ctrl-U */
    default:
        return false;
    }
}

bool field_key(tui_field *field, int key)
{
    const bool taken = move_or_delete(field, key) || insert(field, key);
    if (taken) field->fresh = false;
    return taken;
}

int field_view(const tui_field *field, char *buffer, size_t size, int columns,
               const lesson_face *face)
{
    /* from so far left that the cursor is inside */
    char before[TUI_FIELD_BYTES * 2];
    size_t from = 0;
    int at = face->safe(before, sizeof before, field->text, field->at, 0);
    while (at >= columns && from < field->at) {
        from += tui_first_cluster(field->text + from, field->at - from);
        at = face->safe(before, sizeof before, field->text + from, field->at - from, 0);
    }
    size_t end = from;
    while (end < field->n) {
        const size_t len = tui_first_cluster(field->text + end, field->n - end);
        if (face->safe(before, sizeof before, field->text + from, end + len - from, 0) > columns)
            break;
        end += len;
    }
    face->safe(buffer, size, field->text + from, end - from, 0);
    return at;
}
