/* SPDX-License-Identifier: MIT */
/* cmd_recall.c - `qkv recall`: ten short cards, line by line. With --save their dates are kept, and a
 * card comes back after 1, 3, 7, 21 and 60 days; without, nothing is stored and all are asked.
 */
#include "cli/qkv_files.h"
#include "cli/tui_ask.h"
#include "lesson/course.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const cli_option opt_save = {
    .name = "save",
    .kind = CLI_FLAG,
    .help = "Keep the cards' dates in XDG_STATE_HOME (~/.local/state), from now on",
};
static const cli_option opt_forget = {
    .name = "forget",
    .kind = CLI_FLAG,
    .help = "Remove the dates that --save kept, and ask nothing",
};
static const cli_option opt_all = {
    .name = "all",
    .kind = CLI_FLAG,
    .help = "Ask all ten, due or not",
};
static const cli_option opt_anki = {
    .name = "anki",
    .kind = CLI_FLAG,
    .help = "Print the cards for Anki instead: front, tab, back",
};
static const cli_option opt_day = {
    .name = "day",
    .kind = CLI_INT,
    .value = "N",
    .min = 0,
    .max = 1000000,
    .help = "As if today were N days after 1970-01-01",
};

/* Days since 1970-01-01 on the reader's own calendar. */
static int64_t today(const cli_args *args)
{
    const time_t now = time(NULL);
    struct tm local;
    int64_t seconds = (int64_t)now;
    if (localtime_r(&now, &local)) seconds += local.tm_gmtoff;
    return cli_int(args, &opt_day, seconds / 86400);
}

typedef struct session {
    const lesson_face *face;
    recall_store store;
    int64_t day;
    bool left; /* the reader went away */
} session;

static void say_word(const session *s, int word, const char *a, int indent)
{
    lesson_line line;
    line_start(&line, s->face);
    if (a)
        line_say(&line, (lesson_word)word, a, NULL, NULL);
    else
        line_course(&line, lesson_word_text((lesson_word)word));
    tell(s->face, line.text, indent);
}

/* What becomes of the card that was just answered. */
static void say_return(const session *s, int card, bool remembered)
{
    const int64_t days = recall_due(&s->store.plan, card) - s->day;
    char number[LESSON_NUMBER_BYTES];
    lesson_number_integer(number, days);
    if (!remembered)
        say_word(s, LESSON_W_RECALL_LATER, NULL, 0);
    else if (days == 1)
        say_word(s, LESSON_W_RECALL_IN_ONE_DAY, NULL, 0);
    else
        say_word(s, LESSON_W_RECALL_IN_DAYS, number, 0);
    printf("\n");
}

/* 1 remembered, 0 forgotten, -1 the reader leaves. */
static int ask(const session *s, int card)
{
    char answer[256];
    const recall_card *const c = recall_card_at(card);
    say_word(s, c->front, NULL, 0);
    if (!ask_line("Enter shows the answer, q leaves: ", answer, sizeof answer) ||
        strcmp(answer, "q") == 0)
        return -1;
    say_word(s, c->back, NULL, 2);
    for (;;) {
        if (!ask_line("Did you know it, y or n? ", answer, sizeof answer)) return -1;
        if (strcmp(answer, "q") == 0) return -1;
        if (answer[0] == 'y' || answer[0] == 'Y') return 1;
        if (answer[0] == 'n' || answer[0] == 'N') return 0;
        printf("Type y, n, or q to leave.\n");
    }
}

/* Asks the cards of the list in turn; a forgotten one goes to its end. Exit code of saving. */
static int ask_cards(session *s, const int *first, int count)
{
    int list[64 * RECALL_CARDS];
    memcpy(list, first, (size_t)count * sizeof *list);
    for (int i = 0; i < count; i++) {
        const int known = ask(s, list[i]);
        if (known < 0) {
            s->left = true;
            printf("\n");
            return CLI_DONE;
        }
        recall_answer(&s->store.plan, list[i], known, s->day);
        say_return(s, list[i], known);
        /* after each answer, so that nothing is lost when the reader goes away */
        const int bad = s->store.exists ? store_save(&s->store) : CLI_DONE;
        if (bad) return bad;
        if (!known && count < 64 * RECALL_CARDS) list[count++] = list[i];
    }
    return CLI_DONE;
}

static int run_session(session *s, bool all)
{
    int list[RECALL_CARDS], count = 0;
    for (int i = 0; i < RECALL_CARDS; i++)
        if (all || !s->store.exists || recall_is_due(&s->store.plan, i, s->day)) list[count++] = i;
    char number[LESSON_NUMBER_BYTES];
    lesson_number_integer(number, count);
    if (count == 0)
        say_word(s, LESSON_W_RECALL_NONE_DUE, NULL, 0);
    else if (count == 1)
        say_word(s, LESSON_W_RECALL_DUE_ONE, NULL, 0);
    else
        say_word(s, LESSON_W_RECALL_DUE, number, 0);
    printf("\n");
    return ask_cards(s, list, count);
}

static void write_stdout(void *ctx, const char *text, size_t bytes)
{
    (void)ctx;
    fwrite(text, 1, bytes, stdout);
}

static int run(const cli_args *args)
{
    const tui_means means = tui_find_means(false);
    const lesson_face face = tui_face(&means, cli_width(), 2);
    static session s;
    s.face = &face;
    s.day = today(args);
    const bool save = cli_given(args, &opt_save), forget = cli_given(args, &opt_forget);
    if (save && forget) return cli_refuse("--save and --forget contradict each other");
    if (cli_given(args, &opt_anki)) {
        const lesson_sink sink = {write_stdout, NULL};
        recall_anki(&sink);
        return CLI_DONE;
    }
    cli_files_signals("recall");
    if (forget) return store_forget(&s.store);
    int bad = store_open(&s.store);
    if (bad) return bad;
    if (save && !s.store.exists) {
        s.store.exists = true;
        bad = store_save(&s.store);
        if (bad) return bad;
    }
    bad = run_session(&s, cli_given(args, &opt_all));
    if (bad || s.store.exists) return bad;
    tell(&face, "Nothing was stored; --save keeps the dates, so that cards come back when due.", 0);
    return CLI_DONE;
}

const cli_command cli_command_recall = {
    .name = "recall",
    .summary = "ten cards to remember attention by, asked again when due",
    .about =
        "Asks ten short cards, line by line; you say yourself whether you knew the answer, and "
        "what you forgot comes again before the end. Nothing is stored unless you ask for it "
        "with --save: then a card comes back after 1, 3, 7, 21 and 60 days.",
    .options =
        (const cli_option *const[]){&opt_save, &opt_forget, &opt_all, &opt_anki, &opt_day, NULL},
    .examples =
        (const char *const[]){"qkv recall", "all cards, nothing kept", "qkv recall --save",
                              "those that are due, dates kept", "qkv recall --anki >cards.tsv",
                              "a file that Anki imports", NULL},
    .run = run,
};
