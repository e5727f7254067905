/* test_statement.c - a shuffler's statement: one encoding, every field in its
 * range. */
#include "lib/bits/bytes.h"
#include "rig/example_shuffled.h"
#include "tap.h"

static hsy_statement good;

static void statement_comes_back(void)
{
    uint8_t wire[HSY_STATEMENT_WIRE], again[HSY_STATEMENT_WIRE];
    hsy_statement read;

    memset(good.signature, 77, sizeof good.signature);
    ok(hsy_statement_encode(wire, &good, NULL) == HSY_OK &&
           hsy_statement_decode(&read, wire, NULL) == HSY_OK &&
           hsy_statement_encode(again, &read, NULL) == HSY_OK &&
           memcmp(wire, again, sizeof wire) == 0,
       "a statement comes back, and is written again byte for byte");
    ok(strcmp(read.task, "color") == 0 && read.release == 3 &&
           read.place == 1 && read.of == 2 && read.min_batch == 50000 &&
           read.max_wait == 2 && read.close_after_seconds == 21600 &&
           read.from == 20000 && read.until == 20500 &&
           strcmp(read.operated_by, good.operated_by) == 0 &&
           read.gateway_keys == 2 &&
           memcmp(read.gateway, good.gateway, sizeof read.gateway) == 0,
       "its fields come back");
    ok(memcmp(wire, "HSYM\2\0\0\0color", 14) == 0 &&
           bytes_get32(wire + 40) == 3 && bytes_get32(wire + 44) == 1 &&
           bytes_get32(wire + 48) == 2 && bytes_get32(wire + 52) == 50000 &&
           bytes_get32(wire + 56) == 2 && bytes_get32(wire + 60) == 21600 &&
           bytes_get32(wire + 64) == 20000 && bytes_get32(wire + 68) == 20500 &&
           memcmp(wire + 72, good.sign_key, 32) == 0 &&
           memcmp(wire + 104, good.seal_key, 32) == 0 &&
           memcmp(wire + 136, good.operated_by, 22) == 0 &&
           bytes_get64(wire + 184) == 68 &&
           memcmp(wire + 192, "\1\0\100\0", 4) == 0 &&
           memcmp(wire + 196, good.gateway, 64) == 0 &&
           bytes_zero(wire + 260, 188) &&
           memcmp(wire + 448, good.signature, 64) == 0,
       "they stand where docs/formats.md says");
}

/* ---- Every field --------------------------------------------------------- */

struct change {
    const char *what;
    void (*apply)(hsy_statement *s);
    const char *field; /* NULL: it is allowed */
};

#define CHANGE(name, statement)                                                \
    static void name(hsy_statement *s)                                         \
    {                                                                          \
        statement;                                                             \
    }

CHANGE(no_task, s->task[0] = '\0')
CHANGE(capital_task, s->task[0] = 'C')
CHANGE(no_release, s->release = 0)
CHANGE(no_place, s->place = 0)
CHANGE(past_place, s->place = 3)
CHANGE(most_places, s->of = 8)
CHANGE(more_places, s->of = 9)
CHANGE(no_batch, s->min_batch = 0)
CHANGE(large_batch, s->min_batch = (1u << 19) + 1)
CHANGE(largest_batch, s->min_batch = 1u << 19)
CHANGE(long_wait, s->max_wait = 367)
CHANGE(late_close, s->close_after_seconds = 30 * 86400 + 1)
CHANGE(no_wait, s->max_wait = 0; s->close_after_seconds = 0)
CHANGE(no_days, s->until = s->from)
CHANGE(for_ever, s->until = 2932898)
CHANGE(no_sign_key, memset(s->sign_key, 0, sizeof s->sign_key))
CHANGE(no_seal_key, memset(s->seal_key, 0, sizeof s->seal_key))
CHANGE(no_operator, s->operated_by[0] = '\0')
CHANGE(longest_operator, memset(s->operated_by, 'x', HSY_OPERATOR_MAX))
CHANGE(longer_operator, memset(s->operated_by, 'x', HSY_OPERATOR_MAX + 1))
CHANGE(no_gateway, s->gateway_keys = 0)
CHANGE(most_gateways, s->gateway_keys = 4; memset(s->gateway[2], 1, 32);
       memset(s->gateway[3], 2, 32))
CHANGE(more_gateways, s->gateway_keys = 5)
CHANGE(zero_gateway, memset(s->gateway[1], 0, 32))
CHANGE(same_gateway, memcpy(s->gateway[1], s->gateway[0], 32))
CHANGE(two_lines, memcpy(s->operated_by, "a\nb", 4))

static const struct change changes[] = {
    {"no task", no_task, "task"},
    {"a task with a capital", capital_task, "task"},
    {"release 0", no_release, "release"},
    {"place 0", no_place, "place"},
    {"place 3 of 2", past_place, "place"},
    {"one of 8", most_places, NULL},
    {"one of 9", more_places, "place"},
    {"batches of 0", no_batch, "min_batch"},
    {"batches of 2^19", largest_batch, NULL},
    {"batches of more than 2^19", large_batch, "min_batch"},
    {"a wait of 367 days", long_wait, "max_wait"},
    {"closing after 30 days", late_close, "close_after"},
    {"no wait at all", no_wait, NULL},
    {"no day", no_days, "end"},
    {"the year 10000", for_ever, "end"},
    {"no key to sign with", no_sign_key, "sign_key"},
    {"no key to seal for", no_seal_key, "seal_key"},
    {"no operator", no_operator, "operator"},
    {"an operator of 48 letters", longest_operator, NULL},
    {"an operator without an end", longer_operator, "operator"},
    {"an operator of two lines", two_lines, "operator"},
    {"no gateway key", no_gateway, NULL},
    {"4 gateway keys", most_gateways, NULL},
    {"5 gateway keys", more_gateways, "gateway_keys"},
    {"a gateway key of zeros", zero_gateway, "gateway_keys"},
    {"one gateway key twice", same_gateway, "gateway_keys"},
};

