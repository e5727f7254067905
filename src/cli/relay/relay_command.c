/* relay_command.c - hearsay relay: forward sealed requests to one gateway. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include "server/process/config.h"
#include "server/process/notify.h"
#include "server/relay/relay.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RELAY_PROXIES 64u

enum {
    RELAY_LISTEN = 1,
    RELAY_GATEWAY,
    RELAY_ADMIN,
    RELAY_CA,
    RELAY_TLS_CERT,
    RELAY_TLS_KEY,
    RELAY_PROXY,
    RELAY_CONNECTIONS,
    RELAY_ADDRESS_CONNECTIONS,
    RELAY_GATEWAY_CONNECTIONS,
    RELAY_WAITING,
    RELAY_BODY_BYTES,
    RELAY_ANSWER_SECONDS,
    RELAY_DRAIN_SECONDS,
    RELAY_SANDBOX,
    RELAY_LOG_JSON
};

static const struct cli_option relay_command_options[] = {
    {RELAY_LISTEN, "listen", "ADDRESS",
     "for devices (default 127.0.0.1:8090; port 0:\n"
     "any; unix:PATH: a socket)"},
    {RELAY_GATEWAY, "gateway", "URL",
     "where all requests go; without a path to\n"
     "/v1/ohttp, which collectors have"},
    {RELAY_ADMIN, "admin", "ADDRESS",
     "for /readyz and /metrics, on this machine only\n"
     "(default: none)"},
    {RELAY_CA, "ca", "FILE",
     "who signs the gateway's certificate (default:\n"
     "the system's list)"},
    {RELAY_TLS_CERT, "tls-cert", "FILE", "certificate for devices, PEM"},
    {RELAY_TLS_KEY, "tls-key", "FILE", "its key; SIGHUP reads both again"},
    {RELAY_PROXY, "proxy", "NETWORK...",
     "of a proxy in front: not counted as one client\n"
     "(default: loopback)"},
    {RELAY_CONNECTIONS, "connections", "N", "of clients (default 4096)"},
    {RELAY_ADDRESS_CONNECTIONS, "address-connections", "N",
     "of one address (default 256; 0: any number)"},
    {RELAY_GATEWAY_CONNECTIONS, "gateway-connections", "N",
     "to the gateway (default 128)"},
    {RELAY_WAITING, "waiting", "N",
     "requests that wait for one (default 4096)"},
    {RELAY_BODY_BYTES, "body-bytes", "N",
     "of a sealed request, at most (default 65591)"},
    {RELAY_ANSWER_SECONDS, "answer-seconds", "N",
     "that the gateway has (default 15)"},
    {RELAY_DRAIN_SECONDS, "drain-seconds", "N",
     "for what has begun, at the end (default 20)"},
    {RELAY_SANDBOX, "sandbox", "off|on|required",
     "give up rights once it runs (default on)"},
    {RELAY_LOG_JSON, "log-json", NULL, "log lines as JSON"},
    {0, NULL, NULL, NULL}};

static const struct cli_command relay_command = {
    "relay", "--gateway URL [--listen ADDRESS] [options]",
    "Forward sealed requests (Oblivious HTTP, RFC 9458) to one gateway. The "
    "relay\n"
    "sees who sends and not what, the gateway what and not who. It adds no "
    "header,\n"
    "keeps and logs nothing about clients. Prints one line with its addresses "
    "when\n"
    "it is ready. SIGTERM ends it after what has begun.",
    relay_command_options};

struct relay_how {
    struct relay_options options;
    const char *proxies[RELAY_PROXIES + 1]; /* ended by NULL */
    size_t nproxies;
};

/* ---- Options ------------------------------------------------------------- */

static bool relay_texts(struct cli_parser *p, int id, struct relay_options *o)
{
    const struct {
        int id;
        const char **to;
    } texts[] = {{RELAY_LISTEN, &o->listen},     {RELAY_GATEWAY, &o->gateway},
                 {RELAY_ADMIN, &o->admin},       {RELAY_CA, &o->ca_file},
                 {RELAY_TLS_CERT, &o->tls_cert}, {RELAY_TLS_KEY, &o->tls_key}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].id == id) {
            *texts[i].to = p->value;
            return true;
        }
    return false;
}

static bool relay_count(struct cli_parser *p, unsigned *to, uint64_t low,
                        uint64_t high)
{
    uint64_t n;

    if (!cli_value_count(p, &n, low, high))
        return false;
    *to = (unsigned)n;
    return true;
}

static bool relay_proxy(struct cli_parser *p, struct relay_how *how)
{
    if (how->nproxies == RELAY_PROXIES || !listen_is_network(p->value)) {
        cli_usage(p,
                  "--proxy takes an address or a network, as 10.0.0.0/8; "
                  "at most %u of them",
                  RELAY_PROXIES);
        return false;
    }
    how->proxies[how->nproxies++] = p->value;
    how->options.proxies = how->proxies;
    return true;
}

