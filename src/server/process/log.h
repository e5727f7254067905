/*
 * log.h - what an operator may read: no address, no agent, no id, no time of a
 * single upload (P7).
 *
 * One line an event on standard error, as text or JSON. A message is a literal
 * and its fields are numbers, names of tasks, or words of ours: there is no way
 * to log bytes of a request.
 */
#ifndef SERVER_PROCESS_LOG_H
#define SERVER_PROCESS_LOG_H

#include "hearsay.h"

#include <stdio.h>

enum log_level { LOG_ERROR = 0, LOG_NOTE = 1, LOG_DETAIL = 2 };

struct log;

struct log *log_open(FILE *to, bool json, enum log_level level);
void log_change(struct log *l, bool json, enum log_level level);
void log_close(struct log *l);

/* event: a literal word such as "checkpoint". format gives fields: "key=%u
 * key=%s", each `%s` a word without blanks. Any thread; whole lines. */
void log_event(struct log *l, enum log_level level, const char *event,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with a name and a message in words, which are ours. */
void log_words(struct log *l, enum log_level level, const char *event,
               const char *name, const char *message);

/* A failure of ours, with what the library said. */
void log_failure(struct log *l, const char *event, const hsy_error *err);

/* The same about something that is not called as its field is. */
void log_failure_about(struct log *l, const char *event, const char *about,
                       const hsy_error *err);

#endif
