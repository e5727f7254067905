/*
 * whole.c - reports of a mechanism whose one part every report answers: the
 * part's own, with zeros behind where all reports of a search are as long.
 */
#include "lib/bits/bytes.h"
#include "lib/scheme/sampled.h"

#include <string.h>

#define WHOLE_BLOCK 256u
#define WHOLE_ROOM 8192u

static const hsy_scheme *whole_part(const hsy_scheme *s)
{
    return hsy_scheme_part(s, 0);
}

hsy_status hsy_whole_randomize(const hsy_scheme *s, uint8_t *reports,
                               const uint64_t *codes, size_t n,
                               hsy_coins *coins)
{
    const hsy_scheme *part = whole_part(s);
    const size_t bytes = s->report_bytes, own = part->report_bytes;
    const size_t width = hsy_codes_per_truth(s);
    uint64_t values[WHOLE_BLOCK];
    hsy_status st = HSY_OK;

    for (size_t done = 0; done < n && st == HSY_OK; done += WHOLE_BLOCK) {
        const size_t m = n - done < WHOLE_BLOCK ? n - done : WHOLE_BLOCK;
        uint8_t *to = reports + done * bytes;

        for (size_t k = 0; k < m; k++)
            values[k] = s->mech->parts->code(s, codes + (done + k) * width, 0);
        st = part->mech->client->randomize(part, to, values, m, coins);
        for (size_t k = m; k-- > 0 && own < bytes && st == HSY_OK;) {
            memmove(to + k * bytes, to + k * own, own);
            memset(to + k * bytes + own, 0, bytes - own);
        }
    }
    bytes_wipe(values, (n < WHOLE_BLOCK ? n : WHOLE_BLOCK) * sizeof *values);
    return st;
}

static size_t whole_check(const hsy_scheme *s, const uint8_t *reports, size_t n)
{
    const hsy_scheme *part = whole_part(s);
    const size_t bytes = s->report_bytes, own = part->report_bytes;
    size_t i = 0;

    if (own == bytes)
        return part->mech->counting->check(part, reports, n);
    for (; i < n; i++, reports += bytes)
        if (!bytes_zero(reports + own, bytes - own) ||
            part->mech->counting->check(part, reports, 1) != 1)
            break;
    return i;
}

/* The part's reports without what follows them, as many as fit. */
static void whole_tally(const hsy_scheme *s, hsy_tally *t,
                        const uint8_t *reports, size_t n)
{
    const hsy_scheme *part = whole_part(s);
    const size_t bytes = s->report_bytes, own = part->report_bytes;
    const size_t most = own < WHOLE_ROOM ? WHOLE_ROOM / own : 0;
    uint8_t room[WHOLE_ROOM];

    if (most == 0 || own == bytes) {
        for (size_t i = 0; i < n && own != bytes; i++)
            part->mech->counting->tally(part, t, reports + i * bytes, 1);
        if (own == bytes)
            part->mech->counting->tally(part, t, reports, n);
        return;
    }
    for (size_t done = 0; done < n; done += most) {
        const size_t m = n - done < most ? n - done : most;

        for (size_t k = 0; k < m; k++)
            memcpy(room + k * own, reports + (done + k) * bytes, own);
        part->mech->counting->tally(part, t, room, m);
    }
}

static size_t whole_law_codes(const hsy_scheme *s, hsy_factor *factors,
                              const uint64_t *codes, const uint8_t *report)
{
    const hsy_scheme *part = whole_part(s);

    return part->mech->law->of_code(part, factors,
                                    s->mech->parts->code(s, codes, 0), report);
}

static size_t whole_law(const hsy_scheme *s, hsy_factor *factors, uint64_t code,
                        const uint8_t *report)
{
    return whole_law_codes(s, factors, &code, report);
}

static size_t whole_law_worst(const hsy_scheme *s, hsy_factor factors[4])
{
    return whole_part(s)->mech->law->worst(whole_part(s), factors);
}

static uint32_t whole_law_power(const hsy_scheme *s)
{
    return hsy_law_power(whole_part(s));
}

const struct mech_counting hsy_mech_whole_counting = {
    .check = whole_check,
    .tally = whole_tally,
};

const struct mech_law hsy_mech_whole_law = {
    .of_code = whole_law,
    .of_codes = whole_law_codes,
    .worst = whole_law_worst,
    .power = whole_law_power,
};
