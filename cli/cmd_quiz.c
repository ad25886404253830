/* SPDX-License-Identifier: MIT */
/* cmd_quiz.c - `qkv quiz`: the lesson's two questions and eight about numbers that a seed draws, one
 * line at a time. A wrong answer gets its reason and another try; the first answer counts.
 */
#include "cli/tui_ask.h"
#include "lesson/quiz.h"

#include <inttypes.h>
#include <string.h>

static const cli_option opt_seed = {
    .name = "seed",
    .kind = CLI_INT,
    .value = "N",
    .min = 0,
    .max = UINT32_MAX,
    .fallback = "1",
    .help = "Which eight questions: the same N asks the same ones everywhere",
};

/* The option that an answer names: its number, or its letter from a. -1: neither. */
static int option_of(const lesson_question *q, const char *answer)
{
    if (!answer[0] || answer[1]) return -1;
    const int i = answer[0] >= 'a' ? answer[0] - 'a' : answer[0] - '1';
    return i >= 0 && i < q->options ? i : -1;
}

static void show(const lesson_face *face, const lesson_question *q)
{
    char text[256];
    snprintf(text, sizeof text, "Question %d of %d", (int)q->number + 1, QUIZ_QUESTIONS);
    tell(face, text, 0);
    tell(face, q->text, 0);
    for (int i = 0; i < q->options; i++) {
        snprintf(text, sizeof text, "%d: %s", i + 1, q->option[i].text);
        tell(face, text, 2);
    }
}

/* 1: right at once, 0: not, -1: the reader leaves. */
static int ask(const lesson_face *face, const lesson_question *q)
{
    char answer[256], shown[300];
    int first = -1;
    show(face, q);
    for (;;) {
        if (!ask_line("Your answer, 1 to 4, or q to leave: ", answer, sizeof answer) ||
            strcmp(answer, "q") == 0)
            return -1;
        const int chosen = option_of(q, answer);
        if (chosen < 0) {
            face->safe(shown, sizeof shown, answer, strlen(answer), 40);
            printf("'%s' is none of the options; type 1, 2, 3 or 4.\n", shown);
            continue;
        }
        if (first < 0) first = chosen;
        tell(face, q->option[chosen].reason, 0);
        if (chosen == q->right) break;
    }
    tell(face, q->worked, 0);
    printf("\n");
    return first == q->right;
}

static int run(const cli_args *args)
{
    const tui_means means = tui_find_means(false);
    const lesson_face face = tui_face(&means, cli_width(), 2);
    const uint32_t seed = (uint32_t)cli_int(args, &opt_seed, 1);
    static lesson_question q;
    int right = 0, asked = 0;
    for (int number = 0; number < QUIZ_QUESTIONS; number++) {
        if (lesson_question_make(&q, number, seed, &face) != 0) continue;
        const int good = ask(&face, &q);
        if (good < 0) {
            printf("\n");
            break;
        }
        asked++;
        right += good;
    }
    printf("%d of %d right at the first try.\n", right, asked);
    if (asked == QUIZ_QUESTIONS)
        printf("Other numbers: qkv quiz --seed %" PRIu32 "\n", seed == UINT32_MAX ? 0 : seed + 1);
    return CLI_DONE;
}

const cli_command cli_command_quiz = {
    .name = "quiz",
    .summary = "ten questions on attention, each answer with its reason",
    .about =
        "Two questions of the lesson and eight about numbers, line by line. Every wrong option "
        "is what a real mistake gives; its reason names the mistake, and you may try again. "
        "The first answer counts. Nothing is stored.",
    .options = (const cli_option *const[]){&opt_seed, NULL},
    .examples = (const char *const[]){"qkv quiz", "the questions of seed 1", "qkv quiz --seed 7",
                                      "the same two and eight others", NULL},
    .run = run,
};
