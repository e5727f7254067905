/* serve_token.c - hearsay serve token: who may read, who may upload. */
#define _DEFAULT_SOURCE
#include "serve_parts.h"

#include "put.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int token_fail(const struct serve_how *how, hsy_status st,
                      const hsy_error *err)
{
    if (st == HSY_E_EMPTY || (st == HSY_E_IO && err->field == NULL))
        return cli_fail("%s: %s", how->data, strerror(errno));
    return cli_fail_line(how->data, err);
}

int serve_token_add(const struct serve_how *how, const char *name)
{
    char token[TOKENS_TEXT];
    hsy_error err = {0};
    hsy_status st =
        tokens_add(how->data, name,
                   (enum listen_role)(LISTEN_SCRAPER + how->role), token, &err);

    if (st != HSY_OK)
        return token_fail(how, st, &err);
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

/* "ID", and until when, if it ends. */
static hsy_status token_print_enrolled(void *ctx, const char *id,
                                       uint32_t expires)
{
    char day[PUT_DAY];

    (void)ctx;
    if (expires == 0) {
        puts(id);
    } else {
        put_day_text(day, expires);
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
    hsy_error err = {0};
    hsy_status st =
        tokens_enrol(how->data, task, (uint32_t)how->quota, how->count,
                     how->expires, token_say, NULL, &err);

    return st == HSY_OK ? cli_finish() : token_fail(how, st, &err);
}

int serve_token_forwarder(const struct serve_how *how, const char *name)
{
    (void)name;
    return serve_token_enrol(how, TOKENS_FORWARDERS);
}
