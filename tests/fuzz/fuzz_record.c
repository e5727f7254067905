/* fuzz_record.c - the head of a record: one encoding, within its limits. */
#define _GNU_SOURCE

#include "fuzz.h"

static void record_decodes(const uint8_t *wire)
{
    uint8_t again[HSY_RECORD_WIRE];
    hsy_record record;

    if (hsy_record_decode(&record, wire, NULL) != HSY_OK)
        return;
    hsy_record_encode(again, &record);
    fuzz_expect(memcmp(wire, again, sizeof again) == 0,
                "a record that decodes encodes to the same bytes");
    fuzz_expect(record.length <= HSY_RECORD_MAX &&
                    record.count <= (uint64_t)INT64_MAX &&
                    record.first <= (uint64_t)INT64_MAX,
                "lengths, counts and places are bounded");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len >= HSY_RECORD_WIRE)
        fuzz_head(data, HSY_RECORD_WIRE, record_decodes);
    return 0;
}
