/*
 * statement.c - a shuffler's statement: which task it shuffles, with which keys
 * and in batches of how many. 512 bytes that stand in a document.
 *
 * Little-endian, one canonical encoding.                docs/formats.md, 6
 *
 *     0 magic[4], 4 version, 8 task[32], 40 to 71 numbers (statement_numbers),
 *     72 sign_key[32], 104 seal_key[32], 136 operator[48],
 *     184 length of the extensions, 188 zero[4], 192 extensions, then zeros,
 *     448 signature[64] of everything before it
 *
 * An extension is its type (2 bytes), the length of its value (2) and the
 * value; types ascend, and none comes twice. A reader refuses a statement with
 * an extension that it does not know and whose type has its highest bit set,
 * and passes over others.
 */
#include "lib/bits/bytes.h"
#include "lib/bits/names.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"

#include <string.h>

#define STATEMENT_VERSION 2u
#define STATEMENT_MORE 192u       /* where extensions begin */
#define STATEMENT_EXTENSION 4u    /* type and length */
#define STATEMENT_CRITICAL 32768u /* the highest bit of a type */
#define STATEMENT_GATEWAYS 1u     /* type: keys of the gateway, 32 bytes each */

static const uint8_t statement_magic[4] = {'H', 'S', 'Y', 'M'};

/* Numbers of 4 bytes, in the order in which they stand from byte 40 on. */
static const size_t statement_numbers[] = {
    offsetof(hsy_statement, release),
    offsetof(hsy_statement, place),
    offsetof(hsy_statement, of),
    offsetof(hsy_statement, min_batch),
    offsetof(hsy_statement, max_wait),
    offsetof(hsy_statement, close_after_seconds),
    offsetof(hsy_statement, from),
    offsetof(hsy_statement, until),
};

#define STATEMENT_NUMBERS                                                      \
    (sizeof statement_numbers / sizeof statement_numbers[0])

static const char *statement_whose(const hsy_statement *s, uint32_t *field)
{
    *field = HSY_FIELD_TASK;
    if (!names_ok(s->task, HSY_TASK_ID))
        return "a task is 1 to 32 of a-z, 0-9, '.', '_', '-'";
    *field = HSY_FIELD_OPERATOR;
    if (!names_line(s->operated_by,
                    names_length(s->operated_by, HSY_OPERATOR_MAX),
                    HSY_OPERATOR_MAX))
        return "an operator is 1 to 48 bytes of UTF-8, one line without "
               "control characters";
    *field = HSY_FIELD_SIGN_KEY;
    if (bytes_zero(s->sign_key, HSY_SIGN_KEY))
        return "a shuffler has a key that it signs with";
    *field = HSY_FIELD_SEAL_KEY;
    if (bytes_zero(s->seal_key, HSY_SEAL_KEY))
        return "a shuffler has a key that others seal for";
    return NULL;
}

static const char *statement_what(const hsy_statement *s, uint32_t *field)
{
    *field = HSY_FIELD_RELEASE;
    if (s->release == 0)
        return "a release is at least 1";
    *field = HSY_FIELD_PLACE;
    if (s->place < 1 || s->place > s->of || s->of > HSY_SHUFFLERS_MAX)
        return "must be from 1 to the number of shufflers, at most 8";
    *field = HSY_FIELD_MIN_BATCH;
    if (s->min_batch < 1 || s->min_batch > PARTIES_BATCH)
        return "must be from 1 to 2^19";
    *field = HSY_FIELD_MAX_WAIT;
    if (s->max_wait > PARTIES_WAIT)
        return "too few wait at most 366 days";
    *field = HSY_FIELD_CLOSE_AFTER;
    if (s->close_after_seconds > PARTIES_CLOSE)
        return "a batch is closed within 30 days";
    *field = HSY_FIELD_END;
    if (s->from >= s->until || s->until > NAMES_DAYS)
        return "must not be before the first day, nor after the year 9999";
    return NULL;
}

/* Each key once. */
static const char *statement_gateway(const hsy_statement *s, uint32_t *field)
{
    *field = HSY_FIELD_GATEWAY_KEYS;
    if (s->gateway_keys > HSY_STATEMENT_GATEWAYS)
        return "at most 4 keys of a gateway";
    for (uint32_t i = 0; i < s->gateway_keys; i++) {
        if (bytes_zero(s->gateway[i], HSY_SEAL_KEY))
            return "a gateway's key is not zeros";
        for (uint32_t k = 0; k < i; k++)
            if (memcmp(s->gateway[i], s->gateway[k], HSY_SEAL_KEY) == 0)
                return "duplicate key of a gateway";
    }
    return NULL;
}

static hsy_status statement_check(const hsy_statement *s, hsy_status status,
                                  hsy_error *err)
{
    uint32_t field;
    const char *wrong = statement_whose(s, &field);

    if (wrong == NULL)
        wrong = statement_what(s, &field);
    if (wrong == NULL)
        wrong = statement_gateway(s, &field);
    return wrong == NULL ? HSY_OK : hsy_fail(err, status, field, wrong);
}

