/*
 * test_seal_interop.c - HPKE, Oblivious HTTP and envelopes against two other
 * implementations of HPKE (tests/interop, node): each opens what the other
 * seals. Skipped, with a word, where these cannot be had.
 */
#define _GNU_SOURCE
#include "host/base/hex.h"
#include "host/seal/ohttp.h"
#include "lib/bits/bytes.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES_MAX 512u

static const char *const libraries[] = {"core", "hpke"};
static const enum seal_aead aeads[] = {SEAL_AES128GCM, SEAL_CHACHA20};
static const uint8_t info[] = "who it is for", aad[] = "where", text[] = "what";

static struct ohttp_key key = {.id = 9};

/* ---- The other side ------------------------------------------------------ */

static struct {
    FILE *to, *from;
    pid_t pid;
} node;

static bool node_start(void)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1)
        return false;
    node.pid = fork();
    if (node.pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execlp("node", "node", "--no-warnings", "tests/interop/seal.mjs",
               (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    node.to = fdopen(in[1], "w");
    node.from = fdopen(out[0], "r");
    return node.pid != -1 && node.to != NULL && node.from != NULL;
}

static bool node_stop(void)
{
    int status = -1;

    fclose(node.to);
    fclose(node.from);
    return waitpid(node.pid, &status, 0) == node.pid && status == 0;
}

struct word {
    uint8_t at[BYTES_MAX];
    size_t len;
};

static struct word word(const void *bytes, size_t len)
{
    struct word w = {.len = len};

    memcpy(w.at, bytes, len);
    return w;
}

static void say(const struct word *w)
{
    char digits[2 * BYTES_MAX + 1];

    hex_put(digits, w->at, w->len);
    fprintf(node.to, " %s", w->len == 0 ? "-" : digits);
}

/* What is asked, then n words; m words of answer, or false. */
static bool asked(struct word *answer, size_t m, const struct word *words,
                  size_t n, const char *format, ...)
{
    static char line[4 * BYTES_MAX];
    char *next = line;
    va_list args;

    va_start(args, format);
    vfprintf(node.to, format, args);
    va_end(args);
    for (size_t i = 0; i < n; i++)
        say(&words[i]);
    fputc('\n', node.to);
    fflush(node.to);
    if (fgets(line, sizeof line, node.from) == NULL)
        return false;
    for (size_t i = 0; i < m; i++) {
        const char *digits = strsep(&next, " \n");
        size_t len = digits == NULL ? 0 : strlen(digits);

        answer[i].len = len / 2;
        if (len / 2 > BYTES_MAX ||
            !hex_get(answer[i].at, len / 2, digits, len)) {
            printf("# %s answers: %s\n", format, line);
            return false;
        }
    }
    return true;
}

static bool is_word(const struct word *w, const void *want, size_t len)
{
    return eq_u64(w->len, len) && eq_bytes(w->at, want, len);
}

/* ---- HPKE ---------------------------------------------------------------- */

static void they_open(const char *library, enum seal_aead aead)
{
    uint8_t enc[SEAL_ENC], sealed[sizeof text + SEAL_TAG];
    struct seal_context c;
    struct word words[6], opened;

    seal_setup_sender(&c, enc, aead, key.pub, info, sizeof info, NULL);
    seal_close(&c, sealed, aad, sizeof aad, text, sizeof text);
    words[0] = word(key.secret, SEAL_KEY);
    words[1] = word(key.pub, SEAL_KEY);
    words[2] = word(enc, sizeof enc);
    words[3] = word(info, sizeof info);
    words[4] = word(aad, sizeof aad);
    words[5] = word(sealed, sizeof sealed);
    ok(asked(&opened, 1, words, 6, "open %s %d", library, (int)aead) &&
           is_word(&opened, text, sizeof text),
       "%s opens what we seal, AEAD %d", library, (int)aead);
}

static void we_open(const char *library, enum seal_aead aead)
{
    const struct word words[] = {word(key.pub, SEAL_KEY),
                                 word(info, sizeof info), word(aad, sizeof aad),
                                 word(text, sizeof text)};
    struct word sealed[2];
    uint8_t out[BYTES_MAX];
    struct seal_context c;

    ok(asked(sealed, 2, words, 4, "seal %s %d", library, (int)aead) &&
           eq_u64(sealed[1].len, sizeof text + SEAL_TAG) &&
           eq_status(seal_setup_receiver(&c, aead, sealed[0].at, key.secret,
                                         key.pub, info, sizeof info),
                     HSY_OK) &&
           eq_status(
               seal_open(&c, out, aad, sizeof aad, sealed[1].at, sealed[1].len),
               HSY_OK) &&
           eq_bytes(out, text, sizeof text),
       "we open what %s seals, AEAD %d", library, (int)aead);
}

/* ---- Oblivious HTTP ------------------------------------------------------ */

static void our_gateway(const char *library, enum seal_aead aead)
{
    uint8_t config[OHTTP_CONFIG], out[BYTES_MAX], sealed[BYTES_MAX];
    struct word words[2], answer;
    struct ohttp_gateway g;
    size_t len = 0;

    /* The first algorithm is what they take. */
    ohttp_config(config, &key);
    config[40] = (uint8_t)aead;
    words[0] = word(config, sizeof config);
    words[1] = word(info, sizeof info);
    ok(asked(&answer, 1, words, 2, "ask %s", library) &&
           eq_u64(answer.at[6], aead) &&
           eq_status(ohttp_request_open(&g, out, &len, &key, 1, answer.at,
                                        answer.len),
                     HSY_OK) &&
           eq_u64(len, sizeof info) && eq_bytes(out, info, len),
       "our gateway opens a request by %s, AEAD %d", library, (int)aead);
    ohttp_response_seal(&g, sealed, sizeof sealed, &len, NULL, text,
                        sizeof text);
    words[0] = word(sealed, len);
    ok(asked(&answer, 1, words, 1, "answered %s", library) &&
           is_word(&answer, text, sizeof text),
       "and %s its response", library);
}

static void our_client(const char *library, enum seal_aead aead)
{
    uint8_t sealed[BYTES_MAX], out[BYTES_MAX];
    struct word words[4], answer[2];
    struct ohttp_client c;
    size_t len = 0;

    ohttp_request_seal(&c, sealed, sizeof sealed, &len, key.id, key.pub, aead,
                       NULL, info, sizeof info);
    words[0] = word(key.secret, SEAL_KEY);
    words[1] = word(key.pub, SEAL_KEY);
    words[2] = word(sealed, len);
    words[3] = word(text, sizeof text);
    ok(asked(answer, 2, words, 4, "serve %s", library) &&
           is_word(&answer[0], info, sizeof info),
       "a gateway by %s opens our request, AEAD %d", library, (int)aead);
    ok(eq_status(
           ohttp_response_open(&c, out, &len, answer[1].at, answer[1].len),
           HSY_OK) &&
           eq_u64(len, sizeof text) && eq_bytes(out, text, len),
       "and we its response");
}

/* ---- Envelopes ----------------------------------------------------------- */

#define LAYERS 2u

static struct word place_bytes(const struct seal_place *at, bool outermost)
{
    struct word w = {.len = outermost ? 120 : 104};

    memcpy(w.at, at->task, strlen(at->task));
    bytes_put32(w.at + 32, at->release);
    memcpy(w.at + 36, at->digest, 32);
    memcpy(w.at + 68, at->terms, 32);
    bytes_put32(w.at + 100, outermost ? at->epoch : at->epoch / 32);
    memcpy(w.at + 104, at->id, 16);
    return w;
}

static void they_peel(const char *library)
{
    static const uint8_t seed[SEAL_SEED], digest[32] = {1}, id[16] = {2};
    static const uint8_t terms[HSY_DIGEST] = {3};
    const struct seal_place at = {"colour", 3, digest, 20401, id, terms};
    uint8_t pubs[LAYERS][SEAL_KEY], secrets[LAYERS][SEAL_KEY];
    uint8_t out[LAYERS * SEAL_LAYER + 1 + sizeof text];
    struct word inner;
    bool good = true;

    for (size_t i = 0; i < LAYERS; i++)
        seal_keypair(pubs[i], secrets[i]);
    seal_onion(out, (const uint8_t(*)[SEAL_KEY])pubs, LAYERS, &at, seed,
               SEAL_REPORT, text, sizeof text);
    inner = word(out, sizeof out);
    for (size_t i = 0; i < LAYERS && good; i++) {
        const struct word words[] = {word(secrets[i], SEAL_KEY),
                                     word(pubs[i], SEAL_KEY),
                                     place_bytes(&at, i == 0), inner};

        good = asked(&inner, 1, words, 4, "peel %s %zu %u", library, i, LAYERS);
    }
    ok(good && eq_u64(inner.len, 1 + sizeof text) && inner.at[0] == 1 &&
           eq_bytes(inner.at + 1, text, sizeof text),
       "%s takes both layers off an envelope", library);
}

static bool all_there(void)
{
    return WEXITSTATUS(system("command -v node >/dev/null && "
                              "tests/interop/fetch 2>/dev/null")) == 0;
}

int main(void)
{
    if (!all_there()) {
        tap_skip("no node, or npm cannot fetch other people's HPKE");
        return tap_done();
    }
    signal(SIGPIPE, SIG_IGN);
    seal_keypair(key.pub, key.secret);
    ok(node_start(), "node runs");
    for (size_t i = 0; i < 4; i++) {
        they_open(libraries[i / 2], aeads[i % 2]);
        we_open(libraries[i / 2], aeads[i % 2]);
        our_gateway(libraries[i / 2], aeads[i % 2]);
        our_client(libraries[i / 2], aeads[i % 2]);
    }
    they_peel("core");
    they_peel("hpke");
    ok(node_stop(), "node ends");
    return tap_done();
}
