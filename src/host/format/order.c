/* order.c - the one order in which a tally file stands. */
#include "host/format/internal.h"

#include "host/base/host_fail.h"
#include "host/format/batch_rows.h"
#include "host/format/rounds.h"
#include "lib/bits/bytes.h"

uint64_t container_order_run(uint64_t size, uint64_t first)
{
    uint64_t left = size - first;

    return left < HSY_RECORD_CELLS_RUN ? left : HSY_RECORD_CELLS_RUN;
}

static uint64_t container_order_size(const hsy_scheme_info *info, uint32_t type)
{
    switch (type) {
    case HSY_RECORD_STRATA:
        return info->strata;
    case HSY_RECORD_WEIGHTS:
        return info->weights;
    case HSY_RECORD_CELLS:
        return info->cells;
    default:
        return 0;
    }
}

bool container_order_sum(uint64_t *sum, const uint8_t *payload, uint64_t count)
{
    uint64_t total = *sum;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t x = bytes_get64(payload + 8 * i);

        if (x > (uint64_t)INT64_MAX - total)
            return false;
        total += x;
    }
    *sum = total;
    return true;
}

/* Whether every cell lies between -most and most. A report moves a cell by at
 * most one, and whoever adds reports relies on that. */
static bool container_order_cells(const uint8_t *payload, uint64_t count,
                                  uint64_t most)
{
    int64_t high = (int64_t)most;

    for (uint64_t i = 0; i < count; i++) {
        int64_t x = (int64_t)bytes_get64(payload + 8 * i);

        if (x > high || x < -high)
            return false;
    }
    return true;
}

/* The strata are all there when the next type begins. */
static bool container_order_strata_done(const struct container_order *order,
                                        const hsy_scheme_info *info)
{
    return order->type > HSY_RECORD_STRATA || order->place == info->strata;
}

static bool container_order_place(const struct container_order *order,
                                  const hsy_scheme_info *info,
                                  const hsy_record *record)
{
    uint64_t size = container_order_size(info, record->type);
    uint64_t from = record->type == order->type ? order->place : 0;

    if (record->type < order->type || record->first < from ||
        record->first >= size ||
        record->count != container_order_run(size, record->first))
        return false;
    if (record->type == HSY_RECORD_STRATA)
        return record->first == from;
    return container_order_strata_done(order, info);
}

/* Every unary report has its weight; of several strata some may have other
 * reports. */
static bool container_order_weights(const struct container_order *order,
                                    const hsy_scheme_info *info)
{
    if (info->weights != 0 && info->strata > 1)
        return order->weights <= order->reports;
    return info->weights == 0 || order->weights == order->reports;
}

static hsy_status container_order_end(const struct container_order *order,
                                      const hsy_scheme_info *info,
                                      const hsy_record *record, hsy_error *err)
{
    if (!container_order_strata_done(order, info))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_STRATA,
                         "not all are there");
    if (order->rounds != 0 && order->rounds != record->count)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_ROUNDS,
                         "they do not add up to the reports");
    if (order->reports % info->answers != 0 ||
        record->count != order->reports / info->answers ||
        !container_order_weights(order, info))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_COUNT,
                         "the counts do not add up to the reports");
    return HSY_OK;
}

/* Rounds of reports, ascending; every record but the last is full. */
static hsy_status container_order_rounds(struct container_order *order,
                                         const hsy_scheme_info *info,
                                         const hsy_record *record,
                                         const uint8_t *payload, hsy_error *err)
{
    const bool first = order->type != HSY_RECORD_ROUNDS;

    if (!container_order_strata_done(order, info) ||
        order->type == HSY_RECORD_BATCHES ||
        record->first != (first ? 0 : order->place) ||
        record->first % HSY_RECORD_CELLS_RUN != 0)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                         "the record does not belong in this place");
    for (uint64_t i = 0; i < record->count; i++) {
        const hsy_round round = rounds_get(payload + ROUNDS_WIRE * i);

        if (((i != 0 || !first) && !rounds_before(&order->last, &round)) ||
            round.each == 0 || round.reports == 0 ||
            round.reports > order->reports - order->rounds)
            return host_fail(err, HSY_E_FORMAT, HSY_FIELD_ROUNDS,
                             "rounds ascend, each with reports, no more than "
                             "the tally has");
        order->rounds += round.reports;
        order->last = round;
    }
    order->type = record->type;
    order->place = record->first + record->count;
    return HSY_OK;
}

/* Batches by their terms, ascending, in one record. */
static hsy_status container_order_batches(struct container_order *order,
                                          const hsy_scheme_info *info,
                                          const hsy_record *record,
                                          const uint8_t *payload,
                                          hsy_error *err)
{
    const uint64_t reports = order->reports / info->answers;
    hsy_batches last = {0};

    if (!container_order_strata_done(order, info) || info->central ||
        order->type == HSY_RECORD_BATCHES)
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                         "the record does not belong in this place");
    for (uint64_t i = 0; i < record->count; i++) {
        const hsy_batches row = batches_get(payload + BATCHES_WIRE * i);

        if (!batches_fit(&row) || (i != 0 && !batches_before(&last, &row)) ||
            row.reports > reports - order->batched)
            return host_fail(err, HSY_E_FORMAT, HOST_FIELD_BATCHES,
                             "batches ascend by their terms, each of reports, "
                             "no more than the tally has");
        order->batched += row.reports;
        last = row;
    }
    order->type = record->type;
    order->place = record->count;
    return HSY_OK;
}

hsy_status container_order_check(struct container_order *order,
                                 const hsy_scheme_info *info,
                                 const hsy_record *record,
                                 const uint8_t *payload, hsy_error *err)
{
    bool sums = true;

    if (record->type == HSY_RECORD_END)
        return container_order_end(order, info, record, err);
    if (record->type == HSY_RECORD_ROUNDS)
        return container_order_rounds(order, info, record, payload, err);
    if (record->type == HSY_RECORD_BATCHES)
        return container_order_batches(order, info, record, payload, err);
    if (!container_order_place(order, info, record))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                         "the record does not belong in this place");
    if (record->type == HSY_RECORD_STRATA)
        sums = container_order_sum(&order->reports, payload, record->count);
    else if (bytes_zero(payload, record->length))
        return host_fail(err, HSY_E_FORMAT, HSY_FIELD_RECORD,
                         "a run of zeros has no record");
    if (record->type == HSY_RECORD_WEIGHTS)
        sums = container_order_sum(&order->weights, payload, record->count);
    if (!sums)
        return host_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_COUNT,
                               "too many reports", (uint64_t)INT64_MAX);
    if (record->type == HSY_RECORD_CELLS && !info->central &&
        !container_order_cells(payload, record->count,
                               order->reports / info->answers))
        return host_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_CELLS,
                               "a cell passes the number of reports",
                               order->reports / info->answers);
    order->type = record->type;
    order->place = record->first + record->count;
    return HSY_OK;
}
