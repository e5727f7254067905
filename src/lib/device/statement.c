/*
 * statement.c - a shuffler's statement: which task it shuffles, with which keys
 * and in batches of how many. 256 bytes that stand in a document.
 *
 * Little-endian, one canonical encoding.                docs/formats.md, 6
 *
 *     0 magic[4], 4 version, 8 task[32], 40 to 71 numbers (statement_numbers),
 *     72 sign_key[32], 104 seal_key[32], 136 operator[48], 184 zero[8],
 *     192 signature[64] of everything before it
 */
#include "lib/bits/bytes.h"
#include "lib/bits/names.h"
#include "lib/core/fail.h"
#include "lib/device/internal.h"

#include <string.h>

#define STATEMENT_VERSION 1u

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
    if (s->min_batch < 1)
        return "a batch is at least 1";
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

static hsy_status statement_check(const hsy_statement *s, hsy_status status,
                                  hsy_error *err)
{
    uint32_t field;
    const char *wrong = statement_whose(s, &field);

    if (wrong == NULL)
        wrong = statement_what(s, &field);
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
    memcpy(wire + HSY_STATEMENT_SIGNED, statement->signature, HSY_SIGNATURE);
    return HSY_OK;
}

hsy_status hsy_statement_decode(hsy_statement *statement,
                                const uint8_t wire[HSY_STATEMENT_WIRE],
                                hsy_error *err)
{
    hsy_statement s = {.release = 0};
    hsy_status st;

    if (memcmp(wire, statement_magic, sizeof statement_magic) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_MAGIC,
                        "not a statement of a shuffler");
    if (bytes_get32(wire + 4) != STATEMENT_VERSION)
        return hsy_fail_limit(err, HSY_E_FORMAT, HSY_FIELD_VERSION,
                              "a version this program does not know",
                              STATEMENT_VERSION);
    for (size_t i = 0; i < STATEMENT_NUMBERS; i++) {
        uint32_t number = bytes_get32(wire + 40 + 4 * i);

        memcpy((uint8_t *)&s + statement_numbers[i], &number, sizeof number);
    }
    if (!names_get(s.task, wire + 8, HSY_TASK_ID) ||
        !names_get(s.operated_by, wire + 136, HSY_OPERATOR_MAX) ||
        bytes_get64(wire + 184) != 0)
        return hsy_fail(err, HSY_E_FORMAT, HSY_FIELD_STATEMENT,
                        "a name or reserved bytes are not followed by zeros");
    memcpy(s.sign_key, wire + 72, HSY_SIGN_KEY);
    memcpy(s.seal_key, wire + 104, HSY_SEAL_KEY);
    memcpy(s.signature, wire + HSY_STATEMENT_SIGNED, HSY_SIGNATURE);
    st = statement_check(&s, HSY_E_FORMAT, err);
    if (st == HSY_OK)
        *statement = s;
    return st;
}