static void fields_are_checked(void)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct change *c = &changes[i];
        uint8_t wire[HSY_STATEMENT_WIRE];
        hsy_statement s = good;
        hsy_error err = {0};
        hsy_status st;

        c->apply(&s);
        st = hsy_statement_encode(wire, &s, &err);
        if (c->field == NULL)
            ok(st == HSY_OK, "%s: allowed", c->what);
        else
            ok(st == HSY_E_RANGE &&
                   strcmp(hsy_field_name(err.field), c->field) == 0,
               "%s: refused for its %s", c->what, c->field);
    }
}

/* ---- Bytes from outside -------------------------------------------------- */

/* Whatever is read after a byte has changed is written as it was read; but an
 * extension of a type that is not known is not written again. */
static void no_second_encoding(void)
{
    uint8_t wire[HSY_STATEMENT_WIRE], again[HSY_STATEMENT_WIRE];
    size_t refused = 0, other = 0;
    hsy_statement s;

    hsy_statement_encode(wire, &good, NULL);
    for (size_t at = 0; at < sizeof wire; at++)
        for (unsigned change = 1; change < 256; change++) {
            wire[at] ^= (uint8_t)change;
            if (hsy_statement_decode(&s, wire, NULL) != HSY_OK)
                refused++;
            else if (at != 192 && at != 193)
                other += hsy_statement_encode(again, &s, NULL) != HSY_OK ||
                         memcmp(wire, again, sizeof wire) != 0;
            wire[at] ^= (uint8_t)change;
        }
    ok(refused > 8 * 255 && other == 0,
       "%zu of %zu statements with a byte changed are refused, no other has "
       "two encodings",
       refused, sizeof wire * 255);
}

/* The statement with one byte set. */
static bool refused_with(size_t at, uint8_t value, const char *field)
{
    uint8_t wire[HSY_STATEMENT_WIRE];
    hsy_statement s = {.release = 99};
    hsy_error err = {0};

    hsy_statement_encode(wire, &good, NULL);
    wire[at] = value;
    return hsy_statement_decode(&s, wire, &err) == HSY_E_FORMAT &&
           s.release == 99 && strcmp(hsy_field_name(err.field), field) == 0;
}

static void decode_is_strict(void)
{
    ok(refused_with(0, 'X', "magic"), "a foreign magic is refused");
    ok(refused_with(4, 1, "version"), "version 1 is refused");
    ok(refused_with(4, 3, "version"), "version 3 is refused");
    ok(refused_with(39, 'x', "statement"), "letters after a name's end");
    ok(refused_with(183, 'x', "statement"), "and after the operator's");
    ok(refused_with(191, 1, "statement"), "and reserved bytes");
    ok(refused_with(184, 67, "statement"), "and an extension cut short");
    ok(refused_with(184, 69, "statement"), "and a type cut short");
    ok(refused_with(185, 1, "statement"), "and more extensions than fit");
    ok(refused_with(447, 1, "statement"), "and bytes behind the extensions");
    ok(refused_with(192, 0, "statement"), "and an extension of type 0");
    ok(refused_with(194, 65, "statement"), "and a gateway key and a byte");
    ok(refused_with(44, 0, "place"), "and place 0");
    ok(refused_with(136, '\n', "operator"), "and an operator with a line end");
}

/* A statement without gateway keys and with these extensions. */
static hsy_status with_extensions(const char *bytes, size_t len,
                                  const char **why)
{
    uint8_t wire[HSY_STATEMENT_WIRE];
    hsy_statement s = good;
    hsy_error err = {0};
    hsy_status st;

    s.gateway_keys = 0;
    hsy_statement_encode(wire, &s, NULL);
    bytes_put32(wire + 184, (uint32_t)len);
    memcpy(wire + 192, bytes, len);
    st = hsy_statement_decode(&s, wire, &err);
    *why = err.msg;
    return st == HSY_OK && s.gateway_keys != 0 ? HSY_E_UNKNOWN : st;
}

static void extensions_are_typed(void)
{
    const char *why;

    ok(with_extensions("\2\0\1\0x\7\0\0\0", 9, &why) == HSY_OK,
       "passes over extensions that it does not know");
    ok(with_extensions("\2\200\1\0x", 5, &why) == HSY_E_FORMAT &&
           strstr(why, "must not pass over") != NULL,
       "refuses a critical extension that it does not know");
    ok(with_extensions("\7\0\0\0\2\0\0\0", 8, &why) == HSY_E_FORMAT &&
           strstr(why, "ascending") != NULL,
       "refuses extensions in another order");
    ok(with_extensions("\2\0\0\0\2\0\0\0", 8, &why) == HSY_E_FORMAT &&
           strstr(why, "each once") != NULL,
       "refuses an extension that comes twice");
    ok(with_extensions("\1\0\0\0", 4, &why) == HSY_E_FORMAT,
       "refuses a list of no gateway keys");
}

int main(void)
{
    hsy_task task = {.id = "color",
                     .release = 3,
                     .min_batch = 50000,
                     .max_wait = 2,
                     .close_after_seconds = 21600};

    good = example_statement(&task, 1, 2, 20000);
    statement_comes_back();
    fields_are_checked();
    no_second_encoding();
    decode_is_strict();
    extensions_are_typed();
    return tap_done();
}
