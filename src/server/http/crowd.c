/*
 * crowd.c - how many connections come from one address.
 *
 * Addresses are not kept. Two counters of many are chosen by a hash of the
 * address under a key of this start, and an address has as many connections as
 * the smaller one says: others may share one of them, hardly both. Of IPv6 it
 * is the network of 64 bits that counts, for whoever has one address of it has
 * them all. Behind a proxy all come from its address, so proxies are exempt.
 */
#define _GNU_SOURCE
#include "server/http/internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CROWD_SLOTS 65536u
#define CROWD_NETWORKS 64u

/* An address of either kind: one of IPv4 as IPv6 maps it. */
struct crowd_address {
    uint8_t bytes[16];
};

struct crowd_network {
    struct crowd_address first;
    unsigned bits;
};

struct listen_crowd {
    uint8_t key[crypto_shorthash_KEYBYTES];
    struct crowd_network exempt[CROWD_NETWORKS];
    size_t nexempt;
    _Atomic uint32_t counts[2][CROWD_SLOTS];
};

static const uint8_t crowd_mapped[12] = {[10] = 0xff, [11] = 0xff};

static void crowd_map(struct crowd_address *out, const void *four)
{
    memcpy(out->bytes, crowd_mapped, sizeof crowd_mapped);
    memcpy(out->bytes + sizeof crowd_mapped, four, 4);
}

/* False of what has no address, as a socket file. */
static bool crowd_address(struct crowd_address *out, const struct sockaddr *at)
{
    if (at->sa_family == AF_INET)
        crowd_map(out, &((const struct sockaddr_in *)at)->sin_addr);
    else if (at->sa_family == AF_INET6)
        memcpy(out->bytes, &((const struct sockaddr_in6 *)at)->sin6_addr, 16);
    return at->sa_family == AF_INET || at->sa_family == AF_INET6;
}

/* ---- Networks ------------------------------------------------------------ */

/* "10.1.2.3", "10.0.0.0/8", "fd00::/8" */
static bool crowd_network(struct crowd_network *out, const char *text)
{
    const char *slash = strchr(text, '/');
    const size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
    char host[INET6_ADDRSTRLEN], four[4], *end = NULL;
    unsigned long bits, most;

    if (len == 0 || len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = 0;
    most = strchr(host, ':') != NULL ? 128 : 32;
    if (inet_pton(most == 128 ? AF_INET6 : AF_INET, host,
                  most == 128 ? (void *)out->first.bytes : four) != 1)
        return false;
    if (most == 32)
        crowd_map(&out->first, four);
    bits = most;
    if (slash != NULL) {
        bits = strtoul(slash + 1, &end, 10);
        if (strspn(slash + 1, "0123456789") == 0 || *end != 0 || bits > most)
            return false;
    }
    out->bits = (unsigned)(128 - most + bits);
    return true;
}

bool listen_is_network(const char *text)
{
    struct crowd_network n;

    return crowd_network(&n, text);
}

static bool crowd_within(const struct crowd_network *n,
                         const struct crowd_address *a)
{
    const unsigned whole = n->bits / 8, rest = n->bits % 8;

    return memcmp(n->first.bytes, a->bytes, whole) == 0 &&
           (rest == 0 ||
            (n->first.bytes[whole] ^ a->bytes[whole]) >> (8 - rest) == 0);
}

static bool crowd_exempt(const struct listen_crowd *c,
                         const struct crowd_address *a)
{
    for (size_t i = 0; i < c->nexempt; i++)
        if (crowd_within(&c->exempt[i], a))
            return true;
    return false;
}

/* ---- Counting ------------------------------------------------------------ */

bool crowd_places(const struct listen_crowd *c, uint32_t places[2],
                  const struct sockaddr *at)
{
    struct crowd_address a;
    uint8_t hash[crypto_shorthash_BYTES];

    if (c == NULL || at == NULL || !crowd_address(&a, at) ||
        crowd_exempt(c, &a))
        return false;
    if (memcmp(a.bytes, crowd_mapped, sizeof crowd_mapped) != 0)
        memset(a.bytes + 8, 0, 8);
    crypto_shorthash(hash, a.bytes, sizeof a.bytes, c->key);
    for (int i = 0; i < 2; i++)
        places[i] = hash[2 * i] + 256u * hash[2 * i + 1];
    explicit_bzero(&a, sizeof a);
    return true;
}

static _Atomic uint32_t *crowd_count(const struct connection *c, int i)
{
    return &c->request.loop->listener->crowd->counts[i][c->crowd[i]];
}

bool crowd_enter(struct connection *c, const struct sockaddr *from)
{
    const struct listener *l = c->request.loop->listener;
    bool room = !crowd_places(l->crowd, c->crowd, from);

    for (int i = 0; !room && i < 2; i++)
        room = atomic_load_explicit(crowd_count(c, i), memory_order_relaxed) <
               l->options.address_connections;
    c->crowded = room && crowd_places(l->crowd, c->crowd, from);
    for (int i = 0; c->crowded && i < 2; i++)
        atomic_fetch_add_explicit(crowd_count(c, i), 1, memory_order_relaxed);
    return room;
}

void crowd_leave(struct connection *c)
{
    for (int i = 0; c->crowded && i < 2; i++)
        atomic_fetch_sub_explicit(crowd_count(c, i), 1, memory_order_relaxed);
}

bool crowd_open(struct listener *l)
{
    static const char *const loopback[] = {"127.0.0.0/8", "::1", NULL};
    const char *const *exempt = l->options.exempt;
    struct listen_crowd *c;

    if (l->options.address_connections == 0)
        return true;
    c = l->crowd = calloc(1, sizeof *c);
    if (c == NULL || sodium_init() == -1)
        return false;
    crypto_shorthash_keygen(c->key);
    for (exempt = exempt != NULL ? exempt : loopback;
         *exempt != NULL && c->nexempt < CROWD_NETWORKS; exempt++)
        if (crowd_network(&c->exempt[c->nexempt], *exempt))
            c->nexempt++;
    return true;
}

void crowd_close(struct listener *l)
{
    free(l->crowd);
    l->crowd = NULL;
}
