/* randomizer.h - truths, one a line, to a stream of reports. */
#ifndef HOST_FORMAT_RANDOMIZER_H
#define HOST_FORMAT_RANDOMIZER_H

#include "host/base/output.h"
#include "host/format/records.h"

/* What a failure is about. */
enum randomizer_trouble {
    RANDOMIZER_MEMORY = 1,
    RANDOMIZER_HEAD,  /* the stream's, as err says */
    RANDOMIZER_LINES, /* the input, as err says */
    RANDOMIZER_TRUTH, /* the line, for what is wrong with its truth */
    RANDOMIZER_COINS, /* as err says */
    RANDOMIZER_OUTPUT /* errno */
};

/* All of it is the caller's. */
struct randomizer {
    const hsy_scheme *scheme;
    const uint8_t *labels;
    size_t labels_len;
    struct coder coder;
    struct records *records; /* several attributes; NULL: one truth a line */
    bool json;               /* the readable twin of the stream */
    const uint64_t *seed;    /* noise of made-up people; NULL: the kernel's */
    void (*tick)(void *ctx, uint64_t written);
    void *ctx;
};

struct randomized {
    uint64_t written; /* reports */
    enum randomizer_trouble trouble;
    uint64_t line;
    struct truth_wrong wrong; /* never its value */
};

/*
 * Randomize every line of fd into out, which the caller commits or drops.
 * Reports are made in batches of one size, whatever the reads bring: so a seed
 * gives the same stream from a pipe and from a file, and a stream does not tell
 * when its truths came. Truths and coins do not outlive the call.
 */
hsy_status randomize_stream(struct randomized *done, const struct randomizer *r,
                            struct output *out, int fd, hsy_error *err);

/* ---- A curator's count (curator.c) --------------------------------------- */

/*
 * Count the truths of fd, one a line, into tally, which is empty, and add the
 * noise of a release: of the kernel, or of r->seed. As above; done->written is
 * how many people there are. After a failure tally may hold truths: wipe it.
 */
hsy_status curator_release(struct randomized *done, hsy_tally *tally,
                           const struct randomizer *r, int fd, hsy_error *err);

#endif
