/* test_world.c - the world of a device in a directory: who may use it, what is
 * durable, what is refused. */
#define _GNU_SOURCE
#include "host/client/world.h"
#include "host/seal/seal.h"

#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[64], home[96], anchor[96];

static const char *inside(const char *name)
{
    static char path[160];

    snprintf(path, sizeof path, "%s/%s", home, name);
    return path;
}

static void empty(const char *directory)
{
    DIR *d = opendir(directory);
    struct dirent *e;

    while (d != NULL && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d != NULL)
        closedir(d);
}

/* Nothing there, not even the directory. */
static void afresh(void)
{
    chmod(home, 0700);
    empty(home);
    rmdir(home);
    unlink(home);
    unlink(anchor);
}

static hsy_host *opened(const hsy_host_options *options)
{
    hsy_host *h = NULL;

    return hsy_host_open(&h, home, options, NULL) == HSY_OK ? h : NULL;
}

static hsy_status refusal(const hsy_host_options *options, hsy_error *err)
{
    hsy_host *h = NULL;
    hsy_status st;

    *err = (hsy_error){0};
    st = hsy_host_open(&h, home, options, err);
    if (st == HSY_OK)
        hsy_host_close(h);
    return st;
}

static const hsy_host_options plain = {.size = sizeof plain};
static const hsy_host_options creating = {.size = sizeof creating,
                                          .create = true};

static mode_t mode_of(const char *path)
{
    struct stat s;

    return lstat(path, &s) == 0 ? s.st_mode & 07777 : 0;
}

static bool holds(hsy_host *h, hsy_file file, const char *text)
{
    const hsy_world *w = hsy_host_world(h);
    uint8_t buf[64];
    size_t len = 0;

    return w->load(w->ctx, file, buf, sizeof buf, &len) == HSY_OK &&
           len == strlen(text) && memcmp(buf, text, len) == 0;
}

static hsy_status put(hsy_host *h, hsy_file file, const char *text)
{
    const hsy_world *w = hsy_host_world(h);

    return w->store(w->ctx, file, (const uint8_t *)text, strlen(text));
}

/* ---- The directory ------------------------------------------------------- */

static void makes_and_guards_its_directory(void)
{
    hsy_error err;
    hsy_host *h;

    afresh();
    ok(refusal(&plain, &err) == HSY_E_EMPTY && err.msg != NULL,
       "no directory: no device");
    h = opened(&creating);
    ok(h != NULL && mode_of(home) == 0700 && mode_of(inside("lock")) == 0600,
       "makes a directory for its owner alone");
    hsy_host_close(h);
    chmod(home, 0750);
    ok(refusal(&plain, &err) == HSY_E_REFUSED &&
           strstr(err.msg, "chmod") != NULL,
       "a directory that others can read is refused, with what to do");
    chmod(home, 0702);
    ok(refusal(&creating, &err) == HSY_E_REFUSED, "one they can write, too");
    chmod(home, 0700);
    if (geteuid() == 0 && chown(home, 12345, 12345) == 0) {
        ok(refusal(&plain, &err) == HSY_E_REFUSED &&
               strstr(err.msg, "another user") != NULL,
           "and somebody else's");
        ok(chown(home, 0, 0) == 0, "(taken back)");
    } else {
        tap_skip("only root can give a directory away");
    }
    ok(refusal(&plain, &err) == HSY_OK, "then it opens");
    ok(refusal(&(hsy_host_options){.size = 8}, &err) == HSY_E_RANGE,
       "options of another size are refused");
}

/* As on a system where each program gets a directory of its own, in one that
 * nobody may list. */
static void needs_no_look_at_its_parent(void)
{
    int status = -1;

    afresh();
    if (geteuid() != 0) {
        tap_skip("only root can become another user");
        return;
    }
    if (mkdir(home, 0700) == -1 || chown(home, 12345, 12345) == -1 ||
        chmod(root, 0711) == -1)
        exit(1);
    if (fork() == 0) {
        hsy_error err;

        _exit(setgid(12345) == -1 || setuid(12345) == -1 ||
              refusal(NULL, &err) != HSY_OK);
    }
    wait(&status);
    ok(status == 0, "a directory opens though its parent cannot be read");
    chmod(root, 0700);
}

