/* test_tokens.c - tokens are kept hashed, found whole, and nothing else is
 * believed. */
#define _GNU_SOURCE
#include "rig/token_checks.h"
#include "server/auth/tokens_keep.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char place[] = "/tmp/hearsay-tokens-XXXXXX";
static char data[64];
static struct tokens_keep *book; /* what is in it */

static const char *inside(const char *name)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/%s", data, name);
    return path;
}

static size_t slurp(const char *name, char *bytes, size_t room)
{
    FILE *f = fopen(inside(name), "rb");
    size_t n = f != NULL ? fread(bytes, 1, room - 1, f) : 0;

    if (f != NULL)
        fclose(f);
    bytes[n] = '\0';
    return n;
}

/* ---- The book ------------------------------------------------------------ */

/* What was kept of it is no token. */
static void keeps_no_token(void)
{
    static char file[65536];
    char token[TOKENS_TEXT];
    hsy_error err;
    size_t n;

    ok(tokens_add(book, "kept", LISTEN_ANALYST, token, &err) == HSY_OK,
       "makes a token");
    n = slurp("tokens.db", file, sizeof file);
    ok(n > 0 && memmem(file, n, token, 43) == NULL &&
           memmem(file, n, token, 20) == NULL,
       "the file has no token in it");
    ok(tokens_revoke(book, "kept", &err) == HSY_OK, "which is revoked");
}

static struct tokens_keep *again(void)
{
    return tokens_book(data);
}

/* No descriptor is free while *kept holds the old limit. */
static void use_up_files(struct rlimit *kept)
{
    const int next = dup(0);
    struct rlimit none;

    close(next);
    getrlimit(RLIMIT_NOFILE, kept);
    none = (struct rlimit){(rlim_t)next, kept->rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
}

/* Write over a part of the book; keep it in `kept`, or put that back. */
static void scribble(char *kept, size_t len, bool back)
{
    int fd = open(inside("tokens.db"), O_RDWR);
    char junk[512];

    memset(junk, 0xff, sizeof junk);
    if (!back)
        (void)!pread(fd, kept, len, 0);
    (void)!pwrite(fd, back ? kept : junk, len, 0);
    close(fd);
}

/* A token that was revoked ends even if it could not be looked for at once. */
static void tries_again(void)
{
    char token[TOKENS_TEXT], head[512], moved[160];
    struct tokens *t = NULL;
    struct rlimit kept;
    hsy_error err = {0};
    bool changed = true, good;

    good = tokens_add(book, "gone", LISTEN_ANALYST, token, &err) == HSY_OK &&
           tokens_open(&t, tokens_book(data), &err) == HSY_OK &&
           tokens_role(t, token) == LISTEN_ANALYST &&
           tokens_revoke(book, "gone", &err) == HSY_OK;
    ok(good, "a token is made and revoked");
    snprintf(moved, sizeof moved, "%s", inside("moved"));
    rename(inside("tokens.db"), moved);
    use_up_files(&kept);
    good = tokens_refresh(t, NULL, &err) == HSY_E_IO;
    setrlimit(RLIMIT_NOFILE, &kept);
    ok(good && tokens_role(t, token) == LISTEN_ANALYST,
       "a book that is not there keeps the old");
    ok(tokens_refresh(t, &changed, &err) == HSY_OK && !changed &&
           tokens_refresh(t, &changed, &err) == HSY_OK && !changed,
       "which is said once");
    rename(moved, inside("tokens.db"));
    ok(tokens_refresh(t, &changed, &err) == HSY_OK && changed &&
           tokens_role(t, token) == LISTEN_ANYONE,
       "until it is");
    tokens_close(t);
    scribble(head, sizeof head, false);
    ok(tokens_open(&t, tokens_book(data), &err) == HSY_E_FORMAT,
       "a damaged book is refused");
    scribble(head, sizeof head, true);
    ok(chmod(inside("tokens.db"), 0644) == 0 &&
           tokens_open(&t, tokens_book(data), &err) == HSY_E_REFUSED &&
           chmod(inside("tokens.db"), 0600) == 0,
       "one that others can read is not believed");
    rename(inside("tokens.db"), moved);
    ok(symlink(moved, inside("tokens.db")) == 0 &&
           tokens_open(&t, tokens_book(data), &err) == HSY_E_REFUSED,
       "nor is a link");
    unlink(inside("tokens.db"));
    rename(moved, inside("tokens.db"));
}

static void refuses_files(void)
{
    struct tokens *t = NULL;
    hsy_error err;
    int fd = open(inside("tokens"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    close(fd);
    ok(tokens_open(&t, tokens_book(data), &err) == HSY_E_REFUSED,
       "tokens in a file are not passed over in silence");
    unlink(inside("tokens"));
    mkdir(inside("enrolled"), 0700);
    ok(tokens_open(&t, tokens_book(data), &err) == HSY_E_REFUSED,
       "nor are those of a task");
    rmdir(inside("enrolled"));
}

static void leaves_nothing(void)
{
    DIR *d = opendir(data);
    bool draft = false;
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL)
        draft |= strstr(e->d_name, "journal") != NULL;
    closedir(d);
    ok(!draft, "no journal is left");
}

int main(void)
{
    hsy_error err;

    if (mkdtemp(place) == NULL)
        return 1;
    snprintf(data, sizeof data, "%s/data", place);
    book = tokens_book(data);
    ok(tokens_revoke(book, "x", &err) == HSY_E_EMPTY,
       "without a directory there is nothing to revoke");
    keeps_no_token();
    tries_again();
    refuses_files();
    tokens_revoke(book, "bob", &err);
    token_checks(again);
    leaves_nothing();
    tokens_keep_close(book);
    unlink(inside("tokens.db"));
    rmdir(data);
    rmdir(place);
    return tap_done();
}
