/*
 * parties.c - what formats 2 and 3 of a document add.
 *
 * Little-endian.                                        docs/formats.md, 6
 *
 * More of a task, where it has a model or flags:
 *
 *     0 flags, 4 shufflers, 8 min_batch, 12 max_wait, 16 close_after, 20 zero,
 *     24 and 32 assume_honest, 40 and 48 delta, 56 nano_central,
 *     64 collector_key[32], 96 a statement of 512 bytes for each shuffler
 *
 * The parties, after the last task:
 *
 *     0 length of all of it, 4 request_bytes, 8 response_bytes,
 *     12 gateway keys, 16 length of the relay's URL, 20 document_bytes (format
 *     3, else 0), 24 zero[8],
 *     32 gateway keys of 40 bytes (id, key[32], zero[7]), the URL
 */
#include "lib/device/internal.h"

#include "lib/bits/bytes.h"
#include "lib/bits/names.h"
#include "lib/core/fail.h"

#include <string.h>

#define PARTIES_MORE 96u
#define PARTIES_HEAD 32u
#define PARTIES_GATEWAY 40u
#define PARTIES_STATEMENT_1 256u /* bytes of a statement of version 1 */
#define PARTIES_DENOMINATOR 1000000000000000000u

/* ---- More of a task ------------------------------------------------------ */

size_t hsy_more_bytes(const hsy_task *t)
{
    if (t->model == HSY_MODEL_LOCAL && t->flags == 0)
        return 0;
    return PARTIES_MORE + (size_t)t->shufflers * HSY_STATEMENT_WIRE;
}

/* A task of the local model has nothing to do with shufflers. */
static bool parties_local(const hsy_task *t)
{
    return (t->shufflers | t->min_batch | t->max_wait |
            t->close_after_seconds) == 0 &&
           (t->assume_honest.num | t->assume_honest.den | t->delta.num |
            t->delta.den | t->nano_central) == 0;
}

static const char *parties_numbers(const hsy_task *t, uint32_t *field)
{
    *field = HSY_FIELD_SHUFFLERS;
    if (t->shufflers < 1 || t->shufflers > HSY_SHUFFLERS_MAX)
        return "from 1 to 8 shufflers";
    *field = HSY_FIELD_MIN_BATCH;
    if (t->min_batch < 1)
        return "a batch is at least 1";
    *field = HSY_FIELD_MAX_WAIT;
    if (t->max_wait > PARTIES_WAIT)
        return "too few wait at most 366 days";
    *field = HSY_FIELD_CLOSE_AFTER;
    if (t->close_after_seconds > PARTIES_CLOSE)
        return "a batch is closed within 30 days";
    *field = HSY_FIELD_ASSUME_HONEST;
    if (t->assume_honest.num < 1 ||
        t->assume_honest.num > t->assume_honest.den ||
        t->assume_honest.den > (uint64_t)1 << 31)
        return "a share above 0, at most 1, its denominator at most 2^31";
    *field = HSY_FIELD_DELTA;
    if (t->delta.num < 1 || t->delta.num >= t->delta.den ||
        t->delta.den > PARTIES_DENOMINATOR)
        return "a probability between 0 and 1, its denominator at most 10^18";
    *field = HSY_FIELD_EPSILON_CENTRAL;
    if (t->nano_central < 1 || t->nano_central > HSY_EPSILON_MAX)
        return "what a batch tells of a report is above 0, at most 32";
    *field = HSY_FIELD_COLLECTOR_KEY;
    if (t->collector_key == NULL || bytes_zero(t->collector_key, HSY_SEAL_KEY))
        return "a shuffled task has a key to seal for the collector";
    return NULL;
}

/* Whether statement i is about this task and keeps what it promises. */
static bool parties_speaks(const hsy_statement *s, const hsy_task *t,
                           uint32_t i)
{
    return s->release == t->release && s->place == i + 1 &&
           s->of == t->shufflers && s->min_batch >= t->min_batch &&
           s->max_wait == t->max_wait &&
           s->close_after_seconds == t->close_after_seconds &&
           memcmp(s->task, t->id, names_length(t->id, HSY_TASK_ID) + 1) == 0;
}

/* Two places of one key are one shuffler, which links what it mixed. */
static bool parties_repeats(const uint8_t *statements, uint32_t i)
{
    const uint8_t *this = statements + (size_t)i * HSY_STATEMENT_WIRE;

    for (; statements < this; statements += HSY_STATEMENT_WIRE)
        if (memcmp(statements + 72, this + 72, HSY_SIGN_KEY) == 0 ||
            memcmp(statements + 104, this + 104, HSY_SEAL_KEY) == 0)
            return true;
    return false;
}

