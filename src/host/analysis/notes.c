/* notes.c - what a result says of itself, in words that the command, the
 * collector and its page have in common. */
#include "host/analysis/internal.h"

#include <math.h>
#include <stdlib.h>

#define NOTES_SUM_OFF 0.1 /* a sum this far from 1 gets a note */
#define NOTES_LOOK "implausible if all reports are honest: "

static const struct notes_words {
    const char *name, *text;
} notes_table[] = {
    [HSY_NOTE_PERSON_ROUNDS] = {"person-rounds",
                                "a share of person-rounds: a person who "
                                "answered in several rounds counts once for "
                                "each"},
    [HSY_NOTE_MEAN_ROUNDS] = {"person-rounds",
                              "a mean over person-rounds: a person who "
                              "answered in several rounds counts once for "
                              "each"},
    [HSY_NOTE_KEPT_NOISE] = {"kept-noise",
                             "reports repeat permanent answers with new noise: "
                             "more days do not bring the error below that of "
                             "the permanent answers"},
    [HSY_NOTE_ATTENDANCE_BOUND] = {"attendance-bound",
                                   "the rounds of each device are unknown: the "
                                   "error is the largest that this number of "
                                   "rounds can have"},
    [HSY_NOTE_PAIRED] = {"paired",
                         "the noise of permanent answers common to both is "
                         "subtracted: this assumes no more devices in all than "
                         "stated, each of which keeps its first answer"},
    [HSY_NOTE_OVERLAP] = {"overlap",
                          "the tallies may share reports: the standard error "
                          "assumes that they are independent"},
    [HSY_DOUBT_SUPPORT] = {"implausible-support",
                           NOTES_LOOK "a count is too large or too small"},
    [HSY_DOUBT_SUM] = {"implausible-sum",
                       NOTES_LOOK "the shares do not sum to 1"},
    [HSY_DOUBT_WEIGHTS] = {"implausible-weights", NOTES_LOOK "ones per report"},
    [HSY_DOUBT_SEEDS] = {"implausible-seeds", NOTES_LOOK "seeds of the hash"},
    [HSY_DOUBT_LYING] = {"lying", "a sign of lying devices, if each device "
                                  "sent one report"},
    [HSY_DOUBT_FEW] = {"few", "few reports: the intervals are rough"},
    [HSY_DOUBT_STEPS] = {"steps",
                         "the likelihood still increased at the last step"},
    [HSY_DOUBT_OUTSIDE] = {"outside",
                           "some intervals lie entirely outside 0 to 100 %"},
    [HSY_DOUBT_OUTSIDE_ODD] = {"outside-odd",
                               "significantly many intervals lie entirely "
                               "outside 0 to 100 %: some reports were made up, "
                               "or made with other parameters"},
    [HSY_DOUBT_CANDIDATES] = {"candidates",
                              "post-processing assumes that the candidates are "
                              "all values"},
    [HSY_DOUBT_DETECTED] = {"detected",
                            "the detected strings sum to significantly more "
                            "than 100 %: some reports were made up, or made "
                            "with other parameters"},
    [HSY_DOUBT_STRINGS] = {"strings", "strings are estimated by name: there "
                                      "is no list of candidates"},
    [HSY_DOUBT_UNANSWERED] = {"unanswered", "no data: no report holds it"},
    [HSY_NOTE_SUM] = {"sum", "the shares of all values do not sum to 100 %: "
                             "each is estimated by itself; post-processing, "
                             "for example norm-sub, makes them sum to 100 %"},
    [HSY_NOTE_WIDE] = {"wide",
                       "most simultaneous intervals cover 0 to 100 % and say "
                       "nothing: too few reports for this number of values; "
                       "intervals that hold one by one are narrower"},
};

const char *hsy_analysis_code_name(hsy_analysis_code code)
{
    return notes_table[code].name;
}

const char *hsy_analysis_code_text(hsy_analysis_code code)
{
    return notes_table[code].text;
}

hsy_status analysis_note(hsy_analysis_result *out,
                         const hsy_analysis_note *note, hsy_error *err)
{
    hsy_analysis_note *notes =
        realloc(out->notes, (out->nnotes + 1) * sizeof *notes);

    if (notes == NULL)
        return host_nomem(err);
    out->notes = notes;
    notes[out->nnotes++] = *note;
    return HSY_OK;
}

/* ---- Sentences that belong to it ----------------------------------------- */

/* What is to be said of people who answered again. */
static size_t notes_rounds(hsy_analysis_code codes[3],
                           const struct analysis_job *j)
{
    const hsy_attendance *attended = j->t.attended;
    size_t n = 0;

    if (attended == NULL || attended->rounds < 2)
        return 0;
    codes[n++] = j->out->info.kind == HSY_KIND_NUMBER ? HSY_NOTE_MEAN_ROUNDS
                                                      : HSY_NOTE_PERSON_ROUNDS;
    if (attended->kept > 0)
        codes[n++] = HSY_NOTE_KEPT_NOISE;
    if (j->t.rounds == NULL)
        codes[n++] = HSY_NOTE_ATTENDANCE_BOUND;
    return n;
}

