/* internal.h - what the files of the container reader share. */
#ifndef HOST_FORMAT_INTERNAL_H
#define HOST_FORMAT_INTERNAL_H

#include "host/format/format.h"

/* A descriptor read through a buffer. The buffer at most doubles with what has
 * arrived, so a length that lies costs no memory. */
struct container_input {
    int fd;
    bool ended;
    uint8_t *bytes; /* owned; begin <= end <= capacity */
    size_t capacity, begin, end;
};

hsy_status container_input_open(struct container_input *in, int fd);
hsy_status container_input_bytes(struct container_input *in,
                                 const uint8_t *bytes, size_t len);
void container_input_close(struct container_input *in);

/* Have n bytes in a row from in->begin on. HSY_E_END if the input ends before,
 * HSY_E_IO with errno set, HSY_E_NOMEM. */
hsy_status container_input_need(struct container_input *in, size_t n);

/* Have a line there, *len bytes with its newline. HSY_E_END if the input ends
 * before one, HSY_E_RANGE if it takes more than max bytes. */
hsy_status container_input_line(struct container_input *in, size_t max,
                                size_t *len);

/* Use up n bytes that are there; they stay until the next call of the above. */
const uint8_t *container_input_take(struct container_input *in, size_t n);

/* How far a tally file has come. Its records stand in one order only. */
struct container_order {
    uint32_t type;             /* of the last record, 0 at the start */
    uint64_t place;            /* first place after it */
    uint64_t reports, weights; /* sums so far */
    uint64_t rounds;           /* reports of rounds so far */
    hsy_round last;            /* of them */
    uint64_t batched;          /* reports of batches */
};

/* Whether the record may stand here; with HSY_OK order moves on. */
hsy_status container_order_check(struct container_order *order,
                                 const hsy_scheme_info *info,
                                 const hsy_record *record,
                                 const uint8_t *payload, hsy_error *err);

/* How many counters a record has that begins at place first of size. */
uint64_t container_order_run(uint64_t size, uint64_t first);

/* *sum plus count counters; false, and no change, if that passes 2^63 - 1. */
bool container_order_sum(uint64_t *sum, const uint8_t *payload, uint64_t count);

/* The readable twin as it is read: lines become packed reports. */
struct container_json {
    uint8_t *begin;   /* owned: what a binary stream would begin with */
    uint8_t *reports; /* owned, room for `room` of them */
    uint8_t *packed;  /* owned, for the same */
    uint8_t *one;     /* owned, for one packed report */
    size_t labels_len, room, used;
    bool ended; /* the end line has been read: it says `count` */
    uint64_t count;
};

void container_json_clear(struct container_json *json);

/* Read json->begin and labels_len from the header line. */
hsy_status container_json_begin(struct container_json *json, const char *line,
                                size_t len, hsy_error *err);

/* Have room for the reports of a scheme. */
hsy_status container_json_rooms(struct container_json *json,
                                const hsy_scheme *s, hsy_error *err);

/* Read one further line: json->used grows, or json->ended is set. */
hsy_status container_json_line(struct container_json *json, const hsy_scheme *s,
                               const hsy_scheme_info *info, const char *line,
                               size_t len, hsy_error *err);

/* Whether a line that begins so has nothing in it. */
static inline bool container_blank(uint8_t first)
{
    return first == '\n' || first == '\r';
}

#define CONTAINER_HEAD_MAX (64u << 20) /* bytes of a header line of JSON */
#define CONTAINER_WHOLE 53u /* bits of a report that is a JSON number */

#define CONTAINER_BEGIN (HSY_PREFIX_WIRE + HSY_SCHEME_WIRE)

/* What a file begins with: its prefix and its scheme; the labels follow. False:
 * they are not those of the scheme. */
bool container_begin_wire(uint8_t wire[CONTAINER_BEGIN], const hsy_scheme *s,
                          const uint8_t *labels, size_t labels_len,
                          hsy_content content);

#endif
