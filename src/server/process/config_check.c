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
                     "must be ADDRESS:PORT or unix:PATH, e.g. 127.0.0.1:8080, "
                     "[::1]:8080 or unix:/run/hearsay.sock; port 0: any");
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
                     "allowed only if admin is 127.0.0.1, [::1] or a unix "
                     "socket");
    else if (c->admin != NULL && !config_loopback(c->admin) &&
             c->tls_cert == NULL)
        yaml_warn(&r->notes, yaml_key("admin"),
                  "tokens would be sent unencrypted; set tls_cert and tls_key, "
                  "or use 127.0.0.1 and a proxy");
    if (c->admin != NULL && strcmp(c->admin, c->listen) == 0 &&
        strcmp(strrchr(c->admin, ':'), ":0") != 0)
        config_wrong(r, config_row("admin"),
                     "must differ from listen, the public address");
}

static void config_check_files(struct config_reader *r)
{
    const struct config *c = &r->c;

    if (c->data == NULL && !config_many(c))
        config_wrong(r, config_row("data"),
                     "is missing: the directory of the counts");
    if ((c->tls_cert == NULL) != (c->tls_key == NULL) &&
        !config_bad(r, "tls_cert") && !config_bad(r, "tls_key"))
        config_wrong(r,
                     config_row(c->tls_cert != NULL ? "tls_cert" : "tls_key"),
                     "tls_cert and tls_key go together: set both or none");
    if (c->public_key == NULL && !config_bad(r, "public_key"))
        config_wrong(
            r, config_row(c->document != NULL ? "document" : "public_key"),
            "missing: set public_key, the key that verifies the tasks, a file "
            "of 'hearsay tasks keygen'");
}

static void config_check_limits(struct config_reader *r)
{
    const struct config *c = &r->c;

    if (!config_bad(r, "grace_days") && c->keep_days < c->grace_days)
        config_wrong(r, config_row("keep_days"),
                     "must be at least grace_days: days are kept until they "
                     "are closed");
}

static void config_check_lists(struct config_reader *r)
{
    const struct config *c = &r->c;

    for (size_t i = 0; c->cors != NULL && c->cors[i] != NULL; i++) {
        const char *host = strstr(c->cors[i], "://");

        if (strcmp(c->cors[i], "*") != 0 &&
            (host == NULL || host[3] == '\0' || strpbrk(host + 3, "/ *")))
            config_wrong(r, config_row("cors"),
                         "'%.64s' is not an origin, e.g. https://example.org, "
                         "or * for any",
                         c->cors[i]);
    }
    for (size_t i = 0; c->proxies != NULL && c->proxies[i] != NULL; i++)
        if (!listen_is_network(c->proxies[i]))
            config_wrong(r, config_row("proxies"),
                         "'%.64s' is not an address or network, e.g. 10.0.0.1, "
                         "10.0.0.0/8 or fd00::/8",
                         c->proxies[i]);
    for (size_t i = 0; c->enrolled != NULL && c->enrolled[i] != NULL; i++) {
        const char *id = c->enrolled[i];
        size_t n = strlen(id);

        if (n < 1 || n > HSY_TASK_ID ||
            strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789._-") != n)
            config_wrong(r, config_row("enrolled"),
                         "'%.32s' is not a task's id: 1 to 32 characters of "
                         "a-z, 0-9, '.', '_', '-'",
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
                     "sign_key and seal_keys go together: the receiver of a "
                     "batch opens its envelopes and signs a receipt");
    if (c->next != NULL && strncmp(c->next, "http://", 7) != 0 &&
        strncmp(c->next, "https://", 8) != 0)
        config_wrong(r, config_row("next"),
                     "must be a URL, e.g. https://next.example.org");
    if (c->next != NULL && c->sign_key == NULL)
        config_wrong(r, config_row("next"),
                     "a shuffler signs its batches: set sign_key and "
                     "seal_keys");
    if (c->next == NULL && (c->next_ca != NULL || c->receipt_key != NULL))
        config_wrong(
            r, config_row(c->next_ca != NULL ? "next_ca" : "receipt_key"),
            "only for a shuffler: set 'next', the receiver of its batches");
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
                                    : "only for a node of a cluster: set "
                                      "'storage'");
    if (!config_many(c))
        return;
    for (size_t i = 0; c->storage[i] != NULL; i++)
        if (strncmp(c->storage[i], "postgresql://", 13) != 0 &&
            strncmp(c->storage[i], "postgres://", 11) != 0)
            config_wrong(
                r, config_row("storage"),
                "must be URLs, e.g. postgresql://hearsay@host/hearsay, one "
                "per shard; in a list between [ and ] quote those that have a "
                "comma");
    if (c->data != NULL && c->sign_key == NULL)
        yaml_warn(&r->notes, yaml_key("data"),
                  "not used with storage: move its counts with 'hearsay store "
                  "export' and 'import'");
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
