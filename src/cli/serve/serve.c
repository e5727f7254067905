/* serve.c - hearsay serve: the collector, its configuration, its tokens. */
#define _DEFAULT_SOURCE
#include "cli/serve/internal.h"

#include "host/base/day.h"

#include <stdlib.h>
#include <string.h>

enum {
    SERVE_DATA = 1,
    SERVE_DOCUMENT,
    SERVE_PUBLIC_KEY,
    SERVE_LISTEN,
    SERVE_ADMIN,
    SERVE_ADMIN_OPEN,
    SERVE_SET,
    SERVE_ACCEPT_CLOCK,
    SERVE_REHEARSAL,
    SERVE_ROLE,
    SERVE_COUNT,
    SERVE_QUOTA,
    SERVE_EXPIRES
};

static const struct cli_option serve_options[] = {
    {SERVE_DATA, "data", "DIR", "where the counts are kept; made if missing"},
    {SERVE_DOCUMENT, "document", "FILE",
     "the signed tasks ('tasks compile'); without it\n"
     "those that DIR has"},
    {SERVE_PUBLIC_KEY, "public-key", "FILE", "who signs them ('tasks keygen')"},
    {SERVE_LISTEN, "listen", "ADDRESS",
     "for devices (default 127.0.0.1:8080; port 0:\n"
     "any; unix:PATH: a socket)"},
    {SERVE_ADMIN, "admin", "ADDRESS",
     "for estimates and the page (default: none)"},
    {SERVE_ADMIN_OPEN, "admin-open", NULL,
     "no tokens there; only on this machine"},
    {SERVE_SET, "set", "KEY=VALUE...", "any other field of hearsay.yaml"},
    {SERVE_ACCEPT_CLOCK, "accept-clock", NULL,
     "believe today's date once, however far it is\n"
     "from the last day that DIR knows"},
    {SERVE_REHEARSAL, "rehearsal", "FILE",
     "take the time from FILE, to rehearse weeks in\n"
     "seconds ('simulate fleet --days'); DIR is of\n"
     "rehearsals then, for good"},
    {SERVE_ROLE, "role", "scraper|analyst|operator",
     "token add: what its holder may do"},
    {SERVE_COUNT, "count", "N", "token enrol, forwarder: how many"},
    {SERVE_QUOTA, "quota", "Q",
     "token enrol, forwarder: reports a day that\n"
     "each may bring"},
    {SERVE_EXPIRES, "expires", "DAY",
     "token enrol, forwarder, expire: their last day,\n"
     "as 2026-12-31"},
    {0, NULL, NULL, NULL}};

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
    serve_options};

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

