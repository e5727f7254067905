/* test_golden_shuffled.c - golden files of shuffled tasks are read, and written
 * again byte for byte. */
#include "hearsay/host.h"
#include "rig/golden_shuffled.h"
#include "tap.h"

#include <stdio.h>

static struct golden_shuffled now;

/* The bytes of a golden file; 0: there is none. */
static size_t golden(uint8_t *bytes, size_t room, const char *path)
{
    FILE *f = fopen(path, "rb");
    const size_t len = f == NULL ? 0 : fread(bytes, 1, room, f);

    if (f != NULL)
        fclose(f);
    return len;
}

static void statement(void)
{
    uint8_t bytes[HSY_STATEMENT_WIRE + 1];
    hsy_statement s;

    ok(golden(bytes, sizeof bytes, "tests/golden/shuffler.statement") ==
               HSY_STATEMENT_WIRE &&
           memcmp(bytes, now.statement, HSY_STATEMENT_WIRE) == 0 &&
           hsy_statement_decode(&s, bytes, NULL) == HSY_OK &&
           hsy_sign_verify(s.sign_key, s.signature, bytes,
                           HSY_STATEMENT_SIGNED),
       "shuffler.statement is read, signed well and written again");
}

static void document(void)
{
    static uint8_t bytes[1 << 16];
    const size_t len =
        golden(bytes, sizeof bytes, "tests/golden/document2.signed");
    uint8_t terms[HSY_DIGEST];
    hsy_document doc;
    hsy_task task;

    ok(len == now.document_len && memcmp(bytes, now.document, len) == 0 &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK,
       "document2.signed is read and written again byte for byte");
    hsy_document_task(&doc, &task, 1);
    hsy_document_terms(&doc, terms, 1);
    ok(task.model == HSY_MODEL_SHUFFLED &&
           memcmp(task.collector_key, now.keys[1], HSY_SEAL_KEY) == 0 &&
           memcmp(terms, now.terms, sizeof terms) == 0,
       "its task is shuffled, and has the terms of the sealed upload");
}

static void document_that_comes_by_relay(void)
{
    static uint8_t bytes[1 << 16];
    const size_t len =
        golden(bytes, sizeof bytes, "tests/golden/document3.signed");
    hsy_document doc;
    hsy_parties p = {.document_bytes = 0};

    if (len == now.third_len && memcmp(bytes, now.third, len) == 0 &&
        hsy_document_open(&doc, bytes, len, NULL) == HSY_OK)
        hsy_document_parties(&doc, &p);
    ok(p.document_bytes == HSY_DOCUMENT_BYTES_MIN,
       "document3.signed is read and written again byte for byte");
}

static void list_of_documents(void)
{
    uint8_t bytes[LOADED_MAX];
    const size_t len =
        golden(bytes, sizeof bytes, "tests/golden/shuffler.documents");
    struct loaded list;

    ok(len == now.loaded_len && memcmp(bytes, now.loaded, len) == 0 &&
           loaded_read(&list, bytes, len, NULL) == HSY_OK && list.n == 1,
       "shuffler.documents is read, signed well and written again");
}

/* Version 1 could not name gateway keys: refused with the reason. */
static void version_1(void)
{
    static uint8_t bytes[1 << 16];
    size_t len =
        golden(bytes, sizeof bytes, "tests/golden/shuffler-1.statement");
    hsy_error err = {0};
    hsy_statement s;
    hsy_document doc;

    ok(len == 256 && hsy_statement_decode(&s, bytes, &err) == HSY_E_FORMAT &&
           err.field == HSY_FIELD_VERSION &&
           strstr(err.msg, "version 1") != NULL,
       "refuses a statement of version 1 and says so");
    len = golden(bytes, sizeof bytes, "tests/golden/document2-1.signed");
    ok(len != 0 && hsy_document_open(&doc, bytes, len, &err) == HSY_E_FORMAT &&
           err.field == HSY_FIELD_STATEMENT &&
           strstr(err.msg, "version 1") != NULL,
       "refuses a document with such a statement and says so");
}

static void upload(void)
{
    uint8_t bytes[sizeof now.upload], inner[128], report[64];
    const size_t len =
        golden(bytes, sizeof bytes, "tests/golden/sealed.upload");
    struct seal_place at;
    hsy_upload head;

    ok(len == now.upload_len && memcmp(bytes, now.upload, len) == 0 &&
           hsy_upload_decode(&head, bytes, NULL) == HSY_OK &&
           head.kind == HSY_UPLOAD_SEALED,
       "sealed.upload is read and sealed again byte for byte");
    at = golden_shuffled_place(&now, &head);
    ok(seal_peel(inner, now.secrets[0], now.keys[0], 0, 2, &at,
                 bytes + HSY_UPLOAD_WIRE, head.length) == HSY_OK &&
           seal_peel(report, now.secrets[1], now.keys[1], 1, 2, &at, inner,
                     head.length - SEAL_LAYER) == HSY_OK &&
           report[0] == SEAL_REPORT && report[1] == GOLDEN_REPORT,
       "shuffler and collector open it, one after the other");
}

int main(void)
{
    if (!ok(golden_shuffled_make(&now), "the golden files can be made"))
        return tap_done();
    statement();
    document();
    document_that_comes_by_relay();
    list_of_documents();
    version_1();
    upload();
    free(now.document);
    free(now.third);
    return tap_done();
}
