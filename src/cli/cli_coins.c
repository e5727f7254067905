/*
 * cli_coins.c - kernel randomness for many reports in a row.
 *
 * A mechanism that draws some hundred bytes a report would ask the kernel for
 * nearly every one. Here they come from large draws of hsy_entropy, which are
 * expansions of fresh kernel bytes, and are wiped as they are handed out.
 */
#define _DEFAULT_SOURCE
#include "cli_coins.h"

#include <string.h>

/* A draw that the store cannot serve drops what is left, so that it succeeds
 * or fails before it writes a byte. */
static hsy_status coins_fill(void *ctx, void *buf, size_t len)
{
    struct cli_coins_store *s = ctx;
    uint8_t *from;

    if (len > sizeof s->bytes / 4)
        return s->source.fill(s->source.ctx, buf, len);
    if (len > s->left) {
        hsy_status st =
            s->source.fill(s->source.ctx, s->bytes, sizeof s->bytes);

        s->left = st == HSY_OK ? sizeof s->bytes : 0;
        if (st != HSY_OK)
            return st;
    }
    from = s->bytes + sizeof s->bytes - s->left;
    memcpy(buf, from, len);
    explicit_bzero(from, len);
    s->left -= len;
    return HSY_OK;
}

void cli_coins_init(struct cli_coins *c)
{
    hsy_coins source;

    memset(c, 0, sizeof *c);
    hsy_entropy_init(&c->entropy);
    source = hsy_entropy_coins(&c->entropy);
    c->secret.source = source.secret;
    c->published.source = source.published;
}

hsy_coins cli_coins_open(struct cli_coins *c)
{
    return (hsy_coins){{coins_fill, &c->secret}, {coins_fill, &c->published}};
}

void cli_coins_clear(struct cli_coins *c)
{
    hsy_entropy_clear(&c->entropy);
    explicit_bzero(c, sizeof *c);
}
