/*
 * label.c - what a task means for the person asked, in plain words.
 *
 * Every number is worked out from the integers that the device draws by, and
 * rounded against the task: odds up. "Odds" are those of any guess about the
 * answer; epsilon bounds by how many times they move.
 */
#include "lib/device/internal.h"

#include "lib/bits/bytes.h"
#include "lib/bits/day.h"
#include "lib/bits/hex.h"
#include "lib/core/exp.h"
#include "lib/scheme/scheme.h"

#include <string.h>

/* ---- Text ---------------------------------------------------------------- */

struct label_text {
    char *out;
    size_t room, len; /* len: of all of it, also what does not fit */
};

static void label_letter(struct label_text *t, char c)
{
    if (t->len + 1 < t->room)
        t->out[t->len] = c;
    t->len++;
}

static void label_bytes(struct label_text *t, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        label_letter(t, text[i]);
}

static void label_say(struct label_text *t, const char *text)
{
    label_bytes(t, text, strlen(text));
}

static void label_number(struct label_text *t, uint64_t n)
{
    char digits[20];
    size_t used = 0;

    do
        digits[used++] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    while (used > 0)
        label_letter(t, digits[--used]);
}

/* "1 day", "7 days". */
static void label_count(struct label_text *t, uint64_t n, const char *what)
{
    label_number(t, n);
    label_letter(t, ' ');
    label_say(t, what);
    if (n != 1)
        label_letter(t, 's');
}

static void label_date(struct label_text *t, uint32_t day)
{
    char text[DAY_TEXT];

    day_text(text, day);
    label_say(t, text);
}

/* End the text; a character that does not fit whole is left out. */
static void label_end(const struct label_text *t)
{
    size_t len = t->len < t->room ? t->len : t->room - 1;

    if (t->room == 0)
        return;
    while (t->len >= t->room && len > 0 && (t->out[len - 1] & 0x80) != 0 &&
           (t->out[len - 1] & 0x40) == 0)
        len--;
    if (t->len >= t->room && len > 0 && (t->out[len - 1] & 0x80) != 0)
        len--;
    t->out[len] = '\0';
}

/* ---- Odds ---------------------------------------------------------------- */

/* hsy_exp_weight is a floor, so one more is above; with hsy_exp_shift ten times
 * the weight fits in 64 bits. */
uint64_t hsy_odds(uint64_t nano)
{
    unsigned shift;
    uint64_t above, tenths;

    if (nano > HSY_EPSILON_MAX)
        return 0;
    shift = hsy_exp_shift(2 * nano);
    above = 10 * (hsy_exp_weight(2 * nano, shift) + 1);
    tenths = (above + ((uint64_t)1 << shift) - 1) >> shift;
    return tenths < 1000 ? tenths : (tenths + 9) / 10 * 10;
}

static void label_odds(struct label_text *t, uint64_t tenths)
{
    label_number(t, tenths / 10);
    if (tenths < 1000) {
        label_letter(t, '.');
        label_number(t, tenths % 10);
    }
}

/* "... move the odds of any guess about your answer at most 3.0 times", or that
 * nothing is promised. */
static void label_moves(struct label_text *t, uint64_t nano)
{
    const uint64_t tenths = hsy_odds(nano);

    if (tenths != 0) {
        label_say(t, " can move the odds of any guess about your answer by at "
                     "most ");
        label_odds(t, tenths);
        label_say(t, " times.");
    } else {
        label_say(t, " may give your answer away.");
    }
}

/* ---- Sentences ----------------------------------------------------------- */

static void label_asked(struct label_text *t, const hsy_task *task)
{
    label_say(t, "You are asked: \"");
    label_bytes(t, task->question, task->question_len);
    label_say(t, "\" Your answer never leaves this device. Before anything is "
                 "sent it is changed at random, so that what is sent could "
                 "have come from any answer.");
}

/* Days of a round and of a slot. */
static uint64_t label_slot(const hsy_release_info *info)
{
    const hsy_task *task = &info->task;

    return task->slot_days != 0 ? task->slot_days : task->end - task->start;
}

