/* test_examine.c - what is found in a configuration before it is served. */
#define _DEFAULT_SOURCE
#include "server/collector/serve.h"

#include "host/tasks/keys.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64], data[96], key[96];

struct told {
    enum serve_found what[8];
    uint64_t number[8];
    size_t n;
};

static void tell(void *ctx, const struct serve_finding *found)
{
    struct told *t = ctx;

    if (t->n == 8)
        return;
    t->what[t->n] = found->what;
    t->number[t->n++] = found->number;
}

/* The configuration's own strings are never written to. */
static struct config configured(void)
{
    return (struct config){.data = data, .public_key = key};
}

static bool write_key(void)
{
    FILE *out = fopen(key, "w");

    for (int i = 0; out != NULL && i < 32; i++)
        fputs("0a", out);
    return out != NULL && fputs("\n", out) != EOF && fclose(out) == 0;
}

static void a_missing_key_is_told(void)
{
    const struct config f = configured();
    struct told t = {.n = 0};

    is_u64(serve_examine(&f, tell, &t), 1, "one thing is wrong");
    ok(eq_u64(t.n, 1) && eq_int(t.what[0], SERVE_NO_KEY) &&
           eq_u64(t.number[0], ENOENT),
       "there is no key, and why");
}

static void data_must_be_a_directory_of_ones_own(void)
{
    const struct config f = configured();
    struct told t = {.n = 0};

    ok(write_key() && eq_u64(serve_examine(&f, tell, &t), 0),
       "data that is not there yet is made later");
    ok(mkdir(data, 0700) == 0 && chmod(data, 0755) == 0 &&
           eq_u64(serve_examine(&f, tell, &t), 1) &&
           eq_int(t.what[0], SERVE_OPEN_DIRECTORY),
       "others may not enter it");
    ok(chmod(data, 0700) == 0 && eq_u64(serve_examine(&f, tell, &t), 0),
       "if only its owner may, nothing is wrong");
    t.n = 0;
    ok(rmdir(data) == 0 && link(key, data) == 0 &&
           eq_u64(serve_examine(&f, tell, &t), 1) &&
           eq_int(t.what[0], SERVE_NO_DIRECTORY),
       "and it is no file");
    unlink(data);
}

static void every_file_is_looked_at(void)
{
    struct config f = configured();
    struct told t = {.n = 0};

    f.document = key;
    f.tls_cert = data;
    f.tls_key = key;
    is_u64(serve_examine(&f, tell, &t), 2, "two things are wrong at once");
    ok(eq_int(t.what[0], SERVE_NO_DOCUMENT) &&
           eq_int(t.what[1], SERVE_NO_FILE) && eq_u64(t.number[1], ENOENT),
       "a document that is none, and a certificate that is not there");
}

static void keys_of_a_gateway_are_looked_at(void)
{
    struct config f = configured();
    char gate[96], secret[128], public[128];
    char *files[] = {secret, NULL};
    struct told t = {.n = 0};
    const char *suffix;

    snprintf(gate, sizeof gate, "%s/gate", root);
    snprintf(secret, sizeof secret, "%s.secret", gate);
    snprintf(public, sizeof public, "%s.public", gate);
    f.gateway_keys = files;
    ok(eq_u64(serve_examine(&f, tell, &t), 1) &&
           eq_int(t.what[0], SERVE_NO_KEY) && eq_u64(t.number[0], ENOENT),
       "a key that is not there");
    ok(keys_write(gate, true, &suffix, NULL) == HSY_OK &&
           eq_u64(serve_examine(&f, tell, &t), 0),
       "one that is there; without a document it is missed in none");
    t.n = 0;
    ok(chmod(secret, 0640) == 0 && eq_u64(serve_examine(&f, tell, &t), 1) &&
           eq_int(t.what[0], SERVE_NO_KEY),
       "one that others can read");
    t.n = 0;
    files[0] = public;
    ok(eq_u64(serve_examine(&f, tell, &t), 1) &&
           eq_int(t.what[0], SERVE_NO_KEY),
       "one that opens nothing");
    unlink(secret);
    unlink(public);
}

int main(void)
{
    strcpy(root, "/tmp/hearsay-check-XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    snprintf(data, sizeof data, "%s/data", root);
    snprintf(key, sizeof key, "%s/key", root);
    a_missing_key_is_told();
    data_must_be_a_directory_of_ones_own();
    every_file_is_looked_at();
    keys_of_a_gateway_are_looked_at();
    unlink(key);
    rmdir(root);
    return tap_done();
}
