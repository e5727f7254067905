/*
 * intake_json.c - uploads in JSON, for eyes, curl and other people's clients.
 *
 *     {"uploads":[{"task":"browser","release":1,"digest":"64 digits",
 *                  "epoch":"2026-11-16","id":"32 digits","reports":[2,0]}]}
 *
 * A report is written as in the readable twin of a stream
 * (host/format/json_read.c). A null upload has "null":COUNT in the place of
 * "reports"; its payload is zeros. Each becomes the bytes of its binary form,
 * header and payload, so that the same upload has the same digest in either.
 * Unknown and double members are refused, as everything that is not exactly
 * this.
 */
#include "server/intake/internal.h"

#include "host/base/day.h"
#include "host/base/hex.h"
#include "host/base/host_fail.h"
#include "host/format/json_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A JSON body takes some 20 times its length in memory while it is read, at
 * worst 30 times; what is made of it is bounded as well, for a null upload is
 * short to write. */
#define INTAKE_JSON_BODY (1u << 20)
#define INTAKE_JSON_MADE (8u << 20)
#define INTAKE_JSON_MEMBERS 6u

/* ---- Members ------------------------------------------------------------- */

static bool intake_json_hex(uint8_t *out, size_t len, const json_t *value)
{
    return json_is_string(value) && hex_get(out, len, json_string_value(value),
                                            json_string_length(value));
}

