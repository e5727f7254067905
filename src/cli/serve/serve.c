/* serve.c - hearsay serve: the collector, its configuration, its tokens. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "host/base/day.h"

#include <stdlib.h>
#include <string.h>

/* ---- Settings ------------------------------------------------------------ */

static bool serve_set(struct cli_parser *p, struct serve_how *how,
                      const char *key, const char *value)
{
    if (how->nsettings == SERVE_SETTINGS) {
        cli_usage(p, "more than %u settings; write a hearsay.yaml",
                  SERVE_SETTINGS);
        return false;
    }
    how->settings[how->nsettings++] = (struct config_setting){key, value};
    return true;
}

bool serve_setting(struct cli_parser *p, void *to)
{
    return serve_set(p, to, p->name, p->value);
}

bool serve_data(struct cli_parser *p, void *to)
{
    ((struct serve_how *)to)->data = p->value;
    return serve_setting(p, to);
}

bool serve_public_key(struct cli_parser *p, void *to)
{
    return serve_set(p, to, "public_key", p->value);
}

bool serve_admin_open(struct cli_parser *p, void *to)
{
    return serve_set(p, to, "admin_open", "yes");
}

bool serve_set_pair(struct cli_parser *p, void *to)
{
    struct serve_how *how = to;
    char *pair = strdup(p->value);
    char *equals = pair != NULL ? strchr(pair, '=') : NULL;

    if (equals == NULL || how->npairs == SERVE_SETTINGS) {
        free(pair);
        cli_usage(p, "--set takes KEY=VALUE, as grace_days=3");
        return false;
    }
    *equals = '\0';
    how->pairs[how->npairs++] = pair;
    return serve_set(p, how, pair, equals + 1);
}

static bool serve_expires(struct cli_parser *p, void *to)
{
    struct serve_how *how = to;

    if (day_parse(&how->expires, p->value) && how->expires != 0)
        return true;
    cli_usage(p, "--expires takes a day, as 2026-12-31");
    return false;
}

bool serve_operand(struct cli_parser *p, void *to)
{
    struct serve_how *how = to;

    if (how->nwords == sizeof how->words / sizeof how->words[0]) {
        cli_usage(p, "'%s' is one word too many", p->value);
        return false;
    }
    how->words[how->nwords++] = p->value;
    return true;
}

void serve_how_clear(struct serve_how *how)
{
    for (size_t i = 0; i < how->npairs; i++)
        free(how->pairs[i]);
}

/* ---- Options ------------------------------------------------------------- */

#define SERVE(member) offsetof(struct serve_how, member)

static const struct cli_option serve_options[] = {
    {0, "data", "DIR", "where the counts are kept; made if missing",
     CLI_INTO_CALL, .call = serve_data},
    {0, "document", "FILE",
     "the signed tasks ('tasks compile'); without it\n"
     "those that DIR has",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "public-key", "FILE", "who signs them ('tasks keygen')", CLI_INTO_CALL,
     .call = serve_public_key},
    {0, "listen", "ADDRESS",
     "for devices (default 127.0.0.1:8080; port 0:\n"
     "any; unix:PATH: a socket)",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "admin", "ADDRESS", "for estimates and the page (default: none)",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "admin-open", NULL, "no tokens there; only on this machine",
     CLI_INTO_CALL, .call = serve_admin_open},
    {0, "set", "KEY=VALUE...", "any other field of hearsay.yaml", CLI_INTO_CALL,
     .call = serve_set_pair},
    {0, "accept-clock", NULL,
     "believe today's date once, however far it is\n"
     "from the last day that DIR knows",
     CLI_INTO_FLAG, SERVE(accept_clock)},
    {0, "rehearsal", "FILE",
     "take the time from FILE, to rehearse weeks in\n"
     "seconds ('simulate fleet --days'); DIR is of\n"
     "rehearsals then, for good",
     CLI_INTO_CALL, .call = serve_setting},
    {0, "storage", "URL",
     "token: the database that collectors share\n"
     "(postgresql://...; its first shard), instead of\n"
     "--data",
     CLI_INTO_TEXT, SERVE(storage)},
    {0, "role", "scraper|analyst|operator", "token add: what its holder may do",
     CLI_INTO_CHOICE, SERVE(role), .words = tokens_roles + LISTEN_SCRAPER},
    {0, "count", "N", "token enrol, forwarder: how many", CLI_INTO_COUNT,
     SERVE(count), 1, 1000000},
    {0, "quota", "Q",
     "token enrol, forwarder: reports a day that\n"
     "each may bring",
     CLI_INTO_COUNT, SERVE(quota), 1, UINT32_MAX},
    {0, "expires", "DAY",
     "token enrol, forwarder, expire: their last day,\n"
     "as 2026-12-31",
     CLI_INTO_CALL, .call = serve_expires},
    {0}};