static uint64_t label_round(const hsy_release_info *info)
{
    return label_slot(info) / info->rounds;
}

/* Which of several steps of a search this is. */
static void label_stage(struct label_text *t, const hsy_release *r)
{
    const uint64_t *param = r->scheme->param;

    if (release_stage(r) == 0)
        return;
    label_say(t, " This is step ");
    label_number(t, release_stage(r));
    label_say(t, " of a search in ");
    label_count(t, param[HSY_PARAM_BITS] / param[HSY_PARAM_STEP], "step");
    label_say(t, ", each with other people: this device draws one of them at "
                 "random, answers that one alone, and sends an empty upload "
                 "at the others.");
}

static void label_tells(struct label_text *t, const hsy_release_info *info)
{
    const uint64_t reports = info->slots * info->rounds * info->task.sends;

    label_say(t, " One report");
    label_moves(t, info->nano_report);
    if (info->permanent != NULL) {
        label_say(t, " The change is made once, kept for ");
        label_count(t, label_slot(info), "day");
        label_say(t, ", and every report is made from what was kept. All ");
        label_count(t, info->rounds, "report");
        label_say(t, " of that time together");
        label_moves(t, info->nano_slot);
    }
    if (info->permanent != NULL ? info->slots > 1 : reports > 1) {
        label_say(t, info->permanent != NULL
                         ? " It is made anew for each such time: all "
                         : " Every report is changed anew: all ");
        label_count(t, reports, "report");
        label_say(t, " that this task can send");
        label_moves(t, info->nano_task);
    }
}

/* Some mechanisms keep a public choice: it is no secret, but it stays. */
static uint64_t label_groups(const hsy_release_info *info)
{
    const hsy_scheme *s = info->permanent;

    if (s == NULL)
        return 1;
    if (s->param[HSY_PARAM_COHORTS] != 0)
        return s->param[HSY_PARAM_COHORTS];
    return (uint64_t)1 << s->param[HSY_PARAM_POOL_BITS];
}

/* The first answer stands for the slot, and the person should know. */
static void label_frozen(struct label_text *t, const hsy_release_info *info)
{
    label_say(t, " Your first answer, changed so, is kept ");
    if (info->slots == 1) {
        label_say(t, "until ");
        label_date(t, info->task.end - 1);
    } else {
        label_say(t, "for that time");
    }
    label_say(t, " and sent each time with new noise. If your answer changes, "
                 "what is sent does not: that it changed does not show.");
}

static void label_changes(struct label_text *t, const hsy_release_info *info)
{
    if (info->permanent == NULL)
        return;
    if (info->task.max_changes == 1) {
        label_frozen(t, info);
        return;
    }
    label_say(t, " Up to ");
    label_number(t, info->task.max_changes);
    label_say(t, " different answers are kept in that time. That your answer "
                 "changed, and when, may show; the bound above does not cover "
                 "that.");
}

static void label_delay(struct label_text *t, uint32_t seconds)
{
    if (seconds == 0)
        return;
    label_say(t, ", up to ");
    if (seconds % DAY_SECONDS == 0)
        label_count(t, seconds / DAY_SECONDS, "day");
    else if (seconds % 3600 == 0)
        label_count(t, seconds / 3600, "hour");
    else
        label_count(t, (seconds + 59) / 60, "minute");
    label_say(t, " later");
}

static void label_sends(struct label_text *t, const hsy_release_info *info)
{
    const hsy_task *task = &info->task;

    if (info->slots * info->rounds == 1) {
        label_say(t, " After the last day");
    } else if (label_round(info) == 1) {
        label_say(t, " After every day");
    } else {
        label_say(t, " After every ");
        label_count(t, label_round(info), "day");
    }
    label_delay(t, task->delay_seconds);
    label_say(t, ", this device sends ");
    label_count(t, task->sends, "upload");
    label_say(t, task->sends == 1 ? ": a report, or if there is none an empty "
                                    "one of the same length."
                                  : ": reports, or where there are none empty "
                                    "ones of the same length.");
    if (task->answers > task->sends) {
        label_say(t, " Of up to ");
        label_count(t, task->answers, "answer");
        label_say(t, " in that time, the ones to report are drawn at random.");
    }
    if (task->sample.num < task->sample.den) {
        label_say(t, " Only about ");
        label_number(t, task->sample.num);
        label_say(t, " in ");
        label_number(t, task->sample.den);
        label_say(t, " devices report; whether this one does is drawn at "
                     "random.");
    }
}

