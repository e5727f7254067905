/*
 * intake.c - the body of a request becomes uploads, each with a verdict.
 *
 * Order of judgement: what cannot be read as uploads at all refuses the whole
 * body; then task and release, scheme, epoch; then who sends, and how many
 * reports he may bring; then the length, which only the scheme knows, and every
 * single report. A null upload is held to the same
 * length, and what it holds means nothing.
 */
#include "server/intake/internal.h"

#include "host/base/host_fail.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define INTAKE_UNPACKED 8192u /* bytes of reports looked at in one go */

const struct intake_row intake_verdicts[INTAKE_VERDICTS] = {
    [INTAKE_COUNTED] = {204, "counted", "Counted."},
    [INTAKE_AGAIN] = {204, "again", "The same bytes were counted before."},
    [INTAKE_UNKNOWN] = {404, "unknown-task",
                        "No such task, or not of this release: fetch the "
                        "tasks again."},
    [INTAKE_SCHEME] = {422, "other-scheme",
                       "The release is asked under another scheme: fetch the "
                       "tasks again."},
    [INTAKE_REPORT] = {422, "malformed-report",
                       "Length, count or a report does not fit the scheme; "
                       "sending it again does not help."},
    [INTAKE_PLACE] = {422, "other-place",
                      "A sealed upload goes to the first shuffler of its task, "
                      "any other to the collector."},
    [INTAKE_EARLY] = {422, "early",
                      "The epoch is after tomorrow or before the task: look "
                      "at the device's clock."},
    [INTAKE_CLOSED] = {410, "closed",
                       "The epoch or the task is over; sending it again does "
                       "not help."},
    [INTAKE_CONFLICT] = {409, "conflict",
                         "This id was counted with other bytes; sending it "
                         "again does not help."},
    [INTAKE_TOKEN] = {403, "token",
                      "The task wants an enrolment token of its own."},
    [INTAKE_MANY] = {403, "many-reports",
                     "An upload has one report; more only from a forwarder "
                     "with a token, and no more than the collector allows."},
    [INTAKE_QUOTA] = {429, "quota",
                      "The enrolment token has brought as many reports of "
                      "this epoch as its quota allows; every epoch has its "
                      "own."},
    [INTAKE_CLOCK] = {503, "clock",
                      "The collector's clock is in doubt: try again later."},
    [INTAKE_FULL] = {503, "full", "No room at present: try again later."},
    [INTAKE_DOUBT] = {503, "doubt",
                      "Not acknowledged, and it may or may not be counted: "
                      "send the same bytes again."},
};

hsy_status intake_refuse(hsy_error *err, size_t upload, uint32_t field,
                         const char *msg)
{
    return host_fail_at(err, HSY_E_FORMAT, field, msg, HSY_UNIT_UPLOAD, upload);
}

hsy_status intake_many(hsy_error *err)
{
    return intake_refuse(err, INTAKE_UPLOADS_MAX + 1, HOST_FIELD_UPLOADS,
                         "more uploads than one request may bring");
}

/* ---- Uploads ------------------------------------------------------------- */

struct intake_upload *intake_next(struct intake *in, hsy_status *st,
                                  hsy_error *err)
{
    struct intake_upload *u = in->uploads;
    const size_t n = in->n;

    if (n == INTAKE_UPLOADS_MAX) {
        *st = intake_many(err);
        return NULL;
    }
    if ((n & (n - 1)) == 0) /* the room is the next power of two */
        u = realloc(u, (n == 0 ? 1 : 2 * n) * sizeof *u);
    if (u == NULL) {
        *st = host_nomem(err);
        return NULL;
    }
    in->uploads = u;
    in->n++;
    memset(&u[n], 0, sizeof u[n]);
    *st = HSY_OK;
    return &u[n];
}