static const char *parties_statements(const hsy_task *t, uint32_t *field)
{
    hsy_error err = {0};
    hsy_statement s;

    *field = HSY_FIELD_STATEMENT;
    for (uint32_t i = 0; i < t->shufflers; i++) {
        const uint8_t *wire = t->statements + (size_t)i * HSY_STATEMENT_WIRE;

        if (hsy_statement_decode(&s, wire, &err) != HSY_OK)
            return err.msg;
        if (!parties_speaks(&s, t, i))
            return "a shuffler's statement is about another task, release or "
                   "place, or about other batches";
        if (parties_repeats(t->statements, i))
            return "two shufflers have one key";
    }
    return NULL;
}

const char *hsy_more_check(const hsy_task *t, uint32_t *field)
{
    const char *wrong;

    *field = HSY_FIELD_MODEL;
    if (t->model > HSY_MODEL_SHUFFLED)
        return "a model this version does not know";
    *field = HSY_FIELD_FLAGS;
    if ((t->flags & ~HSY_TASK_RELAY) != 0)
        return "a flag this version does not know";
    *field = HSY_FIELD_MODEL;
    if (t->model == HSY_MODEL_LOCAL)
        return parties_local(t) ? NULL
                                : "only a shuffled task says something about "
                                  "shufflers";
    wrong = parties_numbers(t, field);
    return wrong != NULL ? wrong : parties_statements(t, field);
}

uint8_t *hsy_more_put(uint8_t *to, const hsy_task *t)
{
    const size_t len = hsy_more_bytes(t);

    if (len == 0)
        return to;
    bytes_put32(to, t->flags);
    bytes_put32(to + 4, t->shufflers);
    bytes_put32(to + 8, t->min_batch);
    bytes_put32(to + 12, t->max_wait);
    bytes_put32(to + 16, t->close_after_seconds);
    bytes_put32(to + 20, 0);
    bytes_put64(to + 24, t->assume_honest.num);
    bytes_put64(to + 32, t->assume_honest.den);
    bytes_put64(to + 40, t->delta.num);
    bytes_put64(to + 48, t->delta.den);
    bytes_put64(to + 56, t->nano_central);
    memset(to + 64, 0, HSY_SEAL_KEY);
    if (t->shufflers != 0) {
        memcpy(to + 64, t->collector_key, HSY_SEAL_KEY);
        memcpy(to + PARTIES_MORE, t->statements, len - PARTIES_MORE);
    }
    return to + len;
}

/* Returns true for statements of version 1, whose length was another: they are
 * refused by their version, of which the first 8 bytes tell. */
static bool parties_before(const hsy_task *t, size_t len)
{
    return t->shufflers != 0 &&
           len == PARTIES_MORE + (size_t)t->shufflers * PARTIES_STATEMENT_1 &&
           bytes_get32(t->statements + 4) == 1;
}

bool hsy_more_get(hsy_task *t, const uint8_t *from, size_t len)
{
    if (len == 0)
        return t->model == HSY_MODEL_LOCAL;
    if (len < PARTIES_MORE)
        return false;
    t->flags = bytes_get32(from);
    t->shufflers = bytes_get32(from + 4);
    t->min_batch = bytes_get32(from + 8);
    t->max_wait = bytes_get32(from + 12);
    t->close_after_seconds = bytes_get32(from + 16);
    t->assume_honest =
        (hsy_ratio){bytes_get64(from + 24), bytes_get64(from + 32)};
    t->delta = (hsy_ratio){bytes_get64(from + 40), bytes_get64(from + 48)};
    t->nano_central = bytes_get64(from + 56);
    if (t->shufflers != 0) {
        t->collector_key = from + 64;
        t->statements = from + PARTIES_MORE;
    } else if (!bytes_zero(from + 64, HSY_SEAL_KEY)) {
        return false;
    }
    return t->shufflers <= HSY_SHUFFLERS_MAX && bytes_get32(from + 20) == 0 &&
           (len == hsy_more_bytes(t) || parties_before(t, len));
}

/* ---- The parties --------------------------------------------------------- */

bool hsy_parties_any(const hsy_parties *p)
{
    return (p->request_bytes | p->response_bytes | p->document_bytes |
            p->gateway_keys) != 0 ||
           p->relay_len != 0;
}

/* A URL as it is written: printing characters of ASCII, no space. */
static bool parties_url(const char *url, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (url[i] <= ' ' || url[i] > '~')
            return false;
    return len <= HSY_RELAY_MAX;
}

