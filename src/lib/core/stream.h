/* stream.h - a stream from a key of its own, for code that has one. */
#ifndef LIB_CORE_STREAM_H
#define LIB_CORE_STREAM_H

#include "hearsay.h"

/* Open the key stream of key from its beginning. The caller wipes key. */
void hsy_stream_key(hsy_stream *st, const uint8_t key[HSY_KEY]);

#endif