static bool intake_json_count(uint32_t *out, const json_t *value)
{
    const json_int_t n = json_integer_value(value);

    if (!json_is_integer(value) || n < 1 || n > UINT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

static bool intake_json_task(char task[HSY_TASK_ID + 1], const json_t *value)
{
    if (!json_is_string(value) || json_string_length(value) > HSY_TASK_ID)
        return false;
    memcpy(task, json_string_value(value), json_string_length(value));
    return true;
}

/* "reports" or "null", and how many. */
static bool intake_json_payload(hsy_upload *head, const json_t *upload)
{
    const json_t *reports = json_object_get(upload, "reports");
    const size_t n = json_array_size(reports); /* 0: it is none */

    head->kind = reports != NULL ? 1 : 2;
    if (reports == NULL)
        return intake_json_count(&head->count, json_object_get(upload, "null"));
    head->count = (uint32_t)n;
    return n != 0;
}

/* A head without length and checksum, held to the rules of the binary one. */
static hsy_status intake_json_head(hsy_upload *head, const json_t *upload,
                                   size_t place, hsy_error *err)
{
    uint8_t wire[HSY_UPLOAD_WIRE];
    hsy_upload probe;

    if (json_object_size(upload) != INTAKE_JSON_MEMBERS)
        return intake_refuse(err, place, HOST_FIELD_UPLOADS,
                             "not an object of task, release, digest, epoch, "
                             "id, and reports or null");
    if (!intake_json_task(head->task, json_object_get(upload, "task")))
        return intake_refuse(err, place, HSY_FIELD_TASK, "not a task's name");
    if (!intake_json_count(&head->release, json_object_get(upload, "release")))
        return intake_refuse(err, place, HSY_FIELD_RELEASE,
                             "not a whole number from 1 on");
    if (!intake_json_hex(head->digest, HSY_DIGEST,
                         json_object_get(upload, "digest")))
        return intake_refuse(err, place, HSY_FIELD_DIGEST,
                             "not 64 lower-case hexadecimal digits");
    if (!json_is_string(json_object_get(upload, "epoch")) ||
        !day_parse(&head->epoch,
                   json_string_value(json_object_get(upload, "epoch"))))
        return intake_refuse(err, place, HSY_FIELD_EPOCH,
                             "not a day as 2026-01-31");
    if (!intake_json_hex(head->id, sizeof head->id,
                         json_object_get(upload, "id")))
        return intake_refuse(err, place, HSY_FIELD_ID,
                             "not 32 lower-case hexadecimal digits");
    if (!intake_json_payload(head, upload))
        return intake_refuse(err, place, HSY_FIELD_REPORTS,
                             "neither an array of reports nor \"null\" with "
                             "how many");
    probe = *head;
    probe.count = probe.length = 1;
    if (hsy_upload_encode(wire, &probe, err) != HSY_OK)
        return intake_refuse(err, place, HSY_FIELD_TASK,
                             "a task is 1 to 32 of a-z, 0-9, '.', '_', '-'");
    return HSY_OK;
}

/* ---- Payloads ------------------------------------------------------------ */

/* Packed reports from their JSON values; room is for the reports and one that
 * is packed. False: one is none of the scheme. */
static bool intake_json_pack(uint8_t *packed, const struct intake_upload *u,
                             const json_t *values, uint8_t *room)
{
    const size_t bytes = u->entry->report_bytes, n = u->head.count;
    hsy_scheme_info info;

    hsy_scheme_describe(u->entry->scheme, &info);
    for (size_t i = 0; i < n; i++)
        if (!container_json_value(room + i * bytes, room + n * bytes,
                                  u->entry->scheme, &info,
                                  json_array_get(values, i)))
            return false;
    hsy_pack(u->entry->scheme, packed, room, n);
    return true;
}

/* The binary form of an upload that is found, into out, which is zeros. */
static hsy_status intake_json_make(struct intake_upload *u, uint8_t *out,
                                   const json_t *upload, hsy_error *err)
{
    const size_t one = hsy_packed_size(u->entry->scheme, 1);
    uint8_t *payload = out + HSY_UPLOAD_WIRE, *room;

    if (u->head.kind == 1) {
        room = malloc(u->head.count * u->entry->report_bytes + one);
        if (room == NULL)
            return host_nomem(err);
        if (!intake_json_pack(payload, u, json_object_get(upload, "reports"),
                              room))
            u->verdict = INTAKE_REPORT;
        free(room);
    }
    u->payload = payload;
    u->head.checksum = hsy_crc32c(0, payload, u->head.length);
    hsy_upload_encode(out, &u->head, NULL);
    intake_digest(u, out);
    return HSY_OK;
}

/* ---- The body ------------------------------------------------------------ */

/* All heads with what they ask for, and how many bytes that makes. */
static hsy_status intake_json_heads(struct intake *in, const json_t *uploads,
                                    const struct intake_rules *rules,
                                    size_t *made, hsy_error *err)
{
    hsy_status st;

    for (size_t i = 0; i < json_array_size(uploads); i++) {
        struct intake_upload *u = intake_next(in, &st, err);

        if (u == NULL)
            return st;
        st = intake_json_head(&u->head, json_array_get(uploads, i), i + 1, err);
        if (st != HSY_OK)
            return st;
        intake_find(u, in->roster, rules);
        if (u->verdict != INTAKE_COUNTED)
            continue;
        if (hsy_packed_size(u->entry->scheme, u->head.count) > HSY_UPLOAD_MAX) {
            u->verdict = INTAKE_REPORT;
            continue;
        }
        u->head.length =
            (uint32_t)hsy_packed_size(u->entry->scheme, u->head.count);
        *made += HSY_UPLOAD_WIRE + u->head.length;
        if (*made > INTAKE_JSON_MADE)
            return intake_refuse(err, i + 1, HOST_FIELD_UPLOADS,
                                 "too much for one request in JSON: send the "
                                 "binary form");
    }
    return HSY_OK;
}

static hsy_status intake_json_uploads(struct intake *in, const json_t *uploads,
                                      const struct intake_rules *rules,
                                      hsy_error *err)
{
    size_t made = 0, at = 0;
    hsy_status st = intake_json_heads(in, uploads, rules, &made, err);

    if (st != HSY_OK)
        return st;
    in->made = calloc(1, made + 1);
    if (in->made == NULL)
        return host_nomem(err);
    for (size_t i = 0; st == HSY_OK && i < in->n; i++) {
        struct intake_upload *u = &in->uploads[i];

        if (u->verdict != INTAKE_COUNTED)
            continue;
        st =
            intake_json_make(u, in->made + at, json_array_get(uploads, i), err);
        at += HSY_UPLOAD_WIRE + u->head.length;
    }
    return st;
}

/* Whether there are more objects or arrays than a request may have, before any
 * takes memory: an empty one takes up to 80 times its length. There is one of
 * each for an upload, and nothing else in a body that is right has a brace. */
static bool intake_json_many(const uint8_t *body, size_t len)
{
    size_t objects = 0, arrays = 0;

    for (size_t i = 0; i < len; i++) {
        objects += body[i] == '{';
        arrays += body[i] == '[';
    }
    return objects > INTAKE_UPLOADS_MAX + 1 || arrays > INTAKE_UPLOADS_MAX + 1;
}

hsy_status intake_json(struct intake *in, const struct intake_rules *rules,
                       hsy_error *err)
{
    const json_t *uploads;
    json_t *root;
    hsy_status st;

    if (in->len > INTAKE_JSON_BODY)
        return intake_refuse(err, 0, HOST_FIELD_BODY,
                             "more than 1 MiB of JSON: send the binary form");
    if (intake_json_many(in->body, in->len))
        return intake_many(err);
    errno = 0;
    root = json_loadb((const char *)in->body, in->len, JSON_REJECT_DUPLICATES,
                      NULL);
    if (root == NULL)
        return container_json_refuse(err, HOST_FIELD_BODY, "not JSON");
    uploads = json_object_get(root, "uploads");
    if (json_object_size(root) != 1 || json_array_size(uploads) == 0)
        st = intake_refuse(err, 0, HOST_FIELD_UPLOADS,
                           "not an object with an array of uploads alone");
    else
        st = intake_json_uploads(in, uploads, rules, err);
    json_decref(root);
    return st;
}

#undef INTAKE_JSON_BODY
#undef INTAKE_JSON_MADE
#undef INTAKE_JSON_MEMBERS
