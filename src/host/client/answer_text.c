/*
 * answer_text.c - a truth from a line of text.
 *
 * The text is copied to a room of one size, padded with zeros. From there on
 * neither a branch nor an address depends on which value it is, as far as it is
 * one: all labels are compared, byte by byte, and the place of the equal one is
 * kept by a mask. That a text is no answer at all shows; it is refused.
 */
#include "host/client/client.h"

#include "host/base/host_fail.h"
#include "host/format/truth_words.h"
#include "lib/bits/bytes.h"
#include "lib/bits/ct.h"

#include <string.h>

/* All ones if two texts are equal, else 0. The time depends on len alone, which
 * is that of a label and public. */
static uint64_t text_equal(const uint8_t *room, size_t room_len,
                           const uint8_t *text, size_t len)
{
    uint64_t differ = room_len ^ len;

    for (size_t i = 0; i < len; i++)
        differ |= (uint64_t)(room[i] ^ text[i]);
    return ct_equal(differ, 0);
}

static void text_keep(uint32_t *place, uint32_t i, uint64_t mask)
{
    *place = (uint32_t)ct_select(mask, i, *place);
}

/* Whether it is still none: that much shows. */
static bool text_lost(uint32_t place)
{
    return ct_public(ct_equal(place, UINT32_MAX)) != 0;
}

/* ---- One function a kind ------------------------------------------------- */

/* What a text stands in, and what it may be. */
struct text_job {
    struct client_truth *out;
    size_t len;
    const hsy_scheme_info *info;
    const hsy_task *task;
};

static hsy_status text_yes_no(const struct text_job *job, hsy_error *err)
{
    uint8_t lower[sizeof truth_words[0].word] = {0};
    uint32_t index = UINT32_MAX;

    for (size_t i = 0; i < sizeof lower - 1; i++) {
        uint32_t c = job->out->room[i];
        /* 1 from A to Z: neither difference borrows. */
        uint32_t upper = ~((c - 'A') | ('Z' - c)) >> 31;

        lower[i] = (uint8_t)(c | upper << 5);
    }
    for (size_t i = 0; i < TRUTH_WORDS; i++)
        text_keep(&index, truth_words[i].index,
                  text_equal(lower, job->len,
                             (const uint8_t *)truth_words[i].word,
                             truth_words[i].len));
    if (text_lost(index))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         TRUTH_NOT_YES_NO_TEXT);
    job->out->truth.type = HSY_TRUTH_INDEX;
    job->out->truth.u.index = index;
    return HSY_OK;
}

static hsy_status text_index(const struct text_job *job, uint32_t index,
                             hsy_error *err)
{
    text_keep(&index, job->task->other, ct_equal(index, UINT32_MAX));
    if (text_lost(index)) /* HSY_TASK_CLOSED, too */
        return host_fail(err, HSY_E_RANGE, HSY_FIELD_NONE,
                         "not one of the values that are asked for");
    job->out->truth.type = HSY_TRUTH_INDEX;
    job->out->truth.u.index = index;
    return HSY_OK;
}

static hsy_status text_labels(const struct text_job *job, hsy_error *err)
{
    const uint8_t *labels = job->task->labels;
    size_t at = job->info->labels_at;
    uint32_t index = UINT32_MAX;

    for (uint32_t i = 0; i < job->info->d; i++) {
        const uint8_t *p = labels + at;
        size_t len = bytes_get32(p);

        text_keep(&index, i, text_equal(job->out->room, job->len, p + 4, len));
        at += 4 + len;
    }
    return text_index(job, index, err);
}

/* Values without names are called 0 to d - 1. */
static hsy_status text_values(const struct text_job *job, hsy_error *err)
{
    uint64_t x;
    bool digits;

    if (job->task->labels_len > job->info->labels_at)
        return text_labels(job, err);
    digits = truth_digits(&x, job->out->room, job->len);
    return text_index(
        job, digits && x < job->info->d ? (uint32_t)x : UINT32_MAX, err);
}

/* What no int64_t holds is beyond an end of the range, too. */
static hsy_status text_number(const struct text_job *job, hsy_error *err)
{
    const char *text = (const char *)job->out->room;
    int64_t number = 0;
    hsy_status st =
        hsy_decimal_parse(&number, text, job->len, job->info->scale);

    if (st == HSY_E_RANGE)
        number = text[0] == '-' ? job->info->lo : job->info->hi;
    else if (st != HSY_OK)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE,
                         TRUTH_NOT_DECIMAL_TEXT);
    job->out->truth.type = HSY_TRUTH_NUMBER;
    job->out->truth.u.number = number;
    return HSY_OK;
}

static hsy_status text_string(const struct text_job *job, hsy_error *err)
{
    (void)err;
    job->out->truth.type = HSY_TRUTH_BYTES;
    job->out->truth.u.bytes.data = job->out->room;
    job->out->truth.u.bytes.len =
        job->len < HSY_STRING_MAX ? job->len : HSY_STRING_MAX;
    job->out->truth.u.bytes.room = HSY_STRING_MAX;
    return HSY_OK;
}

static hsy_status (*const text_kinds[])(const struct text_job *job,
                                        hsy_error *err) = {
    [HSY_KIND_YES_NO] = text_yes_no,
    [HSY_KIND_VALUES] = text_values,
    [HSY_KIND_NUMBER] = text_number,
    [HSY_KIND_BINS] = text_number,
    [HSY_KIND_STRINGS] = text_string};

hsy_status hsy_client_parse(struct client_truth *out, const hsy_release *r,
                            const hsy_task *task, const char *text, size_t len,
                            hsy_error *err)
{
    struct text_job job = {.out = out, .task = task};
    hsy_release_info release;
    hsy_scheme_info info;

    hsy_release_describe(r, &release);
    hsy_scheme_describe(release.scheme, &info);
    if (info.kind >= sizeof text_kinds / sizeof text_kinds[0] ||
        text_kinds[info.kind] == NULL)
        return host_fail(err, HSY_E_UNKNOWN, HSY_FIELD_NONE,
                         "a truth of several attributes has no text; answer "
                         "it by hsy_client_answer");
    memset(out, 0, sizeof *out);
    job.info = &info;
    job.len = len < sizeof out->room ? len : sizeof out->room;
    memcpy(out->room, text, job.len);
    return text_kinds[info.kind](&job, err);
}
