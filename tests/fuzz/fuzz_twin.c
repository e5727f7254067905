/*
 * fuzz_twin.c - the readable twin: what is accepted holds reports that pass
 * the check of the scheme, as many as it says.
 */
#define _GNU_SOURCE /* memmem */

#include "fuzz.h"
#include "host/format/format.h"

static void twin_reports(const hsy_scheme *s, const hsy_record *record,
                         const uint8_t *payload)
{
    hsy_scheme_info info;
    uint8_t *reports;

    hsy_scheme_describe(s, &info);
    reports = malloc(record->count * info.report_bytes);
    fuzz_expect(reports != NULL &&
                    hsy_unpack(s, reports, payload, record->count) == HSY_OK,
                "a record unpacks");
    for (uint64_t i = 0; i < record->count; i++)
        fuzz_expect(hsy_check(s, reports + i * info.report_bytes) == HSY_OK,
                    "a report of a twin is one of the scheme");
    free(reports);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct container_reader *r;
    struct container_item item;
    const hsy_scheme *s = NULL; /* the reader's, until the next header */
    hsy_error err = {0};
    uint64_t line = 0;
    hsy_status st;

    /* Binary streams, which may follow a twin, are fuzz_container's. */
    if (len == 0 || data[0] != '{' || memmem(data, len, "\x89HSY", 4) != NULL)
        return 0;
    r = container_open(fuzz_fd(data, len));
    fuzz_expect(r != NULL, "there is memory");
    while ((st = container_next(r, &item, &err)) == HSY_OK) {
        line = item.type == CONTAINER_PREFIX ? 1 : line;
        fuzz_expect(item.line == line, "an item says its line");
        line += item.type == CONTAINER_PREFIX ? 1 : item.record.count;
        if (item.type == CONTAINER_PREFIX)
            s = item.scheme;
        else if (item.record.type == HSY_RECORD_REPORTS)
            twin_reports(s, &item.record, item.payload);
    }
    fuzz_expect(st == HSY_E_END || (st == HSY_E_FORMAT && err.status == st &&
                                    err.msg != NULL && err.at == item.line),
                "an input ends or is malformed, with a message");
    container_close(r);
    return 0;
}
