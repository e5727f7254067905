/* token.c - hearsay serve token: who may read, who may upload. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "host/base/fields.h"
#include "host/base/json.h"
#include "server/cluster/tokens_many.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TOKEN_DAY 86400u /* seconds */

struct token_how {
    const char *data, *storage; /* one of the two: a directory, a URL */
    int role;                   /* from LISTEN_SCRAPER on */
    uint64_t count, quota;
    uint32_t expires; /* a day; 0: none */
    struct cli_parser parser;
};

/* Where tokens are kept. */
struct token_at {
    const struct token_how *how;
    struct pg_place *place; /* NULL: the data directory */
    struct tokens_keep *keep;
    bool there; /* the directory was, before */
};

static int token_open(struct token_at *at, const struct token_how *how)
{
    char reason[PG_REASON] = "";
    hsy_error err = {0};

    *at = (struct token_at){.how = how};
    if (how->storage == NULL) {
        at->there = access(how->data, F_OK) == 0;
        at->keep = tokens_book(how->data);
    } else if (pg_place_open(&at->place, how->storage, reason, &err) !=
               HSY_OK) {
        return cli_fail("--storage: %s", reason);
    } else {
        tokens_many_open(&at->keep, at->place, &err);
    }
    if (at->keep == NULL) {
        pg_place_close(at->place);
        return cli_fail("out of memory");
    }
    return CLI_DONE;
}

static void token_close(struct token_at *at)
{
    tokens_keep_close(at->keep);
    pg_place_close(at->place);
}

static int token_fail(const struct token_at *at, hsy_status st,
                      const hsy_error *err)
{
    const char *data = at->how->data;

    if (at->place != NULL && err->field == HOST_FIELD_STORE &&
        (st == HSY_E_BUSY || st == HSY_E_REFUSED) &&
        tokens_many_reason(at->keep)[0] != '\0')
        return cli_fail("%s: %s (%s)", pg_place_name(at->place), err->msg,
                        tokens_many_reason(at->keep));
    if (at->place != NULL)
        return cli_fail_line(pg_place_name(at->place), err);
    if (st == HSY_E_EMPTY || (st == HSY_E_IO && err->field == HSY_FIELD_NONE))
        return cli_fail("%s: %s", data, strerror(errno));
    return cli_fail_line(data, err);
}

/* A directory that is made may be a name that was mistyped. */
static void token_made(const struct token_at *at)
{
    if (at->place == NULL && !at->there && access(at->how->data, F_OK) == 0)
        cli_note("note: %s: created this directory; start the collector with "
                 "--data %s, or it does not know the token",
                 at->how->data, at->how->data);
}

static int token_add(const struct token_at *at, const char *name)
{
    char token[TOKENS_TEXT];
    hsy_error err = {0};
    hsy_status st = tokens_add(
        at->keep, name, (enum listen_role)(LISTEN_SCRAPER + at->how->role),
        token, &err);

    if (st != HSY_OK)
        return token_fail(at, st, &err);
    token_made(at);
    puts(token);
    explicit_bzero(token, sizeof token);
    return cli_finish();
}

static hsy_status token_print(void *ctx, const char *name,
                              enum listen_role role)
{
    (void)ctx;
    printf("%-32s %s\n", name, tokens_roles[role]);
    return HSY_OK;
}

static hsy_status token_print_task(void *ctx, const char *task, uint64_t n,
                                   uint32_t quota)
{
    (void)ctx;
    printf("%-32s %s, tokens: %" PRIu64 ", quota: %" PRIu32 "\n", task,
           strcmp(task, TOKENS_FORWARDERS) == 0 ? "forwarder" : "enrolment", n,
           quota);
    return HSY_OK;
}

/* "ID", and until when, if it ends. */
static hsy_status token_print_enrolled(void *ctx, const char *id,
                                       uint32_t expires)
{
    char day[DAY_TEXT];

    (void)ctx;
    if (expires == 0) {
        puts(id);
    } else {
        day_text(day, expires);
        printf("%s until %s\n", id, day);
    }
    return HSY_OK;
}

static int token_list(const struct token_at *at, const char *name)
{
    hsy_error err = {0};
    hsy_status st =
        name == NULL ? tokens_each(at->keep, token_print, NULL, &err)
                     : tokens_each_enrolled(at->keep, name,
                                            token_print_enrolled, NULL, &err);

    if (st == HSY_OK && name == NULL)
        st = tokens_each_task(at->keep, token_print_task, NULL, &err);
    return st == HSY_OK ? cli_finish() : token_fail(at, st, &err);
}

static int token_revoke(const struct token_at *at, const char *name)
{
    hsy_error err = {0};
    hsy_status st = at->how->parser.operands[1] == NULL
                        ? tokens_revoke(at->keep, name, &err)
                        : tokens_withdraw(at->keep, name,
                                          at->how->parser.operands[1], &err);

    return st == HSY_OK ? CLI_DONE : token_fail(at, st, &err);
}

