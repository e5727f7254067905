/* test_servers.c - a database by its URL: servers, ports, passwords of a file
 * for each, what is read again, and what is refused before anybody is asked. */
#define _GNU_SOURCE
#include "server/postgres/internal.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char file[] = "/tmp/hearsay-servers-XXXXXX";
static char reason[PG_REASON];

static struct pg_place *opened(const char *url)
{
    struct pg_place *p = NULL;
    hsy_error err = {0};

    reason[0] = '\0';
    (void)pg_place_open(&p, url, reason, &err);
    return p;
}

/* A URL that is refused, for a reason with these words. */
static bool refused(const char *url, const char *words)
{
    struct pg_place *p = opened(url);
    const bool good = p == NULL && strstr(reason, words) != NULL;

    if (!good)
        fprintf(stderr, "# %s: %s\n", url, p == NULL ? reason : "taken");
    pg_place_close(p);
    return good;
}

static void has_servers(void)
{
    struct pg_place *p =
        opened("postgresql://u@127.0.0.1,127.0.0.2:5433,127.0.0.3/d");

    ok(p != NULL && eq_u64(p->nhosts, 3) && eq_text(p->hosts[0].port, "5432") &&
           eq_text(p->hosts[1].port, "5433") &&
           eq_text(p->hosts[2].port, "5432") &&
           eq_text(p->hosts[2].address, "127.0.0.3"),
       "each server has its port, or the usual one");
    is_text(pg_place_name(p), "127.0.0.1:5432,127.0.0.2:5433,127.0.0.3:5432/d",
            "which its name says");
    pg_place_close(p);
    p = opened("postgresql://u@a.invalid,b.invalid/d?hostaddr=127.0.0.4,::1");
    ok(p != NULL && eq_text(p->hosts[0].name, "a.invalid") &&
           eq_text(p->hosts[0].address, "127.0.0.4") &&
           eq_text(p->hosts[1].name, "b.invalid") &&
           eq_text(p->hosts[1].address, "::1"),
       "addresses that are given are not looked up");
    pg_place_close(p);
    p = opened("postgresql://u@/d?hostaddr=127.0.0.5");
    ok(p != NULL && eq_text(p->hosts[0].name, "127.0.0.5"),
       "and stand for names that are not");
    pg_place_close(p);
}

static void is_refused(void)
{
    ok(refused("http://u@h/d", "postgresql://"), "another kind of URL");
    ok(refused("postgresql://u:secret@h/d?sslmoode=require", "34.1.1") &&
           strstr(reason, "secret") == NULL,
       "a word that nobody knows, and the password is not repeated");
    ok(refused("postgresql://u@/d", "no host"), "no host");
    ok(refused("postgresql://u@127.0.0.1", "no database"), "no database");
    ok(refused("postgresql://127.0.0.1/d", "no user"), "no user");
    ok(refused("postgresql://u@127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1,"
               "127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1/d",
               "8 servers"),
       "nine servers");
    ok(refused("postgresql://u@127.0.0.1/d?sslmode=verify-full",
               "sslrootcert=FILE") &&
           refused("postgresql://u@127.0.0.1/d?sslmode=verify-ca",
                   "sslrootcert=FILE"),
       "a check without who signs");
    ok(refused("postgresql://u@127.0.0.1/d?sslmode=verify-full&sslrootcert="
               "system",
               "name a file"),
       "or by whom the system trusts");
}

/* ---- Passwords ----------------------------------------------------------- */

static struct pg_place *with_passwords(const char *text, mode_t mode)
{
    static const char hosts[] = "postgresql://u@127.0.0.1,127.0.0.2:5433/d";
    FILE *f = fopen(file, "w");
    char url[256];

    fputs(text, f);
    fclose(f);
    chmod(file, mode);
    snprintf(url, sizeof url, "%s?passfile=%s", hosts, file);
    return opened(url);
}

/* The passwords of both servers; NULL: none. */
static bool gives(const char *text, const char *first, const char *second)
{
    struct pg_place *p = with_passwords(text, 0600);
    const char *wanted[] = {first, second};
    bool good = p != NULL;

    for (size_t i = 0; i < 2 && good; i++) {
        const char *got = p->hosts[i].password;

        good = (got == NULL) == (wanted[i] == NULL) &&
               (got == NULL || eq_text(got, wanted[i]));
    }
    pg_place_close(p);
    return good;
}