static enum intake_verdict intake_epoch(uint32_t epoch,
                                        const struct roster_entry *entry,
                                        struct intake_days days)
{
    const bool doubt = days.other_last != 0;
    const bool other = epoch >= days.other_first && epoch <= days.other_last;

    if (epoch < entry->first ||
        (epoch > days.last && (!doubt || epoch > days.other_last)))
        return INTAKE_EARLY;
    if (epoch > entry->last || (entry->ended && days.last <= entry->last) ||
        (epoch < days.first && (!doubt || epoch < days.other_first)))
        return INTAKE_CLOSED;
    if ((epoch >= days.first && epoch <= days.last) || (doubt && other))
        return INTAKE_COUNTED;
    return INTAKE_CLOCK; /* between what either reading allows */
}

static enum intake_verdict intake_sender(struct intake_upload *u,
                                         const struct intake_gate *gate)
{
    const uint32_t most = gate == NULL ? 1 : gate->most(gate->ctx, u);

    if (most == 0)
        return INTAKE_TOKEN;
    return u->head.count <= most ? INTAKE_COUNTED : INTAKE_MANY;
}

/* Whether an upload has come where it belongs: a sealed one to the first
 * shuffler of its task, any other to the collector, of a task that is not
 * shuffled. */
static bool intake_right_place(const struct intake_upload *u,
                               const struct intake_rules *rules)
{
    const struct roster_entry *e = u->entry;
    const uint8_t *shuffler =
        rules->gate == NULL ? NULL : rules->gate->shuffler;

    if (shuffler == NULL)
        return e->sealed_bytes == 0 && u->head.kind != HSY_UPLOAD_SEALED;
    return e->sealed_bytes != 0 && u->head.kind == HSY_UPLOAD_SEALED &&
           memcmp(e->first_key, shuffler, sizeof e->first_key) == 0;
}

void intake_find(struct intake_upload *u, const struct roster *roster,
                 const struct intake_rules *rules)
{
    const struct roster_entry *near = NULL;
    const struct roster_entry *entry = roster_find(roster, &u->head, &near);

    if (entry != NULL)
        u->verdict = intake_epoch(u->head.epoch, entry, rules->days);
    else if (near != NULL && near->task.release == u->head.release)
        u->verdict = INTAKE_SCHEME;
    else
        u->verdict = INTAKE_UNKNOWN;
    u->entry = u->verdict == INTAKE_COUNTED ? entry : NULL;
    if (u->entry != NULL)
        u->verdict = intake_right_place(u, rules)
                         ? intake_sender(u, rules->gate)
                         : INTAKE_PLACE;
}

/* ---- Reports ------------------------------------------------------------- */

/* Whether n packed reports, of whole groups of eight or the last ones, are
 * reports of the scheme. */
static bool intake_group(const struct roster_entry *e, const uint8_t *packed,
                         size_t n, uint8_t *room)
{
    return hsy_unpack(e->scheme, room, packed, n) == HSY_OK &&
           hsy_check_batch(e->scheme, room, n) == n;
}

/* The same for all of an upload: any eight packed reports end with a byte. */
static bool intake_groups(const struct intake_upload *u, size_t group,
                          uint8_t *room)
{
    const uint8_t *packed = u->payload;

    for (size_t left = u->head.count; left != 0;) {
        const size_t n = left < group ? left : group;

        if (!intake_group(u->entry, packed, n, room))
            return false;
        packed += hsy_packed_size(u->entry->scheme, n);
        left -= n;
    }
    return true;
}

/* Few reports are long; those that are take as many bytes in the body. */
static hsy_status intake_reports(struct intake_upload *u, hsy_error *err)
{
    uint8_t short_room[INTAKE_UNPACKED], *room = short_room;
    const size_t bytes = u->entry->report_bytes;
    size_t group = sizeof short_room / bytes / 8 * 8;

    if (group == 0) {
        group = 8;
        room = malloc((u->head.count < 8 ? u->head.count : 8) * bytes);
        if (room == NULL)
            return host_nomem(err);
    }
    if (!intake_groups(u, group, room))
        u->verdict = INTAKE_REPORT;
    if (room != short_room)
        free(room);
    return HSY_OK;
}

