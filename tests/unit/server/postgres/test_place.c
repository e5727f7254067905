/* Tests of src/server/postgres/place.c and params.c: URLs that cannot be used,
 * and values in PostgreSQL's binary form. No server is needed. */
#define _GNU_SOURCE
#include "server/postgres/internal.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- URLs ---------------------------------------------------------------- */

static void refused(const char *url, hsy_status st, const char *why)
{
    struct pg_place *p = NULL;
    char reason[PG_REASON] = "";
    hsy_error err;

    is_status(pg_place_open(&p, url, reason, &err), st, "%.50s", url);
    ok(p == NULL && strstr(reason, why) != NULL, "because: %s", reason);
    ok(strstr(reason, "secret") == NULL, "and no password is told");
}

static void bad_urls_are_refused(void)
{
    char many[512] = "postgresql://u@127.0.0.1";

    for (int i = 0; i < 8; i++)
        strcat(many, ",127.0.0.1");
    strcat(many, "/d");
    refused("", HSY_E_FORMAT, "postgresql://");
    refused("mysql://u:secret@h/d", HSY_E_FORMAT, "postgresql://");
    refused("host=h user=u dbname=d password=secret", HSY_E_FORMAT,
            "postgresql://");
    refused("postgresql://u:secret@[::1/d", HSY_E_FORMAT, "no URL");
    refused("postgresql://u@127.0.0.1/d?nonsense=secret", HSY_E_FORMAT,
            "no URL");
    refused("postgresql://u:%zzsecret@127.0.0.1/d", HSY_E_FORMAT, "no URL");
    refused("postgresql://u:secret@/d", HSY_E_RANGE, "no host");
    refused("postgresql://u:secret@127.0.0.1", HSY_E_RANGE, "no database");
    refused("postgresql://127.0.0.1/d", HSY_E_RANGE, "no user");
    refused(many, HSY_E_RANGE, "more than 8 servers");
}

static const char *word(const struct pg_place *p, const char *key)
{
    for (size_t i = 0; i < p->nwords; i++)
        if (strcmp(p->words[i].key, key) == 0)
            return p->words[i].value;
    return "";
}

static void a_good_one_is_taken_apart(void)
{
    struct pg_place *p = NULL;
    char reason[PG_REASON] = "";

    is_status(pg_place_open(&p,
                            "postgresql://u:secret@127.0.0.1,127.0.0.2:6000,"
                            "127.0.0.3/d?target_session_attrs=any&"
                            "connect_timeout=7&sslrootcert=/x",
                            reason, NULL),
              HSY_OK, "three servers");
    if (p == NULL)
        return;
    ok(p->nhosts == 3 && strcmp(p->hosts[1].name, "127.0.0.2") == 0 &&
           strcmp(p->hosts[1].port, "6000") == 0,
       "each with its port");
    ok(strstr(pg_place_name(p), "127.0.0.2:6000") != NULL &&
           strstr(pg_place_name(p), "/d") != NULL &&
           strstr(pg_place_name(p), "secret") == NULL,
       "its name has no password: %s", pg_place_name(p));
    is_text(word(p, "connect_timeout"), "7", "what the URL says stands");
    is_text(word(p, "target_session_attrs"), "",
            "but which server is primary is not libpq's question");
    is_text(word(p, "tcp_user_timeout"), "3000", "what it does not is usual");
    ok(pg_place_file(p, 0) != NULL && pg_place_file(p, 1) == NULL &&
           pg_place_file(p, 9) == NULL,
       "files that are read again");
    pg_place_close(p);
    pg_place_close(NULL);
}

static void passwords_are_read_once(void)
{
    char file[] = "/tmp/hearsay-pass.XXXXXX", url[256];
    const int fd = mkstemp(file);
    struct pg_place *p = NULL;
    char reason[PG_REASON] = "";

    dprintf(fd, "#h:1:d:u:no\nother:*:*:*:no\n127.0.0.1:*:d:u:secret\n");
    close(fd);
    snprintf(url, sizeof url, "postgresql://u@127.0.0.1/d?passfile=%s", file);
    is_status(pg_place_open(&p, url, reason, NULL), HSY_OK, "a password file");
    if (p != NULL)
        is_text(p->hosts[0].password, "secret", "the line that fits");
    pg_place_close(p);
    unlink(file);
}

/* ---- Parameters ---------------------------------------------------------- */

static void values_are_big_endian(void)
{
    static struct pg_params p;
    static const uint8_t want[] = {0xff, 0xff, 0xff, 0xfe, 1, 2,   3,  4,
                                   5,    6,    7,    8,    1, 'a', 'b'};

    pg_int(&p, -2);
    pg_long(&p, 0x0102030405060708);
    pg_bool(&p, true);
    pg_text(&p, "ab");
    pg_null(&p);
    ok(p.n == 5 && p.len == sizeof want && !p.failed &&
           memcmp(p.bytes, want, sizeof want) == 0,
       "numbers, a truth and a text");
    ok(p.values[4].null && p.values[4].len == 0 && p.values[3].len == 2 &&
           p.values[1].at == 4,
       "each has its place");
    free(p.bytes);
}

static void arrays_have_heads(void)
{
    static struct pg_params p;
    static const uint8_t want[] = {
        0, 0, 0, 1, 0,    0,    0,    0,    0,    0,    0,    20,
        0, 0, 0, 2, 0,    0,    0,    1, /* head */
        0, 0, 0, 8, 0,    0,    0,    0,    0,    0,    0,    5,
        0, 0, 0, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t marks[] = {0,    0,    0,    1,    0, 0, 0, 1, 0, 0,
                                    0,    16,   0,    0,    0, 2, 0, 0, 0, 1,
                                    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 1};

    pg_longs(&p, (const int64_t[]){5, -1}, 2);
    ok(p.len == sizeof want && memcmp(p.bytes, want, sizeof want) == 0,
       "numbers in an array");
    pg_marks(&p, (const bool[]){false, true}, 2);
    ok(p.len == sizeof want + sizeof marks &&
           memcmp(p.bytes + sizeof want, marks, sizeof marks) == 0,
       "marks: false is NULL");
    pg_longs(&p, NULL, 0);
    is_u64(p.values[2].len, 12, "an empty one has no dimension");
    free(p.bytes);
}

static void too_many_are_noticed(void)
{
    static struct pg_params p;

    for (size_t i = 0; i < PG_PARAMS; i++)
        pg_int(&p, 1);
    ok(!p.failed, "as many as there may be");
    pg_int(&p, 1);
    ok(p.failed && p.n == PG_PARAMS, "one more");
    free(p.bytes);
}

int main(void)
{
    values_are_big_endian();
    arrays_have_heads();
    too_many_are_noticed();
    if (pq_load() == NULL) {
        tap_skip("there is no libpq");
        return tap_done();
    }
    bad_urls_are_refused();
    a_good_one_is_taken_apart();
    passwords_are_read_once();
    return tap_done();
}