static void reads_passwords(void)
{
    ok(gives("*:*:*:*:one", "one", "one"), "one for all, without a line's end");
    ok(gives("127.0.0.1:5432:d:u:one\r\n127.0.0.2:5433:d:u:two\n", "one",
             "two"),
       "one for each");
    ok(gives("#*:*:*:*:no\n\n:\nx\n127.0.0.2:*:*:*:two\n", NULL, "two"),
       "remarks and torn lines are nothing");
    ok(gives("*:5433:*:*:two\n*:*:*:*:one\n*:*:*:*:late\n", "one", "two"),
       "the first line that fits");
    ok(gives("*:*:e:u:no\n*:*:d:v:no\n*:1:d:u:no\n", NULL, NULL),
       "another database, user or port");
    ok(gives("127.0.0\\.1:*:*:*:a\\:b\\\\c:d\n", "a:b\\c:d", NULL),
       "backslashes");
    ok(gives("*:*:*:*:\n", "", ""), "an empty one");
    ok(gives("", NULL, NULL), "none");
}

static void guards_passwords(void)
{
    struct pg_place *p = with_passwords("*:*:*:*:one\n", 0640);

    ok(p != NULL && eq_text(p->hosts[0].password, "one"),
       "the group may read them");
    pg_place_close(p);
    p = with_passwords("*:*:*:*:one\n", 0644);
    ok(p == NULL && strstr(reason, "everybody can read") != NULL,
       "others may not");
    pg_place_close(p);
    ok(refused("postgresql://u@127.0.0.1/d?passfile=/dev/null/x",
               "passfile /dev/null/x: Not a directory") &&
           refused("postgresql://u@127.0.0.1/d?passfile=/tmp", "no file"),
       "a file that cannot be read is told");
    p = opened("postgresql://u:own@127.0.0.1/d?passfile=/dev/null/x");
    ok(p != NULL && p->hosts[0].password == NULL,
       "and not looked at where the URL has the password");
    pg_place_close(p);
}

/* ---- What is read again, and who reads along ----------------------------- */

static void reads_again(void)
{
    struct pg_place *p = opened("postgresql://u@127.0.0.1/d");
    bool none = p != NULL;

    for (unsigned i = 0; i <= PG_FILES && none; i++)
        none = pg_place_file(p, i) == NULL;
    ok(none, "a URL without files has none");
    pg_place_close(p);
    p = opened("postgresql://u@127.0.0.1/d?sslrootcert=/r&sslcert=/c&sslkey=/k&"
               "sslcrl=/l&sslcrldir=/m");
    ok(p != NULL && eq_text(pg_place_file(p, 0), "/r") &&
           eq_text(pg_place_file(p, 1), "/c") &&
           eq_text(pg_place_file(p, 2), "/k") &&
           eq_text(pg_place_file(p, 3), "/l") &&
           eq_text(pg_place_file(p, 4), "/m") &&
           pg_place_file(p, PG_FILES) == NULL,
       "five at most");
    pg_place_close(p);
}

static bool guarded(const char *url)
{
    struct pg_place *p = opened(url);
    const bool is = p != NULL && pg_place_guarded(p);

    pg_place_close(p);
    return is;
}

static void is_guarded(void)
{
    ok(guarded("postgresql://u@127.9.9.9,[::1]/d") &&
           guarded("postgresql://u@%2Frun/d"),
       "nobody is between here and this machine");
    ok(!guarded("postgresql://u@127.0.0.1,192.0.2.1/d") &&
           !guarded("postgresql://u@192.0.2.1/d?sslmode=require") &&
           !guarded("postgresql://u@192.0.2.1/d?sslmode=verify-ca&"
                    "sslrootcert=/r"),
       "somebody may be before another");
    ok(guarded("postgresql://u@192.0.2.1/d?sslmode=verify-full&"
               "sslrootcert=/r"),
       "unless its certificate is checked");
}

int main(void)
{
    if (pq_load() == NULL) {
        tap_skip("libpq is not installed");
        return tap_done();
    }
    if (mkstemp(file) == -1)
        return 1;
    has_servers();
    is_refused();
    reads_passwords();
    guards_passwords();
    reads_again();
    is_guarded();
    unlink(file);
    return tap_done();
}
