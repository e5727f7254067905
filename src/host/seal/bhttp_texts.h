/* bhttp_texts.h - what may stand in a message, alike for reading and writing:
 * nothing that another HTTP would take for the end of a line or of a string. */
#ifndef HOST_SEAL_BHTTP_TEXTS_H
#define HOST_SEAL_BHTTP_TEXTS_H

#include "host/seal/bhttp.h"

#include <string.h>

/* Method, scheme, authority or path: visible characters only. */
static inline bool bhttp_is_word(struct bhttp_text t)
{
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] < 0x21 || t.at[i] > 0x7e)
            return false;
    }
    return true;
}

/* A token [RFC 9110, section 5.6.2] without capitals, which RFC 9292 forbids;
 * so no pseudo-field either. */
static inline bool bhttp_is_name(struct bhttp_text t)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < t.len; i++) {
        char c = t.at[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            memchr(others, c, sizeof others - 1) == NULL)
            return false;
    }
    return t.len != 0;
}

static inline bool bhttp_is_value(struct bhttp_text t)
{
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] == '\0' || t.at[i] == '\r' || t.at[i] == '\n')
            return false;
    }
    return true;
}

static inline bool bhttp_is_status(uint64_t status)
{
    return status >= 200 && status <= 599;
}

#endif
