/*
 * bhttp.h - binary HTTP [RFC 9292]: a request or a response as one string of
 * bytes.
 *
 * Written in the known-length form, and padded by zeros to a length of the
 * caller's choice, so that it does not tell what it holds. Read in either form,
 * with sections left out at the end; informational responses and trailers are
 * checked and passed over. Views point into the bytes that were read.
 */
#ifndef HOST_SEAL_BHTTP_H
#define HOST_SEAL_BHTTP_H

#include "hearsay.h"

#define BHTTP_FIELDS 16u /* fields of a message at most */

struct bhttp_text {
    const char *at; /* not ended by a zero */
    size_t len;
};

/* Names are in lower case. */
struct bhttp_field {
    struct bhttp_text name, value;
};

struct bhttp_request {
    struct bhttp_text method, scheme, authority, path;
    struct bhttp_field fields[BHTTP_FIELDS];
    size_t n_fields;
    const uint8_t *content;
    size_t content_len;
};

struct bhttp_response {
    unsigned status; /* 200 to 599 */
    struct bhttp_field fields[BHTTP_FIELDS];
    size_t n_fields;
    const uint8_t *content;
    size_t content_len;
};

/* The view of a string. */
struct bhttp_text bhttp_text(const char *string);

/* Whether a view has just the characters of a string. */
bool bhttp_is(struct bhttp_text text, const char *string);

/* The value of a field, or NULL. */
const struct bhttp_text *bhttp_field(const struct bhttp_field *fields, size_t n,
                                     const char *name);

/*
 * Write size bytes of message and zeros to out; with size 0 the message alone,
 * at most room bytes. *len is what was written. HSY_E_FULL: it does not fit;
 * HSY_E_RANGE: a text, a status or a number of fields that has no encoding.
 */
hsy_status bhttp_request_encode(uint8_t *out, size_t room, size_t *len,
                                const struct bhttp_request *r, size_t size);
hsy_status bhttp_response_encode(uint8_t *out, size_t room, size_t *len,
                                 const struct bhttp_response *r, size_t size);

/*
 * Read a message. Content that came in pieces is joined where it stands: bytes
 * are changed then. HSY_E_UNKNOWN: a message of the other direction or of no
 * form there is; HSY_E_FULL: too many fields; HSY_E_FORMAT: anything else that
 * is no message.
 */
hsy_status bhttp_request_decode(struct bhttp_request *r, uint8_t *bytes,
                                size_t len);
hsy_status bhttp_response_decode(struct bhttp_response *r, uint8_t *bytes,
                                 size_t len);

#endif
