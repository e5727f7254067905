/*
 * sheet.c - what interviewer and respondent draw.
 *
 * Chances become a coin, a die or numbered cards. What has no such form with
 * at most 1000 cards is rounded towards more privacy.
 */
#include "host/survey/survey.h"

#include "host/base/ratio.h"

#include <math.h>

/* ---- Chances as things to draw ------------------------------------------- */

/* The fewest sides that have these chances exactly, or SURVEY_CARDS. */
static uint64_t sheet_sides(const hsy_ratio *r, size_t n)
{
    uint64_t sides = 1;

    for (size_t i = 0; i < n; i++) {
        const uint64_t den = r[i].den / ratio_gcd(r[i].num, r[i].den);

        sides = sides / ratio_gcd(sides, den) * den;
        if (sides > SURVEY_CARDS)
            return SURVEY_CARDS;
    }
    return sides == 1 ? 2 : sides == 3 ? 6 : sides;
}

/* num/den of so many sides, up or down to whole ones. */
static uint64_t sheet_part(const hsy_ratio *r, uint64_t sides, bool up)
{
    return (r->num * sides + (up ? r->den - 1 : 0)) / r->den;
}

/* One chance, rounded down, but towards 1/2 if that is more private. */
static struct survey_draw sheet_chance(const hsy_ratio *r, bool half)
{
    const uint64_t sides = sheet_sides(r, 1);
    const bool up = half && 2 * r->num < r->den;

    return (struct survey_draw){sides, {sheet_part(r, sides, up), 0}};
}

/* Made to say yes with chance a, no with b, both rounded up. */
static struct survey_draw sheet_three(const hsy_ratio r[2])
{
    const uint64_t sides = sheet_sides(r, 2);

    return (struct survey_draw){
        sides,
        {sheet_part(&r[0], sides, true), sheet_part(&r[1], sides, true)}};
}

static struct survey_draw sheet_epsilon(double epsilon)
{
    const uint64_t sides = epsilon <= 4 ? 100 : SURVEY_CARDS;
    const double own = floor((double)sides / (1 + exp(-epsilon)));

    return (struct survey_draw){sides, {(uint64_t)own, 0}};
}

/* ---- What each design asks to be drawn ------------------------------------
 */

/* Draw i has the design's chance i. */
static void sheet_one(struct survey_sheet *q,
                      const struct survey_design *design, size_t i, bool half)
{
    struct survey_draw *d = &q->draw[i];

    *d = design->kind->design == HSY_SURVEY_EPSILON
             ? sheet_epsilon(design->chance[0])
             : sheet_chance(&design->ratio[i], half);
    q->chance[i] = (hsy_ratio){d->parts[0], d->sides};
}

static void sheet_forced(struct survey_sheet *q, const hsy_ratio r[2])
{
    const struct survey_draw d = sheet_three(r);

    q->draw[0] = d;
    q->kind = survey_kind_of("forced");
    for (size_t i = 0; i < 2; i++)
        q->chance[i] = (hsy_ratio){d.parts[i], d.sides};
}

/* The draws, and the design that they make. */
static void sheet_draws(struct survey_sheet *q, const struct survey_design *d)
{
    /* Of a channel no is forced with 1 - P, yes with Q. */
    const hsy_ratio made[2] = {
        d->ratio[1], {d->ratio[0].den - d->ratio[0].num, d->ratio[0].den}};

    switch (d->kind->design) {
    case HSY_SURVEY_EPSILON:
    case HSY_SURVEY_SPINNER:
        q->kind = survey_kind_of("spinner");
        sheet_one(q, d, 0, true);
        break;
    case HSY_SURVEY_COINS:
        sheet_one(q, d, 0, false);
        sheet_one(q, d, 1, true);
        break;
    case HSY_SURVEY_CHANNEL:
        sheet_forced(q, made);
        break;
    case HSY_SURVEY_FORCED:
        sheet_forced(q, d->ratio);
        break;
    case HSY_SURVEY_UNRELATED:
        sheet_one(q, d, 0, false);
        if (d->kind->pair)
            sheet_one(q, d, 1, false);
        break;
    default:
        break;
    }
}

hsy_status survey_sheet_settle(struct survey_sheet *out,
                               const struct survey_design *design,
                               hsy_error *err)
{
    struct survey_sheet q = {.kind = design->kind,
                             .chance = {design->ratio[0], design->ratio[1]}};
    double chance[2] = {0, 0};
    hsy_status st;

    sheet_draws(&q, design);
    for (size_t i = 0; i < q.kind->chances; i++)
        chance[i] = (double)q.chance[i].num / (double)q.chance[i].den;
    /* A channel of the same chances is refused, as two samples alike are. */
    st = hsy_survey_init(&q.channel,
                         q.kind->pair ? HSY_SURVEY_CHANNEL : q.kind->design,
                         chance, err);
    if (st == HSY_OK)
        *out = q;
    return st;
}
