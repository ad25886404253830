/* SPDX-License-Identifier: MIT */
/* program.c - the state as a program to copy, in NumPy or in C, that prints what is shown of the token:
 * its weights and its output.
 *
 * Pure ASCII. Names of tokens come from outside: made harmless by the face, then written as escaped
 * literals, never in a comment or an identifier. Numbers have every digit that reads back the same.
 */
#include "lesson/figures.h"

typedef struct program {
    const lesson_view *view;
    const lesson_input *in;
    int c; /* in C */
} program;

static void put(const program *p, const char *text)
{
    sink_text(p->view, text);
}

static void put_integer(const program *p, int64_t x)
{
    char text[LESSON_NUMBER_BYTES];
    lesson_number_integer(text, x);
    put(p, text);
}

static void put_number(const program *p, double x)
{
    char text[LESSON_NUMBER_BYTES];
    if (x - x == 0) {
        lesson_number_shortest(text, x);
        put(p, text);
    } else if (p->c) {
        put(p, x != x ? "NAN" : x < 0 ? "-INFINITY" : "INFINITY");
    } else {
        put(p, x != x ? "np.nan" : x < 0 ? "-np.inf" : "np.inf");
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void put_code(const program *p, uint32_t c, int digits, const char *mark)
{
    static const char hex[] = "0123456789abcdef";
    char text[16];
    int n = 0;
    for (; mark[n] != 0; n++) text[n] = mark[n];
    for (int k = digits - 1; k >= 0; k--) text[n++] = hex[c >> (4 * k) & 15];
    text[n] = 0;
    put(p, text);
}

/* In C every byte that is no letter, digit or space is octal of three digits, so that neither
 * quotes nor trigraphs can arise. */
static void put_byte_c(const program *p, unsigned char b)
{
    const char text[5] = {'\\', (char)('0' + (b >> 6)), (char)('0' + (b >> 3 & 7)),
                          (char)('0' + (b & 7)), 0};
    put(p, text);
}

static int is_plain(unsigned char b)
{
    return (b >= '0' && b <= '9') || ((b | 0x20) >= 'a' && (b | 0x20) <= 'z') || b == ' ' ||
           b == '_' || b == '.';
}

static void put_name(const program *p, const lesson_name *name)
{
    char safe[1024];
    p->view->face->safe(safe, sizeof safe, name->text, name->bytes, 0);
    put(p, "\"");
    for (const unsigned char *s = (const unsigned char *)safe; *s != 0;) {
        const char one[2] = {(char)*s, 0};
        if (is_plain(*s)) {
            put(p, one);
            s++;
        } else if (p->c) {
            put_byte_c(p, *s++);
        } else {
            uint32_t c = *s < 0x80 ? *s : *s >= 0xF0 ? *s & 7u : *s >= 0xE0 ? *s & 15u : *s & 31u;
            for (s++; (*s & 0xC0) == 0x80; s++) c = c << 6 | (*s & 0x3Fu);
            put_code(p, c, c > 0xFFFF ? 8 : 4, c > 0xFFFF ? "\\U" : "\\u");
        }
    }
    put(p, "\"");
}

static void put_names(const program *p)
{
    for (int64_t j = 0; j < p->in->keys; j++) {
        if (j > 0) put(p, j % 8 == 0 ? ",\n    " : ", ");
        put_name(p, &p->in->name[j]);
    }
}

static void put_matrix(const program *p, const double *x, int64_t rows, int64_t n)
{
    const char *const open = p->c ? "{" : "[";
    const char *const close = p->c ? "}" : "]";
    for (int64_t i = 0; i < rows; i++) {
        put(p, i > 0 ? ",\n    " : "\n    ");
        put(p, open);
        for (int64_t c = 0; c < n; c++) {
            if (c > 0) put(p, ", ");
            put_number(p, x[i * n + c]);
        }
        put(p, close);
    }
    put(p, "\n");
}

/* " / np.sqrt(d_k)" and what else there is. */
static void put_scale(const program *p)
{
    const lesson_input *const in = p->in;
    if (in->scale_kind == LESSON_SCALE_SQRT) put(p, p->c ? " / sqrt(D_K)" : " / np.sqrt(d_k)");
    if (in->scale_kind == LESSON_SCALE_DK) put(p, p->c ? " / D_K" : " / d_k");
    if (in->scale_kind == LESSON_SCALE_VALUE) {
        put(p, " * ");
        put_number(p, in->scale_value);
    }
    if (in->temperature == 1) return;
    put(p, " / ");
    put_number(p, in->temperature);
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

static int is_masked(const lesson_input *in)
{
    return in->causal || in->padding > 0;
}

static void numpy_mask(const program *p)
{
    const lesson_input *const in = p->in;
    if (in->causal) {
        put(p, "    i, j = np.indices(scores.shape)\n    seen = j <= i + ");
        put_integer(p, in->q_offset);
    } else {
        put(p, "    seen = np.indices(scores.shape)[1] < ");
        put_integer(p, in->keys - in->padding);
    }
    put(p, "\n");
}

/* Rows that see no key get weights of 0. */
static void numpy_softmax(const program *p)
{
    const lesson_input *const in = p->in;
    if (is_masked(in) && !in->wrong_way) {
        put(p, "    top = np.where(seen, scaled, -np.inf).max(axis=-1, keepdims=True)\n"
               "    top = np.where(np.isfinite(top), top, 0)\n"
               "    e = np.where(seen, np.exp(np.where(seen, scaled - top, 0)), 0)\n"
               "    total = e.sum(axis=-1, keepdims=True)\n"
               "    weights = e / np.where(total > 0, total, 1)\n");
        return;
    }
    put(p, "    top = scaled.max(axis=-1, keepdims=True)\n"
           "    e = np.exp(scaled - top)\n"
           "    weights = e / e.sum(axis=-1, keepdims=True)\n");
    if (in->wrong_way) put(p, "    weights = np.where(seen, weights, 0)  # the wrong way\n");
}

static void numpy_program(const program *p)
{
    const lesson_input *const in = p->in;
    put(p, "# Scaled dot-product attention, as the lesson shows it. Needs NumPy.\n"
           "import numpy as np\n\nnames = [\n    ");
    put_names(p);
    put(p, "\n]\nQ = np.array([");
    put_matrix(p, in->q, in->rows, in->d_k);
    put(p, "])\nK = np.array([");
    put_matrix(p, in->k, in->keys, in->d_k);
    put(p, "])\nV = np.array([");
    put_matrix(p, in->v, in->keys, in->d_v);
    put(p, "])\ntoken = ");
    put_integer(p, in->token);
    put(p, "\n\n\ndef attention(Q, K, V):\n    d_k = K.shape[-1]\n    scores = Q @ K.T\n"
           "    scaled = scores");
    put_scale(p);
    put(p, "\n");
    if (is_masked(in)) numpy_mask(p);
    numpy_softmax(p);
    put(p, "    return weights, weights @ V\n\n\ndef show(x):\n    return f\"{round(float(x), ");
    put_integer(p, p->view->face->digits);
    put(p, ") + 0.0:.");
    put_integer(p, p->view->face->digits);
    put(p, "f}\"\n\n\nweights, out = attention(Q, K, V)\n"
           "for name, w in zip(names, weights[token]):\n    print(name, show(w))\n"
           "print(\"output\", *[show(x) for x in out[token]])\n");
}

/* ---- C --------------------------------------------------------------------------------------- */

static void c_head(const program *p)
{
    const lesson_input *const in = p->in;
    const int64_t seen = lesson_seen(in, in->token);
    put(p,
        "/* Scaled dot-product attention of one token, as the lesson shows it. cc FILE.c -lm */\n"
        "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n\n"
        "/* SEEN: keys that the token may see, the first ones; COUNTED: in the softmax */\n"
        "enum { KEYS = ");
    put_integer(p, in->keys);
    put(p, ", SEEN = ");
    put_integer(p, seen);
    put(p, ", COUNTED = ");
    put_integer(p, in->wrong_way ? in->keys : seen);
    put(p, ", D_K = ");
    put_integer(p, in->d_k);
    put(p, ", D_V = ");
    put_integer(p, in->d_v);
    put(p, " };\nstatic const char *const name[KEYS] = {\n    ");
    put_names(p);
    put(p, "\n};\nstatic const double q[D_K] = {");
    for (int64_t c = 0; c < in->d_k; c++) {
        if (c > 0) put(p, ", ");
        put_number(p, in->q[in->token * in->d_k + c]);
    }
    put(p, "};\nstatic const double K[KEYS][D_K] = {");
    put_matrix(p, in->k, in->keys, in->d_k);
    put(p, "};\nstatic const double V[KEYS][D_V] = {");
    put_matrix(p, in->v, in->keys, in->d_v);
    put(p, "};\n\n");
}

static void c_program(const program *p)
{
    c_head(p);
    put(p, "/* never -0.00 */\nstatic void show(const char *before, double x)\n{\n"
           "    char text[400];\n    snprintf(text, sizeof text, \"%.");
    put_integer(p, p->view->face->digits);
    put(p, "f\", x);\n    const int zero = strspn(text, \"-0.\") == strlen(text);\n"
           "    printf(\"%s %s\", before, text + (zero && text[0] == '-'));\n}\n\n"
           "int main(void)\n{\n    double w[KEYS] = {0}, out[D_V] = {0};\n"
           "    double top = -INFINITY, sum = 0;\n"
           "    for (int j = 0; j < COUNTED; j++) {\n"
           "        for (int c = 0; c < D_K; c++) w[j] += q[c] * K[j][c];\n"
           "        w[j] = w[j]");
    put_scale(p);
    put(p, ";\n        if (w[j] > top) top = w[j];\n    }\n"
           "    for (int j = 0; j < COUNTED; j++) sum += w[j] = exp(w[j] - top);\n"
           "    for (int j = 0; j < COUNTED; j++) w[j] = j < SEEN ? w[j] / sum : 0;\n"
           "    for (int j = 0; j < SEEN; j++)\n"
           "        for (int c = 0; c < D_V; c++) out[c] += w[j] * V[j][c];\n"
           "    for (int j = 0; j < KEYS; j++) {\n        show(name[j], w[j]);\n"
           "        puts(\"\");\n    }\n    printf(\"output\");\n"
           "    for (int c = 0; c < D_V; c++) show(\"\", out[c]);\n    puts(\"\");\n"
           "    return 0;\n}\n");
}

qkv_status lesson_program(const lesson_view *view, int language)
{
    const program p = {view, view->in, language == LISTING_C};
    if (p.c)
        c_program(&p);
    else
        numpy_program(&p);
    return QKV_OK;
}
