/* fuzz_document.c - task documents: one encoding, every field in its range. */
#define _GNU_SOURCE

#include "fuzz.h"

#define DOCUMENT_RELEASE_MAX (16u << 20) /* bytes of a release to try */
#define DOCUMENT_LABEL 4096u

/* What a device makes of a task whose signature was good. */
static void document_resolves(const hsy_task *task)
{
    static char label[DOCUMENT_LABEL];
    size_t size = hsy_release_size(task);
    hsy_release *r = size <= DOCUMENT_RELEASE_MAX ? malloc(size) : NULL;
    hsy_release_info info;

    if (r != NULL && hsy_release_init(r, task, NULL) == HSY_OK) {
        hsy_release_describe(r, &info);
        fuzz_expect(info.nano_slot >= info.nano_report &&
                        info.nano_task >= info.nano_slot,
                    "a slot costs at least a report, a life at least a slot");
        fuzz_expect(hsy_release_label(r, label, sizeof label, task) ==
                        strlen(label),
                    "every label fits in 4096 bytes");
    }
    free(r);
}

static void document_opens(const uint8_t *bytes, size_t len)
{
    static hsy_task tasks[HSY_TASKS_MAX];
    uint8_t *again;
    size_t again_len = 0;
    hsy_parties parties;
    hsy_document doc;

    if (hsy_document_open(&doc, bytes, len, NULL) != HSY_OK)
        return;
    for (uint32_t i = 0; i < doc.tasks; i++)
        hsy_document_task(&doc, &tasks[i], i);
    for (uint32_t i = 0; i < doc.tasks; i++)
        document_resolves(&tasks[i]);
    hsy_document_parties(&doc, &parties);
    doc.parties = &parties;
    again = malloc(len);
    fuzz_expect(again != NULL, "there is memory");
    fuzz_expect(hsy_document_encode(&doc, again, len, &again_len, tasks,
                                    doc.tasks, NULL) == HSY_OK &&
                    again_len == len - HSY_SIGNATURE &&
                    memcmp(again, bytes, again_len) == 0,
                "a document that opens encodes to the same bytes");
    free(again);
}

/* As it comes, and with the length of the whole made right. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *copy;

    document_opens(data, len);
    if (len < 32)
        return 0;
    copy = malloc(len);
    fuzz_expect(copy != NULL, "there is memory");
    memcpy(copy, data, len);
    bytes_put32(copy + 28, (uint32_t)len);
    document_opens(copy, len);
    free(copy);
    return 0;
}
