/* config_check.c - fields of a configuration that must go together. */
#define _POSIX_C_SOURCE 200809L

#include "server/process/config_parts.h"

#include "server/http/http.h"

#include <string.h>

static bool config_bad(const struct config_reader *r, const char *key)
{
    return r->bad[config_row(key) - config_rows];
}

bool config_loopback(const char *address)
{
    static const char *const near[] = {"127.", "[::1]:", "localhost:", "unix:"};

    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        if (strncmp(address, near[i], strlen(near[i])) == 0)
            return true;
    return false;
}

/* HOST:PORT or unix:PATH; the host is looked at when it is listened at. */
static void config_check_address(struct config_reader *r, const char *key,
                                 const char *address)
{
    const char *colon = address != NULL ? strrchr(address, ':') : NULL;
    uint64_t port;

    if (address == NULL || (strncmp(address, "unix:", 5) == 0 && address[5]))
        return;
    if (colon == NULL || colon == address || strlen(colon + 1) > 5 ||
        !yaml_count(&port, colon + 1) || port > 65535)
        config_wrong(r, config_row(key),
                     "this takes an address and a port, as 127.0.0.1:8080, "
                     "[::1]:8080 or unix:/run/hearsay.sock; port 0 is any");
}

static void config_check_admin(struct config_reader *r)
{
    const struct config *c = &r->c;

    config_check_address(r, "listen", c->listen);
    config_check_address(r, "admin", c->admin);
    if (config_bad(r, "admin") || config_bad(r, "listen"))
        return;
    if (c->admin_open && c->admin == NULL)
        config_wrong(r, config_row("admin_open"),
                     "there is no admin address; set 'admin'");
    else if (c->admin_open && !config_loopback(c->admin))
        config_wrong(r, config_row("admin_open"),
                     "without tokens only on 127.0.0.1, [::1] or a unix "
                     "socket");
    else if (c->admin != NULL && !config_loopback(c->admin) &&
             c->tls_cert == NULL)
        yaml_warn(&r->notes, yaml_key("admin"),
                  "tokens would travel in the open; set tls_cert and tls_key, "
                  "or take 127.0.0.1 and a proxy");
    if (c->admin != NULL && strcmp(c->admin, c->listen) == 0 &&
        strcmp(strrchr(c->admin, ':'), ":0") != 0)
        config_wrong(r, config_row("admin"),
                     "this is the public address; take another");
}

static void config_check_files(struct config_reader *r)
{
    const struct config *c = &r->c;

    if (c->data == NULL && !config_many(c))
        config_wrong(r, config_row("data"),
                     "say in which directory the counts are kept");
    if ((c->tls_cert == NULL) != (c->tls_key == NULL) &&
        !config_bad(r, "tls_cert") && !config_bad(r, "tls_key"))
        config_wrong(r,
                     config_row(c->tls_cert != NULL ? "tls_cert" : "tls_key"),
                     "tls_cert and tls_key go together");
    if (c->public_key == NULL && !config_bad(r, "public_key"))
        config_wrong(
            r, config_row(c->document != NULL ? "document" : "public_key"),
            "say who signs the tasks: public_key, a file of 'hearsay "
            "tasks keygen'");
}

static void config_check_limits(struct config_reader *r)
{
    const struct config *c = &r->c;

    if (!config_bad(r, "grace_days") && c->keep_days < c->grace_days)
        config_wrong(r, config_row("keep_days"),
                     "days must be kept until they are closed: at least "
                     "grace_days");
}