hsy_status hsy_statement_encode(uint8_t wire[HSY_STATEMENT_WIRE],
                                const hsy_statement *statement, hsy_error *err)
{
    const uint8_t *fields = (const uint8_t *)statement;
    hsy_status st = statement_check(statement, HSY_E_RANGE, err);

    if (st != HSY_OK)
        return st;
    memset(wire, 0, HSY_STATEMENT_WIRE);
    memcpy(wire, statement_magic, sizeof statement_magic);
    bytes_put32(wire + 4, STATEMENT_VERSION);
    names_put(wire + 8, statement->task);
    for (size_t i = 0; i < STATEMENT_NUMBERS; i++) {
        uint32_t number;

        memcpy(&number, fields + statement_numbers[i], sizeof number);
        bytes_put32(wire + 40 + 4 * i, number);
    }
    memcpy(wire + 72, statement->sign_key, HSY_SIGN_KEY);
    memcpy(wire + 104, statement->seal_key, HSY_SEAL_KEY);
    names_put(wire + 136, statement->operated_by);
    if (statement->gateway_keys != 0) {
        const uint32_t len = statement->gateway_keys * HSY_SEAL_KEY;

        bytes_put32(wire + 184, STATEMENT_EXTENSION + len);
        bytes_put32(wire + STATEMENT_MORE, STATEMENT_GATEWAYS | len << 16);
        memcpy(wire + STATEMENT_MORE + STATEMENT_EXTENSION, statement->gateway,
               len);
    }
    memcpy(wire + HSY_STATEMENT_SIGNED, statement->signature, HSY_SIGNATURE);
    return HSY_OK;
}

/* Read the extensions: NULL, or what is wrong with them. */
static const char *statement_extensions(hsy_statement *s, const uint8_t *wire)
{
    const uint32_t len = bytes_get32(wire + 184);
    const uint32_t room = HSY_STATEMENT_SIGNED - STATEMENT_MORE;
    const uint8_t *at = wire + STATEMENT_MORE, *end;
    uint32_t last = 0;

    if (len > room || bytes_get32(wire + 188) != 0 ||
        !bytes_zero(at + len, room - len))
        return "extensions or reserved bytes are not followed by zeros";
    end = at + len;
    while (at != end) {
        uint32_t type, bytes;

        if ((size_t)(end - at) < STATEMENT_EXTENSION)
            return "an extension is cut short";
        type = bytes_get32(at) & 0xffff;
        bytes = bytes_get32(at) >> 16;
        at += STATEMENT_EXTENSION;
        if (type <= last)
            return "extensions are not in ascending order, each once";
        if (bytes > (size_t)(end - at))
            return "an extension is cut short";
        if (type == STATEMENT_GATEWAYS) {
            if (bytes == 0 || bytes % HSY_SEAL_KEY != 0 ||
                bytes > sizeof s->gateway)
                return "from 1 to 4 keys of a gateway";
            s->gateway_keys = bytes / HSY_SEAL_KEY;
            memcpy(s->gateway, at, bytes);
        } else if (type >= STATEMENT_CRITICAL) {
            return "an extension that this program does not know and must not "
                   "pass over";
        }
        last = type;
        at += bytes;
    }
    return NULL;
}

hsy_status hsy_statement_decode(hsy_statement *statement,
                                const uint8_t wire[HSY_STATEMENT_WIRE],
                                hsy_error *err)
{
    hsy_statement s = {.release = 0};
    const char *wrong;
    hsy_status st;

    if (memcmp(wire, statement_magic, sizeof statement_magic) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_MAGIC,
                        "not a statement of a shuffler");
    if (bytes_get32(wire + 4) == 1)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                              "a statement of version 1, which cannot name the "
                              "gateway's keys: let the shuffler sign it again",
                              STATEMENT_VERSION);
    if (bytes_get32(wire + 4) != STATEMENT_VERSION)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                              "a version this program does not know",
                              STATEMENT_VERSION);
    for (size_t i = 0; i < STATEMENT_NUMBERS; i++) {
        uint32_t number = bytes_get32(wire + 40 + 4 * i);

        memcpy((uint8_t *)&s + statement_numbers[i], &number, sizeof number);
    }
    if (!names_get(s.task, wire + 8, HSY_TASK_ID) ||
        !names_get(s.operated_by, wire + 136, HSY_OPERATOR_MAX))
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_STATEMENT,
                        "a name is not followed by zeros");
    wrong = statement_extensions(&s, wire);
    if (wrong != NULL)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_STATEMENT, wrong);
    memcpy(s.sign_key, wire + 72, HSY_SIGN_KEY);
    memcpy(s.seal_key, wire + 104, HSY_SEAL_KEY);
    memcpy(s.signature, wire + HSY_STATEMENT_SIGNED, HSY_SIGNATURE);
    st = statement_check(&s, HSY_E_FORMAT, err);
    if (st == HSY_OK)
        *statement = s;
    return st;
}
