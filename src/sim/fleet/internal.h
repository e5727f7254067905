/* internal.h - what the files of a fleet share. */
#ifndef SIM_FLEET_INTERNAL_H
#define SIM_FLEET_INTERNAL_H

#include "host/client/send.h"
#include "sim/base/sim_device.h"
#include "sim/fleet/fleet.h"

#define FLEET_DAY 86400u

struct fleet {
    struct fleet_options o;
    uint8_t *bytes; /* of the document */
    hsy_document document;
    struct send_way way; /* of it */
    const char *relay;   /* NULL: none */
    struct fleet_task *tasks;
    size_t n;
    uint32_t *order; /* places in tasks of those that are answered, by day */
    size_t norder;
};

/* Seconds, of a clock that only goes on. */
double fleet_clock(void);

/* ---- Laws (truths.c) ----------------------------------------------------- */

/* What is taken where nobody says. */
hsy_status fleet_law_default(struct fleet_task *task, hsy_error *err);
void fleet_law_clear(struct fleet_law *law);

/* A truth; *place is its place among counts. Strings lead into the law. */
void fleet_law_draw(const struct fleet_task *task, hsy_truth *truth,
                    size_t *place, hsy_stream *coins);

/* ---- A device (fleet_device.c) ------------------------------------------- */

struct fleet_device;

/* Room for one device, which lives again and again under other keys. */
hsy_status fleet_device_new(struct fleet_device **out, struct fleet *f,
                            hsy_error *err);
void fleet_device_free(struct fleet_device *d); /* NULL is allowed */

/* The life of device number `number`: asked, answered, and all that is due. */
hsy_status fleet_device_live(struct fleet_device *d, uint64_t number,
                             fleet_each *each, void *ctx, hsy_error *err);

/* A life of days: it begins, and has a look every day at the same time: what is
 * due goes out; then it answers what is asked, if it does. */
hsy_status fleet_device_begin(struct fleet_device *d, uint64_t number,
                              uint64_t now, hsy_error *err);
hsy_status fleet_device_day(struct fleet_device *d, uint64_t now, bool answers,
                            fleet_each *each, void *ctx, hsy_error *err);

/* ---- Days (fleet_days.c) ------------------------------------------------- */

#define FLEET_NOON (FLEET_DAY / 2)

hsy_status fleet_days_run(struct fleet *f, struct fleet_result *result,
                          hsy_error *err);

/* ---- HTTP (fleet_http.c) ------------------------------------------------- */

struct fleet_http;

hsy_status fleet_http_open(struct fleet_http **out, struct fleet *f,
                           struct fleet_result *result, hsy_error *err);
void fleet_http_close(struct fleet_http *h); /* NULL is allowed */

/* A fleet_each: into the next request, which is sent when it is full. */
hsy_status fleet_http_take(void *http, const struct fleet_upload *upload,
                           hsy_error *err);

/* So many uploads were refused with this status. */
void fleet_refused(struct fleet_result *r, uint32_t status, uint64_t uploads);

/* Send what is left, and wait for all answers. */
hsy_status fleet_http_finish(struct fleet_http *h, hsy_error *err);

#endif