static void follows_no_link(void)
{
    char target[128];
    hsy_error err;
    hsy_host *h;
    uint8_t buf[8];
    size_t len;
    const hsy_world *w;

    afresh();
    snprintf(target, sizeof target, "%s/target", root);
    mkdir(target, 0700);
    ok(symlink(target, home) == 0 && refusal(&plain, &err) == HSY_E_IO,
       "a link in the directory's place is refused");
    unlink(home);
    h = opened(&creating);
    w = hsy_host_world(h);
    put(h, HSY_FILE_A, "old");
    unlink(inside("state.a"));
    ok(symlink("/etc/passwd", inside("state.a")) == 0 &&
           w->load(w->ctx, HSY_FILE_A, buf, 8, &len) == HSY_E_IO,
       "a link in a file's place is not read");
    ok(put(h, HSY_FILE_A, "new") == HSY_OK && holds(h, HSY_FILE_A, "new"),
       "and is replaced, not followed");
    chmod(inside("state.a"), 0644);
    ok(w->load(w->ctx, HSY_FILE_A, buf, 8, &len) == HSY_E_IO,
       "a file that others can read is not taken");
    hsy_host_close(h);
    unlink(inside("lock"));
    ok(symlink("/etc/passwd", inside("lock")) == 0 &&
           refusal(&plain, &err) == HSY_E_IO && err.msg != NULL,
       "a link in the lock's place is refused");
    rmdir(target);
}

/* ---- Files --------------------------------------------------------------- */

static void keeps_files(void)
{
    hsy_host *h;
    const hsy_world *w;
    uint8_t buf[4];
    size_t len = 77;

    afresh();
    h = opened(NULL);
    w = hsy_host_world(h);
    ok(w->load(w->ctx, HSY_FILE_KEY, buf, 4, &len) == HSY_E_EMPTY && len == 77,
       "a file that is not there is empty, not damaged");
    ok(put(h, HSY_FILE_KEY, "key") == HSY_OK && holds(h, HSY_FILE_KEY, "key") &&
           mode_of(inside("key")) == 0600,
       "a key is stored, for the owner alone");
    ok(put(h, HSY_FILE_KEY, "other") == HSY_E_IO &&
           holds(h, HSY_FILE_KEY, "key"),
       "once: a second key is refused and the first stands");
    ok(put(h, HSY_FILE_A, "one") == HSY_OK &&
           put(h, HSY_FILE_A, "three") == HSY_OK &&
           holds(h, HSY_FILE_A, "three"),
       "a state takes the old one's place");
    ok(w->load(w->ctx, HSY_FILE_A, buf, 4, &len) == HSY_E_RANGE,
       "a file longer than the room is not cut");
    ok(put(h, HSY_FILE_B, "") == HSY_OK && holds(h, HSY_FILE_B, ""),
       "an empty file is a file");
    hsy_host_close(h);
    close(open(inside("state.b.new"), O_CREAT | O_WRONLY, 0644));
    h = opened(NULL);
    ok(h != NULL && access(inside("state.b.new"), F_OK) == -1,
       "what a killed process left of a draft is removed");
    umask(0777);
    ok(put(h, HSY_FILE_B, "b") == HSY_OK && holds(h, HSY_FILE_B, "b"),
       "whatever the umask is");
    hsy_host_close(h);
    unlink(inside("lock"));
    h = opened(NULL);
    umask(022);
    ok(h != NULL && mode_of(inside("lock")) == 0600, "the lock's, too");
    hsy_host_close(h);
}

/* ---- One process at a time ----------------------------------------------- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What another process says to opening it, with this much patience. */
static int elsewhere(uint32_t wait)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        const hsy_host_options o = {.size = sizeof o, .wait_seconds = wait};
        hsy_error err;

        _exit((int)refusal(&o, &err));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void has_one_writer(void)
{
    hsy_host *h;
    double before;
    pid_t child;
    int status = 0, ends[2];

    afresh();
    h = opened(NULL);
    ok(elsewhere(0) == HSY_E_BUSY, "a second process is told to come back");
    before = seconds();
    ok(elsewhere(1) == HSY_E_BUSY && seconds() - before >= 1,
       "or waits as long as it may");
    unlink(inside("lock"));
    ok(elsewhere(0) == HSY_OK,
       "(who deletes the lock breaks it: the directory is theirs)");

    hsy_host_close(h);
    h = opened(NULL);
    child = fork();
    if (child == 0) {
        const hsy_world *w = hsy_host_world(h);
        uint8_t buf[8];
        size_t len;
        uint64_t number;
        bool refused =
            w->load(w->ctx, HSY_FILE_A, buf, 8, &len) == HSY_E_REFUSED &&
            put(h, HSY_FILE_A, "child") == HSY_E_REFUSED &&
            hsy_world_anchor_read(h, &number) == HSY_E_REFUSED &&
            hsy_world_anchor_raise(h, 1) == HSY_E_REFUSED;

        hsy_host_close(h);
        _exit(refused ? 0 : 1);
    }
    waitpid(child, &status, 0);
    ok(status == 0, "a forked child is refused");
    ok(elsewhere(0) == HSY_E_BUSY,
       "and takes nothing from its parent by closing");
    if (pipe(ends) != 0)
        abort();
    child = fork();
    if (child == 0) {
        char byte;

        (void)!read(ends[0], &byte, 1);
        usleep(300000);
        hsy_host_close(h);
        _exit(0);
    }
    hsy_host_close(h);
    ok(elsewhere(0) == HSY_E_BUSY && write(ends[1], "", 1) == 1 &&
           elsewhere(120) == HSY_OK,
       "waiting ends when the last holder is gone");
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
}

