/*
 * make_document.c - signed documents for tests of the device, good and hostile.
 *
 *     make_document OUT SEED VERSION ISSUED EXPIRES START END [TASK...]
 *
 * Signed by the key pair of SEED (0 to 255); the public key is printed. Days
 * are numbers of UTC days. A TASK is
 *
 *     id,source,kind,nano,slot_days,round_days,nano_permanent,changes,sends
 *
 * (then answers, if it takes more than it sends) with kind yes-no (rr), values
 * (grr: firefox, chrome, other), number (onebit: 0 to 1440) or strings (olh).
 * Among them @key=HEX, the public key of a gateway (two at most), @relay=URL,
 * @documents=N: its document_bytes,
 * @required: the tasks after it demand the relay, and @delay=SECONDS: their
 * uploads wait so long at most.
 */
#include "hearsay/host.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t labels[] = "\7\0\0\0firefox"
                                "\6\0\0\0chrome"
                                "\5\0\0\0other";

static const struct {
    const char *name;
    hsy_spec spec;
    uint32_t other;
} kinds[] = {
    {"yes-no",
     {.size = sizeof(hsy_spec), .mechanism = "rr", .kind = HSY_KIND_YES_NO},
     HSY_TASK_CLOSED},
    {"values",
     {.size = sizeof(hsy_spec),
      .mechanism = "grr",
      .kind = HSY_KIND_VALUES,
      .d = 3,
      .labels = labels,
      .labels_len = sizeof labels - 1},
     2},
    {"number",
     {.size = sizeof(hsy_spec),
      .mechanism = "onebit",
      .kind = HSY_KIND_NUMBER,
      .hi = 1440},
     HSY_TASK_CLOSED},
    {"strings",
     {.size = sizeof(hsy_spec), .mechanism = "olh", .kind = HSY_KIND_STRINGS},
     HSY_TASK_CLOSED}};

static void die(const char *what)
{
    fprintf(stderr, "make_document: %s\n", what);
    exit(1);
}

static const uint8_t *wire(hsy_spec spec, uint64_t nano)
{
    uint8_t *out = malloc(HSY_SCHEME_WIRE);
    hsy_scheme *s;

    spec.nano_epsilon = nano;
    s = malloc(hsy_scheme_size(&spec));
    if (out == NULL || s == NULL || hsy_scheme_init(s, &spec, NULL) != HSY_OK)
        die("no such scheme");
    hsy_scheme_encode(s, out);
    free(s);
    return out;
}

static void task_from(hsy_task *t, const char *text, uint32_t start,
                      uint32_t end)
{
    char kind[16];
    uint64_t nano, permanent;
    size_t k = 0;

    *t = (hsy_task){.release = 1,
                    .question = "How is it?",
                    .question_len = 10,
                    .start = start,
                    .end = end,
                    .sample = {1, 1},
                    .grace_days = 1000,
                    .min_reports = 1000};
    if (sscanf(text,
               "%32[^,],%64[^,],%15[^,],%" SCNu64 ",%" SCNu32 ",%" SCNu32
               ",%" SCNu64 ",%" SCNu32 ",%" SCNu32 ",%" SCNu32,
               t->id, t->source, kind, &nano, &t->slot_days, &t->round_days,
               &permanent, &t->max_changes, &t->sends, &t->answers) < 9)
        die("a task has nine fields");
    while (k < 4 && strcmp(kinds[k].name, kind) != 0)
        k++;
    if (k == 4)
        die("no such kind");
    if (t->answers == 0)
        t->answers = t->sends;
    t->other = kinds[k].other;
    t->labels = kinds[k].spec.labels;
    t->labels_len = kinds[k].spec.labels_len;
    t->scheme = wire(kinds[k].spec, nano);
    if (permanent != 0)
        t->permanent = wire(kinds[k].spec, permanent);
}

#define REQUEST_BYTES 512u

