/* relay_command.c - hearsay relay: forward sealed requests to one gateway. */
#define _DEFAULT_SOURCE
#include "cli/base/base.h"

#include "server/process/config.h"
#include "server/process/notify.h"
#include "server/relay/relay.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RELAY_PROXIES 64u

struct relay_how {
    struct relay_options options;
    struct cli_texts proxies;
    struct cli_numbers answer_bytes;
    uint64_t body_bytes;
    int sandbox;
};

/* ---- Options ------------------------------------------------------------- */

static bool relay_proxy(struct cli_parser *p, void *to)
{
    struct cli_texts *proxies = &((struct relay_how *)to)->proxies;

    if (proxies->n == RELAY_PROXIES || !listen_is_network(p->value)) {
        cli_usage(p,
                  "--proxy takes an address or a network, e.g. 10.0.0.0/8; at "
                  "most %u of them",
                  RELAY_PROXIES);
        return false;
    }
    proxies->at[proxies->n++] = p->value;
    return true;
}

static const char *const relay_sandboxes[] = {"off", "on", "required", NULL};

#define RELAY(member) offsetof(struct relay_how, options.member)

static const struct cli_option relay_command_options[] = {
    {"listen", "ADDRESS",
     "address for devices; port 0: any free port; unix:PATH: a socket",
     CLI_INTO_TEXT, RELAY(listen), .preset = "127.0.0.1:8090"},
    {"gateway", "URL",
     "gateway for all requests; its path is /v1/ohttp, as of a collector, "
     "unless given",
     CLI_INTO_TEXT, RELAY(gateway)},
    {"admin", "ADDRESS",
     "address for /readyz and /metrics, on this machine only (default: none)",
     CLI_INTO_TEXT, RELAY(admin)},
    {"ca", "FILE", "CA certificates for the gateway (default: the system's)",
     CLI_INTO_TEXT, RELAY(ca_file)},
    {"tls-cert", "FILE", "certificate for devices, PEM", CLI_INTO_TEXT,
     RELAY(tls_cert), .with = "tls-key"},
    {"tls-key", "FILE", "its private key; SIGHUP reloads both", CLI_INTO_TEXT,
     RELAY(tls_key), .with = "tls-cert"},
    {"proxy", "NETWORK...",
     "network of a trusted proxy, exempt from --address-connections (default: "
     "loopback)",
     CLI_INTO_CALL, .call = relay_proxy},
    {"connections", "N", "most client connections", CLI_INTO_COUNT32,
     RELAY(connections), 8, 1000000, .preset = "4096"},
    {"address-connections", "N",
     "most connections from one address; 0: no limit", CLI_INTO_COUNT32,
     RELAY(address_connections), 0, 1000000, .preset = "256"},
    {"gateway-connections", "N", "connections to the gateway", CLI_INTO_COUNT32,
     RELAY(links), 1, 4096, .preset = "128"},
    {"waiting", "N", "most requests waiting for a gateway connection",
     CLI_INTO_COUNT32, RELAY(waiting), 1, 1000000, .preset = "4096"},
    {"body-bytes", "N", "largest sealed request, in bytes", CLI_INTO_COUNT,
     offsetof(struct relay_how, body_bytes), 128, 1u << 20, .preset = "65591"},
    {"answer-bytes", "N,...",
     "lengths of sealed answers and sealed documents, in bytes; no other "
     "answer "
     "is forwarded",
     CLI_INTO_COUNTS, offsetof(struct relay_how, answer_bytes), 1, 1048624,
     .preset = "304,65584"},
    {"answer-seconds", "N", "gateway timeout in seconds", CLI_INTO_COUNT32,
     RELAY(answer_seconds), 1, 300, .preset = "15"},
    {"drain-seconds", "N", "shutdown grace period in seconds", CLI_INTO_COUNT32,
     RELAY(drain_seconds), 1, 3600, .preset = "20"},
    {"sandbox", "off|on|required", "sandbox the process after the start",
     CLI_INTO_CHOICE, offsetof(struct relay_how, sandbox),
     .words = relay_sandboxes, .preset = "on"},
    {"log-json", NULL, "write the log as JSON lines", CLI_INTO_FLAG,
     RELAY(log_json)},
    {0}};

static const struct cli_command relay_command = {
    "relay", "--gateway URL [--listen ADDRESS] [options]",
    "Forward sealed requests (Oblivious HTTP, RFC 9458) to one gateway. The "
    "relay\nsees who sends but not what; the gateway sees what but not who. It "
    "adds no\nheader, and stores and logs nothing about clients. When ready, "
    "it prints one\nline with its addresses. SIGTERM finishes open requests "
    "and stops.",
    relay_command_options, .needs = "gateway"};

static int relay_check(struct cli_parser *p, const struct relay_options *o)
{
    if (o->admin != NULL && !config_loopback(o->admin))
        return cli_usage(
            p, "--admin has no tokens; use 127.0.0.1, [::1] or a unix socket");
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
    struct relay_how how = {.options.size = sizeof(struct relay_options)};
    struct cli_parser p;
    int failed;

    if (!cli_read(&p, &relay_command, argc, argv, &how))
        return p.exit;
    how.options.sandbox = (unsigned)how.sandbox;
    how.options.body_bytes = how.body_bytes;
    how.options.answer_bytes = how.answer_bytes.at;
    how.options.nanswer_bytes = how.answer_bytes.n;
    if (how.proxies.n != 0)
        how.options.proxies = how.proxies.at;
    failed = relay_check(&p, &how.options);
    return failed ? failed : relay_run(&how.options);
}
