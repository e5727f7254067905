/* labels.h - the values of a list, and a fast way from a value to its place. */
#ifndef HOST_BASE_LABELS_H
#define HOST_BASE_LABELS_H

#include "hearsay.h"

/* The values of a list as one block in the library's encoding, and a hash
 * table from value to place. Owns its memory. */
struct labels {
    uint8_t *block; /* labels_len bytes, then 8 spare ones */
    size_t len, room;
    uint32_t d;
    uint32_t *starts; /* of each label's bytes in block */
    size_t starts_room;
    struct labels_slot *slots;
    uint32_t mask;
    uint64_t key[2]; /* of the hash: outside bytes may not crowd a place */
    bool deep;       /* the hash covers all bytes, not only the ends */
    bool shown;      /* to people: refuse control characters too */
};

/* Append a value. HSY_E_RANGE with its place (from 1) in err->at if it is
 * empty, too long, not UTF-8 or has a line break, or if the list is full;
 * HSY_E_NOMEM. */
hsy_status labels_add(struct labels *l, const void *text, size_t len,
                      hsy_error *err);

/* Append the values of a block from a file, whatever bytes they have. */
hsy_status labels_take(struct labels *l, const uint8_t *block, size_t len,
                       hsy_error *err);

/* Build the hash table once all values are there. HSY_E_RANGE with the place
 * (from 1) of a duplicate in err->at, and then labels_find finds the first of
 * them; HSY_E_NOMEM, HSY_E_ENTROPY. */
hsy_status labels_index(struct labels *l, hsy_error *err);

/* The place of a value, or d if there is none. text[len .. len+7] must be
 * readable. */
uint32_t labels_find(const struct labels *l, const uint8_t *text, size_t len);

/* The place of "other" in an indexed list, which has it then: put at the end if
 * need be. */
hsy_status labels_other(struct labels *l, uint32_t *place, hsy_error *err);
const char *labels_at(const struct labels *l, uint32_t i, size_t *len);
void labels_clear(struct labels *l);

/* Append the lines of a text, one value each, and index them. HSY_E_EMPTY if
 * it has none; else as labels_add, labels_index and lines_next. */
hsy_status labels_read(struct labels *l, int fd, hsy_error *err);

#endif
