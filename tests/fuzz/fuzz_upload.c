/* fuzz_upload.c - upload headers: one encoding, within their limits. */
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
    uint8_t head[HSY_UPLOAD_WIRE];

    if (len < sizeof head)
        return 0;
    upload_decodes(data);
    memcpy(head, data, sizeof head);
    fuzz_seal(head, sizeof head);
    upload_decodes(head);
    return 0;
}
