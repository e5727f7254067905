/* curator.c - truths, one a line, to a curator's noisy tally. */
#define _DEFAULT_SOURCE
#include "host/format/randomizer.h"

#include <string.h>

#define CURATOR_LINES 2048u /* lines coded at once */

static hsy_status curator_count(struct randomized *done, hsy_tally *tally,
                                const struct randomizer *r,
                                const struct line *lines, size_t n,
                                hsy_error *err)
{
    uint64_t codes[CURATOR_LINES];
    const size_t good = code_lines(&r->coder, codes, lines, n, &done->wrong);
    hsy_status st = HSY_E_RANGE;

    done->line = done->written + good + 1;
    done->trouble = good < n ? RANDOMIZER_TRUTH : RANDOMIZER_COINS;
    if (good == n)
        st = hsy_central_count(tally, r->scheme, codes, n, err);
    explicit_bzero(codes, sizeof codes);
    return st;
}

static hsy_status curator_lines(struct randomized *done, hsy_tally *tally,
                                const struct randomizer *r, struct lines *in,
                                hsy_error *err)
{
    struct line lines[CURATOR_LINES];
    size_t n;

    do {
        hsy_status st = lines_next(in, lines, CURATOR_LINES, &n, err);

        done->trouble = RANDOMIZER_LINES;
        if (st == HSY_OK)
            st = curator_count(done, tally, r, lines, n, err);
        if (st != HSY_OK)
            return st;
        done->written = in->number;
        if (r->tick != NULL)
            r->tick(r->ctx, done->written);
    } while (n != 0);
    return HSY_OK;
}

static hsy_status curator_noise(hsy_tally *tally, const struct randomizer *r,
                                hsy_error *err)
{
    hsy_entropy entropy;
    hsy_stream stream = {0};
    hsy_rng rng;
    hsy_status st;

    hsy_entropy_init(&entropy);
    rng = hsy_entropy_coins(&entropy).secret;
    if (r->seed != NULL) {
        hsy_stream_seed(&stream, *r->seed, 0);
        rng = hsy_stream_rng(&stream);
    }
    st = hsy_central_release(tally, r->scheme, &rng, err);
    hsy_entropy_clear(&entropy);
    hsy_stream_clear(&stream);
    return st;
}

hsy_status curator_release(struct randomized *done, hsy_tally *tally,
                           const struct randomizer *r, int fd, hsy_error *err)
{
    struct lines in = {.fd = -1};
    hsy_status st = lines_open(&in, fd);

    *done = (struct randomized){.trouble = RANDOMIZER_MEMORY};
    if (st == HSY_OK)
        st = curator_lines(done, tally, r, &in, err);
    lines_close(&in);
    if (st != HSY_OK)
        return st;
    done->trouble = RANDOMIZER_COINS;
    return curator_noise(tally, r, err);
}
