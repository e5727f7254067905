/* coins.c - coins that are counted, and coins that run out. */
#include "audit/internal.h"

#include <string.h>

static hsy_status audit_coins_fill(void *ctx, void *buf, size_t len)
{
    struct audit_meter *m = ctx;

    m->calls++;
    if (m->fail_at != 0 && m->calls >= m->fail_at) {
        m->failed = true;
        return HSY_E_ENTROPY;
    }
    m->bytes += len;
    return m->inner.fill(m->inner.ctx, buf, len);
}

void audit_coins_init(struct audit_coins *c, hsy_coins inner)
{
    memset(c, 0, sizeof *c);
    c->secret.inner = inner.secret;
    c->published.inner = inner.published;
    c->coins.secret = (hsy_rng){audit_coins_fill, &c->secret};
    c->coins.published = (hsy_rng){audit_coins_fill, &c->published};
}

/* One call with the coins of `seed`, the `fail_at`-th draw of each kind and
 * the later ones failing. */
struct audit_coins_trial {
    const struct audit_subject *subject;
    bool batch;
    uint8_t *reports;
    size_t len; /* bytes of what one call reports */
    uint64_t seed;
    uint64_t fail_secret, fail_published;

    bool failed;
    uint64_t secret_bytes;
};

static hsy_status audit_coins_try(struct audit_coins_trial *t,
                                  const struct audit_probe *probe)
{
    hsy_stream secret, published;
    struct audit_coins c;
    const size_t width = hsy_codes_per_truth(t->subject->scheme);
    uint64_t codes[4 * HSY_ATTRIBUTES_MAX];
    hsy_status st;

    for (size_t i = 0; i < 4 * width; i++)
        codes[i] = probe->codes[i % width];
    hsy_stream_seed(&secret, t->seed, 0);
    hsy_stream_seed(&published, t->seed, 1);
    audit_coins_init(
        &c, (hsy_coins){hsy_stream_rng(&secret), hsy_stream_rng(&published)});
    c.secret.fail_at = t->fail_secret;
    c.published.fail_at = t->fail_published;
    memset(t->reports, 0, t->len);
    st = t->batch ? t->subject->batch(t->subject->ctx, t->subject->scheme,
                                      t->reports, codes, 4, &c.coins)
                  : t->subject->single(t->subject->ctx, t->subject->scheme,
                                       t->reports, probe, &c.coins);
    t->failed = c.secret.failed || c.published.failed;
    t->secret_bytes = c.secret.bytes;
    return st;
}

/* Wherever the coins fail, so does the call. */
static bool audit_coins_closed(struct audit_coins_trial *t,
                               const struct audit_probe *probe)
{
    for (uint64_t at = 1; at <= 4; at++)
        for (int which = 0; which < 2; which++) {
            hsy_status st;

            t->fail_secret = which == 0 ? at : 0;
            t->fail_published = which == 1 ? at : 0;
            st = audit_coins_try(t, probe);
            if (t->failed && st != HSY_E_ENTROPY)
                return false;
        }
    t->fail_secret = t->fail_published = 0;
    return true;
}

/* The same coins give the same report, and some coins were drawn for it. */
static bool audit_coins_only(struct audit_coins_trial *t,
                             const struct audit_probe *probe)
{
    uint8_t *first = t->reports;

    for (t->seed = 1; t->seed <= 64; t->seed++) {
        bool same;

        audit_coins_try(t, probe);
        if (t->secret_bytes == 0)
            return false;
        t->reports = first + t->len;
        audit_coins_try(t, probe);
        same = memcmp(first, t->reports, t->len) == 0;
        t->reports = first;
        if (!same)
            return false;
    }
    return true;
}

unsigned audit_check_coins(const struct audit_subject *subject, bool batch,
                           const struct audit_probe *probes, size_t nprobes,
                           uint8_t *reports, size_t report_bytes)
{
    struct audit_coins_trial t = {.subject = subject,
                                  .batch = batch,
                                  .reports = reports,
                                  .len = report_bytes * (batch ? 4 : 1)};
    unsigned faults = 0;

    for (size_t x = 0; x < nprobes; x++) {
        if (!audit_coins_closed(&t, &probes[x]))
            faults |= AUDIT_CLOSED;
        if (!audit_coins_only(&t, &probes[x]))
            faults |= AUDIT_COINS;
    }
    return faults;
}
