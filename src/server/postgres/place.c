/* place.c - a database by its URL: its servers, and how they are reached. */
#define _GNU_SOURCE
#include "server/postgres/internal.h"

#include "host/base/host_fail.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_NONE "/dev/null/none" /* no file, and there never is one */
#define PLACE_PORT "5432"

/* What every connection has unless the URL says otherwise. Dead peers are found
 * in seconds, and a frozen node does not hold its locks for long. */
static const struct {
    const char *key, *value;
} place_usual[] = {
    {"connect_timeout", "2"},
    {"keepalives_idle", "2"},
    {"keepalives_interval", "1"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "3000"},
    {"application_name", "hearsay"},
    {"gssencmode", "disable"},
    {"passfile", PLACE_NONE}, /* pg_passwords has looked */
    {"sslrootcert", PLACE_NONE},
    {"sslcert", PLACE_NONE},
    {"client_encoding", "UTF8"},
    {"options", "-c idle_in_transaction_session_timeout=10s "
                "-c lock_timeout=5s -c statement_timeout=0 "
                "-c default_transaction_isolation=read\\ committed "
                "-c search_path=hearsay"},
};

static hsy_status place_fail(char reason[PG_REASON], hsy_error *err,
                             hsy_status st, const char *text)
{
    pg_say(reason, text);
    return host_fail(err, st, HOST_FIELD_STORE,
                     "the URL of a database cannot be used");
}

/* ---- Words --------------------------------------------------------------- */

static bool place_word(struct pg_place *p, const char *key, const char *value)
{
    struct pg_word *w = &p->words[p->nwords];

    if (p->nwords == PG_WORDS || strlen(key) >= sizeof w->key)
        return false;
    snprintf(w->key, sizeof w->key, "%s", key);
    w->value = strdup(value);
    if (w->value == NULL)
        return false;
    p->nwords++;
    return true;
}

static const char *place_get(const struct pg_place *p, const char *key)
{
    for (size_t i = 0; i < p->nwords; i++)
        if (strcmp(p->words[i].key, key) == 0)
            return p->words[i].value;
    return NULL;
}

const char *pg_place_file(const struct pg_place *p, unsigned which)
{
    static const char *const keys[PG_FILES] = {"sslrootcert", "sslcert",
                                               "sslkey", "sslcrl", "sslcrldir"};
    const char *file = which < PG_FILES ? place_get(p, keys[which]) : NULL;

    return file != NULL && strcmp(file, PLACE_NONE) != 0 ? file : NULL;
}

static bool place_here(const struct pg_host *h)
{
    return h->address == NULL || strncmp(h->address, "127.", 4) == 0 ||
           strcmp(h->address, "::1") == 0;
}

bool pg_place_guarded(const struct pg_place *p)
{
    const char *mode = place_get(p, "sslmode");

    if (mode != NULL && strcmp(mode, "verify-full") == 0)
        return true;
    for (size_t i = 0; i < p->nhosts; i++)
        if (!place_here(&p->hosts[i]))
            return false;
    return true;
}

/* ---- Hosts --------------------------------------------------------------- */

/* Item i of a list with commas; the last stands for all that are missing, and
 * `usual` for one that is empty. */
static char *place_item(const char *list, size_t i, const char *usual)
{
    const char *end;

    while (i-- != 0 && strchr(list, ',') != NULL)
        list = strchr(list, ',') + 1;
    end = strchrnul(list, ',');
    return end == list ? strdup(usual) : strndup(list, (size_t)(end - list));
}

/* A name becomes an address now: later the process may not look for it. */
static hsy_status place_resolve(struct pg_host *h, char reason[PG_REASON],
                                hsy_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    char text[NI_MAXHOST], why[PG_REASON];
    int got;

    if (h->name[0] == '/' || h->name[0] == '\0' || h->address != NULL)
        return HSY_OK; /* a directory with a socket, or it is known */
    got = getaddrinfo(h->name, h->port, &hints, &list);
    if (got != 0) {
        snprintf(why, sizeof why, "%.60s: %.100s", h->name, gai_strerror(got));
        return place_fail(reason, err, HSY_E_UNKNOWN, why);
    }
    got = getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL,
                      0, NI_NUMERICHOST);
    freeaddrinfo(list);
    h->address = got == 0 ? strdup(text) : NULL;
    return h->address != NULL
               ? HSY_OK
               : place_fail(reason, err, HSY_E_NOMEM, "out of memory");
}

/* What is said of each server by itself, and where passwords are. */
struct place_said {
    const char *hosts, *addresses, *ports, *passwords;
};

static hsy_status place_hosts(struct pg_place *p, const struct place_said *said,
                              char reason[PG_REASON], hsy_error *err)
{
    hsy_status st = HSY_OK;
    size_t n = 1;

    for (const char *at = said->hosts; *at != '\0'; at++)
        n += *at == ',';
    if (n > PG_HOSTS)
        return place_fail(reason, err, HSY_E_RANGE, "more than 8 servers");
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        struct pg_host *h = &p->hosts[p->nhosts++];
        const size_t used = strlen(p->name);

        h->name = place_item(said->hosts, i, "");
        h->port = place_item(said->ports, i, PLACE_PORT);
        if (said->addresses != NULL)
            h->address = place_item(said->addresses, i, "");
        if (h->name == NULL || h->port == NULL ||
            (said->addresses != NULL && h->address == NULL))
            return place_fail(reason, err, HSY_E_NOMEM, "out of memory");
        snprintf(p->name + used, sizeof p->name - used, "%s%s:%s",
                 i == 0 ? "" : ",", h->name, h->port);
        st = place_resolve(h, reason, err);
    }
    return st;
}

