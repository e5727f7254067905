/* batch_rows.c - lists of batches, in memory and in files. */
#include "host/format/batch_rows.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

#include <string.h>

#define BATCHES_MOST ((uint64_t)1 << 53)
#define BATCHES_TERMS 5u

bool batches_fit(const hsy_batches *row)
{
    return row->batches >= 1 && row->least >= 1 &&
           row->reports <= BATCHES_MOST &&
           row->batches <= row->reports / row->least && row->honest.num >= 1 &&
           row->honest.num <= row->honest.den && row->delta.num >= 1 &&
           row->delta.num < row->delta.den &&
           row->nano_central <= HSY_EPSILON_MAX;
}

static void batches_terms(uint64_t terms[BATCHES_TERMS], const hsy_batches *row)
{
    terms[0] = row->honest.num;
    terms[1] = row->honest.den;
    terms[2] = row->delta.num;
    terms[3] = row->delta.den;
    terms[4] = row->nano_central;
}

bool batches_before(const hsy_batches *a, const hsy_batches *b)
{
    uint64_t x[BATCHES_TERMS], y[BATCHES_TERMS];
    size_t i = 0;

    batches_terms(x, a);
    batches_terms(y, b);
    while (i + 1 < BATCHES_TERMS && x[i] == y[i])
        i++;
    return x[i] < y[i];
}

uint64_t batches_reports(const struct batches *b)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < b->n; i++)
        sum += b->list[i].reports;
    return sum;
}

hsy_status batches_add(struct batches *b, const hsy_batches *more,
                       hsy_error *err)
{
    size_t at = b->n;

    if (more->reports > BATCHES_MOST - batches_reports(b))
        return host_fail(err, HSY_E_OVERFLOW, HOST_FIELD_BATCHES,
                         "more than 2^53 reports");
    while (at > 0 && batches_before(more, &b->list[at - 1]))
        at--;
    if (at > 0 && !batches_before(&b->list[at - 1], more)) {
        hsy_batches *same = &b->list[at - 1];

        same->batches += more->batches;
        same->reports += more->reports;
        same->least = more->least < same->least ? more->least : same->least;
        return HSY_OK;
    }
    if (b->n == HSY_RECORD_BATCHES_MAX)
        return host_fail_limit(err, HSY_E_OVERFLOW, HOST_FIELD_BATCHES,
                               "of too many different promises",
                               HSY_RECORD_BATCHES_MAX);
    memmove(&b->list[at + 1], &b->list[at], (b->n - at) * sizeof *b->list);
    b->list[at] = *more;
    b->n++;
    return HSY_OK;
}

void batches_put(uint8_t wire[BATCHES_WIRE], const hsy_batches *row)
{
    uint64_t terms[BATCHES_TERMS];

    batches_terms(terms, row);
    bytes_put64(wire, row->batches);
    bytes_put64(wire + 8, row->least);
    bytes_put64(wire + 16, row->reports);
    for (size_t i = 0; i < BATCHES_TERMS; i++)
        bytes_put64(wire + 24 + 8 * i, terms[i]);
}

hsy_batches batches_get(const uint8_t wire[BATCHES_WIRE])
{
    return (hsy_batches){
        .batches = bytes_get64(wire),
        .least = bytes_get64(wire + 8),
        .reports = bytes_get64(wire + 16),
        .honest = {bytes_get64(wire + 24), bytes_get64(wire + 32)},
        .delta = {bytes_get64(wire + 40), bytes_get64(wire + 48)},
        .nano_central = bytes_get64(wire + 56)};
}
