/* SPDX-License-Identifier: MIT */
/* tui_doc.c - a document: lines of styled pieces and the places in them that can have the focus;
 * and the pool that its text lives in.
 *
 * Text that comes in is harmless and goes into the pool; nothing is freed one by one. A piece never
 * reaches beyond the document's width: it is cut at a whole character.
 */
#include "cli/tui.h"

#include <stdlib.h>
#include <string.h>

/* ---- the pool -------------------------------------------------------------------------------- */

struct tui_chunk {
    struct tui_chunk *next;
    size_t size, used;
    char *bytes;
};

enum { CHUNK_BYTES = 1 << 18 };

static struct tui_chunk *new_chunk(size_t bytes)
{
    const size_t size = bytes > CHUNK_BYTES ? (bytes + 63) / 64 * 64 : CHUNK_BYTES;
    struct tui_chunk *const chunk = malloc(sizeof *chunk);
    char *const room = chunk ? aligned_alloc(64, size) : NULL;
    if (!room) {
        free(chunk);
        return NULL;
    }
    *chunk = (struct tui_chunk){.size = size, .bytes = room};
    return chunk;
}

static void *take(void *ctx, size_t bytes)
{
    tui_pool *const pool = ctx;
    if (bytes > SIZE_MAX / 2) {
        pool->lost = true;
        return NULL;
    }
    if (!pool->chunks || pool->chunks->size - pool->chunks->used < bytes) {
        struct tui_chunk *const chunk = new_chunk(bytes);
        if (!chunk) {
            pool->lost = true;
            return NULL;
        }
        chunk->next = pool->chunks;
        pool->chunks = chunk;
    }
    struct tui_chunk *const chunk = pool->chunks;
    char *const p = chunk->bytes + chunk->used;
    const size_t rounded = (bytes + 63) / 64 * 64;
    chunk->used = rounded > chunk->size - chunk->used ? chunk->size : chunk->used + rounded;
    return p;
}

void tui_pool_start(tui_pool *pool)
{
    *pool = (tui_pool){.chunks = NULL, .memory = {take, pool}};
}

void tui_pool_empty(tui_pool *pool)
{
    pool->lost = false;
    while (pool->chunks) {
        struct tui_chunk *const next = pool->chunks->next;
        free(pool->chunks->bytes);
        free(pool->chunks);
        pool->chunks = next;
    }
}

/* ---- the document ---------------------------------------------------------------------------- */

/* Room for one more entry of `each` bytes; the old array stays in the pool. */
static bool grow(tui_doc *doc, void **array, int32_t count, int32_t *room, size_t each)
{
    if (count < *room) return true;
    const int32_t wanted = *room ? 2 * *room : 256;
    void *const more = take(doc->pool, (size_t)wanted * each);
    if (!more) {
        doc->no_room = true;
        return false;
    }
    if (count) memcpy(more, *array, (size_t)count * each);
    *array = more;
    *room = wanted;
    return true;
}

static void begin_line(tui_doc *doc)
{
    void *array = doc->line_start;
    if (!grow(doc, &array, doc->line_count, &doc->line_room, sizeof *doc->line_start)) return;
    doc->line_start = array;
    doc->line_start[doc->line_count++] = doc->span_count;
    doc->column = 0;
}

void doc_start(tui_doc *doc, tui_pool *pool, const lesson_face *face, int width)
{
    *doc = (tui_doc){
        .pool = pool, .face = face, .width = width, .figure_first = -1, .figure_last = -1};
    begin_line(doc);
}

/* The bytes of text that fit `columns`. */
static size_t fitting(const char *text, size_t n, int columns, int *used)
{
    size_t i = 0;
    for (*used = 0; i < n;) {
        const size_t len = tui_first_cluster(text + i, n - i);
        const int more = tui_columns(text + i, len);
        if (*used + more > columns) break;
        *used += more;
        i += len;
    }
    return i;
}

