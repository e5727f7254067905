/*
 * sheet_text.c - a sheet to print: what interviewer and respondent do.
 *
 * It ends with the command that analyses what was really done.
 */
#include "host/survey/internal.h"

#include <inttypes.h>
#include <math.h>

#define QUESTIONS_LINE 600u
#define QUESTIONS_RANGE 48u

struct questions {
    FILE *to;
    const struct survey_design *design;
    const struct survey_sheet *sheet;
    const char *ask, *other;
};

/* ---- Things to draw ------------------------------------------------------ */

static const char *questions_verb(const struct survey_draw *d, char text[96])
{
    if (d->sides == 2)
        return "Toss a coin";
    if (d->sides == 6)
        return "Roll a die";
    snprintf(text, 96,
             "Draw one of %" PRIu64 " cards, numbered 1 to %" PRIu64
             ", and put it back",
             d->sides, d->sides);
    return text;
}

/* The outcomes behind the first `from`, so many of them. */
static void questions_range(char text[QUESTIONS_RANGE],
                            const struct survey_draw *d, uint64_t from,
                            uint64_t many)
{
    if (d->sides == 2)
        snprintf(text, QUESTIONS_RANGE, "%s",
                 many == 2   ? "heads or tails"
                 : from == 0 ? "heads"
                             : "tails");
    else if (many == 1)
        snprintf(text, QUESTIONS_RANGE, "%" PRIu64, from + 1);
    else
        snprintf(text, QUESTIONS_RANGE, "%" PRIu64 " %s %" PRIu64, from + 1,
                 many == 2 ? "or" : "to", from + many);
}

/* ---- What each design asks to be done ------------------------------------ */

static void questions_say(const struct questions *q, const char *text)
{
    table_paragraph(q->to, text);
    putc('\n', q->to);
}

/* "If it is 1 to 73, DO." Nothing if there is no such outcome. */
static void questions_if(const struct questions *q, const struct survey_draw *d,
                         uint64_t from, uint64_t many, const char *what)
{
    char range[QUESTIONS_RANGE], line[QUESTIONS_LINE];

    if (many == 0)
        return;
    questions_range(range, d, from, many);
    snprintf(line, sizeof line, "  %s: %s", range, what);
    table_paragraph(q->to, line);
}

static void questions_draw_line(const struct questions *q,
                                const struct survey_draw *d, const char *first)
{
    char line[QUESTIONS_LINE], verb[96];

    snprintf(line, sizeof line, "%s%s. Let nobody see the outcome.", first,
             questions_verb(d, verb));
    table_paragraph(q->to, line);
}

static void questions_quote(const struct questions *q, const char *name,
                            const char *text)
{
    fprintf(q->to, "  %s: %s\n", name, text);
}

static void questions_spinner(const struct questions *q)
{
    const struct survey_draw *d = &q->sheet->draw[0];

    questions_quote(q, "Question", q->ask);
    putc('\n', q->to);
    questions_draw_line(q, d, "");
    questions_if(q, d, 0, d->parts[0], "answer the question truthfully.");
    questions_if(q, d, d->parts[0], d->sides - d->parts[0],
                 "say the opposite of the truth: no for yes, yes for no.");
}

static void questions_coins(const struct questions *q)
{
    const struct survey_draw *d = &q->sheet->draw[0], *e = &q->sheet->draw[1];

    questions_quote(q, "Question", q->ask);
    putc('\n', q->to);
    questions_draw_line(q, d, "");
    questions_if(q, d, 0, d->parts[0], "answer the question truthfully.");
    questions_if(q, d, d->parts[0], d->sides - d->parts[0],
                 "do not answer it. Go on:");
    questions_draw_line(q, e, "Only then: ");
    questions_if(q, e, 0, e->parts[0], "say yes.");
    questions_if(q, e, e->parts[0], e->sides - e->parts[0], "say no.");
}

static void questions_forced(const struct questions *q)
{
    const struct survey_draw *d = &q->sheet->draw[0];
    const uint64_t made = d->parts[0] + d->parts[1];

    questions_quote(q, "Question", q->ask);
    putc('\n', q->to);
    questions_draw_line(q, d, "");
    questions_if(q, d, 0, d->parts[0], "say yes, whatever is true.");
    questions_if(q, d, d->parts[0], d->parts[1], "say no, whatever is true.");
    questions_if(q, d, made, d->sides - made,
                 "answer the question truthfully.");
}

static void questions_unrelated(const struct questions *q)
{
    const size_t forms = q->design->kind->pair ? 2 : 1;

    questions_quote(q, "Question A", q->ask);
    questions_quote(q, "Question B", q->other);
    for (size_t i = 0; i < forms; i++) {
        const struct survey_draw *d = &q->sheet->draw[i];

        if (forms == 2)
            fprintf(q->to, "\nSample %zu\n", i + 1);
        else
            putc('\n', q->to);
        questions_draw_line(q, d, "");
        questions_if(q, d, 0, d->parts[0], "answer question A.");
        questions_if(q, d, d->parts[0], d->sides - d->parts[0],
                     "answer question B.");
    }
    putc('\n', q->to);
    table_paragraph(
        q->to, "Answer truthfully, and do not say which question you had.");
}

static void questions_crosswise(const struct questions *q)
{
    questions_quote(q, "Question A", q->ask);
    questions_quote(q, "Question B", q->other);
    putc('\n', q->to);
    table_paragraph(
        q->to, "Answer both for yourself, in your head. Then say only this:");
    fputs("  the same: both answers are yes, or both are no.\n"
          "  different: one is yes and the other is no.\n",
          q->to);
}

