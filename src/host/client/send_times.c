/*
 * send_times.c - when each upload leaves, kept in the file `times` between
 * runs.
 *
 * The attacker is the gateway's owner. It sees ids and arrival times, not
 * addresses, and answers as it likes: 503 to everybody, different answers to
 * different ids, after any wait, or never. It wants to know which ids are one
 * device's. What it learns from times, with a spread:
 *
 * 1. An upload gets its time when a run first finds it due, drawn uniformly
 *    from the next `spread` seconds and independently of the others. After a
 *    try that failed it gets another one: the wait that Retry-After asks for,
 *    then uniformly from `spread`. So the times of one upload depend on when
 *    the device first found it, on coins that no other upload uses, and on the
 *    answers to this upload. Answering 503 to everybody for a week shows a week
 *    of times which, given when the devices were switched on, are independent:
 *    the nearest upload in time is no more likely the same device's than any
 *    other that arrives within the hour. tests/stat/test_send_times.c measures
 *    that.
 * 2. No answer moves another upload. While one request waits for its answer
 *    the others leave at their times, each in a thread of its own (send.c).
 *    If they queued behind it, a gateway that holds answers back would see the
 *    next one leave just as it answers; and if they avoided each other, two
 *    ids seen within the same 30 seconds would be two devices', which over a
 *    week of hourly retries rules out nearly all wrong pairs. In a run that
 *    waits no upload is set aside, however often it has failed: until when
 *    would depend on the others, for the run ends only when all are done. Such
 *    a run ends with an empty outbox (or one in which nothing can be sent, for
 *    want of a relay) or at its deadline, and stored times hold in the next
 *    run. It reads the outbox whenever an upload leaves or an answer comes, but
 *    gives new uploads their times at multiples of a minute (a sixtieth of a
 *    shorter spread) since 1970 only, which are the same in every run. So in
 *    runs that follow each other within a second the times of an upload are the
 *    same whatever is answered to another. A run that starts later than this
 *    finds what became due in the pause later, and a pause depends on when the
 *    outbox was empty: with a run every ten seconds one new upload in twelve
 *    gets its time a minute later for that.
 * 3. A time that has passed is not made up for at once. A run that waits starts
 *    by drawing such times again, so nothing leaves just as a device is
 *    switched on, which others may see. It does the same for times that passed
 *    more than a second before because its process was stopped; below that an
 *    upload leaves, also together with another. A run that does not wait sends
 *    one of these uploads, and the others draw again. So what piled up does not
 *    leave in a burst. But two uploads of one device never leave in the same
 *    run, and whoever refuses everybody for days sees which ids never do:
 *    docs/device.md has the numbers.
 * 4. Times are stored. If each run drew new ones, then an upload would leave as
 *    soon as some run drew an early time, and frequent runs would send all of
 *    them soon after the first. A stored time is drawn again only as in 1
 *    and 3, always from the present on, so no number of runs makes an upload
 *    earlier.
 *
 * What remains visible: the times of a device lie between when it was switched
 * on and off, and uploads wait among those of other devices in the same hour.
 * A device that sends alone in its hour is not hidden by this.
 *
 * The next document is fetched through the relay at a time of its own, too,
 * drawn and stored in the same way, and never in a run that sends: who sees
 * that a device fetched, and what arrived in that second, learns nothing.
 */
#include "host/client/send.h"

#include "lib/bits/bytes.h"

#include <stdlib.h>
#include <string.h>

#define TIMES_ROW 40u     /* id, when it was drawn, when it leaves, turn */
#define TIMES_MAX 1024u   /* rows that are stored: later ones draw again */
#define TIMES_BACK 60000u /* ms that a clock may be set back */

/* Stands for the next document in the place of an id, which is a keyed hash. */
static const uint8_t times_fetch_id[SEND_ID];

struct send_item *hsy_times_find(const struct send_list *list,
                                 const uint8_t *id)
{
    for (size_t i = 0; i < list->n; i++)
        if (memcmp(list->bytes + list->items[i].at + SEND_ID_AT, id, SEND_ID) ==
            0)
            return &list->items[i];
    return NULL;
}

/* The rows of the file, to be freed. No file, or one that cannot be read: all
 * times are drawn again. */
