/*
 * test_connect.c - which server is taken, and which are refused. By
 * tests/e2e/cluster_connect.t, which starts and promotes servers; without a
 * server there is nothing to test.
 *
 *     test_connect values          HSY_PG: what is sent comes back
 *     test_connect refused WORDS   HSY_PG: the reason has the words
 *     test_connect timelines       HSY_PG: two servers; a line on standard
 *                                  input after each step of the script
 */
#include "server/postgres/postgres.h"
#include "tap.h"

#include <stdlib.h>

static struct pg_place *place;

static struct pg_link *link_open(void)
{
    char reason[PG_REASON] = "";

    if (pg_place_open(&place, getenv("HSY_PG"), reason, NULL) != HSY_OK) {
        ok(false, "the place: %s", reason);
        exit(tap_done());
    }
    return pg_link_new(place);
}

static void link_close(struct pg_link *l)
{
    pg_link_free(l);
    pg_place_close(place);
}

/* ---- Values -------------------------------------------------------------- */

static void values_come_back(struct pg_link *l)
{
    static const int64_t longs[] = {INT64_MIN, -1, 0, INT64_MAX};
    static const bool marks[] = {true, false, false, true};
    static const uint8_t bytes[] = {0, 255, 1, 0, 7};
    struct pg_rows *r = NULL;
    size_t len = 0;

    is_status(pg_ask(l, &r, NULL,
                     "select $1::int4, $2::int8, $3::bytea, $4::text, "
                     "$5::int4",
                     "ilbtn", INT32_MIN, INT64_MIN, bytes, sizeof bytes,
                     "gr\xc3\xbc\xc3\x9f"),
              HSY_OK, "values are sent");
    ok(pg_count(r) == 1 && pg_get(r, 0, 0) == INT32_MIN &&
           pg_get(r, 0, 1) == INT64_MIN && pg_is_null(r, 0, 4),
       "numbers come back");
    ok(memcmp(pg_get_bytes(r, 0, 2, &len), bytes, sizeof bytes) == 0 &&
           len == sizeof bytes &&
           strcmp((const char *)pg_get_bytes(r, 0, 3, NULL),
                  "gr\xc3\xbc\xc3\x9f") == 0,
       "bytes and text come back");
    pg_rows_free(r);
    is_status(pg_ask(l, &r, NULL,
                     "select * from unnest($1::int8[], $2::boolean[], "
                     "$3::bytea[])",
                     "LMB", longs, (size_t)4, marks, (size_t)4, "abcdefgh",
                     (size_t)2, (size_t)4),
              HSY_OK, "arrays are sent");
    for (size_t i = 0; i < 4; i++)
        ok(pg_get(r, i, 0) == longs[i] && pg_is_null(r, i, 1) == !marks[i] &&
               memcmp(pg_get_bytes(r, i, 2, &len), &"abcdefgh"[2 * i], 2) == 0,
           "row %zu comes back", i);
    pg_rows_free(r);
}

static void refusals_are_told(struct pg_link *l)
{
    struct pg_rows *r = NULL;

    is_status(pg_ask(l, &r, NULL, "select * from nowhere", ""), HSY_E_REFUSED,
              "a table that is not there");
    is_text(pg_state(l), "42P01", "and its state");
    ok(r == NULL && pg_connected(l), "the link stays");
    is_status(pg_begin(l, NULL), HSY_OK, "a transaction");
    is_status(pg_ask(l, NULL, NULL, "select 1 / 0", ""), HSY_E_REFUSED,
              "fails");
    is_status(pg_commit(l, NULL), HSY_E_BUSY,
              "its COMMIT says ROLLBACK, and is none");
    ok(!pg_connected(l), "the link is dropped");
    is_status(pg_connect(l, NULL), HSY_OK, "and made anew");
    is_u64(pg_session(l), 2, "as another session");
}

static void a_turn_is_refused_as_a_whole(struct pg_link *l)
{
    struct pg_rows *r = NULL;

    pg_put(l, NULL, "select 1::int8", "");
    pg_put(l, NULL, "select 1 / 0", "");
    pg_put(l, NULL, "select 2::int8", "");
    is_status(pg_turn(l, NULL), HSY_OK, "three statements");
    ok(pg_take(l, &r, NULL) == HSY_OK && pg_get(r, 0, 0) == 1, "the first");
    pg_rows_free(r);
    ok(pg_take(l, NULL, NULL) == HSY_E_REFUSED &&
           pg_take(l, NULL, NULL) == HSY_E_REFUSED,
       "the second is refused, and so the third");
    is_status(pg_end(l, NULL), HSY_E_REFUSED, "and the turn");
    is_text(pg_state(l), "22012", "with the state of the first that was");
    is_status(pg_ask(l, NULL, NULL, "select 1::int8", ""), HSY_OK,
              "the next turn works");
}