static bool serve_set_pair(struct cli_parser *p, struct serve_how *how)
{
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

static bool serve_operand(struct cli_parser *p, struct serve_how *how)
{
    if (how->nwords == sizeof how->words / sizeof how->words[0]) {
        cli_usage(p, "'%s' is one word too many", p->value);
        return false;
    }
    how->words[how->nwords++] = p->value;
    return true;
}

static bool serve_option(struct cli_parser *p, int id, struct serve_how *how)
{
    /* In the order of the options. */
    static const char *const keys[] = {
        [SERVE_DATA] = "data",     [SERVE_DOCUMENT] = "document",
        [SERVE_LISTEN] = "listen", [SERVE_PUBLIC_KEY] = "public_key",
        [SERVE_ADMIN] = "admin",   [SERVE_REHEARSAL] = "rehearsal"};

    if (id == CLI_OPERAND)
        return serve_operand(p, how);
    how->given |= (uint64_t)1 << id;
    switch (id) {
    case SERVE_ADMIN_OPEN:
        return serve_set(p, how, "admin_open", "yes");
    case SERVE_SET:
        return serve_set_pair(p, how);
    case SERVE_ACCEPT_CLOCK:
        how->accept_clock = true;
        return true;
    case SERVE_ROLE:
        return cli_value_choice(p, &how->role, tokens_roles + LISTEN_SCRAPER);
    case SERVE_COUNT:
        return cli_value_count(p, &how->count, 1, 1000000);
    case SERVE_QUOTA:
        return cli_value_count(p, &how->quota, 1, UINT32_MAX);
    case SERVE_EXPIRES:
        if (day_parse(&how->expires, p->value) && how->expires != 0)
            return true;
        cli_usage(p, "--expires takes a day, as 2026-12-31");
        return false;
    case SERVE_DATA:
        how->data = p->value;
        break;
    default:
        break;
    }
    return serve_set(p, how, keys[id], p->value);
}

/* ---- What to do ---------------------------------------------------------- */

#define SERVE_BIT(id) ((uint64_t)1 << (id))

static const struct serve_token {
    const char *name;
    int (*run)(const struct serve_how *how, const char *name);
    const char *operands;  /* what they are called; NULL: none */
    size_t least, most;    /* how many */
    uint64_t needs, takes; /* options */
} serve_tokens[] = {
    {"add", serve_token_add, "NAME", 1, 1, SERVE_BIT(SERVE_ROLE), 0},
    {"list", serve_token_list, "TASK, or nothing", 0, 1, 0, 0},
    {"revoke", serve_token_revoke, "NAME, or a TASK and a TOKEN", 1, 2, 0, 0},
    {"expire", serve_token_expire, "TASK and a TOKEN", 2, 2,
     SERVE_BIT(SERVE_EXPIRES), 0},
    {"enrol", serve_token_enrol, "TASK", 1, 1,
     SERVE_BIT(SERVE_COUNT) | SERVE_BIT(SERVE_QUOTA), SERVE_BIT(SERVE_EXPIRES)},
    {"forwarder", serve_token_forwarder, NULL, 0, 0,
     SERVE_BIT(SERVE_COUNT) | SERVE_BIT(SERVE_QUOTA), SERVE_BIT(SERVE_EXPIRES)},
};

static const char *serve_option_name(int id)
{
    return serve_options[id - 1].name;
}

static int serve_token_fits(struct cli_parser *p, const struct serve_token *t,
                            const struct serve_how *how)
{
    const uint64_t needs = t->needs | SERVE_BIT(SERVE_DATA);

    if (how->nwords < 2 + t->least || how->nwords > 2 + t->most)
        return cli_usage(p,
                         t->operands != NULL ? "'serve token %s' needs a %s"
                                             : "'serve token %s' takes nothing",
                         t->name, t->operands);
    for (int id = SERVE_DATA; id <= SERVE_EXPIRES; id++) {
        if (needs & SERVE_BIT(id) & ~how->given)
            return cli_usage(p, "'serve token %s' needs --%s", t->name,
                             serve_option_name(id));
        if (how->given & SERVE_BIT(id) & ~(needs | t->takes))
            return cli_usage(p, "--%s does not go with 'serve token %s'",
                             serve_option_name(id), t->name);
    }
    return 0;
}

static int serve_token(struct cli_parser *p, const struct serve_how *how)
{
    for (size_t i = 0; i < sizeof serve_tokens / sizeof serve_tokens[0]; i++) {
        const struct serve_token *t = &serve_tokens[i];
        int failed;

        if (how->nwords < 2 || strcmp(how->words[1], t->name) != 0)
            continue;
        failed = serve_token_fits(p, t, how);
        return failed ? failed : t->run(how, how->words[2]);
    }
    return cli_usage(p, "say what to do: token add, list, revoke, expire, "
                        "enrol or forwarder");
}

static int serve_collector(struct cli_parser *p, struct serve_how *how)
{
    const bool check = how->nwords > 0 && strcmp(how->words[0], "check") == 0;

    if (how->nwords > 1u + check)
        return cli_usage(p, "'%s' is one word too many", how->words[1 + check]);
    for (int id = SERVE_ROLE; id <= SERVE_EXPIRES; id++)
        if (how->given & SERVE_BIT(id))
            return cli_usage(p, "--%s goes with 'serve token'",
                             serve_option_name(id));
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
    int id, code = 0;
    bool stopped = false;

    cli_begin(&p, &serve_command, argc, argv);
    while (!stopped && (id = cli_next(&p)) != CLI_END)
        stopped = id == CLI_STOP || !serve_option(&p, id, &how);
    if (stopped)
        code = p.exit;
    else if (how.nwords > 0 && strcmp(how.words[0], "token") == 0)
        code = serve_token(&p, &how);
    else
        code = serve_collector(&p, &how);
    for (size_t i = 0; i < how.npairs; i++)
        free(how.pairs[i]);
    return code;
}
