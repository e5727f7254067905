/* golden_shuffled.c - see golden_shuffled.h. */

#include "rig/golden_shuffled.h"

#include "hearsay/host.h"
#include "rig/example_shuffled.h"

/* The keys of RFC 8032, tests 1 (documents) and 2 (the shuffler). */
static const uint8_t golden_signs[2][HSY_SIGN_SECRET] = {
    {0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
     0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
     0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60, 0xd7,
     0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3,
     0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23,
     0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a},
    {0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3,
     0x46, 0xec, 0x11, 0x4e, 0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab,
     0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb, 0x3d,
     0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7,
     0x4d, 0x1b, 0x7e, 0xbc, 0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96,
     0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c}};

static bool golden_keys(struct golden_shuffled *g)
{
    for (size_t i = 0; i < 2; i++) {
        memset(g->secrets[i], (int)(0x11 * (i + 1)), SEAL_KEY);
        if (seal_public(g->keys[i], g->secrets[i]) != HSY_OK)
            return false;
    }
    return true;
}

static bool golden_statement(struct golden_shuffled *g)
{
    struct example_statements ignored;
    hsy_task *task = &g->tasks.task[1];
    hsy_statement s;

    example_shuffle(task, &ignored, 1, EXAMPLE_DAY);
    s = example_statement(task, 1, 1, EXAMPLE_DAY);
    memcpy(s.sign_key, golden_signs[1] + 32, HSY_SIGN_KEY);
    memcpy(s.seal_key, g->keys[0], HSY_SEAL_KEY);
    task->statements = g->statement;
    task->collector_key = g->keys[1];
    return hsy_statement_encode(g->statement, &s, NULL) == HSY_OK &&
           hsy_sign(g->statement + HSY_STATEMENT_SIGNED, g->statement,
                    HSY_STATEMENT_SIGNED, golden_signs[1]) == HSY_OK;
}

/* Of format 2 or, with document_bytes, 3. */
static bool golden_document(const struct golden_shuffled *g,
                            uint32_t document_bytes, uint8_t **bytes,
                            size_t *bytes_len)
{
    hsy_parties parties = example_parties();
    const hsy_document doc = {.version = 4,
                              .issued = EXAMPLE_DAY,
                              .expires = EXAMPLE_DAY + 400,
                              .parties = &parties};
    size_t len;

    parties.document_bytes = document_bytes;
    if (hsy_document_encode(&doc, NULL, 0, &len, g->tasks.task, EXAMPLE_TASKS,
                            NULL) != HSY_OK)
        return false;
    *bytes = calloc(1, len + HSY_SIGNATURE);
    *bytes_len = len + HSY_SIGNATURE;
    return *bytes != NULL &&
           hsy_document_encode(&doc, *bytes, len, &len, g->tasks.task,
                               EXAMPLE_TASKS, NULL) == HSY_OK &&
           hsy_sign(*bytes + len, *bytes, len, golden_signs[0]) == HSY_OK;
}

static bool golden_documents(struct golden_shuffled *g)
{
    struct loaded list = {.day = EXAMPLE_DAY};
    hsy_document open;

    if (!golden_document(g, 0, &g->document, &g->document_len) ||
        !golden_document(g, HSY_DOCUMENT_BYTES_MIN, &g->third, &g->third_len) ||
        hsy_document_open(&open, g->document, g->document_len, NULL) != HSY_OK)
        return false;
    hsy_document_terms(&open, g->terms, 1);
    loaded_add(&list, &open);
    g->loaded_len = loaded_sign(g->loaded, &list, golden_signs[1]);
    return true;
}

struct seal_place golden_shuffled_place(const struct golden_shuffled *g,
                                        const hsy_upload *head)
{
    return (struct seal_place){.task = head->task,
                               .release = head->release,
                               .digest = head->digest,
                               .epoch = head->epoch,
                               .id = head->id,
                               .terms = g->terms};
}

static bool golden_upload(struct golden_shuffled *g)
{
    static const uint8_t report = GOLDEN_REPORT;
    hsy_upload head = {.kind = HSY_UPLOAD_SEALED,
                       .release = 1,
                       .epoch = EXAMPLE_DAY + 1,
                       .count = 1,
                       .length = (uint32_t)seal_onion_size(2, 1)};
    const struct seal_place at = golden_shuffled_place(g, &head);
    uint8_t seed[SEAL_SEED];

    memcpy(head.task, g->tasks.task[1].id, sizeof head.task);
    for (size_t i = 0; i < HSY_DIGEST; i++)
        head.digest[i] = (uint8_t)(3 * i);
    for (size_t i = 0; i < sizeof head.id; i++)
        head.id[i] = (uint8_t)(17 * i);
    memset(seed, 0x5a, sizeof seed);
    g->upload_len = HSY_UPLOAD_WIRE + head.length;
    if (seal_onion(g->upload + HSY_UPLOAD_WIRE,
                   (const uint8_t(*)[SEAL_KEY])g->keys, 2, &at, seed,
                   SEAL_REPORT, &report, 1) != HSY_OK)
        return false;
    head.checksum = hsy_crc32c(0, g->upload + HSY_UPLOAD_WIRE, head.length);
    return hsy_upload_encode(g->upload, &head, NULL) == HSY_OK;
}

bool golden_shuffled_make(struct golden_shuffled *g)
{
    g->document = g->third = NULL;
    return example_tasks_make(&g->tasks) && golden_keys(g) &&
           golden_statement(g) && golden_documents(g) && golden_upload(g);
}
