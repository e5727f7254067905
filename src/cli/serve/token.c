/* token.c - hearsay serve token: who may read, who may upload. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "host/base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TOKEN_DAY 86400u /* seconds */

static int token_fail(const struct serve_how *how, hsy_status st,
                      const hsy_error *err)
{
    if (st == HSY_E_EMPTY || (st == HSY_E_IO && err->field == HSY_FIELD_NONE))
        return cli_fail("%s: %s", how->data, strerror(errno));
    return cli_fail_line(how->data, err);
}

/* A directory that is made may be a name that was mistyped. */
static void token_made(const struct serve_how *how, bool there)
{
    if (!there && access(how->data, F_OK) == 0)
        cli_note("note: %s: there was no such directory, and it was made; a "
                 "collector that runs with another one does not know the token",
                 how->data);
}

int serve_token_add(const struct serve_how *how, const char *name)
{
    const bool there = access(how->data, F_OK) == 0;
    char token[TOKENS_TEXT];
    hsy_error err = {0};
    hsy_status st =
        tokens_add(how->data, name,
                   (enum listen_role)(LISTEN_SCRAPER + how->role), token, &err);

    if (st != HSY_OK)
        return token_fail(how, st, &err);
    token_made(how, there);
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

int serve_token_list(const struct serve_how *how, const char *name)
{
    hsy_error err = {0};
    hsy_status st =
        name == NULL ? tokens_each(how->data, token_print, NULL, &err)
                     : tokens_each_enrolled(how->data, name,
                                            token_print_enrolled, NULL, &err);

    if (st == HSY_OK && name == NULL)
        st = tokens_each_task(how->data, token_print_task, NULL, &err);
    return st == HSY_OK ? cli_finish() : token_fail(how, st, &err);
}

int serve_token_revoke(const struct serve_how *how, const char *name)
{
    hsy_error err = {0};
    hsy_status st = how->words[3] == NULL
                        ? tokens_revoke(how->data, name, &err)
                        : tokens_withdraw(how->data, name, how->words[3], &err);

    return st == HSY_OK ? CLI_DONE : token_fail(how, st, &err);
}

int serve_token_expire(const struct serve_how *how, const char *task)
{
    hsy_error err = {0};
    hsy_status st =
        tokens_expire(how->data, task, how->words[3], how->expires, &err);

    return st == HSY_OK ? CLI_DONE : token_fail(how, st, &err);
}

static hsy_status token_say(void *ctx, const char *token)
{
    (void)ctx;
    return puts(token) == EOF ? HSY_E_IO : HSY_OK;
}

int serve_token_enrol(const struct serve_how *how, const char *task)
{
    const bool there = access(how->data, F_OK) == 0;
    hsy_error err = {0};
    hsy_status st;

    if (how->expires != 0 && how->expires < (uint64_t)time(NULL) / TOKEN_DAY)
        return cli_fail("--expires: this day is over: nobody could upload with "
                        "such a token");
    st = tokens_enrol(how->data, task, (uint32_t)how->quota, how->count,
                      how->expires, token_say, NULL, &err);
    if (st != HSY_OK)
        return token_fail(how, st, &err);
    token_made(how, there);
    if (strcmp(task, TOKENS_FORWARDERS) != 0 && !tokens_asked(how->data, task))
        cli_note("warning: the document that %s has asks no task '%s': if "
                 "another was meant, that one is still open",
                 how->data, task);
    return cli_finish();
}

int serve_token_forwarder(const struct serve_how *how, const char *name)
{
    (void)name;
    return serve_token_enrol(how, TOKENS_FORWARDERS);
}
