/* place.c - a database by its URL: its servers, and how they are reached. */
#define _GNU_SOURCE
#include "server/postgres/internal.h"

#include "host/base/host_fail.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    {"passfile", "/dev/null/none"}, /* place_password has looked */
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
    static const char *const keys[] = {"sslrootcert", "sslcert", "sslkey"};
    const char *file =
        which < sizeof keys / sizeof *keys ? place_get(p, keys[which]) : NULL;

    return file != NULL && strcmp(file, "system") != 0 ? file : NULL;
}

/* ---- Hosts --------------------------------------------------------------- */

/* Item i of a list with commas; the last stands for all that are missing. */
static char *place_item(const char *list, size_t i)
{
    const char *end;

    while (i-- != 0 && strchr(list, ',') != NULL)
        list = strchr(list, ',') + 1;
    end = strchrnul(list, ',');
    return strndup(list, (size_t)(end - list));
}

/* A name becomes an address now: later the process may not look for it. */
static hsy_status place_resolve(struct pg_host *h, char reason[PG_REASON],
                                hsy_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    char text[NI_MAXHOST], why[PG_REASON];
    int got;

    if (h->name[0] == '/' || h->name[0] == '\0')
        return HSY_OK; /* a directory with a socket */
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

static hsy_status place_hosts(struct pg_place *p, const char *hosts,
                              const char *ports, char reason[PG_REASON],
                              hsy_error *err)
{
    hsy_status st = HSY_OK;
    size_t n = 1;

    for (const char *at = hosts; *at != '\0'; at++)
        n += *at == ',';
    if (n > PG_HOSTS)
        return place_fail(reason, err, HSY_E_RANGE, "more than 8 servers");
    for (size_t i = 0; i < n && st == HSY_OK; i++) {
        struct pg_host *h = &p->hosts[p->nhosts++];
        const size_t used = strlen(p->name);

        h->name = place_item(hosts, i);
        h->port = place_item(ports, i);
        if (h->name == NULL || h->port == NULL)
            return place_fail(reason, err, HSY_E_NOMEM, "out of memory");
        snprintf(p->name + used, sizeof p->name - used, "%s%s:%s",
                 i == 0 ? "" : ",", h->name, h->port);
        st = place_resolve(h, reason, err);
    }
    return st;
}

/* ---- The URL ------------------------------------------------------------- */

/* Words that are said of each server by itself, or that libpq must not follow:
 * which server is primary is our question. */
static bool place_ours(const char *key)
{
    static const char *const ours[] = {"host", "hostaddr", "port",
                                       "target_session_attrs", "replication"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(key, ours[i]) == 0)
            return true;
    return false;
}

static hsy_status place_words(struct pg_place *p, const PQconninfoOption *all,
                              char reason[PG_REASON], hsy_error *err)
{
    const char *hosts = "", *ports = "5432";
    bool fits = true;

    for (; all->keyword != NULL; all++) {
        if (all->val == NULL || all->val[0] == '\0')
            continue;
        if (strcmp(all->keyword, "host") == 0)
            hosts = all->val;
        else if (strcmp(all->keyword, "port") == 0)
            ports = all->val;
        else if (!place_ours(all->keyword))
            fits = fits && place_word(p, all->keyword, all->val);
    }
    for (size_t i = 0; i < sizeof place_usual / sizeof *place_usual; i++)
        if (place_get(p, place_usual[i].key) == NULL)
            fits =
                fits && place_word(p, place_usual[i].key, place_usual[i].value);
    if (!fits)
        return place_fail(reason, err, HSY_E_RANGE, "too many parameters");
    if (hosts[0] == '\0')
        return place_fail(reason, err, HSY_E_RANGE, "it names no host");
    if (place_get(p, "dbname") == NULL)
        return place_fail(reason, err, HSY_E_RANGE, "it names no database");
    if (place_get(p, "user") == NULL)
        return place_fail(reason, err, HSY_E_RANGE, "it names no user");
    return place_hosts(p, hosts, ports, reason, err);
}

/* libpq reads the file of passwords at each connection, where it may not be in
 * reach: look into it now. A line is host:port:database:user:password, any of
 * the first four may be '*'. */
static void place_password(struct pg_place *p)
{
    const char *file = place_get(p, "passfile");
    char line[1024];
    FILE *f = file != NULL && place_get(p, "password") == NULL
                  ? fopen(file, "re")
                  : NULL;

    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *wanted[4] = {p->hosts[0].name, p->hosts[0].port,
                                 place_get(p, "dbname"), place_get(p, "user")};
        char *at = line;
        bool fits = line[0] != '#';

        for (size_t i = 0; i < 4 && fits; i++) {
            char *end = strchr(at, ':');

            fits = end != NULL;
            if (!fits)
                break;
            *end = '\0';
            fits = strcmp(at, "*") == 0 ||
                   (wanted[i] != NULL && strcmp(at, wanted[i]) == 0);
            at = end + 1;
        }
        if (!fits)
            continue;
        at[strcspn(at, "\r\n")] = '\0';
        (void)place_word(p, "password", at);
        break;
    }
    explicit_bzero(line, sizeof line);
    if (f != NULL)
        fclose(f);
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
        place_password(p);
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

void pg_place_works(struct pg_place *p, bool replicated)
{
    pthread_mutex_lock(&p->lock);
    p->found.reachable = true;
    p->found.replicated = replicated;
    p->found.reason[0] = '\0';
    pthread_mutex_unlock(&p->lock);
}
