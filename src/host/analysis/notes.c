/* notes.c - what a figure says of itself, in words that the command, the
 * collector and its page have in common. */
#include "host/analysis/analysis.h"

static const struct shares_note notes_table[] = {
    [SHARES_PERSON_ROUNDS] = {"person-rounds",
                              "a share of person-rounds: who answered in "
                              "several rounds counts once for each of them"},
    [SHARES_MEAN_ROUNDS] = {"person-rounds",
                            "a mean over person-rounds: who answered in "
                            "several rounds counts once for each of them"},
    [SHARES_KEPT] = {"kept-noise",
                     "answers are kept and sent again with new noise: more "
                     "days do not bring the error below that of the kept "
                     "answers"},
    [SHARES_BOUND] = {"attendance-bound",
                      "who was in which rounds is not known: the error is the "
                      "largest that so many rounds can have"},
    [SHARES_PAIRED] = {"paired",
                       "the noise of kept answers that are in both is taken "
                       "out: that assumes no more devices in all than were "
                       "said, each of which keeps its first answer"},
    [SHARES_OVERLAP] = {"overlap",
                        "the two may hold the same reports: the error is that "
                        "of independent ones, and does not hold for reports "
                        "that are in both"},
};

const struct shares_note *shares_note(enum shares_note_code code)
{
    return &notes_table[code];
}

size_t shares_notes(enum shares_note_code out[SHARES_NOTES],
                    const struct shares_tally *t, bool rounds_known)
{
    size_t n = 0;

    if (t->attended == NULL || t->attended->rounds < 2)
        return 0;
    out[n++] = t->info->kind == HSY_KIND_NUMBER ? SHARES_MEAN_ROUNDS
                                                : SHARES_PERSON_ROUNDS;
    if (t->attended->kept > 0)
        out[n++] = SHARES_KEPT;
    if (!rounds_known)
        out[n++] = SHARES_BOUND;
    return n;
}

size_t shares_compared(enum shares_note_code out[SHARES_COMPARED], bool paired,
                       bool overlap)
{
    size_t n = 0;

    if (paired)
        out[n++] = SHARES_PAIRED;
    if (overlap)
        out[n++] = SHARES_OVERLAP;
    return n;
}