static tui_span *put(tui_doc *doc, tui_style style, const char *text, size_t bytes)
{
    int columns = 0;
    const size_t n = fitting(text, bytes, doc->width - doc->column, &columns);
    void *array = doc->spans;
    if (!n || !grow(doc, &array, doc->span_count, &doc->span_room, sizeof *doc->spans)) return NULL;
    doc->spans = array;
    char *const copy = take(doc->pool, n + 1);
    if (!copy) {
        doc->no_room = true;
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = 0;
    tui_span *const span = &doc->spans[doc->span_count++];
    *span = (tui_span){.text = copy,
                       .bytes = (int32_t)n,
                       .column = doc->column,
                       .columns = columns,
                       .target = TUI_NO_TARGET,
                       .style = (uint8_t)style};
    doc->column += columns;
    return span;
}

void doc_put_n(tui_doc *doc, tui_style style, const char *text, size_t bytes)
{
    put(doc, style, text, bytes);
}

void doc_put(tui_doc *doc, tui_style style, const char *text)
{
    put(doc, style, text, strlen(text));
}

void doc_target(tui_doc *doc, tui_id id, tui_style style, bool chosen, const char *text)
{
    void *array = doc->targets;
    if (!grow(doc, &array, doc->target_count, &doc->target_room, sizeof *doc->targets)) return;
    doc->targets = array;
    tui_span *const span = put(doc, style, text, strlen(text));
    if (!span) return;
    span->target = doc->target_count;
    span->chosen = chosen;
    doc->targets[doc->target_count++] = (tui_target){
        .id = id, .line = doc->line_count - 1, .column = span->column, .columns = span->columns};
}

void doc_to(tui_doc *doc, int column)
{
    if (column > doc->column) doc->column = column < doc->width ? column : doc->width;
}

void doc_line(tui_doc *doc)
{
    begin_line(doc);
}

/* Is line i without text? */
static bool line_empty(const tui_doc *doc, int32_t i)
{
    const int32_t end = i + 1 < doc->line_count ? doc->line_start[i + 1] : doc->span_count;
    return doc->line_start[i] == end;
}

void doc_gap(tui_doc *doc)
{
    if (!line_empty(doc, doc->line_count - 1)) begin_line(doc);
    if (doc->line_count > 1 && !line_empty(doc, doc->line_count - 2)) begin_line(doc);
}

/* ---- paragraphs ------------------------------------------------------------------------------ */

void para_start(tui_para *para)
{
    para->n = 0;
    para->id = (tui_id){0, 0, 0};
    para->chosen = false;
}

void para_put(tui_para *para, tui_style style, const char *text, size_t bytes)
{
    const size_t room = TUI_PARA_BYTES - para->n;
    const size_t n = bytes < room ? bytes : room;
    memcpy(para->text + para->n, text, n);
    memset(para->style + para->n, (int)style, n);
    para->n += n;
}

void para_marked(tui_para *para, const char *text)
{
    tui_style style = TUI_NORMAL;
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, "\x01\x02");
        para_put(para, style, p, n);
        p += n;
        if (*p == 2) {
            style = TUI_NORMAL;
            p++;
        } else if (*p == 1 && p[1]) {
            style = p[1] == 'q' ? TUI_Q : p[1] == 'k' ? TUI_K : TUI_V;
            p += 2;
        } else if (*p) {
            p++;
        }
    }
}

/* Where the line that begins there ends, by words. */
static size_t line_end(const tui_para *para, size_t begin, int room)
{
    const char *const text = para->text;
    int used = 0;
    size_t end = begin + fitting(text + begin, para->n - begin, room, &used);
    const char *const newline = memchr(text + begin, '\n', end - begin);
    if (newline) return (size_t)(newline - text);
    if (end < para->n && text[end] != ' ' && text[end] != '\n') {
        size_t blank = end;
        while (blank > begin && text[blank - 1] != ' ') blank--;
        if (blank > begin) end = blank;
    }
    return end > begin ? end : begin + tui_first_cluster(text + begin, para->n - begin);
}

/* The bytes of one line, a piece for each style. */
static void put_runs(tui_doc *doc, const tui_para *para, size_t begin, size_t end)
{
    for (size_t i = begin; i < end;) {
        size_t j = i + 1;
        while (j < end && para->style[j] == para->style[i]) j++;
        doc_put_n(doc, (tui_style)para->style[i], para->text + i, j - i);
        i = j;
    }
}

void para_end(tui_doc *doc, const tui_para *para, int indent, int hang)
{
    size_t begin = 0;
    for (int left = indent; begin < para->n; left = hang) {
        doc_to(doc, left);
        const int room = doc->width - doc->column > 8 ? doc->width - doc->column : 8;
        const size_t end = line_end(para, begin, room);
        size_t last = end;
        while (last > begin && para->text[last - 1] == ' ') last--;
        if (begin == 0 && para->id.kind) {
            char first[512];
            snprintf(first, sizeof first, "%.*s", (int)last, para->text);
            doc_target(doc, para->id, (tui_style)para->style[0], para->chosen, first);
        } else {
            put_runs(doc, para, begin, last);
        }
        doc_line(doc);
        for (begin = end; begin < para->n && para->text[begin] == ' ';) begin++;
        if (begin < para->n && para->text[begin] == '\n') begin++;
    }
}

void doc_wrapped(tui_doc *doc, tui_style style, const char *text, int indent, int hang)
{
    tui_para para;
    para_start(&para);
    para_put(&para, style, text, strlen(text));
    para_end(doc, &para, indent, hang);
}

void doc_rule(tui_doc *doc, int columns)
{
    for (int i = 0; i < columns; i++) doc_put(doc, TUI_QUIET, doc->face->utf8 ? "─" : "-");
    doc_line(doc);
}

void doc_copy_line(tui_doc *doc, const tui_doc *from, int32_t i, int column)
{
    if (i >= from->line_count) return;
    const int32_t end = i + 1 < from->line_count ? from->line_start[i + 1] : from->span_count;
    for (int32_t s = from->line_start[i]; s < end; s++) {
        const tui_span *const span = &from->spans[s];
        doc_to(doc, column + span->column);
        doc_put_n(doc, (tui_style)span->style, span->text, (size_t)span->bytes);
    }
}

tui_mark doc_mark(const tui_doc *doc)
{
    return (tui_mark){.line = doc->line_count - 1, .target = doc->target_count};
}

void doc_keep_together(tui_doc *doc, tui_mark from)
{
    for (int32_t i = from.target; i < doc->target_count; i++) {
        if (!tui_same(doc->targets[i].id, doc->wanted)) continue;
        doc->figure_first = from.line;
        doc->figure_last = doc->line_count - 2;
    }
}

bool tui_same(tui_id a, tui_id b)
{
    return a.kind == b.kind && a.row == b.row && a.column == b.column;
}

int32_t doc_find(const tui_doc *doc, tui_id id)
{
    for (int32_t i = 0; i < doc->target_count; i++)
        if (tui_same(doc->targets[i].id, id)) return i;
    return TUI_NO_TARGET;
}
