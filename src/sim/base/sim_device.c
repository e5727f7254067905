/*
 * sim_device.c - simulated devices: the client's coins under keys from a seed.
 *
 * Purposes and fields of a context are the real client's (src/lib/device), so
 * that what is kept, what is drawn anew and what two questions have in common
 * are the same here. Keys are not secret: anyone who knows the seed knows them.
 */
#include "sim/base/sim_device.h"

#include <stdlib.h>
#include <string.h>

#define DEVICE_SOURCE "simulated"

/* ---- Schemes ------------------------------------------------------------- */

static hsy_status device_scheme(hsy_scheme **out, const hsy_spec *spec,
                                uint64_t nano_epsilon, hsy_error *err)
{
    hsy_spec at = *spec;

    if (at.design == HSY_DESIGN_EPSILON)
        at.nano_epsilon = nano_epsilon;
    return scheme_open(out, &at, err);
}

hsy_status sim_pair_open(struct sim_pair *pair, const hsy_spec *spec,
                         uint64_t nano_permanent, uint64_t nano_report,
                         uint64_t grain, hsy_error *err)
{
    hsy_spec same = *spec;
    hsy_scheme_info info;
    hsy_status st;

    memset(pair, 0, sizeof *pair);
    st = device_scheme(&pair->report, spec, nano_report, err);
    if (st != HSY_OK)
        return st;
    /* What suits one report, as olh's g, both steps share. */
    hsy_scheme_describe(pair->report, &info);
    memcpy(same.param, info.param, sizeof same.param);
    st = device_scheme(&pair->permanent, &same, nano_permanent, err);
    if (st == HSY_OK)
        st = hsy_permanent_init(&pair->memo, pair->permanent, pair->report,
                                grain, err);
    return st;
}

void sim_pair_close(struct sim_pair *pair)
{
    free(pair->permanent);
    free(pair->report);
    memset(pair, 0, sizeof *pair);
}

hsy_status sim_pair_yes_no(struct sim_pair *pair, uint64_t nano_permanent,
                           uint64_t nano_report, hsy_error *err)
{
    const hsy_spec spec = {
        .size = sizeof spec, .mechanism = "rr", .kind = HSY_KIND_YES_NO};

    return sim_pair_open(pair, &spec, nano_permanent, nano_report, 0, err);
}

/* ---- Coins --------------------------------------------------------------- */

void sim_device_init(struct sim_device *d, const hsy_permanent *memo,
                     uint64_t seed, uint64_t number)
{
    static const char label[] = "hearsay simulated device";
    uint8_t from[16];

    memset(d, 0, sizeof *d);
    for (unsigned i = 0; i < 8; i++) {
        from[i] = (uint8_t)(seed >> 8 * i);
        from[8 + i] = (uint8_t)(number >> 8 * i);
    }
    hsy_blake2b(d->key, sizeof d->key, from, sizeof from,
                (const uint8_t *)label, sizeof label - 1);
    d->memo = memo;
}

static hsy_coins device_open(const struct sim_device *d, hsy_keyed *room,
                             const char *purpose, const hsy_scheme *s,
                             uint64_t slot, uint64_t truth)
{
    hsy_scheme_info info;
    const hsy_context context = {.purpose = purpose,
                                 .source = DEVICE_SOURCE,
                                 .source_len = sizeof DEVICE_SOURCE - 1,
                                 .digest = info.digest,
                                 .slot = slot,
                                 .truth = truth};

    hsy_scheme_describe(s, &info);
    hsy_keyed_open(room, d->key, &context);
    return hsy_keyed_coins(room);
}

hsy_status sim_fresh(struct sim_device *d, uint8_t *report,
                     const hsy_truth *truth, uint64_t day, hsy_error *err)
{
    const hsy_scheme *s = d->memo->report;
    hsy_keyed room;
    hsy_coins coins;
    uint64_t code;
    hsy_status st = hsy_truth_code(s, &code, truth, err);

    if (st != HSY_OK)
        return st;
    coins = device_open(d, &room, "permanent", s, day, code);
    return hsy_randomize(s, report, truth, &coins, err);
}

hsy_status sim_key(struct sim_device *d, uint64_t *key, uint64_t code)
{
    hsy_keyed room;
    hsy_coins own =
        device_open(d, &room, "release", d->memo->permanent, d->slot, 0);

    return hsy_permanent_key(d->memo, key, code, &own);
}

/* Secret coins are the key's own, published ones the release's: whoever has one
 * truth and then another shows the same seed or cohort. */
hsy_status sim_permanent(struct sim_device *d, uint64_t key)
{
    const hsy_scheme *s = d->memo->permanent;
    hsy_keyed release, room;
    hsy_coins coins;
    hsy_status st;

    if (d->kept && d->key_kept == key)
        return HSY_OK;
    coins = device_open(d, &room, "permanent", s, d->slot, key);
    coins.published =
        device_open(d, &release, "release", s, d->slot, 0).published;
    st = hsy_permanent_answer(d->memo, d->answer, key, &coins);
    d->kept = st == HSY_OK;
    d->key_kept = key;
    return st;
}

hsy_status sim_report(struct sim_device *d, uint8_t *report, uint64_t key,
                      uint64_t day)
{
    hsy_keyed room;
    hsy_coins coins;
    hsy_status st = sim_permanent(d, key);

    if (st != HSY_OK)
        return st;
    coins = device_open(d, &room, "report", d->memo->permanent, day, key);
    return hsy_permanent_report(d->memo, report, d->answer, &coins.secret);
}

hsy_status sim_raw_seed(struct sim_device *d, uint64_t *seed)
{
    hsy_keyed room;
    hsy_coins own =
        device_open(d, &room, "release", d->memo->permanent, d->slot, 0);

    return own.published.fill(own.published.ctx, seed, sizeof *seed);
}
