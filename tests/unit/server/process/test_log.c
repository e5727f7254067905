/* test_log.c - what an operator reads is one line an event, text or JSON, and
 * cannot be steered by what it tells of. */
#define _GNU_SOURCE
#include "host/base/fields.h"
#include "server/process/log.h"
#include "tap.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct page {
    char *text;
    size_t len;
    FILE *to;
    struct log *log;
};

static void page_open(struct page *p, bool json, enum log_level level)
{
    p->to = open_memstream(&p->text, &p->len);
    p->log = log_open(p->to, json, level);
}

/* What was written; the caller frees it. */
static char *page_close(struct page *p)
{
    log_close(p->log);
    fclose(p->to);
    return p->text;
}

static void says_what_happened(void)
{
    struct page p;
    const hsy_error err = {.status = HSY_E_IO,
                           .msg = "the disk is gone",
                           .field = HOST_FIELD_DATA};
    char *text;

    page_open(&p, false, LOG_NOTE);
    log_event(p.log, LOG_NOTE, "checkpoint", "bytes=%u task=%s", 12u, "age");
    log_event(p.log, LOG_DETAIL, "unheard", "bytes=%u", 1u);
    log_failure(p.log, "store-failed", &err);
    text = page_close(&p);
    ok(strcmp(text, "note checkpoint bytes=12 task=age\n"
                    "error store-failed field=data: the disk is gone\n") == 0,
       "lines of text: level, event, fields, message");
    free(text);
}

static void says_it_in_json(void)
{
    struct page p;
    const hsy_error err = {
        .status = HSY_E_FORMAT, .unit = HSY_UNIT_LINE, .at = 7};
    json_t *one, *two;
    char *text, *end;

    page_open(&p, true, LOG_DETAIL);
    log_event(p.log, LOG_DETAIL, "fold", "n=%d word=%s zero=%s share=%.2f", -3,
              "1-2", "007", 0.25);
    log_failure(p.log, "tokens-kept", &err);
    text = page_close(&p);
    end = strchr(text, '\n');
    *end = '\0';
    one = json_loads(text, 0, NULL);
    two = json_loads(end + 1, 0, NULL);
    ok(json_integer_value(json_object_get(one, "n")) == -3 &&
           strcmp(json_string_value(json_object_get(one, "word")), "1-2") ==
               0 &&
           strcmp(json_string_value(json_object_get(one, "zero")), "007") ==
               0 &&
           json_real_value(json_object_get(one, "share")) == 0.25,
       "numbers are numbers and the rest is words");
    ok(json_integer_value(json_object_get(two, "line")) == 7 &&
           json_string_length(json_object_get(two, "message")) > 0,
       "a failure has its line and its message");
    json_decref(one);
    json_decref(two);
    free(text);
}

/* Words come from task files at most; still, none may be another line. */
static void is_not_steered(void)
{
    for (int json = 0; json < 2; json++) {
        struct page p;
        char *text, word[2000];
        json_t *line;

        memset(word, 'x', sizeof word - 1);
        word[sizeof word - 1] = '\0';
        page_open(&p, json, LOG_NOTE);
        log_event(p.log, LOG_NOTE, "odd", "word=%s", "a\"\\\n\033[2Jb\xff");
        log_event(p.log, LOG_NOTE, "long", "word=%s", word);
        text = page_close(&p);
        ok(strstr(text, "a????[2Jb?") != NULL && strchr(text, '\033') == NULL,
           "what steers a terminal is a question mark");
        line = json_loads(strchr(text, '\n') + 1, 0, NULL);
        ok(strlen(text) < 1000 && text[strlen(text) - 1] == '\n' &&
               (line != NULL) == (json == 1),
           "a long word is cut, and the line is whole");
        json_decref(line);
        free(text);
    }
}

#define THREADS 4
#define LINES 200

static void *talk(void *log)
{
    for (int i = 0; i < LINES; i++)
        log_event(log, LOG_NOTE, "talk", "number=%d word=%s", i, "whole");
    return NULL;
}

static void keeps_lines_whole(void)
{
    pthread_t all[THREADS];
    struct page p;
    size_t good = 0;
    char *text, *rest = NULL;

    page_open(&p, false, LOG_NOTE);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&all[i], NULL, talk, p.log);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    text = page_close(&p);
    for (char *l = strtok_r(text, "\n", &rest); l != NULL;
         l = strtok_r(NULL, "\n", &rest))
        good += strncmp(l, "note talk number=", 17) == 0 &&
                strcmp(l + strlen(l) - 11, " word=whole") == 0;
    ok(good == THREADS * LINES, "lines of several threads do not mix");
    free(text);
}

static void changes_its_form(void)
{
    struct page p;
    char *text;

    page_open(&p, false, LOG_ERROR);
    log_event(p.log, LOG_NOTE, "one", "n=%d", 1);
    log_change(p.log, true, LOG_NOTE);
    log_event(p.log, LOG_NOTE, "two", "n=%d", 2);
    text = page_close(&p);
    ok(strcmp(text, "{\"level\":\"note\",\"event\":\"two\",\"n\":2}\n") == 0,
       "a reload changes form and level");
    free(text);
}

int main(void)
{
    says_what_happened();
    says_it_in_json();
    is_not_steered();
    keeps_lines_whole();
    changes_its_form();
    return tap_done();
}
