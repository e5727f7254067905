/* test_tokens.c - tokens are kept hashed, found whole, and nothing else is
 * believed. */
#define _GNU_SOURCE
#include "server/auth/internal.h"
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

static void spill(const char *name, const char *bytes, size_t len)
{
    int fd = open(inside(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ok(fd != -1 && write(fd, bytes, len) == (ssize_t)len, "(writes a file)");
    close(fd);
}

static hsy_status count_one(void *ctx, const char *name, enum listen_role role)
{
    int *counts = ctx;

    (void)name;
    counts[role]++;
    return HSY_OK;
}

/* ---- Roles --------------------------------------------------------------- */

static void adds_and_knows(char tokens[3][TOKENS_TEXT])
{
    static const char *const names[] = {"prometheus", "ann", "Root-2"};
    static char file[65536];
    char wrong[TOKENS_TEXT];
    struct tokens *t = NULL;
    int counts[4] = {0};
    hsy_error err;
    size_t n;

    for (int i = 0; i < 3; i++)
        ok(tokens_add(data, names[i], (enum listen_role)(i + 1), tokens[i],
                      &err) == HSY_OK &&
               strlen(tokens[i]) == TOKENS_TEXT - 1,
           "makes a token for %s", names[i]);
    ok(tokens_open(&t, data, &err) == HSY_OK, "reads them");
    for (int i = 0; i < 3; i++)
        ok(tokens_role(t, tokens[i]) == (enum listen_role)(i + 1),
           "%s's has its role", names[i]);
    strcpy(wrong, tokens[2]);
    wrong[40] = wrong[40] == 'A' ? 'B' : 'A';
    ok(tokens_role(t, wrong) == LISTEN_ANYONE &&
           tokens_role(t, "") == LISTEN_ANYONE &&
           tokens_role(t, names[2]) == LISTEN_ANYONE,
       "another has none");
    tokens_close(t);
    n = slurp("tokens.db", file, sizeof file);
    ok(n > 0 && memmem(file, n, tokens[0], 43) == NULL &&
           memmem(file, n, tokens[2], 20) == NULL,
       "the file has no token in it");
    ok(tokens_each(data, count_one, counts, &err) == HSY_OK && counts[1] == 1 &&
           counts[2] == 1 && counts[3] == 1,
       "lists them with their roles");
}

static void refuses_names(void)
{
    static const char *const names[] = {
        "",     ".",        "..",
        "-x",   "a b",      "a/b",
        "a\nb", "\xc3\xa9", "abcdefghijklmnopqrstuvwxyzabcdefg"};
    char token[TOKENS_TEXT];
    hsy_error err;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ok(tokens_add(data, names[i], LISTEN_ANALYST, token, &err) ==
               HSY_E_RANGE,
           "name %zu is none", i);
    ok(tokens_add(data, "ann", LISTEN_ANALYST, token, &err) == HSY_E_REFUSED,
       "a name is taken once");
    ok(tokens_revoke(data, "bob", &err) == HSY_E_UNKNOWN,
       "what is not there cannot be revoked");
}

static void notices_changes(char tokens[3][TOKENS_TEXT])
{
    struct tokens *t = NULL;
    char late[TOKENS_TEXT];
    bool changed = true;
    hsy_error err;

    ok(tokens_open(&t, data, &err) == HSY_OK, "opens");
    ok(tokens_add(data, "late", LISTEN_OPERATOR, late, &err) == HSY_OK &&
           tokens_role(t, late) == LISTEN_ANYONE &&
           tokens_refresh(t, &changed, &err) == HSY_OK && changed &&
           tokens_role(t, late) == LISTEN_OPERATOR,
       "a token that is added is known after a look");
    ok(tokens_revoke(data, "late", &err) == HSY_OK &&
           tokens_refresh(t, NULL, &err) == HSY_OK &&
           tokens_role(t, late) == LISTEN_ANYONE &&
           tokens_role(t, tokens[1]) == LISTEN_ANALYST,
       "one that is revoked is not, the others are");
    tokens_close(t);
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

    good = tokens_add(data, "gone", LISTEN_ANALYST, token, &err) == HSY_OK &&
           tokens_open(&t, data, &err) == HSY_OK &&
           tokens_role(t, token) == LISTEN_ANALYST &&
           tokens_revoke(data, "gone", &err) == HSY_OK;
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
    ok(tokens_open(&t, data, &err) == HSY_E_FORMAT,
       "a damaged book is refused");
    scribble(head, sizeof head, true);
    ok(chmod(inside("tokens.db"), 0644) == 0 &&
           tokens_open(&t, data, &err) == HSY_E_REFUSED &&
           chmod(inside("tokens.db"), 0600) == 0,
       "one that others can read is not believed");
    rename(inside("tokens.db"), moved);
    ok(symlink(moved, inside("tokens.db")) == 0 &&
           tokens_open(&t, data, &err) == HSY_E_REFUSED,
       "nor is a link");
    unlink(inside("tokens.db"));
    rename(moved, inside("tokens.db"));
}

/* ---- Files of earlier versions ------------------------------------------- */

static void refuses_files(void)
{
    static const char hash[] = "0123456789abcdef0123456789abcdef"
                               "0123456789abcdef0123456789abcdef";
    static const char *const lines[] = {
        "ann queen %s\n",     "ann anyone %s\n",   "ann %s\n",
        "ann analyst %s x\n", "../x analyst %s\n", "ann analyst %sff"};
    struct tokens *t = NULL;
    char text[200];
    hsy_error err;

    unlink(inside("tokens.db"));
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        int n = snprintf(text, sizeof text, lines[i], hash);

        spill("tokens", text, (size_t)n);
        ok(tokens_open(&t, data, &err) == HSY_E_FORMAT && err.at == 1,
           "line %zu is none", i);
    }
    spill("tokens", "", 0);
    ok(chmod(inside("tokens"), 0644) == 0 &&
           tokens_open(&t, data, &err) == HSY_E_REFUSED,
       "a file that others can read is not believed");
    unlink(inside("tokens"));
    ok(symlink("/dev/null", inside("tokens")) == 0 &&
           tokens_open(&t, data, &err) == HSY_E_IO,
       "nor is a link");
    unlink(inside("tokens"));
    unlink(inside("tokens.db"));
}

/* A list of one token, byte by byte as server/auth/internal.h says it. */
static void old_list(const char *task, const char *token, uint32_t quota)
{
    uint8_t bytes[32 + TOKENS_SHORT] = "HSYENROL", sum[32];
    crypto_generichash_state state;
    char name[80];

    bytes[8] = 1;
    bytes[12] = (uint8_t)quota;
    bytes[16] = 1;
    tokens_hash_short(bytes + 32, task, token);
    crypto_generichash_init(&state, NULL, 0, sizeof sum);
    crypto_generichash_update(&state, bytes, 24);
    crypto_generichash_update(&state, bytes + 32, TOKENS_SHORT);
    crypto_generichash_final(&state, sum, sizeof sum);
    memcpy(bytes + 24, sum, 8);
    snprintf(name, sizeof name, "enrolled/%s", task);
    spill(name, (const char *)bytes, sizeof bytes);
}

static void imports(void)
{
    static const char ann[] = "token-of-ann", device[] = "token-of-a-device";
    uint8_t hash[TOKENS_HASH], name[16];
    char text[200], hex[2 * TOKENS_HASH + 1], other[TOKENS_TEXT];
    struct tokens *t = NULL;
    uint32_t quota = 0;
    hsy_error err = {0};

    tokens_hash(hash, ann);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    snprintf(text, sizeof text, "ann analyst %s\n", hex);
    spill("tokens", text, strlen(text));
    mkdir(inside("enrolled"), 0700);
    old_list("lamp", device, 5);
    ok(tokens_open(&t, data, &err) == HSY_OK &&
           tokens_role(t, ann) == LISTEN_ANALYST &&
           tokens_enrolled(t, "lamp", device, name, &quota) == TOKENS_GOOD &&
           quota == 5,
       "tokens of earlier versions are taken over");
    tokens_close(t);
    ok(access(inside("tokens"), F_OK) == -1 &&
           access(inside("tokens.imported"), F_OK) == 0 &&
           access(inside("enrolled.imported"), F_OK) == 0,
       "and their files put aside");
    spill("tokens", text, strlen(text));
    ok(tokens_revoke(data, "ann", &err) == HSY_OK &&
           tokens_add(data, "bob", LISTEN_OPERATOR, other, &err) == HSY_OK &&
           tokens_open(&t, data, &err) == HSY_OK &&
           tokens_role(t, ann) == LISTEN_ANYONE,
       "once: what was revoked does not come back");
    tokens_close(t);
    unlink(inside("tokens"));
    unlink(inside("tokens.imported"));
    tokens_withdraw(data, "lamp", "all", &err);
    unlink(inside("enrolled.imported/lamp"));
    rmdir(inside("enrolled.imported"));
}

/* ---- Enrolment ----------------------------------------------------------- */

#define COUNT 300

static char enrolled[COUNT][TOKENS_TEXT];
static size_t nenrolled;

static hsy_status take(void *ctx, const char *token)
{
    (void)ctx;
    strcpy(enrolled[nenrolled++], token);
    return HSY_OK;
}

static void enrols(void)
{
    char *wanted[] = {"age", NULL};
    uint8_t hash[16], other[16];
    struct tokens *t = NULL;
    uint32_t quota = 0;
    size_t good = 0;
    hsy_error err;

    ok(tokens_enrol(data, "browser", 3, COUNT - 1, 0, take, NULL, &err) ==
               HSY_OK &&
           tokens_enrol(data, "browser", 4, 1, 0, take, NULL, &err) == HSY_OK &&
           nenrolled == COUNT,
       "makes tokens of a task, and one more");
    ok(tokens_open(&t, data, &err) == HSY_OK, "reads them");
    for (size_t i = 0; i < COUNT; i++)
        good += tokens_enrolled(t, "browser", enrolled[i], hash, &quota) ==
                    TOKENS_GOOD &&
                quota == 4;
    ok(good == COUNT, "each is known, with the quota given last");
    ok(tokens_enrolled(t, "browser", "x", hash, &quota) == TOKENS_BAD &&
           tokens_enrolled(t, "browser", NULL, hash, &quota) == TOKENS_BAD,
       "another is not, and none is not");
    ok(tokens_enrolled(t, "age", enrolled[0], hash, &quota) == TOKENS_OPEN,
       "a task without tokens wants none");
    ok(tokens_want(t, wanted, &err) == HSY_OK &&
           tokens_enrolled(t, "age", enrolled[0], hash, &quota) == TOKENS_BAD,
       "unless it was said to");
    tokens_enrolled(t, "browser", enrolled[0], hash, &quota);
    tokens_enrolled(t, "browser", enrolled[1], other, &quota);
    ok(memcmp(hash, other, sizeof hash) != 0, "two have two names");
    ok(tokens_role(t, enrolled[0]) == LISTEN_ANYONE,
       "and no role with the operator");
    tokens_close(t);
}

static hsy_status keep(void *ctx, const char *token)
{
    strcpy(ctx, token);
    return HSY_OK;
}

/* After enrols(): tokens of "browser" are there. */
static void forwards(void)
{
    char token[TOKENS_TEXT], task[HSY_TASK_ID + 1], first[HSY_TASK_ID + 1] = "";
    uint8_t hash[16], other[16];
    struct tokens *t = NULL;
    uint32_t quota = 0;
    size_t n = 0;
    hsy_error err;

    ok(tokens_enrol(data, "0-before", 1, 1, 0, keep, token, &err) == HSY_OK &&
           tokens_enrol(data, TOKENS_FORWARDERS, 9, 1, 0, keep, token, &err) ==
               HSY_OK &&
           tokens_open(&t, data, &err) == HSY_OK,
       "makes a forwarder's token");
    ok(tokens_enrolled(t, "browser", token, hash, &quota) == TOKENS_FORWARDER &&
           quota == 9 &&
           tokens_enrolled(t, "age", token, other, &quota) ==
               TOKENS_FORWARDER &&
           memcmp(hash, other, sizeof hash) == 0,
       "it is good for every task, under one name and its own quota");
    ok(tokens_enrolled(t, "browser", enrolled[0], hash, &quota) ==
               TOKENS_GOOD &&
           quota == 4 &&
           tokens_enrolled(t, "age", enrolled[0], hash, &quota) == TOKENS_OPEN,
       "a device's stays what it was, and open tasks stay open");
    while (tokens_task(t, n, task))
        if (n++ == 0)
            strcpy(first, task);
    ok(n == 2 && strcmp(first, "0-before") == 0 && strcmp(task, "browser") == 0,
       "forwarders are not taken for a task");
    tokens_close(t);
}

static void refuses_enrolment(void)
{
    static const char *const tasks[] = {"", ".", "..", "a/b", "Age", "-a"};
    hsy_error err;

    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
        ok(tokens_enrol(data, tasks[i], 1, 1, 0, take, NULL, &err) ==
               HSY_E_RANGE,
           "id %zu is no task's", i);
    ok(tokens_enrol(data, "a", 0, 1, 0, take, NULL, &err) == HSY_E_RANGE &&
           tokens_enrol(data, "a", 1, 0, 0, take, NULL, &err) == HSY_E_RANGE &&
           tokens_enrol(data, "a", 1, 1000001, 0, take, NULL, &err) ==
               HSY_E_RANGE,
       "a quota and a number have bounds");
}

/* ---- One by one ---------------------------------------------------------- */

struct listed {
    char id[TOKENS_ID];
    uint32_t expires;
    size_t n;
};

static hsy_status list_one(void *ctx, const char *id, uint32_t expires)
{
    struct listed *l = ctx;

    strcpy(l->id, id);
    l->expires = expires;
    l->n++;
    return HSY_OK;
}

static bool good_for(struct tokens *t, const char *token)
{
    uint8_t hash[16];
    uint32_t quota;

    return tokens_refresh(t, NULL, NULL) == HSY_OK &&
           tokens_enrolled(t, "lamp", token, hash, &quota) == TOKENS_GOOD;
}

static void ends_one_by_one(void)
{
    char one[TOKENS_TEXT], two[TOKENS_TEXT];
    struct listed l = {.n = 0};
    struct tokens *t = NULL;
    hsy_error err = {0};

    tokens_withdraw(data, "lamp", "all", &err);
    ok(tokens_enrol(data, "lamp", 1, 1, 100, keep, one, &err) == HSY_OK &&
           tokens_each_enrolled(data, "lamp", list_one, &l, &err) == HSY_OK &&
           l.n == 1 && l.expires == 100 && strlen(l.id) == 32,
       "a token can be listed, by a name of its own, with its last day");
    ok(tokens_enrol(data, "lamp", 1, 1, 0, keep, two, &err) == HSY_OK &&
           tokens_open(&t, data, &err) == HSY_OK,
       "another does not end");
    tokens_today(t, 100);
    ok(good_for(t, one) && good_for(t, two), "on its last day it is good");
    tokens_today(t, 101);
    ok(!good_for(t, one) && good_for(t, two), "and the day after not");
    ok(tokens_expire(data, "lamp", l.id, 101, &err) == HSY_OK &&
           good_for(t, one) &&
           tokens_expire(data, "lamp", two, 100, &err) == HSY_OK &&
           !good_for(t, two) && good_for(t, one),
       "a day can be set, by the name or by the token");
    ok(tokens_withdraw(data, "lamp", one, &err) == HSY_OK &&
           !good_for(t, one) &&
           tokens_withdraw(data, "lamp", one, &err) == HSY_E_UNKNOWN &&
           tokens_withdraw(data, "lamp", "x", &err) == HSY_E_UNKNOWN &&
           tokens_expire(data, "lump", two, 1, &err) == HSY_E_UNKNOWN,
       "one can be revoked, once");
    ok(tokens_withdraw(data, "lamp", two, &err) == HSY_OK &&
           tokens_refresh(t, NULL, NULL) == HSY_OK &&
           tokens_enrolled(t, "lamp", one, (uint8_t[16]){0}, &(uint32_t){0}) ==
               TOKENS_BAD,
       "a task whose last token is gone stays closed");
    ok(tokens_withdraw(data, "lamp", "all", &err) == HSY_OK &&
           tokens_refresh(t, NULL, NULL) == HSY_OK &&
           tokens_enrolled(t, "lamp", one, (uint8_t[16]){0}, &(uint32_t){0}) ==
               TOKENS_OPEN &&
           tokens_each_enrolled(data, "lamp", list_one, &l, &err) ==
               HSY_E_UNKNOWN,
       "until all are withdrawn");
    tokens_close(t);
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
    char tokens[3][TOKENS_TEXT];
    hsy_error err;

    if (mkdtemp(place) == NULL)
        return 1;
    snprintf(data, sizeof data, "%s/data", place);
    ok(tokens_revoke(data, "x", &err) == HSY_E_EMPTY,
       "without a directory there is nothing to revoke");
    adds_and_knows(tokens);
    refuses_names();
    tries_again();
    notices_changes(tokens);
    refuses_files();
    imports();
    enrols();
    forwards();
    refuses_enrolment();
    ends_one_by_one();
    leaves_nothing();
    unlink(inside("tokens.db"));
    rmdir(data);
    rmdir(place);
    return tap_done();
}
