/*
 * tally_file.c - tally files: writing them, adding them up.
 *
 * All strata, then the weights and the cells in runs of HSY_RECORD_CELLS_RUN
 * of which only those with something in them stand, the rounds if they are
 * known, the batches if there are any, then the end. So a tally has one
 * encoding only, and equal tallies are equal files.
 */
#include "host/format/internal.h"

#include "host/base/host_fail.h"
#include "lib/bits/bytes.h"

static hsy_status container_tally_put_run(struct output *out, uint32_t type,
                                          uint64_t first,
                                          const uint8_t *payload, size_t count,
                                          size_t each)
{
    hsy_record record = {.type = type,
                         .length = (uint32_t)(each * count),
                         .first = first,
                         .count = count};
    uint8_t wire[HSY_RECORD_WIRE];
    hsy_status st;

    record.checksum = hsy_crc32c(0, payload, record.length);
    hsy_record_encode(wire, &record);
    st = output_write(out, wire, sizeof wire);
    if (st != HSY_OK)
        return st;
    return output_write(out, payload, record.length);
}

/* The counters of one type; signed cells by their two's complement. */
static hsy_status container_tally_put(struct output *out, uint32_t type,
                                      const uint64_t *counters, size_t size)
{
    uint8_t payload[8 * HSY_RECORD_CELLS_RUN];

    for (uint64_t first = 0; first < size; first += HSY_RECORD_CELLS_RUN) {
        size_t count = container_order_run(size, first);
        hsy_status st;

        for (size_t i = 0; i < count; i++)
            bytes_put64(payload + 8 * i, counters[first + i]);
        if (type != HSY_RECORD_STRATA && bytes_zero(payload, 8 * count))
            continue;
        st = container_tally_put_run(out, type, first, payload, count, 8);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

static hsy_status container_tally_put_rounds(struct output *out,
                                             const struct rounds *rounds)
{
    for (uint64_t first = 0; first < rounds->n; first += HSY_RECORD_CELLS_RUN) {
        uint8_t payload[ROUNDS_WIRE * HSY_RECORD_CELLS_RUN];
        size_t count = container_order_run(rounds->n, first);
        hsy_status st;

        for (size_t i = 0; i < count; i++)
            rounds_put(payload + ROUNDS_WIRE * i, &rounds->list[first + i]);
        st = container_tally_put_run(out, HSY_RECORD_ROUNDS, first, payload,
                                     count, ROUNDS_WIRE);
        if (st != HSY_OK)
            return st;
    }
    return HSY_OK;
}

static hsy_status container_tally_put_batches(struct output *out,
                                              const struct batches *batches)
{
    uint8_t payload[BATCHES_WIRE * HSY_RECORD_BATCHES_MAX];

    if (batches->n == 0)
        return HSY_OK;
    for (size_t i = 0; i < batches->n; i++)
        batches_put(payload + BATCHES_WIRE * i, &batches->list[i]);
    return container_tally_put_run(out, HSY_RECORD_BATCHES, 0, payload,
                                   batches->n, BATCHES_WIRE);
}

hsy_status container_put_tally(struct output *out, const hsy_scheme *s,
                               const uint8_t *labels, size_t labels_len,
                               const hsy_tally *t, const struct rounds *rounds,
                               const struct batches *batches)
{
    hsy_status st =
        container_put_prefix(out, s, labels, labels_len, HSY_CONTENT_TALLY);

    if (st == HSY_OK)
        st = container_tally_put(out, HSY_RECORD_STRATA, t->strata, t->nstrata);
    if (st == HSY_OK)
        st = container_tally_put(out, HSY_RECORD_WEIGHTS, t->weights,
                                 t->nweights);
    if (st == HSY_OK)
        st = container_tally_put(out, HSY_RECORD_CELLS,
                                 (const uint64_t *)t->cells, t->ncells);
    if (st == HSY_OK && rounds != NULL)
        st = container_tally_put_rounds(out, rounds);
    if (st == HSY_OK && batches != NULL)
        st = container_tally_put_batches(out, batches);
    if (st == HSY_OK)
        st = container_put_end(out, hsy_tally_reports(t));
    return st;
}

static hsy_status container_tally_full(hsy_error *err)
{
    return host_fail_limit(err, HSY_E_OVERFLOW, HSY_FIELD_COUNT,
                           "the counts would pass 2^63 - 1",
                           (uint64_t)INT64_MAX);
}

static hsy_status container_tally_add_cells(int64_t *cells,
                                            const uint8_t *payload,
                                            uint64_t count, hsy_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        int64_t sum, x = (int64_t)bytes_get64(payload + 8 * i);

        if (__builtin_add_overflow(cells[i], x, &sum))
            return container_tally_full(err);
    }
    for (uint64_t i = 0; i < count; i++)
        cells[i] += (int64_t)bytes_get64(payload + 8 * i);
    return HSY_OK;
}

/* total: what all counts of the type sum up to. */
static hsy_status container_tally_add_counts(uint64_t *counts, uint64_t total,
                                             const uint8_t *payload,
                                             uint64_t count, hsy_error *err)
{
    if (!container_order_sum(&total, payload, count))
        return container_tally_full(err);
    for (uint64_t i = 0; i < count; i++)
        counts[i] += bytes_get64(payload + 8 * i);
    return HSY_OK;
}

static uint64_t container_tally_sum(const uint64_t *counts, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += counts[i];
    return sum;
}

static bool container_tally_within(const hsy_record *record, size_t size)
{
    return record->first < size && record->count <= size - record->first &&
           record->length == 8 * record->count;
}

hsy_status container_add_record(hsy_tally *t, const hsy_record *record,
                                const uint8_t *payload, hsy_error *err)
{
    switch (record->type) {
    case HSY_RECORD_STRATA:
        if (!container_tally_within(record, t->nstrata))
            break;
        return container_tally_add_counts(
            t->strata + record->first,
            container_tally_sum(t->strata, t->nstrata), payload, record->count,
            err);
    case HSY_RECORD_WEIGHTS:
        if (!container_tally_within(record, t->nweights))
            break;
        return container_tally_add_counts(
            t->weights + record->first,
            container_tally_sum(t->weights, t->nweights), payload,
            record->count, err);
    case HSY_RECORD_CELLS:
        if (!container_tally_within(record, t->ncells))
            break;
        return container_tally_add_cells(t->cells + record->first, payload,
                                         record->count, err);
    case HSY_RECORD_ROUNDS:
    case HSY_RECORD_BATCHES:
    case HSY_RECORD_END:
        return HSY_OK;
    default:
        break;
    }
    return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                     "the record does not belong to this tally");
}

hsy_status container_add_rounds(struct rounds *rounds, const hsy_record *record,
                                const uint8_t *payload, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (record->type != HSY_RECORD_ROUNDS)
        return HSY_OK;
    for (uint64_t i = 0; i < record->count && st == HSY_OK; i++) {
        const hsy_round round = rounds_get(payload + ROUNDS_WIRE * i);

        st = rounds_add(rounds, &round, err);
    }
    return st;
}

hsy_status container_add_batches(struct batches *batches,
                                 const hsy_record *record,
                                 const uint8_t *payload, hsy_error *err)
{
    hsy_status st = HSY_OK;

    if (record->type != HSY_RECORD_BATCHES)
        return HSY_OK;
    for (uint64_t i = 0; i < record->count && st == HSY_OK; i++) {
        const hsy_batches row = batches_get(payload + BATCHES_WIRE * i);

        st = batches_add(batches, &row, err);
    }
    return st;
}