void intake_digest(struct intake_upload *u, const uint8_t *wire)
{
    crypto_generichash(u->digest, sizeof u->digest, wire,
                       HSY_UPLOAD_WIRE + u->head.length, NULL, 0);
}

/* ---- Binary bodies ------------------------------------------------------- */

static size_t intake_length(const struct intake_upload *u)
{
    return u->head.kind == HSY_UPLOAD_SEALED
               ? u->entry->sealed_bytes
               : hsy_packed_size(u->entry->scheme, u->head.count);
}

/* Everything about an upload whose head and payload are there. */
static hsy_status intake_judge(struct intake_upload *u, const struct intake *in,
                               const struct intake_rules *rules, hsy_error *err)
{
    intake_find(u, in->roster, rules);
    if (u->verdict != INTAKE_COUNTED)
        return HSY_OK;
    if (u->head.length != intake_length(u)) {
        u->verdict = INTAKE_REPORT;
        return HSY_OK;
    }
    return u->head.kind == HSY_UPLOAD_REPORTS ? intake_reports(u, err) : HSY_OK;
}

/* The upload at *at, and on to the next. */
static hsy_status intake_one(struct intake *in, size_t *at,
                             const struct intake_rules *rules, hsy_error *err)
{
    const uint8_t *wire = in->body + *at;
    const size_t left = in->len - *at;
    hsy_status st;
    struct intake_upload *u = intake_next(in, &st, err);

    if (u == NULL)
        return st;
    if (left < HSY_UPLOAD_WIRE)
        return intake_refuse(err, in->n, HSY_FIELD_HEADER,
                             "the body ends inside an upload's header");
    st = hsy_upload_decode(&u->head, wire, err);
    if (st != HSY_OK) {
        if (err != NULL) {
            err->unit = HSY_UNIT_UPLOAD;
            err->at = in->n;
        }
        return st;
    }
    if (u->head.length > left - HSY_UPLOAD_WIRE)
        return intake_refuse(err, in->n, HSY_FIELD_LENGTH,
                             "the body ends inside an upload's payload");
    u->payload = wire + HSY_UPLOAD_WIRE;
    if (hsy_crc32c(0, u->payload, u->head.length) != u->head.checksum)
        return intake_refuse(err, in->n, HOST_FIELD_CHECKSUM,
                             "the payload's checksum is wrong");
    intake_digest(u, wire);
    *at += HSY_UPLOAD_WIRE + u->head.length;
    return intake_judge(u, in, rules, err);
}

static hsy_status intake_binary(struct intake *in,
                                const struct intake_rules *rules,
                                hsy_error *err)
{
    hsy_status st = HSY_OK;
    size_t at = 0;

    if (in->len == 0)
        return intake_refuse(err, 0, HOST_FIELD_BODY, "no upload in it");
    while (st == HSY_OK && at < in->len)
        st = intake_one(in, &at, rules, err);
    return st;
}

hsy_status intake_read(struct intake *in, struct roster *roster,
                       struct intake_days days, const struct intake_gate *gate,
                       enum intake_form form, uint8_t *body, size_t len,
                       hsy_error *err)
{
    const struct intake_rules rules = {days, gate};
    hsy_status st;

    *in = (struct intake){
        .roster = roster_hold(roster), .body = body, .len = len};
    st = form == INTAKE_JSON ? intake_json(in, &rules, err)
                             : intake_binary(in, &rules, err);
    if (st != HSY_OK)
        intake_clear(in);
    return st;
}

void intake_clear(struct intake *in)
{
    roster_drop(in->roster);
    free(in->uploads);
    free(in->made);
    free(in->body);
    memset(in, 0, sizeof *in);
}
