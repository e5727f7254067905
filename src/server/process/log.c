/*
 * log.c - lines for the operator.
 *
 * The fields are formatted as text and, for JSON, taken apart again at their
 * blanks: there is one way to say what an event was. No line has a time: what
 * collects the lines knows when they came, and none is about one upload.
 */
#define _POSIX_C_SOURCE 200809L

#include "server/process/log.h"

#include "host/base/fields.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LINE 1024u /* bytes of a line; more is cut */

struct log {
    FILE *to;
    bool json;
    enum log_level level;
    pthread_mutex_t lock;
};

static const char *const log_levels[] = {"error", "note", "detail"};

struct log *log_open(FILE *to, bool json, enum log_level level)
{
    struct log *l = calloc(1, sizeof *l);

    if (l == NULL)
        return NULL;
    l->to = to;
    l->json = json;
    l->level = level;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void log_change(struct log *l, bool json, enum log_level level)
{
    pthread_mutex_lock(&l->lock);
    l->json = json;
    l->level = level;
    pthread_mutex_unlock(&l->lock);
}

void log_close(struct log *l)
{
    if (l == NULL)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- A line in the making ------------------------------------------------ */

struct log_text {
    char at[LOG_LINE];
    size_t used;
};

static void log_put(struct log_text *t, const char *text, size_t len)
{
    size_t room = sizeof t->at - 2 - t->used; /* the line's end, and NUL */

    if (len > room)
        len = room;
    memcpy(t->at + t->used, text, len);
    t->used += len;
}

static void log_say(struct log_text *t, const char *text)
{
    log_put(t, text, strlen(text));
}

/* What might steer a terminal or end a string is a question mark. */
static void log_tame(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
            *text = '?';
}

/* Whether a word is a number as JSON has them: 0, -7, 12.5; not 012. */
static bool log_number(const char *word, size_t len)
{
    size_t digits, at = len > 0 && word[0] == '-';
    const size_t first = at;

    while (at < len && word[at] >= '0' && word[at] <= '9')
        at++;
    if (at == first || (word[first] == '0' && at > first + 1))
        return false;
    if (at == len)
        return true;
    if (word[at++] != '.')
        return false;
    for (digits = at; at < len && word[at] >= '0' && word[at] <= '9';)
        at++;
    return at == len && at > digits;
}

/* ,"key":value for each key=value. */
static void log_members(struct log_text *t, const char *fields)
{
    while (*fields != '\0') {
        size_t len = strcspn(fields, " ");
        const char *equals = memchr(fields, '=', len);

        if (equals != NULL) {
            const char *word = equals + 1;
            size_t n = (size_t)(fields + len - word);
            const char *quote = log_number(word, n) ? "" : "\"";

            log_say(t, ",\"");
            log_put(t, fields, (size_t)(equals - fields));
            log_say(t, "\":");
            log_say(t, quote);
            log_put(t, word, n);
            log_say(t, quote);
        }
        fields += len + strspn(fields + len, " ");
    }
}

/* The lock is held. message: words with blanks, or NULL. */
static void log_line(struct log *l, enum log_level level, const char *event,
                     const char *fields, const char *message)
{
    struct log_text t = {.used = 0};

    log_say(&t, l->json ? "{\"level\":\"" : "");
    log_say(&t, log_levels[level]);
    log_say(&t, l->json ? "\",\"event\":\"" : " ");
    log_say(&t, event);
    if (l->json) {
        log_say(&t, "\"");
        log_members(&t, fields);
        if (message != NULL) {
            log_say(&t, ",\"message\":\"");
            log_say(&t, message);
            log_say(&t, "\"");
        }
        log_say(&t, "}");
    } else {
        if (fields[0] != '\0') {
            log_say(&t, " ");
            log_say(&t, fields);
        }
        if (message != NULL) {
            log_say(&t, ": ");
            log_say(&t, message);
        }
    }
    t.at[t.used++] = '\n';
    fwrite(t.at, 1, t.used, l->to);
    fflush(l->to);
}

/* Fields are cut where the line of the longest form still has its end. */
#define LOG_FIELDS (LOG_LINE / 4)

void log_event(struct log *l, enum log_level level, const char *event,
               const char *format, ...)
{
    char fields[LOG_FIELDS];
    va_list args;

    pthread_mutex_lock(&l->lock);
    if (level <= l->level) {
        va_start(args, format);
        vsnprintf(fields, sizeof fields, format, args);
        va_end(args);
        log_tame(fields);
        log_line(l, level, event, fields, NULL);
    }
    pthread_mutex_unlock(&l->lock);
}

void log_words(struct log *l, enum log_level level, const char *event,
               const char *name, const char *message)
{
    char fields[LOG_FIELDS];

    snprintf(fields, sizeof fields, "name=%s", name);
    pthread_mutex_lock(&l->lock);
    if (level <= l->level)
        log_line(l, level, event, fields, message);
    pthread_mutex_unlock(&l->lock);
}

void log_failure_about(struct log *l, const char *event, const char *about,
                       const hsy_error *err)
{
    char fields[LOG_FIELDS] = "", message[LOG_FIELDS];
    size_t used = 0;

    snprintf(message, sizeof message, "%s",
             err->msg != NULL ? err->msg : hsy_strstatus(err->status));
    log_tame(message);
    if (about[0] != '\0')
        used = (size_t)snprintf(fields, sizeof fields, "field=%.64s", about);
    if (err->at != 0)
        snprintf(fields + used, sizeof fields - used, "%sline=%" PRIu64,
                 used != 0 ? " " : "", err->at);
    log_tame(fields);
    pthread_mutex_lock(&l->lock);
    log_line(l, LOG_ERROR, event, fields, message);
    pthread_mutex_unlock(&l->lock);
}

void log_failure(struct log *l, const char *event, const hsy_error *err)
{
    log_failure_about(l, event, host_field_name(err->field), err);
}