/* ---- The URL ------------------------------------------------------------- */

/* Words that are not for libpq: which server is primary is our question. */
static bool place_ours(struct place_said *said, const char *key,
                       const char *value)
{
    const struct {
        const char *key, **to;
    } ours[] = {{"host", &said->hosts},         {"hostaddr", &said->addresses},
                {"port", &said->ports},         {"passfile", &said->passwords},
                {"target_session_attrs", NULL}, {"replication", NULL}};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(key, ours[i].key) == 0) {
            if (ours[i].to != NULL)
                *ours[i].to = value;
            return true;
        }
    return false;
}

static hsy_status place_words(struct pg_place *p, const PQconninfoOption *all,
                              char reason[PG_REASON], hsy_error *err)
{
    struct place_said said = {.ports = PLACE_PORT};
    const char *wrong = NULL;
    bool fits = true;
    hsy_status st;

    for (; all->keyword != NULL; all++)
        if (all->val != NULL && all->val[0] != '\0' &&
            !place_ours(&said, all->keyword, all->val))
            fits = fits && place_word(p, all->keyword, all->val);
    for (size_t i = 0; i < sizeof place_usual / sizeof *place_usual; i++)
        if (place_get(p, place_usual[i].key) == NULL)
            fits =
                fits && place_word(p, place_usual[i].key, place_usual[i].value);
    if (said.hosts == NULL)
        said.hosts = said.addresses;
    if (!fits)
        wrong = "too many parameters";
    else if (said.hosts == NULL)
        wrong = "it names no host";
    else if (place_get(p, "dbname") == NULL)
        wrong = "it names no database";
    else if (place_get(p, "user") == NULL)
        wrong = "it names no user";
    if (wrong != NULL)
        return place_fail(reason, err, HSY_E_RANGE, wrong);
    st = place_hosts(p, &said, reason, err);
    if (st == HSY_OK && said.passwords != NULL &&
        place_get(p, "password") == NULL)
        st = pg_passwords(p, said.passwords, place_get(p, "dbname"),
                          place_get(p, "user"), reason, err);
    return st;
}

/* Who signs the server's certificate is named, or nothing is checked. What
 * libpq would look for by itself, at home or on the system, it would not find
 * once this process has closed itself off. */
static hsy_status place_trust(const struct pg_place *p, char reason[PG_REASON],
                              hsy_error *err)
{
    const char *mode = place_get(p, "sslmode");
    const char *root = place_get(p, "sslrootcert");

    if (strcmp(root, "system") == 0)
        return place_fail(reason, err, HSY_E_RANGE,
                          "sslrootcert=system cannot be used: name a file, as "
                          "/etc/ssl/certs/ca-certificates.crt");
    if (mode != NULL && strncmp(mode, "verify-", 7) == 0 &&
        strcmp(root, PLACE_NONE) == 0)
        return place_fail(reason, err, HSY_E_RANGE,
                          "sslmode=verify-full and verify-ca need "
                          "sslrootcert=FILE: who signs its certificate");
    return HSY_OK;
}

static hsy_status place_parse(struct pg_place *p, const char *url,
                              char reason[PG_REASON], hsy_error *err)
{
    char *said = NULL;
    PQconninfoOption *all;
    hsy_status st;

    if (strncmp(url, "postgresql://", 13) != 0 &&
        strncmp(url, "postgres://", 11) != 0)
        return place_fail(reason, err, HSY_E_FORMAT,
                          "it does not begin with postgresql://");
    all = p->pq->conninfoParse(url, &said);
    if (all == NULL) {
        /* What libpq says may repeat a part of the URL, a password too. */
        free(said);
        return place_fail(reason, err, HSY_E_FORMAT,
                          "it is no URL as PostgreSQL's manual says (34.1.1)");
    }
    st = place_words(p, all, reason, err);
    p->pq->conninfoFree(all);
    if (st == HSY_OK)
        st = place_trust(p, reason, err);
    return st;
}

hsy_status pg_place_open(struct pg_place **out, const char *url,
                         char reason[PG_REASON], hsy_error *err)
{
    struct pg_place *p = calloc(1, sizeof *p);
    hsy_status st;

    *out = NULL;
    if (p == NULL)
        return place_fail(reason, err, HSY_E_NOMEM, "out of memory");
    pthread_mutex_init(&p->lock, NULL);
    p->pq = pq_load();
    st = p->pq == NULL ? place_fail(reason, err, HSY_E_UNKNOWN,
                                    "libpq is missing: install libpq5")
                       : place_parse(p, url, reason, err);
    if (st == HSY_OK) {
        const size_t used = strlen(p->name);

        snprintf(p->name + used, sizeof p->name - used, "/%s",
                 place_get(p, "dbname"));
        *out = p;
    } else {
        pg_place_close(p);
    }
    return st;
}

void pg_place_close(struct pg_place *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->nwords; i++) {
        explicit_bzero(p->words[i].value, strlen(p->words[i].value));
        free(p->words[i].value);
    }
    for (size_t i = 0; i < p->nhosts; i++) {
        free(p->hosts[i].name);
        free(p->hosts[i].address);
        free(p->hosts[i].port);
        if (p->hosts[i].password != NULL)
            explicit_bzero(p->hosts[i].password, strlen(p->hosts[i].password));
        free(p->hosts[i].password);
    }
    pthread_mutex_destroy(&p->lock);
    free(p);
}

const char *pg_place_name(const struct pg_place *p)
{
    return p->name;
}

void pg_place_found(struct pg_place *p, struct pg_found *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->found;
    pthread_mutex_unlock(&p->lock);
}
