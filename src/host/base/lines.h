/* lines.h - lines of a text, at the speed of memory. */
#ifndef HOST_BASE_LINES_H
#define HOST_BASE_LINES_H

#include "hearsay.h"

/* A line without its end: LF, CR LF, or the end of the input. */
struct line {
    const uint8_t *text; /* HSY_STRING_MAX bytes, and 8 beyond the end, can be
                            read however short the line */
    size_t len;
};

#define LINES_LONGEST 65536u

/* Reads fd in large pieces. Wiped when closed: lines may be truths. */
struct lines {
    int fd;
    uint8_t *buffer;
    size_t begin, end;
    bool ended;
    bool marked;     /* a byte-order mark is passed over */
    uint64_t number; /* lines handed out so far */
};

hsy_status lines_open(struct lines *r, int fd);

/* Up to max lines that last until the next call; *count 0 at the end. HSY_E_IO
 * with errno, or HSY_E_FORMAT for a line that is too long and, unless marked is
 * set, for a byte-order mark before the first, its number in err->at. */
hsy_status lines_next(struct lines *r, struct line *lines, size_t max,
                      size_t *count, hsy_error *err);
void lines_close(struct lines *r);

/* Hand over every line, with its number from 1, until one is refused: what take
 * or lines_next returned. marked: a byte-order mark is passed over. */
hsy_status lines_each(int fd, bool marked,
                      hsy_status (*take)(void *ctx, const struct line *line,
                                         uint64_t number, hsy_error *err),
                      void *ctx, hsy_error *err);

#endif
