/* tokens_files.c - names and hashes of tokens, and the files of earlier
 * versions. */
#define _GNU_SOURCE /* O_NOFOLLOW, openat */

#include "server/auth/internal.h"

#include "host/base/files.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/base/retry.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_HEAD 32u /* of a list of enrolled tokens */
#define FILES_VERSION 1u
#define FILES_PATH 64u  /* "enrolled/" and an id */
#define FILES_LINE 128u /* of `tokens` */

const char *const tokens_roles[] = {"anyone", "scraper", "analyst", "operator",
                                    NULL};

bool tokens_name_fits(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    return len >= 1 && len <= TOKENS_NAME && strspn(name, letters) == len &&
           strchr("._-", name[0]) == NULL;
}

/* ---- Hashes -------------------------------------------------------------- */

/* A token has 256 random bits, so its hash needs no salt and no delay; the key
 * only keeps one use of a token from being another. */
void tokens_hash(uint8_t hash[TOKENS_HASH], const char *token)
{
    static const uint8_t key[32] = "hearsay collector: token, role";

    crypto_generichash(hash, TOKENS_HASH, (const uint8_t *)token, strlen(token),
                       key, sizeof key);
}

void tokens_hash_short(uint8_t hash[TOKENS_SHORT], const char *task,
                       const char *token)
{
    static const uint8_t key[32] = "hearsay collector: token, task";
    crypto_generichash_state state;

    crypto_generichash_init(&state, key, sizeof key, TOKENS_SHORT);
    crypto_generichash_update(&state, (const uint8_t *)task, strlen(task) + 1);
    crypto_generichash_update(&state, (const uint8_t *)token, strlen(token));
    crypto_generichash_final(&state, hash, TOKENS_SHORT);
    sodium_memzero(&state, sizeof state);
}

/* ---- Reading ------------------------------------------------------------- */