static bool relay_option(struct cli_parser *p, int id, struct relay_how *how)
{
    static const char *const sandboxes[] = {"off", "on", "required", NULL};
    struct relay_options *o = &how->options;
    unsigned bytes = 0;
    int choice;

    switch (id) {
    case CLI_OPERAND:
        cli_usage(p, "'%s' is one word too many", p->value);
        return false;
    case RELAY_PROXY:
        return relay_proxy(p, how);
    case RELAY_CONNECTIONS:
        return relay_count(p, &o->connections, 8, 1000000);
    case RELAY_ADDRESS_CONNECTIONS:
        return relay_count(p, &o->address_connections, 0, 1000000);
    case RELAY_GATEWAY_CONNECTIONS:
        return relay_count(p, &o->links, 1, 4096);
    case RELAY_WAITING:
        return relay_count(p, &o->waiting, 1, 1000000);
    case RELAY_ANSWER_SECONDS:
        return relay_count(p, &o->answer_seconds, 1, 300);
    case RELAY_DRAIN_SECONDS:
        return relay_count(p, &o->drain_seconds, 1, 3600);
    case RELAY_LOG_JSON:
        o->log_json = true;
        return true;
    case RELAY_BODY_BYTES:
        if (!relay_count(p, &bytes, 128, 1u << 20))
            return false;
        o->body_bytes = bytes;
        return true;
    case RELAY_SANDBOX:
        if (!cli_value_choice(p, &choice, sandboxes))
            return false;
        o->sandbox = (unsigned)choice;
        return true;
    default:
        return relay_texts(p, id, o);
    }
}

static int relay_check(struct cli_parser *p, const struct relay_options *o)
{
    if (o->gateway == NULL)
        return cli_usage(p, "--gateway says where requests go");
    if ((o->tls_cert == NULL) != (o->tls_key == NULL))
        return cli_usage(p, "--tls-cert and --tls-key go together");
    if (o->admin != NULL && !config_loopback(o->admin))
        return cli_usage(p, "--admin has no tokens: only on 127.0.0.1, [::1] "
                            "or a unix socket");
    return 0;
}

/* ---- Running ------------------------------------------------------------- */

static int relay_trouble(const struct relay_trouble *t)
{
    if (t->about != NULL && t->number != 0)
        return cli_fail("%s: %s", t->about, strerror(t->number));
    return cli_fail_error(t->about, &t->err);
}

static int relay_say_ready(const struct relay *r, const struct relay_options *o)
{
    char public[LISTEN_ADDRESS], admin[LISTEN_ADDRESS] = "";

    listen_address(public, relay_public(r), o->listen);
    if (o->admin != NULL)
        listen_address(admin, relay_admin(r), o->admin);
    printf("ready public=%s%s%s\n", public, o->admin != NULL ? " admin=" : "",
           admin);
    return cli_finish();
}

/* The service manager hears of it only while all threads turn. */
static void relay_wait(struct relay *r, const sigset_t *set, int manager)
{
    static const struct timespec second = {.tv_sec = 1};
    int number;

    while ((number = sigtimedwait(set, NULL, &second)) != SIGTERM &&
           number != SIGINT) {
        if (number == SIGHUP)
            relay_reload(r);
        else if (relay_look(r))
            notify_say(manager, "WATCHDOG=1");
    }
}

static int relay_run(const struct relay_options *o)
{
    struct relay *r = NULL;
    struct relay_trouble t;
    sigset_t set;
    int manager, failed;

    umask(077);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    manager = notify_open();
    if (relay_open(&r, o, &t) != HSY_OK || relay_start(r, &t) != HSY_OK) {
        failed = relay_trouble(&t);
    } else {
        failed = relay_say_ready(r, o);
        if (!failed) {
            notify_say(manager, "READY=1");
            relay_wait(r, &set, manager);
            notify_say(manager, "STOPPING=1");
            relay_stop(r);
        }
    }
    relay_close(r);
    if (manager != -1)
        close(manager);
    return failed;
}

int cmd_relay(int argc, char **argv)
{
    struct relay_how how = {.options = {.size = sizeof(struct relay_options),
                                        .listen = "127.0.0.1:8090",
                                        .connections = 4096,
                                        .address_connections = 256,
                                        .links = 128,
                                        .waiting = 4096,
                                        .body_bytes = 65536 + 55,
                                        .answer_seconds = 15,
                                        .drain_seconds = 20,
                                        .sandbox = CONFIG_ON}};
    struct cli_parser p;
    int id, failed;

    cli_begin(&p, &relay_command, argc, argv);
    while ((id = cli_next(&p)) != CLI_END)
        if (id == CLI_STOP || !relay_option(&p, id, &how))
            return p.exit;
    failed = relay_check(&p, &how.options);
    return failed ? failed : relay_run(&how.options);
}