hsy_status analysis_notes(struct analysis_job *j, hsy_error *err)
{
    hsy_analysis_code codes[5];
    size_t n = notes_rounds(codes, j);
    hsy_status st = HSY_OK;

    if (j->out->paired)
        codes[n++] = HSY_NOTE_PAIRED;
    if (j->out->overlap)
        codes[n++] = HSY_NOTE_OVERLAP;
    for (size_t i = 0; st == HSY_OK && i < n; i++) {
        const hsy_analysis_note note = {.code = codes[i]};

        st = analysis_note(j->out, &note, err);
    }
    return st;
}

/* ---- Doubts -------------------------------------------------------------- */

hsy_status analysis_doubt_few(struct analysis_job *j, uint32_t which,
                              hsy_error *err)
{
    const hsy_analysis_result *out = j->out;
    const hsy_analysis_note note = {.code = HSY_DOUBT_FEW,
                                    .which = which,
                                    .count = which ? out->reports_against
                                                   : out->reports};

    /* Of a release intervals are those of the noise, for any number. */
    if (j->request->bare || (which ? out->against : out->info).central ||
        note.count >= ANALYSIS_FEW)
        return HSY_OK;
    return analysis_note(j->out, &note, err);
}

static hsy_analysis_code notes_reason(const hsy_plausibility *odd)
{
    return odd->support_p < ANALYSIS_ODD   ? HSY_DOUBT_SUPPORT
           : odd->sum_p < ANALYSIS_ODD     ? HSY_DOUBT_SUM
           : odd->weights_p < ANALYSIS_ODD ? HSY_DOUBT_WEIGHTS
                                           : HSY_DOUBT_SEEDS;
}

hsy_status analysis_doubt(struct analysis_job *j, uint32_t which,
                          hsy_error *err)
{
    const hsy_analysis_tally *t = which ? &j->against : &j->t;
    const struct analysis_evidence *e = which ? j->its : j->own;
    /* The second point of a yes/no question is the first one again. */
    const size_t count = t->info->kind == HSY_KIND_YES_NO ? 1 : e->count;
    hsy_analysis_note note = {.which = which};
    hsy_plausibility odd;
    hsy_status st = HSY_OK;

    hsy_plausible(t->scheme, &odd, t->tally, e->points, count, e->complete);
    j->out->tested = true;
    if (odd.implausible) {
        note.code = notes_reason(&odd);
        note.p = fmin(fmin(odd.support_p, odd.sum_p),
                      fmin(odd.weights_p, odd.seeds_p));
        st = analysis_note(j->out, &note, err);
    }
    note.code = HSY_DOUBT_LYING;
    note.p = fmin(odd.weights_p, odd.seeds_p);
    if (st == HSY_OK && note.p < ANALYSIS_ODD)
        st = analysis_note(j->out, &note, err);
    return st == HSY_OK ? analysis_doubt_few(j, which, err) : st;
}

hsy_status analysis_note_sum(struct analysis_job *j, hsy_error *err)
{
    const hsy_analysis_result *out = j->out;
    hsy_analysis_note note = {.code = HSY_NOTE_SUM};

    if (!j->own->complete || out->count != j->own->count ||
        j->request->post != HSY_POST_NONE)
        return HSY_OK;
    for (size_t i = 0; i < out->count; i++)
        note.p += out->rows[i].est.value;
    return fabs(note.p - 1) > NOTES_SUM_OFF ? analysis_note(j->out, &note, err)
                                            : HSY_OK;
}

hsy_status analysis_note_wide(struct analysis_job *j, hsy_error *err)
{
    const hsy_analysis_result *out = j->out;
    hsy_analysis_note note = {.code = HSY_NOTE_WIDE, .of = out->count};

    for (size_t i = 0; out->simultaneous && i < out->count; i++)
        note.count += out->rows[i].est.low <= 0 && out->rows[i].est.high >= 1;
    return 2 * note.count > note.of ? analysis_note(j->out, &note, err)
                                    : HSY_OK;
}

/*
 * Intervals that miss every share there is. At a share of 0 or 1 an interval
 * misses on the one side that counts with chance miss / 2, so a long list of
 * rare values has some of them whatever happened. Up to twice that is nothing
 * to speak of, and the alarm is measured by it: nominal levels are not met to
 * the digit.
 */
hsy_status analysis_doubt_outside(struct analysis_job *j, double miss,
                                  hsy_error *err)
{
    const hsy_analysis_result *out = j->out;
    /* The second row of a yes/no question is the first one again. */
    const size_t count = out->info.kind == HSY_KIND_YES_NO ? 1 : out->count;
    hsy_analysis_note note = {.of = count, .p = (double)count * miss / 2};

    for (size_t i = 0; i < count; i++)
        note.count += out->rows[i].est.high < 0 || out->rows[i].est.low > 1;
    if ((double)note.count <= (double)count * miss)
        return HSY_OK;
    note.code =
        hsy_binomial_cdf(count - note.count, count, 1 - miss) < ANALYSIS_ODD
            ? HSY_DOUBT_OUTSIDE_ODD
            : HSY_DOUBT_OUTSIDE;
    return analysis_note(j->out, &note, err);
}