static uint8_t *times_read(hsy_host *host, size_t *len)
{
    uint8_t *rows = malloc(TIMES_MAX * TIMES_ROW);

    if (rows == NULL ||
        hsy_world_times_load(host, rows, TIMES_MAX * TIMES_ROW, len) != HSY_OK)
        *len = 0;
    *len -= *len % TIMES_ROW;
    return rows;
}

static struct send_when times_get(const uint8_t *row)
{
    return (struct send_when){.drawn = bytes_get64(row + SEND_ID),
                              .leaves = bytes_get64(row + SEND_ID + 8),
                              .turn = bytes_get64(row + SEND_ID + 16)};
}

static void times_put(uint8_t *row, const uint8_t *id,
                      const struct send_when *when)
{
    memcpy(row, id, SEND_ID);
    bytes_put64(row + SEND_ID, when->drawn);
    bytes_put64(row + SEND_ID + 8, when->leaves);
    bytes_put64(row + SEND_ID + 16, when->turn);
}

/* ---- Uploads ------------------------------------------------------------- */

void hsy_times_load(hsy_host *host, struct send_list *list)
{
    size_t len = 0;
    uint8_t *rows = times_read(host, &len);

    for (size_t at = 0; at < len; at += TIMES_ROW) {
        struct send_item *item = hsy_times_find(list, rows + at);

        if (item != NULL)
            item->when = times_get(rows + at);
    }
    free(rows);
}

hsy_status hsy_times_store(hsy_host *host, const struct send_list *list)
{
    uint8_t *rows = malloc(TIMES_MAX * TIMES_ROW);
    struct send_when fetch;
    size_t len = 0;
    hsy_status st;

    if (rows == NULL)
        return HSY_E_NOMEM;
    hsy_times_load_fetch(host, &fetch);
    if (fetch.drawn != 0) {
        times_put(rows, times_fetch_id, &fetch);
        len = TIMES_ROW;
    }
    for (size_t i = 0; i < list->n && len < TIMES_MAX * TIMES_ROW; i++) {
        const struct send_item *item = &list->items[i];

        if (item->settled)
            continue;
        times_put(rows + len, list->bytes + item->at + SEND_ID_AT, &item->when);
        len += TIMES_ROW;
    }
    st = hsy_world_times_store(host, rows, len);
    free(rows);
    return st;
}

/* ---- The document -------------------------------------------------------- */

/* Where its row is, or would be: behind the others. */
static size_t times_fetch_at(const uint8_t *rows, size_t len)
{
    size_t at = 0;

    while (at < len && memcmp(rows + at, times_fetch_id, SEND_ID) != 0)
        at += TIMES_ROW;
    return at;
}

void hsy_times_load_fetch(hsy_host *host, struct send_when *when)
{
    size_t len = 0;
    uint8_t *rows = times_read(host, &len);
    const size_t at = times_fetch_at(rows, len);

    *when = (struct send_when){.drawn = 0};
    if (at < len)
        *when = times_get(rows + at);
    free(rows);
}

hsy_status hsy_times_store_fetch(hsy_host *host, const struct send_when *when)
{
    size_t len = 0, at;
    uint8_t *rows = times_read(host, &len);
    hsy_status st;

    if (rows == NULL)
        return HSY_E_NOMEM;
    at = times_fetch_at(rows, len);
    if (at < len) {
        memmove(rows + at, rows + at + TIMES_ROW, len - at - TIMES_ROW);
        len -= TIMES_ROW;
    }
    if (when->drawn != 0) {
        if (len == TIMES_MAX * TIMES_ROW) /* an upload's is drawn again */
            len -= TIMES_ROW;
        times_put(rows + len, times_fetch_id, when);
        len += TIMES_ROW;
    }
    st = hsy_world_times_store(host, rows, len);
    free(rows);
    return st;
}

/* ---- Both ---------------------------------------------------------------- */

bool hsy_times_valid(const struct send_when *when, uint64_t now,
                     uint64_t spread_ms)
{
    const uint64_t most = 1000 * (uint64_t)SEND_RETRY_AFTER_MAX + spread_ms;

    return when->drawn != 0 && when->drawn <= now + TIMES_BACK &&
           when->leaves <= now + most;
}