/* ---- The anchor ---------------------------------------------------------- */

static void write_anchor(const char *text)
{
    int fd = open(anchor, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        ok(false, "anchor written");
    close(fd);
}

static void keeps_an_anchor(void)
{
    const hsy_host_options o = {
        .size = sizeof o, .create = true, .anchor = anchor};
    static const char *const wrong[] = {
        "", "x", "1x", " 1", "1\n\n", "-1\n", "\n", "18446744073709551616\n"};
    char own[160];
    const hsy_host_options same = {
        .size = sizeof same, .create = true, .anchor = own};
    const hsy_world *w;
    hsy_error err;
    hsy_host *h;
    uint64_t n = 9;

    afresh();
    h = opened(&o);
    w = hsy_host_world(h);
    ok(w->anchor_read(w->ctx, &n) == HSY_OK && n == 0,
       "before a device is made the anchor is 0");
    ok(w->anchor_raise(w->ctx, 7) == HSY_OK &&
           w->anchor_raise(w->ctx, 7) == HSY_OK &&
           w->anchor_read(w->ctx, &n) == HSY_OK && n == 7,
       "it is raised");
    ok(w->anchor_raise(w->ctx, 6) == HSY_E_DAMAGED &&
           w->anchor_read(w->ctx, &n) == HSY_OK && n == 7,
       "and never lowered");
    ok(w->anchor_raise(w->ctx, UINT64_MAX) == HSY_OK &&
           w->anchor_read(w->ctx, &n) == HSY_OK && n == UINT64_MAX,
       "up to 2^64 - 1");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_anchor(wrong[i]);
        n = 5;
        ok(w->anchor_read(w->ctx, &n) == HSY_E_DAMAGED && n == 5 &&
               w->anchor_raise(w->ctx, 8) == HSY_E_DAMAGED,
           "a damaged anchor is not believed (%zu)", i);
    }
    unlink(anchor);
    put(h, HSY_FILE_KEY, "key");
    ok(w->anchor_read(w->ctx, &n) == HSY_E_DAMAGED,
       "an anchor that is gone is not 0 again");
    hsy_host_close(h);
    snprintf(own, sizeof own, "%s/anchor", home);
    ok(refusal(&same, &err) == HSY_E_RANGE && err.field == HSY_FIELD_ANCHOR,
       "an anchor inside the directory is none");
    h = opened(&plain);
    ok(hsy_host_world(h)->anchor_read == NULL, "without one there is none");
    hsy_host_close(h);
}

/* ---- The log ------------------------------------------------------------- */