static int token_expire(const struct token_at *at, const char *task)
{
    hsy_error err = {0};
    hsy_status st = tokens_expire(at->keep, task, at->how->parser.operands[1],
                                  at->how->expires, &err);

    return st == HSY_OK ? CLI_DONE : token_fail(at, st, &err);
}

static hsy_status token_say(void *ctx, const char *token)
{
    (void)ctx;
    return puts(token) == EOF ? HSY_E_IO : HSY_OK;
}

static int token_enrol(const struct token_at *at, const char *task)
{
    const struct token_how *how = at->how;
    hsy_error err = {0};
    hsy_status st;

    if (how->expires != 0 && how->expires < (uint64_t)time(NULL) / TOKEN_DAY)
        return cli_fail(
            "--expires: this day is over; such a token would be useless");
    st = tokens_enrol(at->keep, task, (uint32_t)how->quota, how->count,
                      how->expires, token_say, NULL, &err);
    if (st != HSY_OK)
        return token_fail(at, st, &err);
    token_made(at);
    if (strcmp(task, TOKENS_FORWARDERS) != 0 && !tokens_asked(at->keep, task))
        cli_note("warning: %s: the document in force has no task '%s'; if you "
                 "meant another task, it still accepts uploads without a token",
                 at->place != NULL ? pg_place_name(at->place) : how->data,
                 task);
    return cli_finish();
}

/* ---- The command --------------------------------------------------------- */

static int token_run(const struct token_how *how,
                     int (*run)(const struct token_at *at, const char *name))
{
    const char *name = how->parser.operands[0];
    struct token_at at;
    int code = token_open(&at, how);

    if (code != CLI_DONE)
        return code;
    code =
        run(&at, name != NULL || run != token_enrol ? name : TOKENS_FORWARDERS);
    token_close(&at);
    return code;
}

static int token_run_add(void *to)
{
    return token_run(to, token_add);
}

static int token_run_list(void *to)
{
    return token_run(to, token_list);
}

static int token_run_revoke(void *to)
{
    return token_run(to, token_revoke);
}

static int token_run_expire(void *to)
{
    return token_run(to, token_expire);
}

static int token_run_enrol(void *to)
{
    return token_run(to, token_enrol);
}

#define TOKEN(member) offsetof(struct token_how, member)

static const struct cli_option token_options[] = {
    {"data", "DIR", "data directory of the collector; created if missing",
     CLI_INTO_TEXT, TOKEN(data), .without = "storage"},
    {"storage", "URL", "first shard of a cluster, as postgresql://...",
     CLI_INTO_TEXT, TOKEN(storage)},
    {"role", "scraper|analyst|operator",
     "scraper: metrics; analyst: also estimates; operator: everything",
     CLI_INTO_CHOICE, TOKEN(role), .words = tokens_roles + LISTEN_SCRAPER,
     .verbs = "add"},
    {"count", "N", "number of tokens to make", CLI_INTO_COUNT, TOKEN(count), 1,
     1000000, .verbs = "enrol forwarder"},
    {"quota", "Q", "maximum reports per token and day", CLI_INTO_COUNT,
     TOKEN(quota), 1, UINT32_MAX, .verbs = "enrol forwarder"},
    {"expires", "DAY", "last day of the tokens, such as 2026-12-31",
     CLI_INTO_DAY, TOKEN(expires), .verbs = "expire enrol forwarder"},
    {0}};

#define TOKEN_WHERE "--data DIR"

static const struct cli_verb token_verbs[] = {
    {"add", "NAME", "--role ROLE " TOKEN_WHERE, "role data|storage",
     token_run_add, .about = "Make a token for a reader."},
    {"list", "[TASK]", TOKEN_WHERE, "data|storage", token_run_list,
     .about = "List readers and tasks, or the tokens of a task."},
    {"revoke", "NAME|TASK [TOKEN]", TOKEN_WHERE, "data|storage",
     token_run_revoke, .about = "Revoke a reader's token, or one of a task."},
    {"expire", "TASK TOKEN", "--expires DAY " TOKEN_WHERE,
     "expires data|storage", token_run_expire,
     .about = "Set the last day of a task's token."},
    {"enrol", "TASK", "--count N --quota Q " TOKEN_WHERE,
     "count quota data|storage", token_run_enrol,
     .about = "Make tokens for devices that answer a task."},
    {"forwarder", NULL, "--count N --quota Q " TOKEN_WHERE,
     "count quota data|storage", token_run_enrol,
     .about = "Make tokens for shufflers and other forwarders."},
    {0}};

static const struct cli_command token_command = {
    "serve token",
    NULL,
    "Manage the access tokens of a collector, for readers and for uploads. A "
    "token\nis printed once; only its hash is kept.",
    token_options,
    .verbs = token_verbs,
    .listed = true};

int serve_token(int argc, char **argv)
{
    struct token_how how = {0};

    return cli_run(&how.parser, &token_command, argc, argv, &how);
}
