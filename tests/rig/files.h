/* files.h - containers in memory: written to bytes, read from bytes. Include
 * it under _GNU_SOURCE. */
#ifndef FILES_H
#define FILES_H

#include "host/format/format.h"
#include "rig/examples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct file {
    uint8_t *bytes; /* owned */
    size_t len;
};

/* A place for what is written; call it first. */
bool files_begin(void);

void files_done(void);

struct output *files_open(void);

/* Commit out and take its bytes; the file is gone then. */
struct file files_close(struct output *out);

/* A descriptor from which the bytes can be read once. */
int files_fd(const void *bytes, size_t len);

/* Read to the end: the last status; err as the reader left it. */
hsy_status files_drain(const void *bytes, size_t len, hsy_error *err);

bool files_same(const struct file *a, const struct file *b);

struct file files_joined(const struct file *a, const struct file *b);

/* ---- Files of n example reports ------------------------------------------ */

struct file files_stream(const hsy_spec *spec, size_t n);

/* A NUL follows the text. */
struct file files_twin(const hsy_spec *spec, size_t n);

/* The tally of the reports from `first` on. */
struct file files_tally(const hsy_spec *spec, size_t first, size_t n);

#endif