/* A request may have uploads of 4,096 tasks and days, each with a row. */
static void a_turn_has_no_end(struct pg_link *l)
{
    size_t sent = 0, came = 0;

    for (int32_t i = 0; i < 5000; i++) {
        sent += pg_put(l, NULL, "select $1::int4", "i", i) == HSY_OK;
    }
    is_u64(sent, 5000, "5,000 statements of one turn are sent");
    is_status(pg_turn(l, NULL), HSY_OK, "and their end");
    for (int32_t i = 0; i < 5000; i++) {
        struct pg_rows *r = NULL;

        came += pg_take(l, &r, NULL) == HSY_OK && pg_get(r, 0, 0) == i;
        pg_rows_free(r);
    }
    is_u64(came, 5000, "and answered, each with its own");
    is_status(pg_end(l, NULL), HSY_OK, "and then the turn is over");
}

/* A reload of the server's settings must not make commits wait for less. */
static void a_session_keeps_waiting_for_the_standby(struct pg_link *l)
{
    struct pg_rows *r = NULL;

    is_status(pg_ask(l, &r, NULL,
                     "select source from pg_settings where name = "
                     "'synchronous_commit'",
                     ""),
              HSY_OK, "who says how long a commit waits");
    is_text((const char *)pg_get_bytes(r, 0, 0, NULL), "session",
            "is the session");
    pg_rows_free(r);
}

/* What was sent of it must not be answered to who asks next. */
static void a_turn_that_is_given_up_is_nobodys(struct pg_link *l)
{
    struct pg_rows *r = NULL;

    is_status(pg_put(l, NULL, "select 7::int8", ""), HSY_OK, "a turn is begun");
    /* One too many: as if there were no memory. */
    is_status(pg_put(l, NULL, "select 8::int8", "nnnnnnnnnnnnn"), HSY_E_NOMEM,
              "a statement of it cannot be sent");
    is_status(pg_connect(l, NULL), HSY_OK, "the link is used again");
    is_status(pg_ask(l, &r, NULL, "select 9::int8", ""), HSY_OK,
              "for a question");
    ok(r != NULL && pg_get(r, 0, 0) == 9, "which gets its own answer");
    pg_rows_free(r);
}

static void values(void)
{
    struct pg_link *l = link_open();
    struct pg_found found;

    is_status(pg_connect(l, NULL), HSY_OK, "a server: %s", pg_reason(l));
    pg_place_found(place, &found);
    ok(found.reachable && found.timeline == 1 && found.connected == 1 &&
           found.version >= 140000,
       "what was found");
    values_come_back(l);
    refusals_are_told(l);
    a_turn_is_refused_as_a_whole(l);
    a_turn_has_no_end(l);
    a_session_keeps_waiting_for_the_standby(l);
    a_turn_that_is_given_up_is_nobodys(l);
    link_close(l);
}

static void refused(const char *words)
{
    struct pg_link *l = link_open();
    struct pg_found found;

    is_status(pg_connect(l, NULL), HSY_E_REFUSED, "a server that is set wrong");
    ok(strstr(pg_reason(l), words) != NULL, "'%s' is said: %s", words,
       pg_reason(l));
    pg_place_found(place, &found);
    ok(!found.reachable && strstr(found.reason, words) != NULL,
       "and shown to the operator");
    link_close(l);
}

/* ---- Timelines ----------------------------------------------------------- */

static void step(void)
{
    char line[16];

    puts("# next");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL)
        exit(1);
}

static void timelines(void)
{
    struct pg_link *l = link_open(), *other = pg_link_new(place);
    struct pg_found found;

    is_status(pg_connect(l, NULL), HSY_OK, "the primary: %s", pg_reason(l));
    pg_look(place);
    pg_place_found(place, &found);
    ok(found.timeline == 1 && pg_begin(l, NULL) == HSY_OK &&
           pg_commit(l, NULL) == HSY_OK,
       "while it is the only primary a look changes nothing");
    step(); /* the standby is promoted; the old primary lives */
    is_status(pg_begin(l, NULL), HSY_OK, "a transaction of the old primary");
    pg_look(place);
    pg_place_found(place, &found);
    is_u64(found.timeline, 2, "a look finds the server that was promoted");
    is_status(pg_commit(l, NULL), HSY_E_BUSY,
              "a commit of the old primary is in doubt then: %s", pg_reason(l));
    is_status(pg_connect(l, NULL), HSY_OK, "the link is made anew: %s",
              pg_reason(l));
    is_status(pg_connect(other, NULL), HSY_OK, "another link: %s",
              pg_reason(other));
    ok(pg_begin(l, NULL) == HSY_OK && pg_commit(l, NULL) == HSY_OK,
       "commits of the server that was promoted are certain");
    step(); /* the one that was promoted is killed */
    pg_drop(l);
    is_status(pg_connect(l, NULL), HSY_E_BUSY,
              "the old primary alone is not taken");
    ok(strstr(pg_reason(l), "before another was promoted") != NULL,
       "because: %s", pg_reason(l));
    pg_link_free(other);
    link_close(l);
}

int main(int argc, char **argv)
{
    if (getenv("HSY_PG") == NULL || argc < 2)
        tap_skip("no server: see tests/e2e/cluster_connect.t");
    else if (strcmp(argv[1], "values") == 0)
        values();
    else if (strcmp(argv[1], "refused") == 0)
        refused(argv[2]);
    else
        timelines();
    return tap_done();
}