static void label_never(struct label_text *t, const hsy_release *r,
                        const hsy_release_info *info)
{
    const uint64_t groups = label_groups(info);

    if (release_relayed(r)) {
        label_say(t, " It leaves through a relay");
        label_say(t, r->relay_named ? " named by the collector, which"
                                    : ", which");
        label_say(t, " sees this device's address and cannot open it, or not "
                     "at all.");
    }
    label_say(t, " An upload holds no name, no number of this device, and no "
                 "time finer than the day.");
    if (groups == 1)
        return;
    label_say(t, " It names one of ");
    label_number(t, groups);
    label_say(t, " groups, which this device drew at random and keeps; the "
                 "group says nothing about your answer.");
}

/* "run by A and B": each shuffler says itself who runs it. */
static void label_operators(struct label_text *t, const hsy_task *task)
{
    hsy_statement s;

    for (uint32_t i = 0; i < task->shufflers && task->statements != NULL; i++) {
        if (hsy_statement_decode(
                &s, task->statements + (size_t)i * HSY_STATEMENT_WIRE, NULL) !=
            HSY_OK)
            return;
        label_say(t, i == 0                    ? ", run by "
                     : i + 1 < task->shufflers ? ", "
                                               : " and ");
        label_say(t, s.operated_by);
    }
}

/* Two promises: one whoever works together, one if somebody does not. */
static void label_shuffled(struct label_text *t, const hsy_release *r,
                           const hsy_task *task)
{
    if (release_layers(r) == 0)
        return;
    label_say(t, " That holds whoever works together. Reports are also sealed "
                 "and mixed: they pass through ");
    label_count(t, r->task.shufflers, "shuffler");
    label_operators(t, task);
    label_say(t, ", and no batch of fewer than ");
    label_number(t, r->task.min_batch);
    label_say(t,
              " uploads is passed on. Unless the collector and all shufflers "
              "work together, and if at least ");
    label_number(t, r->task.assume_honest.num);
    label_say(t, " in ");
    label_number(t, r->task.assume_honest.den);
    label_say(t, " of a batch are real and honest, one report");
    if (!r->proved)
        label_say(t, ", by the collector's claim,");
    label_moves(t, r->task.nano_central);
    label_say(t, " That may fail with a chance of ");
    label_number(t, r->task.delta.num);
    label_say(t, " in ");
    label_number(t, r->task.delta.den);
    label_letter(t, '.');
}

/* Of a shuffled task that a device admitted: people compare the digests of
 * their documents. */
static void label_document(struct label_text *t, const hsy_release *r)
{
    if (release_layers(r) == 0 || bytes_zero(r->document, HSY_DIGEST))
        return;
    label_say(t, " The document that asks this has the digest ");
    for (size_t i = 0; i < HSY_DIGEST; i++) {
        label_letter(t, hex_digit(r->document[i] >> 4));
        label_letter(t, hex_digit(r->document[i] & 15));
    }
    label_say(t, ". Everybody who is asked has the same document; a device "
                 "with another one can be told apart.");
}

size_t hsy_release_label(const hsy_release *r, char *out, size_t room,
                         const hsy_task *task)
{
    struct label_text t = {out, room, 0};
    hsy_release_info info;

    hsy_release_describe(r, &info);
    label_asked(&t, task);
    label_stage(&t, r);
    label_tells(&t, &info);
    label_shuffled(&t, r, task);
    label_changes(&t, &info);
    label_sends(&t, &info);
    label_never(&t, r, &info);
    label_say(&t, " It runs from ");
    label_date(&t, info.task.start);
    label_say(&t, " to ");
    label_date(&t, info.task.end - 1);
    label_letter(&t, '.');
    label_document(&t, r);
    label_end(&t);
    return t.len;
}
