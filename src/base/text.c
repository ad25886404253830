/* SPDX-License-Identifier: MIT */
/* text.c - see text.h. Real numbers are for people (error sentences, describe): the last of the six
 * digits may be off by one; nothing computes with them.
 */
#include "base/text.h"

static void add_char(qkvi_text *t, char c)
{
    if (t->len + 1 < t->size) {
        t->at[t->len] = c;
        t->at[t->len + 1] = 0;
    }
    t->len++;
}

void qkvi_text_add(qkvi_text *t, const char *s)
{
    while (*s) add_char(t, *s++);
}

static void add_digits(qkvi_text *t, uint64_t x)
{
    char d[20];
    int n = 0;
    do {
        d[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x);
    while (n) add_char(t, d[--n]);
}

void qkvi_text_int(qkvi_text *t, int64_t x)
{
    if (x < 0) add_char(t, '-');
    add_digits(t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x);
}

void qkvi_text_real(qkvi_text *t, double x)
{
    if (x != x) {
        qkvi_text_add(t, "NaN");
        return;
    }
    if (x < 0) {
        add_char(t, '-');
        x = -x;
    }
    if (x > 0x1.fffffffffffffp+1023) {
        qkvi_text_add(t, "inf");
        return;
    }
    if (!(x > 0)) {
        add_char(t, '0');
        return;
    }
    int e = 0; /* x = digits * 10^(e - 5), digits in [10^5, 10^6) */
    while (x >= 1e6) {
        x /= 10;
        e++;
    }
    while (x < 1e5) {
        x *= 10;
        e--;
    }
    uint64_t digits = (uint64_t)(x + 0.5);
    if (digits >= 1000000) {
        digits /= 10;
        e++;
    }
    e += 5; /* decimal exponent of the first digit */
    int n = 6;
    while (n > 1 && digits % 10 == 0) {
        digits /= 10;
        n--;
    }
    uint64_t unit = 1; /* 10^(n - 1) */
    for (int i = 1; i < n; i++) unit *= 10;
    const int plain = e >= -4 && e < 16;
    if (plain && e < 0) {
        qkvi_text_add(t, "0.");
        for (int i = -1; i > e; i--) add_char(t, '0');
    }
    for (int i = 0; i < n; i++, unit /= 10) {
        if (i > 0 && i == (plain ? e + 1 : 1) && (!plain || e >= 0)) add_char(t, '.');
        add_char(t, (char)('0' + digits / unit % 10));
    }
    for (int i = n - 1; plain && i < e; i++) add_char(t, '0');
    if (!plain) {
        add_char(t, 'e');
        qkvi_text_int(t, e);
    }
}