/* ---- The sheet ----------------------------------------------------------- */

static void questions_interviewer(const struct questions *q)
{
    const struct survey_kind *kind = q->design->kind;
    char line[QUESTIONS_LINE];

    fputs("FOR THE INTERVIEWER\n\n", q->to);
    questions_say(
        q, "Hand over the sheet below and explain it. Let the respondent "
           "try it once with a harmless question, so that the rules are "
           "understood. Then look away: neither you nor anybody else may "
           "see what is drawn, and you must not ask.");
    questions_say(q, kind->design == HSY_SURVEY_CROSSWISE
                         ? "Write down \"same\" or \"different\", and nothing "
                           "about the person that is not needed."
                         : "Write down yes or no, and nothing about the person "
                           "that is not needed.");
    if (kind->pair) {
        questions_say(q,
                      "Decide by lot who is asked in which sample, and write "
                      "the sample, 1 or 2, beside the answer. Question B must "
                      "have nothing to do with question A.");
    } else if (kind->design == HSY_SURVEY_UNRELATED ||
               kind->design == HSY_SURVEY_CROSSWISE) {
        snprintf(line, sizeof line,
                 "Question B must have nothing to do with question A, you must "
                 "not know the respondent's answer to it, and %.4g of 100 "
                 "people must say yes to it: a birthday in a certain part of "
                 "the year will do.",
                 100 * (kind->design == HSY_SURVEY_CROSSWISE
                            ? q->design->chance[0]
                            : q->design->chance[1]));
        questions_say(q, line);
    }
    questions_say(
        q, "Leave out anyone who does not want to answer, and do not ask "
           "again: every further answer would tell more.");
}

/* What the answer tells to somebody who thinks 10 in 100 would say yes. */
static void questions_promise(const struct questions *q)
{
    const hsy_survey *s = &q->sheet->channel;
    const bool cross = q->design->kind->design == HSY_SURVEY_CROSSWISE;
    const double yes = 0.1 * s->p / (0.1 * s->p + 0.9 * s->q);
    const double no = 0.1 * s->not_p / (0.1 * s->not_p + 0.9 * s->not_q);
    const char *proof = survey_design_proof(s);
    char line[QUESTIONS_LINE];

    if (q->design->kind->pair) {
        questions_say(
            q, "What does my answer tell about me? Little: it may be the "
               "answer to the other question, and only you know.");
        return;
    }
    if (proof != NULL)
        snprintf(line, sizeof line,
                 "What does my answer tell about me? Careful: with these rules "
                 "%s.",
                 proof);
    else
        snprintf(line, sizeof line,
                 "What does my answer tell about me? Somebody who thinks that "
                 "the true answer is yes for 10 in 100 people like you will "
                 "think so of %.0f in 100 who said %s, and of %.0f in 100 who "
                 "said %s. Nobody can know more than that, not even the "
                 "interviewer.",
                 100 * yes, cross ? "\"the same\"" : "yes", 100 * no,
                 cross ? "\"different\"" : "no");
    questions_say(q, line);
}

static void questions_respondent(const struct questions *q)
{
    static void (*const sheets[])(const struct questions *) = {
        [HSY_SURVEY_EPSILON] = questions_spinner,
        [HSY_SURVEY_SPINNER] = questions_spinner,
        [HSY_SURVEY_COINS] = questions_coins,
        [HSY_SURVEY_CHANNEL] = questions_forced,
        [HSY_SURVEY_UNRELATED] = questions_unrelated,
        [HSY_SURVEY_FORCED] = questions_forced,
        [HSY_SURVEY_CROSSWISE] = questions_crosswise};

    fputs("FOR THE RESPONDENT\n\n", q->to);
    sheets[q->design->kind->design](q);
    putc('\n', q->to);
    questions_promise(q);
    questions_say(q, "Please keep to the rules: the result is right only if "
                     "everybody does.");
}

static void questions_afterwards(const struct questions *q)
{
    const struct survey_sheet *s = q->sheet;
    const bool pair = s->kind->pair;

    fputs("AFTERWARDS\n\n", q->to);
    fprintf(q->to, "hearsay survey --%s %" PRIu64 "/%" PRIu64, s->kind->name,
            s->chance[0].num, s->chance[0].den);
    if (s->kind->chances > 1)
        fprintf(q->to, ",%" PRIu64 "/%" PRIu64, s->chance[1].num,
                s->chance[1].den);
    fprintf(q->to, " %s\n", pair ? "--yes Y1,Y2 --n N1,N2" : "--yes Y --n N");
    if (!pair && isfinite(hsy_survey_epsilon(&q->sheet->channel)))
        fprintf(q->to,
                "Each answer spends epsilon %.4g of its person's privacy.\n",
                hsy_survey_epsilon(&q->sheet->channel));
}

void survey_sheet_print(FILE *to, const struct survey_sheet *sheet,
                        const struct survey_design *design, const char *ask,
                        const char *other)
{
    static const char cut[] = "- - - - - - - - - - - - - - - - - - - - - - - - "
                              "- - - - - - - - - - -\n\n";
    const struct questions q = {
        to, design, sheet,
        ask != NULL ? ask
                    : "[the sensitive question, to be answered with yes or no]",
        other != NULL ? other
                      : "[a harmless question, to be answered with yes or no]"};

    questions_interviewer(&q);
    fputs(cut, to);
    questions_respondent(&q);
    fputs(cut, to);
    questions_afterwards(&q);
}
