/* token_checks.c - see token_checks.h. */
#include "rig/token_checks.h"

#include "tap.h"

#include <string.h>

static struct tokens_keep *at;
static struct tokens_keep *(*opens)(void);

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
    char wrong[TOKENS_TEXT];
    struct tokens *t = NULL;
    int counts[4] = {0};
    hsy_error err;

    for (int i = 0; i < 3; i++)
        ok(tokens_add(at, names[i], (enum listen_role)(i + 1), tokens[i],
                      &err) == HSY_OK &&
               strlen(tokens[i]) == TOKENS_TEXT - 1,
           "makes a token for %s", names[i]);
    ok(tokens_open(&t, opens(), &err) == HSY_OK, "reads them");
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
    ok(tokens_each(at, count_one, counts, &err) == HSY_OK && counts[1] == 1 &&
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
        ok(tokens_add(at, names[i], LISTEN_ANALYST, token, &err) == HSY_E_RANGE,
           "name %zu is none", i);
    ok(tokens_add(at, "ann", LISTEN_ANALYST, token, &err) == HSY_E_REFUSED,
       "a name is taken once");
    ok(tokens_revoke(at, "bob", &err) == HSY_E_UNKNOWN,
       "what is not there cannot be revoked");
}

static void notices_changes(char tokens[3][TOKENS_TEXT])
{
    struct tokens *t = NULL;
    char late[TOKENS_TEXT];
    bool changed = true;
    hsy_error err;

    ok(tokens_open(&t, opens(), &err) == HSY_OK, "opens");
    ok(tokens_add(at, "late", LISTEN_OPERATOR, late, &err) == HSY_OK &&
           tokens_role(t, late) == LISTEN_ANYONE &&
           tokens_refresh(t, &changed, &err) == HSY_OK && changed &&
           tokens_role(t, late) == LISTEN_OPERATOR,
       "a token that is added is known after a look");
    ok(tokens_revoke(at, "late", &err) == HSY_OK &&
           tokens_refresh(t, NULL, &err) == HSY_OK &&
           tokens_role(t, late) == LISTEN_ANYONE &&
           tokens_role(t, tokens[1]) == LISTEN_ANALYST,
       "one that is revoked is not, the others are");
    tokens_close(t);
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
    size_t good = 0, dashes = 0;
    hsy_error err;

    ok(tokens_enrol(at, "browser", 3, COUNT - 1, 0, take, NULL, &err) ==
               HSY_OK &&
           tokens_enrol(at, "browser", 4, 1, 0, take, NULL, &err) == HSY_OK &&
           nenrolled == COUNT,
       "makes tokens of a task, and one more");
    for (size_t i = 0; i < COUNT; i++)
        dashes += enrolled[i][0] == '-';
    is_u64(dashes, 0, "no token begins with a dash, as an option does");
    ok(tokens_open(&t, opens(), &err) == HSY_OK, "reads them");
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

    ok(tokens_enrol(at, "0-before", 1, 1, 0, keep, token, &err) == HSY_OK &&
           tokens_enrol(at, TOKENS_FORWARDERS, 9, 1, 0, keep, token, &err) ==
               HSY_OK &&
           tokens_open(&t, opens(), &err) == HSY_OK,
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
        ok(tokens_enrol(at, tasks[i], 1, 1, 0, take, NULL, &err) == HSY_E_RANGE,
           "id %zu is no task's", i);
    ok(tokens_enrol(at, "a", 0, 1, 0, take, NULL, &err) == HSY_E_RANGE &&
           tokens_enrol(at, "a", 1, 0, 0, take, NULL, &err) == HSY_E_RANGE &&
           tokens_enrol(at, "a", 1, 1000001, 0, take, NULL, &err) ==
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

    tokens_withdraw(at, "lamp", "all", &err);
    ok(tokens_enrol(at, "lamp", 1, 1, 100, keep, one, &err) == HSY_OK &&
           tokens_each_enrolled(at, "lamp", list_one, &l, &err) == HSY_OK &&
           l.n == 1 && l.expires == 100 && strlen(l.id) == 32,
       "a token can be listed, by a name of its own, with its last day");
    ok(tokens_enrol(at, "lamp", 1, 1, 0, keep, two, &err) == HSY_OK &&
           tokens_open(&t, opens(), &err) == HSY_OK,
       "another does not end");
    tokens_today(t, 100);
    ok(good_for(t, one) && good_for(t, two), "on its last day it is good");
    tokens_today(t, 101);
    ok(!good_for(t, one) && good_for(t, two), "and the day after not");
    ok(tokens_expire(at, "lamp", l.id, 101, &err) == HSY_OK &&
           good_for(t, one) &&
           tokens_expire(at, "lamp", two, 100, &err) == HSY_OK &&
           !good_for(t, two) && good_for(t, one),
       "a day can be set, by the name or by the token");
    ok(tokens_withdraw(at, "lamp", one, &err) == HSY_OK && !good_for(t, one) &&
           tokens_withdraw(at, "lamp", one, &err) == HSY_E_UNKNOWN &&
           tokens_withdraw(at, "lamp", "x", &err) == HSY_E_UNKNOWN &&
           tokens_expire(at, "lump", two, 1, &err) == HSY_E_UNKNOWN,
       "one can be revoked, once");
    ok(tokens_withdraw(at, "lamp", two, &err) == HSY_OK &&
           tokens_refresh(t, NULL, NULL) == HSY_OK &&
           tokens_enrolled(t, "lamp", one, (uint8_t[16]){0}, &(uint32_t){0}) ==
               TOKENS_BAD,
       "a task whose last token is gone stays closed");
    ok(tokens_withdraw(at, "lamp", "all", &err) == HSY_OK &&
           tokens_refresh(t, NULL, NULL) == HSY_OK &&
           tokens_enrolled(t, "lamp", one, (uint8_t[16]){0}, &(uint32_t){0}) ==
               TOKENS_OPEN &&
           tokens_each_enrolled(at, "lamp", list_one, &l, &err) ==
               HSY_E_UNKNOWN,
       "until all are withdrawn");
    tokens_close(t);
}

struct tasks_seen {
    char names[200];
    uint64_t n;
};

static hsy_status see_task(void *ctx, const char *task, uint64_t n,
                           uint32_t quota)
{
    struct tasks_seen *seen = ctx;
    char text[80];

    snprintf(text, sizeof text, "%s:%u:%u ", task, (unsigned)n,
             (unsigned)quota);
    strncat(seen->names, text, sizeof seen->names - strlen(seen->names) - 1);
    seen->n++;
    return HSY_OK;
}

/* After forwards(). */
static void lists_tasks(void)
{
    struct tasks_seen seen = {.n = 0};
    hsy_error err;

    ok(tokens_each_task(at, see_task, &seen, &err) == HSY_OK &&
           eq_text(seen.names, "0-before:1:1 Forwarders:1:9 browser:300:4 "),
       "tasks are listed, in the order of their bytes");
    ok(tokens_asked(at, "browser"), "where no document is, all may be asked");
}

void token_checks(struct tokens_keep *(*open)(void))
{
    char tokens[3][TOKENS_TEXT];

    opens = open;
    at = open();
    nenrolled = 0;
    adds_and_knows(tokens);
    refuses_names();
    notices_changes(tokens);
    enrols();
    forwards();
    lists_tasks();
    refuses_enrolment();
    ends_one_by_one();
    tokens_keep_close(at);
}