static const char *parties_gateway(const hsy_parties *p, uint32_t *field)
{
    *field = HSY_FIELD_REQUEST_BYTES;
    if (p->gateway_keys == 0
            ? p->request_bytes != 0
            : p->request_bytes < HSY_REQUEST_MIN ||
                  p->request_bytes > HSY_REQUEST_MAX ||
                  (p->request_bytes & (p->request_bytes - 1)) != 0)
        return "a power of two from 512 to 2097152 with a gateway, else 0";
    *field = HSY_FIELD_RESPONSE_BYTES;
    if (p->response_bytes != (p->gateway_keys == 0 ? 0 : HSY_RESPONSE_BYTES))
        return "256 with a gateway, which is what every gateway answers with, "
               "else 0";
    *field = HSY_FIELD_DOCUMENT_BYTES;
    if (p->document_bytes != 0 &&
        (p->gateway_keys == 0 || p->document_bytes < HSY_DOCUMENT_BYTES_MIN ||
         p->document_bytes > HSY_DOCUMENT_BYTES_MAX ||
         (p->document_bytes & (p->document_bytes - 1)) != 0))
        return "a power of two from 65536 to 1048576 with a gateway, or 0";
    *field = HSY_FIELD_GATEWAY_KEYS;
    for (uint32_t i = 0; i < p->gateway_keys; i++)
        if (bytes_zero(p->gateway[i].key, HSY_SEAL_KEY))
            return "a gateway's key is not zeros";
    if (p->gateway_keys == 2 && p->gateway[0].id == p->gateway[1].id)
        return "two keys of a gateway have one id";
    return NULL;
}

hsy_status hsy_parties_check(const hsy_parties *p, hsy_status status,
                             hsy_error *err)
{
    const char *wrong = NULL;
    uint32_t field;

    if (p == NULL)
        return HSY_OK;
    if (p->gateway_keys > HSY_GATEWAY_KEYS)
        return hsy_fail_limit(err, status, HSY_FIELD_GATEWAY_KEYS,
                              "more keys of a gateway than are valid at a "
                              "time",
                              HSY_GATEWAY_KEYS);
    wrong = parties_gateway(p, &field);
    if (wrong == NULL) {
        field = HSY_FIELD_RELAY;
        if (!parties_url(p->relay, p->relay_len))
            wrong = "a relay's URL is at most 1024 printing characters of "
                    "ASCII";
        else if (p->relay_len != 0 && p->gateway_keys == 0)
            wrong = "a relay needs the key of its gateway (gateway_keys)";
    }
    return wrong == NULL ? HSY_OK : hsy_fail(err, status, field, wrong);
}

size_t hsy_parties_bytes(const hsy_parties *p)
{
    return PARTIES_HEAD +
           (p == NULL ? 0 : p->gateway_keys * PARTIES_GATEWAY + p->relay_len);
}

void hsy_parties_put(uint8_t *to, const hsy_parties *p)
{
    static const hsy_parties none;

    if (p == NULL)
        p = &none;
    memset(to, 0, PARTIES_HEAD + p->gateway_keys * PARTIES_GATEWAY);
    bytes_put32(to, (uint32_t)hsy_parties_bytes(p));
    bytes_put32(to + 4, p->request_bytes);
    bytes_put32(to + 8, p->response_bytes);
    bytes_put32(to + 12, p->gateway_keys);
    bytes_put32(to + 16, (uint32_t)p->relay_len);
    bytes_put32(to + 20, p->document_bytes);
    to += PARTIES_HEAD;
    for (uint32_t i = 0; i < p->gateway_keys; i++, to += PARTIES_GATEWAY) {
        to[0] = p->gateway[i].id;
        memcpy(to + 1, p->gateway[i].key, HSY_SEAL_KEY);
    }
    if (p->relay_len != 0)
        memcpy(to, p->relay, p->relay_len);
}

bool hsy_parties_get(hsy_parties *p, const uint8_t *from, size_t left)
{
    hsy_parties read = {.relay = NULL};
    bool canonical;

    if (left < PARTIES_HEAD || bytes_get32(from) != left ||
        bytes_get32(from + 12) > HSY_GATEWAY_KEYS)
        return false;
    read.request_bytes = bytes_get32(from + 4);
    read.response_bytes = bytes_get32(from + 8);
    read.gateway_keys = bytes_get32(from + 12);
    read.relay_len = bytes_get32(from + 16);
    read.document_bytes = bytes_get32(from + 20);
    if (read.relay_len > HSY_RELAY_MAX || left != hsy_parties_bytes(&read))
        return false;
    canonical = bytes_zero(from + 24, 8);
    from += PARTIES_HEAD;
    for (uint32_t i = 0; i < read.gateway_keys; i++, from += PARTIES_GATEWAY) {
        read.gateway[i].id = from[0];
        memcpy(read.gateway[i].key, from + 1, HSY_SEAL_KEY);
        canonical &= bytes_zero(from + 33, 7);
    }
    read.relay = read.relay_len != 0 ? (const char *)from : NULL;
    *p = read;
    return canonical;
}

hsy_status hsy_parties_open(const uint8_t *from, size_t left, bool more,
                            hsy_error *err)
{
    hsy_parties parties;

    if (!hsy_parties_get(&parties, from, left))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_LENGTH,
                        "the parties do not have the length stated, or their "
                        "reserved bytes are not zero");
    if (!more && !hsy_parties_any(&parties))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_FORMAT,
                        "nothing in it needs format 2");
    return hsy_parties_check(&parties, HSY_E_FORMAT, err);
}
