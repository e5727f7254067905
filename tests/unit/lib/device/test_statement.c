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
           strcmp(read.operated_by, good.operated_by) == 0,
       "its fields come back");
    ok(memcmp(wire, "HSYM\1\0\0\0color", 14) == 0 &&
           bytes_get32(wire + 40) == 3 && bytes_get32(wire + 44) == 1 &&
           bytes_get32(wire + 48) == 2 && bytes_get32(wire + 52) == 50000 &&
           bytes_get32(wire + 56) == 2 && bytes_get32(wire + 60) == 21600 &&
           bytes_get32(wire + 64) == 20000 && bytes_get32(wire + 68) == 20500 &&
           memcmp(wire + 72, good.sign_key, 32) == 0 &&
           memcmp(wire + 104, good.seal_key, 32) == 0 &&
           memcmp(wire + 136, good.operated_by, 22) == 0 &&
           bytes_get64(wire + 184) == 0 &&
           memcmp(wire + 192, good.signature, 64) == 0,
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

/* Whatever is read after a byte has changed is written as it was read. */
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
            else
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
    ok(refused_with(4, 2, "version"), "version 2 is refused");
    ok(refused_with(39, 'x', "statement"), "letters after a name's end");
    ok(refused_with(183, 'x', "statement"), "and after the operator's");
    ok(refused_with(191, 1, "statement"), "and reserved bytes");
    ok(refused_with(44, 0, "place"), "and place 0");
    ok(refused_with(136, '\n', "operator"), "and an operator with a line end");
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
    return tap_done();
}
