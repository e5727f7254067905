/* answer.h - one call of hsy_device_answer, between answer.c and noise.c. */
#ifndef LIB_DEVICE_ANSWER_H
#define LIB_DEVICE_ANSWER_H

#include "lib/device/internal.h"

/* One call, as far as it has been decided. */
struct answer {
    hsy_device *dev;
    const hsy_release *r;
    uint32_t record;
    struct device_record *rec;
    uint32_t day;
    uint64_t slot, round;
    uint32_t number;          /* of the answer in its round, from 0 on */
    hsy_answer_state state;   /* 0: to be answered */
    enum device_slot opening; /* NONE: the slot is open already */
    uint32_t origin;          /* LOWERED: whose answer it is made from */
    uint64_t code;            /* of the truth; of a tuple a hash */
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    uint64_t used, keys[HSY_CHANGES_MAX]; /* of the slot, as they will be */
    uint64_t place;                       /* in the round's reservoir */
};

/* The noised answer, into scratch[0], and the keys of the slot as they will be.
 * On failure nothing has changed. */
hsy_status hsy_noise_make(struct answer *a);

/* Which place of its round the answer takes; sends or more: none. */
hsy_status hsy_noise_place(struct answer *a);

#endif
