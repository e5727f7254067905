/* fuzz_upload.c - upload headers: one encoding, within their limits. */
#define _GNU_SOURCE

#include "fuzz.h"

static void upload_decodes(const uint8_t *wire)
{
    uint8_t again[HSY_UPLOAD_WIRE];
    hsy_upload upload;

    if (hsy_upload_decode(&upload, wire, NULL) != HSY_OK)
        return;
    fuzz_expect(hsy_upload_encode(again, &upload, NULL) == HSY_OK &&
                    memcmp(wire, again, sizeof again) == 0,
                "a header that decodes encodes to the same bytes");
    fuzz_expect(upload.length <= HSY_UPLOAD_MAX && upload.count >= 1 &&
                    upload.count <= 8 * upload.length &&
                    strlen(upload.task) <= HSY_TASK_ID,
                "lengths and counts are bounded");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len >= HSY_UPLOAD_WIRE)
        fuzz_head(data, HSY_UPLOAD_WIRE, upload_decodes);
    return 0;
}
