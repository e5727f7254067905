/* api.h - what the routes of both listeners share. */
#ifndef SERVER_COLLECTOR_API_API_H
#define SERVER_COLLECTOR_API_API_H

#include "server/collector/estimator/estimator.h"

/* ---- Answers ------------------------------------------------------------- */

/* Close p and answer with it. */
void api_answer(struct request *q, int status, struct put *p);

/* Begin an answer; false after saying that there is no memory. */
bool api_begin(struct request *q, struct put *p);

/* Say what went wrong as a problem; the status follows from err->status. */
void api_failed(struct request *q, const hsy_error *err);

/* The same about something that is not called as its field is. */
void api_failed_about(struct request *q, const char *about,
                      const hsy_error *err);

void api_problem(struct request *q, int status, const char *title,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Have a route's work done later, on the desk's thread; 503 if it is busy. */
void api_later(struct request *q, void *ctx);

/* The same of what changes something: not for a page of somebody else, open in
 * the browser of one who may. */
void api_change(struct request *q, void *ctx);

/* A list that is asked for when a generation is due waits for it; else, and if
 * too many wait, it is given as it is. */
void api_renewed(struct request *q, void *ctx);

/* Whether an operator asks. */
bool api_operator(struct collector *c, const struct request *q);

/* ---- What is asked ------------------------------------------------------- */

/* The entry of the path's task, of the release that the parameter `name` says,
 * else of the one in force, else of the last. The roster is the caller's to
 * drop; NULL after an answer. */
struct roster *api_entry(struct collector *c, struct request *q,
                         const char *name, const struct roster_entry **e);

/* The same of one that has a tally: 410 if it is retired. */
struct roster *api_kept(struct collector *c, struct request *q,
                        const char *name, const struct roster_entry **e);

/* Answer with an object about the path's task, of the release asked for. */
typedef void api_members(struct put *p, struct collector *c,
                         const struct request *q, const struct roster_entry *e);
void api_about(struct collector *c, struct request *q, api_members *put);

/* A parameter as a number or a day; what is not there leaves *out as it is.
 * zero: a fraction may be 0. False after an answer. */
bool api_count(struct request *q, const char *name, uint64_t most,
               uint64_t *out);
bool api_fraction(struct request *q, const char *name, bool zero, double *out);
bool api_day(struct request *q, const char *name, uint32_t *out);

/* ---- Routes: each answers ------------------------------------------------ */

void api_health(struct request *q, void *ctx); /* api_status.c */
void api_ready(struct request *q, void *ctx);
void api_status(struct request *q, void *ctx);
void api_metrics(struct request *q, void *ctx); /* api_metrics.c */
void api_page(struct request *q, void *ctx);    /* api_page.c */
void api_asset(struct request *q, void *ctx);
void api_tasks(struct request *q, void *ctx); /* api_tasks.c */
void api_task(struct request *q, void *ctx);
void api_estimate(struct request *q, void *ctx); /* api_figures.c */
void api_estimate_csv(struct request *q, void *ctx);
void api_estimate_svg(struct request *q, void *ctx);
void api_compare(struct request *q, void *ctx);
void api_history(struct request *q, void *ctx);
void api_tally(struct request *q, void *ctx); /* api_operate.c */
void api_live(struct request *q, void *ctx);
void api_merge(struct request *q, void *ctx);
void api_document(struct request *q, void *ctx);
void api_put_document(struct request *q, void *ctx);
void api_backup(struct request *q, void *ctx);
void api_retire(struct request *q, void *ctx);
void api_purge(struct request *q, void *ctx);

void api_sealed(struct request *q, void *ctx); /* api_sealed.c: by a relay */
void api_sealed_keys(struct request *q, void *ctx);
void api_post_batch(struct request *q, void *ctx); /* api_batches.c */
/* At a shuffler: what was passed on, and what was erased for want of others,
 * for anyone; and all that was decided, for operators. */
void api_batches(struct request *q, void *ctx);
void api_all_batches(struct request *q, void *ctx);
/* At a shuffler: which documents it has loaded, signed. */
void api_documents(struct request *q, void *ctx);

/* ---- Uploads that somebody has brought (uploads.c) ----------------------- */

/* In clear or sealed: read, judged and answered alike. */

/* What becomes of them, for whoever brought them. */
struct uploads_answer {
    int status;              /* 204: all are counted; 0: cut the connection */
    const char *retry_after; /* seconds; NULL: none */
    const char *reason;      /* one word; NULL: nothing is refused */
    const char *title, *detail;    /* of a problem; title NULL: see refusals */
    const struct intake *refusals; /* which are refused, and why; NULL: none is
                                      by itself */
};

struct uploads {
    struct submission submission; /* the first member */
    struct collector *collector;
    const char *token; /* while they are read; NULL: none */
    enum intake_form form;
    bool single; /* more than one is refused */
    /* Called once, by any thread; what it is told is gone afterwards. */
    void (*answer)(struct uploads *u, const struct uploads_answer *a);
};

/* Take a body, which is freed. */
void uploads_take(struct uploads *u, uint8_t *body, size_t len);

/* The form that a Content-Type names; false: none. */
bool uploads_form(enum intake_form *form, const char *type, size_t len);

bool uploads_accepted(const struct intake_upload *u);

/* ---- Counters that readers see (api_rounded.c) --------------------------- */

/* Who is no operator sees counters of uploads in steps: a power of ten, at
 * least 100, and no less than any task's min_reports. */
uint64_t api_step(struct collector *c);

/* What the engine, the workers, the public listener and the machine say. step
 * 1: to an operator; else all that goes up or down with uploads is of the last
 * moment of the grid (history_seen), and rounded. */
void api_look_engine(struct collector *c, struct engine_status *out,
                     uint64_t step);
void api_look_times(struct collector *c, struct workers_times *out,
                    uint64_t step);
void api_look_public(struct collector *c, struct listen_status *out,
                     uint64_t step);
void api_look_figures(struct collector *c, struct watch_figures *out,
                      uint64_t step);

/* What a cluster's node knows of shards and nodes; false: it is none. */
bool api_look_cluster(struct collector *c, struct cluster_status *out,
                      uint64_t step);

#endif
