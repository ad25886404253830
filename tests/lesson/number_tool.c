/* SPDX-License-Identifier: MIT */
/* number_tool.c - the functions of lesson/number.h behind a pipe, for number.py: a request a line,
 * an answer a line. Doubles are passed as the hexadecimal digits of their bits, so nothing is lost.
 *
 *     s BITS         lesson_number_shortest           g BITS32     lesson_number_shortest_f32
 *     f BITS DIGITS  lesson_number_fixed              e BITS DIGITS  lesson_number_scientific
 *     F, E           the same with every flag         p TEXT       lesson_number_parse
 *     i TEXT         lesson_number_parse_integer
 */
#include "lesson/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double from_bits(const char *text, char **end)
{
    const uint64_t bits = strtoull(text, end, 16);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float from_bits32(const char *text)
{
    const uint32_t bits = (uint32_t)strtoul(text, NULL, 16);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void parse(const char *text, size_t n)
{
    double x = 0;
    size_t stop = 0;
    uint64_t bits;
    const lesson_number_status status = lesson_number_parse(text, n, &x, &stop);
    memcpy(&bits, &x, sizeof bits);
    printf("%d %016" PRIx64 " %zu\n", (int)status, bits, stop);
}

static void answer(const char *line, size_t n)
{
    char out[LESSON_NUMBER_BYTES];
    char *end = NULL;
    const char *const arg = line + 2;
    int64_t i = 0;
    switch (line[0]) {
    case 's':
        lesson_number_shortest(out, from_bits(arg, &end));
        break;
    case 'g':
        lesson_number_shortest_f32(out, from_bits32(arg));
        break;
    case 'f':
    case 'F':
    case 'e':
    case 'E': {
        const double x = from_bits(arg, &end);
        const int digits = atoi(end);
        const unsigned flags =
            line[0] < 'a' ? (unsigned)LESSON_MINUS_UNICODE | LESSON_KEEP_INTEGER : 0;
        if (line[0] == 'f' || line[0] == 'F')
            lesson_number_fixed(out, x, digits, flags);
        else
            lesson_number_scientific(out, x, digits, flags);
        break;
    }
    case 'p':
        parse(arg, n - 2);
        return;
    case 'i':
        printf("%d", (int)lesson_number_parse_integer(arg, n - 2, &i));
        printf(" %" PRId64 "\n", i);
        return;
    default:
        strcpy(out, "?");
        break;
    }
    puts(out);
}

int main(void)
{
    static char line[1 << 16];
    while (fgets(line, sizeof line, stdin)) {
        size_t n = strlen(line);
        if (n > 0 && line[n - 1] == '\n') line[--n] = 0;
        if (n >= 2) answer(line, n);
    }
    return 0;
}