/* A key's number is the first byte of its name, as src/host/seal has it. */
static void party_key(hsy_parties *p, const char *hex)
{
    static const char label[] = "hearsay key 1";
    uint8_t named[sizeof label - 1 + HSY_SEAL_KEY], name[32];
    struct hsy_gateway_key *to = &p->gateway[p->gateway_keys++];

    if (sodium_hex2bin(to->key, sizeof to->key, hex, strlen(hex), NULL, NULL,
                       NULL) != 0)
        die("no key");
    memcpy(named, label, sizeof label - 1);
    memcpy(named + sizeof label - 1, to->key, sizeof to->key);
    crypto_generichash(name, sizeof name, named, sizeof named, NULL, 0);
    to->id = name[0];
    p->request_bytes = REQUEST_BYTES;
    p->response_bytes = HSY_RESPONSE_BYTES;
}

/* Whether the word was about parties, or about the tasks after it. */
static bool party_from(hsy_parties *p, hsy_task *after, const char *word)
{
    if (strncmp(word, "@key=", 5) == 0 && p->gateway_keys < HSY_GATEWAY_KEYS) {
        party_key(p, word + 5);
    } else if (strncmp(word, "@relay=", 7) == 0) {
        p->relay = word + 7;
        p->relay_len = strlen(p->relay);
    } else if (strcmp(word, "@required") == 0) {
        after->flags = HSY_TASK_RELAY;
    } else if (strncmp(word, "@request=", 9) == 0) {
        p->request_bytes = (uint32_t)strtoul(word + 9, NULL, 10);
    } else if (strncmp(word, "@documents=", 11) == 0) {
        p->document_bytes = (uint32_t)strtoul(word + 11, NULL, 10);
    } else if (strncmp(word, "@delay=", 7) == 0) {
        after->delay_seconds = (uint32_t)strtoul(word + 7, NULL, 10);
    }
    return word[0] == '@';
}

static void sign_and_write(const char *path, uint8_t seed, uint8_t *bytes,
                           size_t len)
{
    uint8_t key[HSY_SIGN_KEY], secret[HSY_SIGN_SECRET],
        seeds[crypto_sign_SEEDBYTES];
    FILE *out = fopen(path, "wb");

    memset(seeds, seed, sizeof seeds);
    crypto_sign_seed_keypair(key, secret, seeds);
    if (out == NULL || hsy_sign(bytes + len, bytes, len, secret) != HSY_OK ||
        fwrite(bytes, 1, len + HSY_SIGNATURE, out) != len + HSY_SIGNATURE ||
        fclose(out) != 0)
        die("not written");
    for (size_t i = 0; i < sizeof key; i++)
        printf("%02x", key[i]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    hsy_task tasks[HSY_TASKS_MAX];
    uint32_t days[7];
    hsy_document doc = {0};
    hsy_parties parties = {0};
    hsy_task after = {0};
    hsy_error err = {0};
    size_t n = 0, len = 0;
    uint8_t *bytes;

    if (argc < 8 || (size_t)argc - 8 > HSY_TASKS_MAX)
        die("OUT SEED VERSION ISSUED EXPIRES START END [TASK...]");
    for (int i = 2; i < 8; i++)
        days[i - 2] = (uint32_t)strtoul(argv[i], NULL, 10);
    doc.version = days[1];
    doc.issued = days[2];
    doc.expires = days[3];
    for (int i = 8; i < argc; i++) {
        if (party_from(&parties, &after, argv[i]))
            continue;
        task_from(&tasks[n], argv[i], days[4], days[5]);
        tasks[n].delay_seconds = after.delay_seconds;
        tasks[n++].flags = after.flags;
    }
    if (parties.gateway_keys != 0 || parties.relay_len != 0)
        doc.parties = &parties;
    if (hsy_document_encode(&doc, NULL, 0, &len, tasks, n, &err) != HSY_OK) {
        fprintf(stderr, "%s: ", hsy_field_name(err.field));
        die(err.msg);
    }
    bytes = calloc(1, len + HSY_SIGNATURE);
    if (bytes == NULL ||
        hsy_document_encode(&doc, bytes, len, &len, tasks, n, &err) != HSY_OK)
        die("not encoded");
    sign_and_write(argv[1], (uint8_t)days[0], bytes, len);
    return 0;
}
