/*
 * tls.c - the certificate of a listener, which may be replaced while it runs,
 * and its sessions.
 *
 * A handshake takes the pair that is in force when it begins. Old pairs stay
 * until the listener is closed: a handshake may still use one, and there are as
 * many as an operator has asked for.
 */
#define _GNU_SOURCE
#include "server/http/internal.h"

#include "host/base/host_fail.h"

#include <gnutls/abstract.h>
#include <stdlib.h>
#include <string.h>

#define TLS_CHAIN 16u /* certificates of a chain, at most */
#define TLS_ID 64u    /* bytes of a key's id, at most */

struct listen_tls {
    struct listen_tls *next;
    gnutls_pcert_st chain[TLS_CHAIN];
    unsigned n;
    gnutls_privkey_t key; /* NULL: none yet */
};

static void tls_free(struct listen_tls *t)
{
    for (unsigned i = 0; i < t->n; i++)
        gnutls_pcert_deinit(&t->chain[i]);
    if (t->key != NULL)
        gnutls_privkey_deinit(t->key);
    free(t);
}

static gnutls_datum_t tls_text(const char *text)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)text,
                            (unsigned)strlen(text)};
}

/* Whether the key is that of the first certificate. */
static bool tls_pair(const struct listen_tls *t)
{
    uint8_t of_cert[TLS_ID], of_key[TLS_ID];
    size_t a = sizeof of_cert, b = sizeof of_key;
    gnutls_pubkey_t half = NULL;
    bool same;

    if (gnutls_pubkey_init(&half) < 0)
        return false;
    same = gnutls_pubkey_import_privkey(half, t->key, 0, 0) == 0 &&
           gnutls_pubkey_get_key_id(half, 0, of_key, &b) == 0 &&
           gnutls_pubkey_get_key_id(t->chain[0].pubkey, 0, of_cert, &a) == 0 &&
           a == b && memcmp(of_cert, of_key, a) == 0;
    gnutls_pubkey_deinit(half);
    return same;
}

static hsy_status tls_read(struct listen_tls *t, const char *cert,
                           const char *key, hsy_error *err)
{
    const gnutls_datum_t certs = tls_text(cert), secret = tls_text(key);
    unsigned n = TLS_CHAIN;

    if (gnutls_pcert_list_import_x509_raw(t->chain, &n, &certs,
                                          GNUTLS_X509_FMT_PEM, 0) < 0 ||
        n == 0)
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_TLS_CERT,
                         "not a certificate in PEM format");
    t->n = n;
    if (gnutls_privkey_init(&t->key) != 0)
        return host_nomem(err);
    if (gnutls_privkey_import_x509_raw(t->key, &secret, GNUTLS_X509_FMT_PEM,
                                       NULL, 0) != 0)
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_TLS_KEY,
                         "not a private key in PEM format without a password");
    return tls_pair(t) ? HSY_OK
                       : host_fail(err, HSY_E_MISMATCH, HOST_FIELD_TLS_KEY,
                                   "does not belong to the certificate");
}

static hsy_status tls_new(struct listen_tls **out, const char *cert,
                          const char *key, hsy_error *err)
{
    struct listen_tls *t = calloc(1, sizeof *t);
    const hsy_status st =
        t != NULL ? tls_read(t, cert, key, err) : host_nomem(err);

    if (st == HSY_OK)
        *out = t;
    else if (t != NULL)
        tls_free(t);
    return st;
}

hsy_status listen_pair_check(const char *cert, const char *key, hsy_error *err)
{
    struct listen_tls *t;
    const hsy_status st = tls_new(&t, cert, key, err);

    if (st == HSY_OK)
        tls_free(t);
    return st;
}

hsy_status listen_certify(struct listener *l, const char *cert, const char *key,
                          hsy_error *err)
{
    struct listen_tls *t;
    const hsy_status st = tls_new(&t, cert, key, err);

    if (st != HSY_OK)
        return st;
    t->next = atomic_load(&l->tls);
    atomic_store(&l->tls, t);
    return HSY_OK;
}

/* ---- Sessions ------------------------------------------------------------ */

/* R25 */
static const char *tls_priorities(const struct listen_options *o)
{
    return o->tls12 ? "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:"
                      "-RSA:-CIPHER-ALL:+AES-256-GCM:+AES-128-GCM:"
                      "+CHACHA20-POLY1305:+AES-256-CCM:+AES-128-CCM:"
                      "-MAC-ALL:+AEAD:%NO_TICKETS"
                    : "SECURE128:-VERS-ALL:+VERS-TLS1.3:%NO_TICKETS";
}

/* Called by a handshake: the pair in force. */
static int tls_pick(gnutls_session_t session,
                    const struct gnutls_cert_retr_st *info,
                    gnutls_pcert_st **chain, unsigned *n,
                    gnutls_ocsp_data_st **ocsp, unsigned *nocsp,
                    gnutls_privkey_t *key, unsigned *flags)
{
    const struct listener *l = gnutls_session_get_ptr(session);
    struct listen_tls *t = atomic_load(&l->tls);

    (void)info;
    *chain = t->chain;
    *n = t->n;
    *ocsp = NULL;
    *nocsp = 0;
    *key = t->key;
    *flags = 0; /* they are ours */
    return 0;
}

hsy_status listen_tls_open(struct listener *l, hsy_error *err)
{
    const struct listen_options *o = &l->options;

    if (o->tls_cert == NULL)
        return HSY_OK;
    if (gnutls_certificate_allocate_credentials(&l->credentials) < 0 ||
        gnutls_priority_init(&l->priorities, tls_priorities(o), NULL) < 0)
        return host_nomem(err);
    gnutls_certificate_set_retrieve_function3(l->credentials, tls_pick);
    return listen_certify(l, o->tls_cert, o->tls_key, err);
}

void listen_tls_close(struct listener *l)
{
    for (struct listen_tls *next, *t = atomic_load(&l->tls); t != NULL;
         t = next) {
        next = t->next;
        tls_free(t);
    }
    if (l->credentials != NULL)
        gnutls_certificate_free_credentials(l->credentials);
    if (l->priorities != NULL)
        gnutls_priority_deinit(l->priorities);
}

bool listen_tls_session(struct listener *l, struct tls_stream *s, int fd)
{
    if (!tls_stream_begin(s, fd, GNUTLS_SERVER))
        return false;
    if (gnutls_priority_set(s->session, l->priorities) < 0 ||
        gnutls_credentials_set(s->session, GNUTLS_CRD_CERTIFICATE,
                               l->credentials) < 0) {
        tls_stream_end(s);
        return false;
    }
    gnutls_session_set_ptr(s->session, l);
    return true;
}
