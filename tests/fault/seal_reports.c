/*
 * seal_reports.c - uploads of a shuffled task, sealed as devices seal them:
 *
 *     seal_reports DOCUMENT TASK <lines >uploads
 *
 * A line is the cell of a report (- for a null upload, x and hexadecimal digits
 * for a packed report as it is), its epoch, and the id in such digits. The same
 * line gives the same bytes.
 */
#include "hearsay/host.h"
#include "host/base/files.h"
#include "host/base/hex.h"
#include "host/seal/seal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sealing {
    hsy_task task;
    const hsy_scheme *scheme;
    uint8_t digest[HSY_DIGEST], terms[HSY_DIGEST];
    uint8_t pubs[SEAL_LAYERS_MAX][SEAL_KEY];
    size_t layers;
};

static bool sealing_open(struct sealing *s, const hsy_document *doc,
                         const char *id)
{
    hsy_release_info release;
    hsy_scheme_info info;
    hsy_release *r;

    for (uint32_t i = 0; i < doc->tasks; i++) {
        hsy_document_task(doc, &s->task, i);
        hsy_document_terms(doc, s->terms, i);
        if (strcmp(s->task.id, id) == 0)
            break;
    }
    r = malloc(hsy_release_size(&s->task));
    if (strcmp(s->task.id, id) != 0 || r == NULL ||
        hsy_release_init(r, &s->task, NULL) != HSY_OK)
        return false;
    hsy_release_describe(r, &release);
    hsy_scheme_describe(release.scheme, &info);
    s->scheme = release.scheme;
    memcpy(s->digest, info.digest, HSY_DIGEST);
    s->layers = s->task.shufflers + 1;
    for (uint32_t i = 0; i < s->task.shufflers; i++) {
        hsy_statement st;

        if (hsy_statement_decode(
                &st, s->task.statements + (size_t)i * HSY_STATEMENT_WIRE,
                NULL) != HSY_OK)
            return false;
        memcpy(s->pubs[i], st.seal_key, SEAL_KEY);
    }
    memcpy(s->pubs[s->layers - 1], s->task.collector_key, SEAL_KEY);
    return true;
}

static bool sealing_one(const struct sealing *s, const char *cell,
                        uint32_t epoch, const uint8_t id[16])
{
    const size_t packed_len = hsy_packed_size(s->scheme, 1);
    const size_t len = seal_onion_size(s->layers, packed_len);
    uint8_t *wire = calloc(1, HSY_UPLOAD_WIRE + len);
    uint8_t *packed = calloc(1, packed_len + 8), seed[SEAL_SEED] = {0};
    uint32_t report = (uint32_t)strtoul(cell, NULL, 10);
    hsy_upload head = {.kind = HSY_UPLOAD_SEALED,
                       .release = s->task.release,
                       .epoch = epoch,
                       .count = 1,
                       .length = (uint32_t)len};
    const struct seal_place at = {.task = s->task.id,
                                  .release = s->task.release,
                                  .digest = s->digest,
                                  .epoch = epoch,
                                  .id = id,
                                  .terms = s->terms};
    bool good = true;

    memcpy(seed, id, 16);
    memcpy(head.task, s->task.id, sizeof head.task);
    memcpy(head.digest, s->digest, HSY_DIGEST);
    memcpy(head.id, id, 16);
    if (cell[0] == 'x')
        good = hex_any(packed, packed_len, cell + 1, strlen(cell + 1));
    else if (cell[0] != '-') /* whose report is zeros */
        hsy_pack(s->scheme, packed, (const uint8_t *)&report, 1);
    good =
        good && seal_onion(wire + HSY_UPLOAD_WIRE,
                           (const uint8_t(*)[SEAL_KEY])s->pubs, s->layers, &at,
                           seed, cell[0] == '-' ? SEAL_NULL : SEAL_REPORT,
                           packed, packed_len) == HSY_OK;
    head.checksum = hsy_crc32c(0, wire + HSY_UPLOAD_WIRE, len);
    good = good && hsy_upload_encode(wire, &head, NULL) == HSY_OK &&
           fwrite(wire, HSY_UPLOAD_WIRE + len, 1, stdout) == 1;
    free(packed);
    free(wire);
    return good;
}

int main(int argc, char **argv)
{
    static struct sealing s;
    char cell[256], text[64];
    hsy_document doc;
    unsigned epoch;
    uint8_t *bytes, id[16];
    size_t len;

    if (argc != 3 ||
        file_whole(&bytes, &len, argv[1], HSY_DOCUMENT_MAX, NULL) != HSY_OK ||
        hsy_document_open(&doc, bytes, len, NULL) != HSY_OK ||
        !sealing_open(&s, &doc, argv[2]))
        return 1;
    while (scanf("%255s %u %63s", cell, &epoch, text) == 3)
        if (!hex_any(id, sizeof id, text, strlen(text)) ||
            !sealing_one(&s, cell, epoch, id))
            return 1;
    return fflush(stdout) != 0;
}