int tokens_directory(const char *data, bool create)
{
    if (create && mkdir(data, S_IRWXU) == -1 && errno != EEXIST)
        return -1;
    return open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Whether a file may be believed: regular, of whom the directory is, closed to
 * everybody else. */
static bool files_ours(int dir, int fd, struct stat *s)
{
    struct stat d;

    return fstat(fd, s) == 0 && fstat(dir, &d) == 0 && S_ISREG(s->st_mode) &&
           s->st_uid == d.st_uid && (s->st_mode & 077) == 0;
}

/* All of a file of at most `most` bytes and a NUL; NULL bytes if there is none.
 */
static hsy_status files_read(int dir, const char *path, size_t most,
                             uint8_t **bytes, size_t *len, hsy_error *err)
{
    int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    hsy_status st = HSY_OK;
    struct stat s;

    *bytes = NULL;
    *len = 0;
    if (fd == -1)
        return errno == ENOENT ? HSY_OK
                               : host_fail(err, HSY_E_IO, HSY_FIELD_NONE,
                                           "the tokens cannot be read");
    if (!files_ours(dir, fd, &s))
        st = host_fail(err, HSY_E_REFUSED, HSY_FIELD_NONE,
                       "this file of tokens is not the data directory's "
                       "owner's, or others can read it (chmod 600)");
    else
        st = file_whole_fd(bytes, len, fd, most, err);
    close(fd);
    if (st == HSY_E_RANGE)
        st = host_fail(err, HSY_E_FORMAT, HSY_FIELD_NONE, "too many tokens");
    else if (st == HSY_E_IO)
        host_fail(err, st, HSY_FIELD_NONE, "the tokens cannot be read");
    return st;
}

static bool files_person(struct tokens_person *p, char *line)
{
    char *rest = NULL;
    const char *name = strtok_r(line, " ", &rest);
    const char *role = strtok_r(NULL, " ", &rest);
    const char *hash = strtok_r(NULL, " ", &rest);

    if (hash == NULL || strtok_r(NULL, " ", &rest) != NULL ||
        !tokens_name_fits(name))
        return false;
    snprintf(p->name, sizeof p->name, "%s", name);
    for (p->role = LISTEN_SCRAPER; strcmp(tokens_roles[p->role], role) != 0;)
        if (tokens_roles[++p->role] == NULL)
            return false;
    return hex_any(p->hash, sizeof p->hash, hash, strlen(hash));
}

hsy_status tokens_people_read(int dir, struct tokens_people *out,
                              hsy_error *err)
{
    uint8_t *text;
    size_t len, line = 0;
    hsy_status st = files_read(dir, "tokens", (size_t)TOKENS_MAX * FILES_LINE,
                               &text, &len, err);
    char *next;

    *out = (struct tokens_people){NULL, 0};
    if (st != HSY_OK || text == NULL)
        return st;
    out->all = calloc(TOKENS_MAX, sizeof *out->all);
    if (out->all == NULL)
        st = host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    for (char *at = (char *)text; st == HSY_OK && *at != '\0'; at = next) {
        size_t n = strcspn(at, "\n");

        next = at + n + (at[n] == '\n');
        at[n] = '\0';
        line++;
        if (out->n == TOKENS_MAX || !files_person(&out->all[out->n++], at)) {
            st = host_fail_at(
                err, HSY_E_FORMAT, HOST_FIELD_TOKENS,
                "a line is a name, a role and a hash of 64 digits, "
                "as 'hearsay serve token add' writes them",
                HSY_UNIT_LINE, line);
        }
    }
    free(text);
    if (st != HSY_OK) {
        free(out->all);
        *out = (struct tokens_people){NULL, 0};
    }
    return st;
}

static uint32_t files_get32(const uint8_t *p)
{
    uint32_t x;

    memcpy(&x, p, sizeof x);
    return le32toh(x);
}

static uint64_t files_get64(const uint8_t *p)
{
    return files_get32(p) | (uint64_t)files_get32(p + 4) << 32;
}

static void files_path(char path[FILES_PATH], const char *task)
{
    snprintf(path, FILES_PATH, "enrolled/%.32s", task);
}

/* Of the head and the hashes. */
static void files_sum(uint8_t sum[8], const uint8_t *head,
                      const uint8_t *hashes, size_t len)
{
    uint8_t whole[32];
    crypto_generichash_state state;

    crypto_generichash_init(&state, NULL, 0, sizeof whole);
    crypto_generichash_update(&state, head, FILES_HEAD - 8);
    crypto_generichash_update(&state, hashes, len);
    crypto_generichash_final(&state, whole, sizeof whole);
    memcpy(sum, whole, 8);
}

static hsy_status files_list(struct tokens_list *out, const uint8_t *bytes,
                             size_t len, hsy_error *err)
{
    uint8_t sum[8];

    if (len < FILES_HEAD || memcmp(bytes, "HSYENROL", 8) != 0)
        return host_fail(err, HSY_E_FORMAT, HOST_FIELD_ENROLLED,
                         "not a list of enrolment tokens");
    if (files_get32(bytes + 8) != FILES_VERSION)
        return host_fail(err, HSY_E_VERSION, HOST_FIELD_ENROLLED,
                         "made by a newer hearsay");
    out->quota = files_get32(bytes + 12);
    out->n = files_get64(bytes + 16);
    files_sum(sum, bytes, bytes + FILES_HEAD, len - FILES_HEAD);
    if (out->n > TOKENS_ENROLLED_MAX ||
        len != FILES_HEAD + out->n * TOKENS_SHORT || out->quota == 0 ||
        memcmp(sum, bytes + FILES_HEAD - 8, 8) != 0)
        return host_fail(err, HSY_E_DAMAGED, HOST_FIELD_ENROLLED,
                         "this list of enrolment tokens was changed or cut");
    out->hashes = malloc(out->n * TOKENS_SHORT + 1);
    if (out->hashes == NULL)
        return host_fail(err, HSY_E_NOMEM, HSY_FIELD_NONE, "out of memory");
    memcpy(out->hashes, bytes + FILES_HEAD, out->n * TOKENS_SHORT);
    return HSY_OK;
}

hsy_status tokens_list_read(int dir, const char *task, struct tokens_list *out,
                            hsy_error *err)
{
    char path[FILES_PATH];
    uint8_t *bytes;
    size_t len;
    hsy_status st;

    *out = (struct tokens_list){.quota = 0};
    snprintf(out->task, sizeof out->task, "%s", task);
    files_path(path, task);
    st = files_read(dir, path,
                    FILES_HEAD + (size_t)TOKENS_ENROLLED_MAX * TOKENS_SHORT,
                    &bytes, &len, err);
    if (st == HSY_OK && bytes != NULL)
        st = files_list(out, bytes, len, err);
    free(bytes);
    return st;
}