static void config_check_lists(struct config_reader *r)
{
    const struct config *c = &r->c;

    for (size_t i = 0; c->cors != NULL && c->cors[i] != NULL; i++) {
        const char *host = strstr(c->cors[i], "://");

        if (strcmp(c->cors[i], "*") != 0 &&
            (host == NULL || host[3] == '\0' || strpbrk(host + 3, "/ *")))
            config_wrong(r, config_row("cors"),
                         "'%.64s' is no origin; https://example.org is one, "
                         "and * is any",
                         c->cors[i]);
    }
    for (size_t i = 0; c->proxies != NULL && c->proxies[i] != NULL; i++)
        if (!listen_is_network(c->proxies[i]))
            config_wrong(r, config_row("proxies"),
                         "'%.64s' is no address and no network; 10.0.0.1, "
                         "10.0.0.0/8 and fd00::/8 are",
                         c->proxies[i]);
    for (size_t i = 0; c->enrolled != NULL && c->enrolled[i] != NULL; i++) {
        const char *id = c->enrolled[i];
        size_t n = strlen(id);

        if (n < 1 || n > HSY_TASK_ID ||
            strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789._-") != n)
            config_wrong(r, config_row("enrolled"),
                         "'%.32s' is no task's id: 1 to 32 of a-z, 0-9, '.', "
                         "'_', '-'",
                         id);
    }
}

#define CONFIG_PARCEL (2u << 20) /* a part of a batch, and more */

/* Who takes batches signs receipts for them, and opens envelopes. */
static void config_check_chain(struct config_reader *r)
{
    const struct config *c = &r->c;
    const bool opens = c->seal_keys != NULL && c->seal_keys[0] != NULL;

    if (opens != (c->sign_key != NULL) && !config_bad(r, "seal_keys") &&
        !config_bad(r, "sign_key"))
        config_wrong(r, config_row(opens ? "seal_keys" : "sign_key"),
                     "sign_key and seal_keys go together: who opens envelopes "
                     "signs a receipt for their batch");
    if (c->next != NULL && strncmp(c->next, "http://", 7) != 0 &&
        strncmp(c->next, "https://", 8) != 0)
        config_wrong(r, config_row("next"),
                     "this takes a URL, as https://next.example.org");
    if (c->next != NULL && c->sign_key == NULL)
        config_wrong(r, config_row("next"),
                     "a shuffler signs its batches: set sign_key and "
                     "seal_keys");
    if (c->next == NULL && (c->next_ca != NULL || c->receipt_key != NULL))
        config_wrong(
            r, config_row(c->next_ca != NULL ? "next_ca" : "receipt_key"),
            "this is of a shuffler: say by 'next' where its batches go");
    if (c->next != NULL && c->backup_hours != 0)
        config_wrong(r, config_row("backup_hours"),
                     "a shuffler's data are not copied: an older copy that is "
                     "put back could be mixed a second time. Keep its keys");
    if (c->sign_key != NULL && c->body_bytes < CONFIG_PARCEL &&
        !config_bad(r, "body_bytes"))
        config_wrong(r, config_row("body_bytes"),
                     "a part of a batch must fit: at least 2M");
}

/* A node of a cluster keeps nothing on its disk. */
static void config_check_cluster(struct config_reader *r)
{
    const struct config *c = &r->c;

    if (c->node != NULL && (!config_many(c) || strlen(c->node) > 63))
        config_wrong(r, config_row("node"),
                     config_many(c) ? "at most 63 letters"
                                    : "this is of a cluster: say by 'storage' "
                                      "which");
    if (!config_many(c))
        return;
    for (size_t i = 0; c->storage[i] != NULL; i++)
        if (strncmp(c->storage[i], "postgresql://", 13) != 0 &&
            strncmp(c->storage[i], "postgres://", 11) != 0)
            config_wrong(
                r, config_row("storage"),
                "this takes URLs as postgresql://hearsay@host/hearsay, "
                "one a shard; in a list between [ and ] those that have a "
                "comma in quotes");
    if (c->data != NULL && c->sign_key == NULL)
        yaml_warn(&r->notes, yaml_key("data"),
                  "not used with storage: what it has counted is moved by "
                  "'hearsay store export' and 'import'");
    if (c->next != NULL)
        config_wrong(r, config_row("storage"),
                     "a shuffler counts on one machine: leave it out");
    if (c->backups != NULL || c->backup_hours != 0)
        config_wrong(
            r, config_row(c->backups != NULL ? "backups" : "backup_hours"),
            "what a cluster counts is backed up by PostgreSQL's own "
            "tools: leave it out");
    if (c->sign_key != NULL && c->data == NULL)
        config_wrong(r, config_row("data"),
                     "say in which directory batches of shufflers wait until "
                     "they are whole");
}

bool config_many(const struct config *c)
{
    return c->storage != NULL && c->storage[0] != NULL;
}

void config_check(struct config_reader *r)
{
    config_check_cluster(r);
    config_check_files(r);
    config_check_admin(r);
    config_check_limits(r);
    config_check_lists(r);
    config_check_chain(r);
}