static const struct cli_command serve_command = {
    "serve",
    "[hearsay.yaml] [--data DIR --public-key FILE ...] | "
    "check [hearsay.yaml] [options] | "
    "token add NAME --role ROLE --data DIR | "
    "token list [TASK] --data DIR | "
    "token revoke NAME --data DIR | "
    "token revoke TASK TOKEN --data DIR | "
    "token expire TASK TOKEN --expires DAY --data DIR | "
    "token enrol TASK --count N --quota Q --data DIR | "
    "token forwarder --count N --quota Q --data DIR",
    "Run a collector: take uploads from devices, count each exactly once, "
    "show\n"
    "estimates. What the file says can also be said by options. Prints one "
    "line\n"
    "with its addresses when it is ready. SIGHUP reads files again, SIGTERM "
    "ends\n"
    "it after what has begun. 'check' lists every mistake of the file.",
    serve_options, .operand = serve_operand};

/* ---- What to do ---------------------------------------------------------- */

static const struct serve_token {
    const char *name;
    int (*run)(const struct serve_how *how, const char *name);
    const char *operands; /* what they are called; NULL: none */
    size_t least, most;   /* how many */
    const char *needs, *takes;
} serve_tokens[] = {
    {"add", serve_token_add, "NAME", 1, 1, "role data", "data storage role"},
    {"list", serve_token_list, "TASK, or nothing", 0, 1, "data",
     "data storage"},
    {"revoke", serve_token_revoke, "NAME, or a TASK and a TOKEN", 1, 2, "data",
     "data storage"},
    {"expire", serve_token_expire, "TASK and a TOKEN", 2, 2, "expires data",
     "data storage expires"},
    {"enrol", serve_token_enrol, "TASK", 1, 1, "count quota data",
     "data storage count quota expires"},
    {"forwarder", serve_token_forwarder, NULL, 0, 0, "count quota data",
     "data storage count quota expires"},
};

#define SERVE_TOKENS (sizeof serve_tokens / sizeof serve_tokens[0])

static int serve_token_fits(struct cli_parser *p, const struct serve_token *t,
                            const struct serve_how *how)
{
    const char *lacking = cli_lacking(p, t->needs);
    const char *stray = cli_stray(p, t->takes);

    if (how->nwords < 2 + t->least || how->nwords > 2 + t->most)
        return cli_usage(p,
                         t->operands != NULL ? "'serve token %s' needs a %s"
                                             : "'serve token %s' takes nothing",
                         t->name, t->operands);
    if (lacking != NULL && (how->storage == NULL || strcmp(lacking, "data")))
        return cli_usage(p, "'serve token %s' needs --%s", t->name, lacking);
    if (how->storage != NULL && how->data != NULL)
        return cli_usage(p, "say --data or --storage, not both");
    if (stray != NULL)
        return cli_usage(p, "--%s does not go with 'serve token %s'", stray,
                         t->name);
    return 0;
}

static int serve_token(struct cli_parser *p, const struct serve_how *how)
{
    const char *near;
    size_t i = cli_find(serve_tokens, sizeof serve_tokens[0], SERVE_TOKENS,
                        how->words[1], &near);
    int failed;

    if (i == SERVE_TOKENS)
        return cli_usage(p, "say what to do: token add, list, revoke, expire, "
                            "enrol or forwarder");
    failed = serve_token_fits(p, &serve_tokens[i], how);
    return failed ? failed : serve_tokens[i].run(how, how->words[2]);
}

static int serve_collector(struct cli_parser *p, struct serve_how *how)
{
    static const char *const only[] = {"role", "count", "quota", "expires",
                                       "storage"};
    const bool check = how->nwords > 0 && strcmp(how->words[0], "check") == 0;

    if (how->nwords > 1u + check)
        return cli_usage(p, "'%s' is one word too many", how->words[1 + check]);
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (cli_given(p, only[i]))
            return cli_usage(p, "--%s goes with 'serve token'", only[i]);
    how->file = how->words[check]; /* NULL if there is none */
    if (how->file == NULL && how->nsettings == 0)
        return cli_usage(p, "name a hearsay.yaml, or say --data, --document "
                            "and --public-key");
    return check ? serve_check(how) : serve_run(how);
}

int cmd_serve(int argc, char **argv)
{
    struct serve_how how = {.role = -1};
    struct cli_parser p;
    int code;

    if (!cli_read(&p, &serve_command, argc, argv, &how))
        code = p.exit;
    else if (how.nwords > 0 && strcmp(how.words[0], "token") == 0)
        code = serve_token(&p, &how);
    else
        code = serve_collector(&p, &how);
    serve_how_clear(&how);
    return code;
}