static size_t log_text(const char *name, char *text, size_t room)
{
    int fd = open(inside(name), O_RDONLY);
    ssize_t n = fd == -1 ? 0 : read(fd, text, room - 1);

    if (fd != -1)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static void keeps_a_log(void)
{
    const uint8_t bytes[3] = {0x01, 0xab, 0xff};
    static const char want[] =
        "2026-11-16 tasks version=3\n"
        "2026-11-16 charge task=browser/2 source=web slot=4 "
        "epsilon=1.098612288\n"
        "2026-11-16 silent task=browser/2 source=web slot=4 round=5 "
        "why=exhausted\n"
        "2026-11-16 upload task=browser/2 source=web slot=4 round=5 "
        "bytes=01abff\n"
        "2026-11-16 consent consent=send\n"
        "2026-11-16 forget source=all\n";
    hsy_log_entry e = {.day = 20773,
                       .kind = HSY_LOG_TASKS,
                       .release = 2,
                       .slot = 4,
                       .round = 5,
                       .u.version = 3};
    const hsy_world *w;
    static char text[4096];
    hsy_host *h;

    afresh();
    h = opened(NULL);
    w = hsy_host_world(h);
    ok(access(inside("log"), F_OK) == -1, "no entry, no log");
    w->log(w->ctx, &e);
    snprintf(e.task, sizeof e.task, "browser");
    snprintf(e.source, sizeof e.source, "web");
    e.kind = HSY_LOG_CHARGE;
    e.u.nano_charged = 1098612288;
    w->log(w->ctx, &e);
    e.kind = HSY_LOG_SILENT;
    e.u.state = HSY_ANSWER_EXHAUSTED;
    w->log(w->ctx, &e);
    e.kind = HSY_LOG_UPLOAD;
    e.u.upload.bytes = bytes;
    e.u.upload.len = 3;
    w->log(w->ctx, &e);
    e.kind = HSY_LOG_CONSENT;
    e.u.consent = HSY_CONSENT_SEND;
    w->log(w->ctx, &e);
    e.kind = HSY_LOG_FORGET;
    e.source[0] = '\0';
    w->log(w->ctx, &e);
    e.kind = 99;
    w->log(w->ctx, &e);
    log_text("log", text, sizeof text);
    ok(strcmp(text, want) == 0 && hsy_host_logged(h) &&
           mode_of(inside("log")) == 0600,
       "one line an entry, in words");
    hsy_host_close(h);

    ok(truncate(inside("log"), 20) == 0, "(cut)");
    h = opened(NULL);
    w = hsy_host_world(h);
    e.kind = HSY_LOG_FORGET;
    w->log(w->ctx, &e);
    log_text("log", text, sizeof text);
    ok(strcmp(text, "2026-11-16 tasks ver\n2026-11-16 forget source=all\n") ==
           0,
       "a line that was cut does not spoil the next");
    hsy_host_close(h);
}

static void log_has_an_end(void)
{
    static uint8_t bytes[100000];
    static char text[4096];
    hsy_log_entry e = {
        .day = 0, .kind = HSY_LOG_UPLOAD, .u.upload = {bytes, sizeof bytes}};
    const hsy_world *w;
    struct stat s = {0}, old = {0};
    hsy_host *h;

    afresh();
    h = opened(NULL);
    w = hsy_host_world(h);
    for (int i = 0; i < 8; i++)
        w->log(w->ctx, &e);
    ok(stat(inside("log"), &s) == 0 && stat(inside("log.1"), &old) == 0 &&
           old.st_size >= 1 << 20 && old.st_size < (1 << 20) + 250000 &&
           s.st_size + old.st_size > 8 * 200000 && s.st_size < 1 << 21,
       "past 1 MiB the log becomes log.1");
    log_text("log", text, sizeof text);
    ok(strncmp(text, "1970-01-01 upload ", 18) == 0,
       "and begins anew with a whole line");
    hsy_host_close(h);

    afresh();
    h = opened(NULL);
    w = hsy_host_world(h);
    ok(mkdir(inside("log"), 0700) == 0, "(a directory in the log's place)");
    w->log(w->ctx, &e);
    ok(!hsy_host_logged(h) && put(h, HSY_FILE_A, "a") == HSY_OK,
       "a log that fails is remembered and stops nothing");
    hsy_host_close(h);
    rmdir(inside("log"));
    {
        const hsy_host_options quiet = {.size = sizeof quiet, .no_log = true};

        h = opened(&quiet);
        ok(hsy_host_world(h)->log == NULL, "there may be none");
        hsy_host_close(h);
    }
}

/* ---- Clock and entropy --------------------------------------------------- */

static void has_clock_and_entropy(void)
{
    const hsy_world *w;
    hsy_host *h;
    struct timespec before, after;
    uint64_t now = 0;
    uint8_t a[32] = {0}, b[32] = {0};

    afresh();
    h = opened(NULL);
    w = hsy_host_world(h);
    clock_gettime(CLOCK_REALTIME, &before);
    ok(w->now(w->ctx, &now) == HSY_OK &&
           clock_gettime(CLOCK_REALTIME, &after) == 0 &&
           now >= (uint64_t)before.tv_sec && now <= (uint64_t)after.tv_sec,
       "the clock is the system's");
    ok(w->entropy.fill(w->entropy.ctx, a, 32) == HSY_OK &&
           w->entropy.fill(w->entropy.ctx, b, 32) == HSY_OK &&
           memcmp(a, b, 32) != 0,
       "so is the randomness");
    hsy_host_close(h);
    hsy_host_close(NULL);
}

static hsy_status given_clock(void *ctx, uint64_t *seconds)
{
    *seconds = *(const uint64_t *)ctx;
    return *seconds != 0 ? HSY_OK : HSY_E_IO;
}

/* The options as they were before there was a clock in them. */
struct earlier_options {
    size_t size;
    uint32_t wait_seconds;
    const char *anchor;
    bool no_log, create;
};

static void takes_a_clock(void)
{
    uint64_t at = 1793793600, now = 0;
    const hsy_host_options given = {.size = sizeof given,
                                    .create = true,
                                    .clock = given_clock,
                                    .clock_ctx = &at};
    union {
        struct earlier_options earlier;
        hsy_host_options now;
    } old;
    const hsy_world *w;
    hsy_host *h;

    afresh();
    h = opened(&given);
    w = hsy_host_world(h);
    ok(w->now(w->ctx, &now) == HSY_OK && now == at,
       "the clock is the caller's");
    at += 86400;
    ok(w->now(w->ctx, &now) == HSY_OK && now == at, "and is asked every time");
    at = 0;
    ok(w->now(w->ctx, &now) == HSY_E_IO, "one that fails is no time at all");
    hsy_host_close(h);
    memset(&old, 0xff, sizeof old); /* what lies behind them is not looked at */
    old.earlier =
        (struct earlier_options){.size = sizeof old.earlier, .create = true};
    h = opened(&old.now);
    ok(h != NULL, "options of before the clock are taken");
    w = hsy_host_world(h);
    ok(w->now(w->ctx, &now) == HSY_OK && now > 1600000000,
       "and have the system's");
    hsy_host_close(h);
}

/* What a device seals is opened by its parties in turn, bound to its place. */
static void seals(void)
{
    hsy_host *h = opened(NULL);
    const hsy_world *w = hsy_host_world(h);
    uint8_t secret[2][SEAL_KEY], keys[2][SEAL_KEY], seed[SEAL_SEED] = {1};
    uint8_t digest[HSY_DIGEST] = {2}, id[16] = {3}, report[2] = {4, 5};
    uint8_t terms[HSY_DIGEST] = {6};
    uint8_t out[107], again[107], inner[107], last[107];
    char task[HSY_TASK_ID + 1] = "color";
    hsy_envelope e = {.task = task,
                      .release = 1,
                      .digest = digest,
                      .terms = terms,
                      .epoch = 20000,
                      .id = id,
                      .keys = keys[0],
                      .layers = 2,
                      .seed = seed,
                      .kind = HSY_UPLOAD_REPORTS,
                      .report = report,
                      .report_len = 2};
    const struct seal_place at = {task, 1, digest, 20000, id, terms};

    seal_keypair(keys[0], secret[0]);
    seal_keypair(keys[1], secret[1]);
    ok(w->seal(w->ctx, out, sizeof out, &e) == HSY_OK &&
           w->seal(w->ctx, again, sizeof again, &e) == HSY_OK &&
           memcmp(out, again, sizeof out) == 0,
       "the world seals an upload, and a retry is the same");
    ok(seal_peel(inner, secret[0], keys[0], 0, 2, &at, out, 107) == HSY_OK &&
           seal_peel(last, secret[1], keys[1], 1, 2, &at, inner, 55) ==
               HSY_OK &&
           last[0] == SEAL_REPORT && memcmp(last + 1, report, 2) == 0,
       "the shuffler and then the collector open it");
    e.kind = HSY_UPLOAD_NULL;
    ok(w->seal(w->ctx, out, sizeof out, &e) == HSY_OK &&
           seal_peel(inner, secret[0], keys[0], 0, 2, &at, out, 107) ==
               HSY_OK &&
           seal_peel(last, secret[1], keys[1], 1, 2, &at, inner, 55) ==
               HSY_OK &&
           last[0] == SEAL_NULL && last[1] == 0 && last[2] == 0,
       "a null upload has as many bytes, and zeros in it");
    ok(w->seal(w->ctx, out, sizeof out - 1, &e) == HSY_E_RANGE,
       "there is room for just that");
    hsy_host_close(h);
}

int main(void)
{
    strcpy(root, "/tmp/hearsay-world-XXXXXX");
    if (mkdtemp(root) == NULL)
        return 1;
    snprintf(home, sizeof home, "%s/device", root);
    snprintf(anchor, sizeof anchor, "%s/anchor", root);
    makes_and_guards_its_directory();
    needs_no_look_at_its_parent();
    follows_no_link();
    keeps_files();
    has_one_writer();
    keeps_an_anchor();
    keeps_a_log();
    log_has_an_end();
    has_clock_and_entropy();
    takes_a_clock();
    seals();
    afresh();
    empty(root);
    rmdir(root);
    return tap_done();
}
