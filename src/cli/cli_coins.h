/* cli_coins.h - kernel randomness for many reports in a row. */
#ifndef CLI_COINS_H
#define CLI_COINS_H

#include "hearsay.h"

#define CLI_COINS_ROOM 32768u

/* One role's bytes, fetched in large draws and handed out in small ones. */
struct cli_coins_store {
    hsy_rng source;
    size_t left; /* unread bytes at the end; what was read is wiped */
    uint8_t bytes[CLI_COINS_ROOM];
};

/* Keep at one address. Not for a process that forks. */
struct cli_coins {
    hsy_entropy entropy;
    struct cli_coins_store secret, published;
};

void cli_coins_init(struct cli_coins *c);
hsy_coins cli_coins_open(struct cli_coins *c);
void cli_coins_clear(struct cli_coins *c);

#endif
