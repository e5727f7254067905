/*
 * internal.h - what the files of the client share.
 *
 * A device is a head (what holds for the whole device), a record for each
 * source that it was ever asked about and one for each release it was ever
 * given. The image of all of them is written twice, to two files, before
 * anything is said (state.c).
 */
#ifndef LIB_DEVICE_INTERNAL_H
#define LIB_DEVICE_INTERNAL_H

#include "hearsay.h"
#include "lib/bits/bytes.h"

/* What coins are drawn for (hsy_context.purpose). `release` does not depend on
 * a truth: hash functions, sets of buckets, alpha. */
#define DEVICE_PURPOSE_RELEASE "release"
#define DEVICE_PURPOSE_PERMANENT "permanent"
#define DEVICE_PURPOSE_LOWERED "lowered" /* an older answer, weakened */
#define DEVICE_PURPOSE_REPORT "report"
#define DEVICE_PURPOSE_SAMPLE "sample"       /* who takes part in a slot */
#define DEVICE_PURPOSE_BATCH "batch"         /* which stage of a search */
#define DEVICE_PURPOSE_RESERVOIR "reservoir" /* which stored answers go out */
#define DEVICE_PURPOSE_DELAY "delay"
#define DEVICE_PURPOSE_UPLOAD "upload " /* and the task's id */

#define DEVICE_DAY 86400u         /* seconds */
#define DEVICE_RELEASES_MAX 4096u /* hsy_policy.releases */
#define DEVICE_RELEASE_BYTES 256u /* hsy_policy.release_bytes 0 */
#define DEVICE_RELEASE_BYTES_MAX (4u << 20)
#define DEVICE_WINDOW 8u /* rounds that are kept, at most */
#define DEVICE_BASE 16   /* bytes of what releases share (release.c) */
#define DEVICE_SENDING 16
#define DEVICE_ID 16 /* bytes of an upload's id */

/* ---- Releases: release.c ------------------------------------------------- */

struct hsy_release {
    hsy_task task; /* its pointers are NULL */
    hsy_scheme *scheme;
    hsy_scheme *permanent; /* NULL: fresh coins each slot */
    hsy_permanent memo;
    uint32_t slot_days, round_days; /* their lengths; none is 0 */
    uint64_t slots, rounds;         /* of the task, of a slot */
    uint64_t nano_report, nano_permanent, nano_slot, nano_task;
    uint8_t digest[HSY_DIGEST];        /* hsy_release_info */
    uint8_t report_digest[HSY_DIGEST]; /* that and the report's scheme */
    uint8_t base[DEVICE_BASE];         /* zeros: an answer cannot be lowered */
    /* Equal for releases whose uploads are the same: of one round, at one time,
     * under one id (release.c). */
    uint8_t sending[DEVICE_SENDING];
    uint32_t record; /* index in the device that admitted it; only a hint */
    uint32_t stage;  /* of a search, from 1 on; 0: not asked in stages */
    /* Of a shuffled task that was admitted, and of its document. */
    uint8_t terms[HSY_DIGEST], document[HSY_DIGEST];
    /* Of a shuffled task, else NULL: what to seal for, outermost first, the
     * collector last; then the keys that the shufflers sign with. */
    uint8_t (*keys)[HSY_SEAL_KEY];
    bool proved; /* this program proved the central epsilon */
    /* Of a task that was admitted: it leaves through a relay or not at all; the
     * collector named the relay. */
    bool relayed, relay_named;
};

/* How many layers an upload of it has, 0: it is not sealed. */
static inline size_t release_layers(const hsy_release *r)
{
#ifdef HSY_CLIENT
    (void)r;
    return 0;
#else
    return r->keys == NULL ? 0 : (size_t)r->task.shufflers + 1;
#endif
}

/* Whether it leaves through a relay or not at all. A small client admits none
 * such. */
static inline bool release_relayed(const hsy_release *r)
{
#ifdef HSY_CLIENT
    (void)r;
    return false;
#else
    return r->relayed || (r->task.flags & HSY_TASK_RELAY) != 0;
#endif
}

/* What is wrong with a task's days and counts, and in which field; NULL:
 * nothing (document.c). */
const char *hsy_document_plan(const hsy_task *t, uint32_t *field);

/* Bytes of an upload's payload. */
size_t hsy_release_payload(const hsy_release *r);

/* Its stage; a small client has none, and no code for them. */
static inline uint32_t release_stage(const hsy_release *r)
{
#ifdef HSY_CLIENT
    (void)r;
    return 0;
#else
    return r->stage;
#endif
}

/* What is charged under: the permanent scheme, or the only one. */
const hsy_scheme *hsy_release_charged(const hsy_release *r);

/*
 * The scheme of an older release that differs from r in epsilon and in nothing
 * else that shapes an answer, rebuilt from what its record keeps. False if
 * there is none such: the digest is the judge.
 */
struct device_record;
bool hsy_release_older(hsy_scheme *older, const hsy_release *r,
                       const struct device_record *record);

/* Returns true if an answer under another release's record is an answer to r,
 * too, at a lower epsilon. Whether there is one does not matter here. */
bool hsy_release_lowers(const hsy_release *r,
                        const struct device_record *record);

/* What the coins of a fresh answer are drawn under. Another stage, or other
 * candidates, has other ones: should a device that was restored answer both,
 * their epsilons add up. */
static inline const uint8_t *release_fresh(const hsy_release *r)
{
    return release_stage(r) != 0 ? r->report_digest : r->digest;
}

/* The first of its places in a round. All stages of a search share the one
 * round and the one report in it, and each has a place, and so an upload. */
static inline uint32_t release_place(const hsy_release *r)
{
    return release_stage(r) != 0 ? release_stage(r) - 1 : 0;
}

/* The round that a day >= start lies in; it may be past the last one. A search
 * in stages has one, whatever the day. */
uint64_t hsy_release_round(const hsy_release *r, uint32_t day);
uint64_t hsy_release_slot(const hsy_release *r, uint32_t day);

/* ---- What a device keeps ------------------------------------------------- */

struct device_head {
    uint32_t consent; /* hsy_consent */
    uint32_t day;     /* the largest that anything was answered on */
    uint32_t spent_on;
    uint64_t spent_day; /* on that day */
    uint64_t spent_lifetime;
    uint64_t version;               /* of the last document, 0: none */
    uint8_t digest[HSY_DIGEST];     /* of its bytes */
    uint8_t sign_key[HSY_SIGN_KEY]; /* in force */
    uint8_t next_key[HSY_SIGN_KEY]; /* zeros: none */
    uint8_t root[HSY_SIGN_KEY];     /* the policy's, from which those follow */
};

struct device_source {
    uint32_t at; /* where its record stands in the image */
    char name[HSY_SOURCE_MAX + 1];
    uint32_t spent_on;
    uint64_t spent_day, spent_lifetime;
};

/* One round's answers, waiting to be sent. */
struct device_round {
    uint64_t number;  /* of the round, plus 1; 0: none */
    uint64_t scheme;  /* by which scheme and under which promise the reports
                         are: device_scheme */
    uint64_t held;    /* a bit for each place with a report */
    uint64_t sent;    /* a bit for each place that has gone out */
    uint32_t answers; /* and DEVICE_SHOWN if any of them may have been seen */
};

#define DEVICE_SHOWN ((uint32_t)1 << 31)

/*
 * When a round ended and how long its uploads wait at most, as it was when they
 * were shown first: a later document may say otherwise (outbox.c). It stands
 * beside the rounds, for a round that was shown need not have an answer, and
 * takes no other's place before it has one or is acknowledged.
 */
struct device_shown {
    uint64_t key;        /* release and round; 0: none */
    uint32_t end, delay; /* a day, seconds */
};

/* An upload of a release: place `place` of round `round`. */
struct device_upload {
    uint64_t round, due; /* seconds; due 0: none */
    uint32_t place;
    uint8_t id[DEVICE_ID];
};

/*
 * The upload of a release that leaves next, as hsy_device_next found it:
 * drawing all ids anew for each upload would make a day's cost grow as the
 * square of the number of tasks. Valid at times in [since, until) and until the
 * record changes (hsy_state_record). Not stored.
 */
struct device_next {
    uint8_t sending[DEVICE_SENDING]; /* which release */
    uint64_t since, until;           /* seconds; until 0: not valid */
    struct device_upload upload;
};

enum device_slot {
    DEVICE_SLOT_NONE = 0,
    DEVICE_SLOT_PAID = 1,
    DEVICE_SLOT_LOWERED = 2, /* answered from an older answer, free */
    DEVICE_SLOT_EXHAUSTED = 3
};

/*
 * How a person was told that reports leave: LOCAL in clear, RELAYED in clear
 * through a relay, else a keyed hash of a shuffled task's terms, an odd number
 * that no collector can aim at. An answer leaves under the promise that it was
 * given under, or not at all.
 */
#define DEVICE_PROMISE_LOCAL 0u
#define DEVICE_PROMISE_RELAYED 2u

/* Returns true if what was promised `before` may leave as is promised `now`. */
static inline bool device_promise_holds(uint64_t before, uint64_t now)
{
    return before == now ||
           (before == DEVICE_PROMISE_LOCAL && now == DEVICE_PROMISE_RELAYED);
}

/* Of device_record.resume: none, while a bar lasts (shuffled.c). */
#define DEVICE_BARRED UINT64_MAX

/* What is kept of a release. Sizes never change after it was admitted. */
struct device_record {
    uint32_t at; /* where it stands in the image */
    uint32_t source;
    uint8_t digest[HSY_DIGEST];
    uint32_t closed; /* 1: forgotten */
    uint32_t report_bytes, sends, window, changes;
    uint32_t answers, round_days; /* of the task, for hsy_release_older */
    uint64_t nano_permanent;
    uint8_t base[DEVICE_BASE];
    uint64_t first; /* the round in which it was admitted */
    uint64_t slot;
    uint32_t slot_state; /* enum device_slot */
    uint32_t origin;     /* LOWERED: the record of the older answer */
    uint64_t promise;    /* under which the slot was answered */
    uint64_t terms;      /* the promise of the last task that it was admitted
                            for */
    uint64_t resume;     /* the first round that is sent under these terms, or
                            DEVICE_BARRED */
    uint64_t agreed;     /* version of the document that was in force when the
                            person consented last */
    uint64_t now;        /* the promise of the document in force, if it is */
    bool admitted;       /* for a task of that document */
    bool layered;        /* that task is shuffled; these three are not stored */
    uint64_t used;       /* keys of the slot; as secret as they are */
    uint64_t keys[HSY_CHANGES_MAX];
    struct device_round rounds[DEVICE_WINDOW]; /* round n at n % window */
    struct device_shown shown[DEVICE_WINDOW];  /* likewise; of a search, stage n
                                                  at (n - 1) % window */
    struct device_next next;
    uint64_t listed; /* a bit for each place that a walk has seen (outbox.c) */
};

/* Bytes of a round's reports; all of a record's stand in its place of
 * hsy_device.reports, round by round. */
static inline size_t device_round_bytes(const struct device_record *rec)
{
    return (size_t)rec->sends * rec->report_bytes;
}

/*
 * Where a device's coins come from: hsy_keyed_open under its key. Tests that
 * enumerate coins put another function here after opening; it must give the
 * same coins for the same context, and independent ones otherwise.
 */
typedef hsy_status device_coins(void *ctx, hsy_keyed *room, hsy_coins *coins,
                                const hsy_context *context);

void hsy_device_coins(hsy_device *dev, device_coins *open, void *ctx);

enum device_phase {
    DEVICE_CLOSED = 0,
    DEVICE_READY = 1,
    DEVICE_WRITING = 2, /* between hsy_device_begin and hsy_device_end */
    DEVICE_LOST = 3     /* a write failed: what the files hold is not known */
};

/* Keys made from the device's, one for each purpose. */
struct device_keys {
    uint8_t coins[HSY_KEY], mac[HSY_KEY], seal[HSY_KEY], tag[HSY_KEY];
    uint8_t envelope[HSY_KEY], promise[HSY_KEY];
};

#define DEVICE_NOTES 3 /* entries of one commit, at most */

struct hsy_device {
    enum device_phase phase;
    hsy_policy policy; /* release_bytes as resolved */
    hsy_world world;
    struct device_keys keys;
    device_coins *open;
    void *open_ctx;
    const uint8_t *taken; /* the document, as far as it is known */
    size_t taken_len;
    char barred[HSY_SOURCE_MAX + 1]; /* see hsy_shuffled_bar; "": none */
    bool barred_all;                 /* more sources than one */

    uint64_t generation;
    struct device_head head;
    struct device_source *sources;
    struct device_record *records;
    uint32_t nsources, nrecords; /* in use; room for policy.releases each */
    uint8_t *reports;            /* release_bytes for each record */
    uint8_t *image;              /* as in the files */
    size_t image_len, image_room;
    uint8_t *scratch[3]; /* release_bytes each: answers on their way */
    uint64_t *told;      /* by record: the day + 1 on which SILENT was told */
    hsy_log_entry notes[DEVICE_NOTES]; /* to be logged once all is durable */
    uint32_t nnotes;
};

static inline uint8_t *device_reports(const hsy_device *dev, uint32_t record,
                                      const struct device_round *round)
{
    const struct device_record *rec = &dev->records[record];

    return dev->reports + record * dev->policy.release_bytes +
           (size_t)(round - rec->rounds) * device_round_bytes(rec);
}

/* ---- device.c ------------------------------------------------------------ */

/* Returns true if two names of sources or tasks are equal. */
bool hsy_device_same(const char *a, const char *b);

/* HSY_OK if the device may be used now. */
hsy_status hsy_device_ready(const hsy_device *dev, hsy_error *err);

/* The day, which never goes back; seconds (may be NULL) likewise. */
hsy_status hsy_device_today(const hsy_device *dev, uint32_t *day,
                            uint64_t *seconds, hsy_error *err);

/* Note an entry, to be logged after the commit; or log it now. */
void hsy_device_note(hsy_device *dev, const hsy_log_entry *entry);
void hsy_device_log(const hsy_device *dev, const hsy_log_entry *entry);
hsy_log_entry hsy_device_entry(uint32_t kind, const hsy_release *r,
                               uint32_t day);

/* Empty a round's place for another; reports that were not sent are noted. */
void hsy_device_vacate(hsy_device *dev, const hsy_release *r, uint32_t record,
                       struct device_round *round, uint32_t day);

/* Coins of one context; keep at one address, and close. */
struct device_draw {
    hsy_keyed room;
    hsy_coins coins;
};

hsy_status hsy_device_draw(const hsy_device *dev, struct device_draw *draw,
                           const char *purpose, const hsy_release *r,
                           const uint8_t digest[HSY_DIGEST], uint64_t number,
                           uint64_t truth);
void hsy_device_drawn(struct device_draw *draw);

/* ---- admit.c ------------------------------------------------------------- */

/* The record of a release, or nrecords. */
uint32_t hsy_device_find(const hsy_device *dev, const hsy_release *r);

/* Returns the first round that a record sends for under a release's terms. */
uint64_t hsy_device_resumes(const struct device_record *rec,
                            const hsy_release *r);

/* Whether the policy allows a release at all; nothing else may change that. */
hsy_status hsy_device_allows(const hsy_device *dev, const hsy_release *r,
                             hsy_error *err);

/* ---- shuffled.c; in a small client shuffled_small.c ---------------------- */

/* Bytes of a release's keys, 0 if its task is not shuffled; and the keys, for
 * whoever closes its document. Without the collector's the last of those to
 * seal for is zeros: enough to describe the release, not to send for it. */
size_t hsy_shuffled_key_bytes(const hsy_task *task);
hsy_status hsy_shuffled_keys(hsy_release *r, const hsy_task *task,
                             hsy_error *err);

/* Whether the release has what the policy demands of every task. */
hsy_status hsy_shuffled_allows(const hsy_device *dev, const hsy_release *r,
                               hsy_error *err);

/* Whether the shufflers of task i say today that they shuffle it, and whether
 * there is what it takes on the way to its collector. Sets the terms of r. */
hsy_status hsy_shuffled_admit(hsy_device *dev, hsy_release *r,
                              const hsy_document *doc, uint32_t i, uint32_t day,
                              hsy_error *err);

/* Bar the source of a task that was refused for what terms do not say: while
 * this document is in force no shuffled task on it is answered or sent for.
 * Returns refused, or why it cannot be stored. */
hsy_status hsy_shuffled_bar(hsy_device *dev, const char *source,
                            hsy_status refused, hsy_error *err);
/* Whether a release that was admitted may be answered. */
hsy_status hsy_shuffled_answers(const hsy_device *dev, const hsy_release *r,
                                hsy_error *err);

/* From which round on a record is sent for: of one that enters, and of one that
 * was admitted under another document, which is then admitted under this. */
void hsy_shuffled_enter(const hsy_device *dev, struct device_record *rec,
                        const hsy_release *r, uint32_t day);
hsy_status hsy_shuffled_again(hsy_device *dev, const hsy_release *r,
                              uint32_t record, uint32_t day, hsy_error *err);

/* Returns the promise of a release that was admitted. */
uint64_t hsy_shuffled_promise(const hsy_device *dev, const hsy_release *r);

/* Seal a packed report for the upload of an id. All coins follow from the id
 * and the device's key, so that a retry has the same bytes. */
hsy_status hsy_shuffled_seal(const hsy_device *dev, uint8_t *out, size_t len,
                             const hsy_release *r, uint32_t epoch,
                             const uint8_t id[16], uint32_t kind,
                             const uint8_t *report, hsy_error *err);

/* What a round's reports are known by: their scheme, and the promise. */
static inline uint64_t device_scheme(const hsy_device *dev,
                                     const hsy_release *r)
{
    return bytes_get64(r->report_digest) ^ hsy_shuffled_promise(dev, r);
}

/* ---- state.c ------------------------------------------------------------- */

/* Bytes of an image with n sources and n releases, at most. */
size_t hsy_state_room(uint32_t n, size_t release_bytes);

/* Write what is in memory into the image: the head, a source, a release. */
void hsy_state_head(hsy_device *dev);
void hsy_state_source(hsy_device *dev, uint32_t source);
void hsy_state_record(hsy_device *dev, uint32_t record);

/* A new last record, whose fields are filled in. There is room. */
void hsy_state_add_source(hsy_device *dev);
void hsy_state_add_record(hsy_device *dev);

/* Finish the image of the next generation. */
void hsy_state_finish(hsy_device *dev);

/* The anchor's number, 0 if there is none. */
hsy_status hsy_state_anchor(const hsy_device *dev, uint64_t *number,
                            hsy_error *err);

/* Refuse if the anchor has gone on without this device. */
hsy_status hsy_state_current(const hsy_device *dev, hsy_error *err);

/* Write the finished image to both files and raise the anchor to it. */
hsy_status hsy_state_store(hsy_device *dev);

/* Finish the image, make it durable, log. */
hsy_status hsy_state_commit(hsy_device *dev, hsy_error *err);

/* How storing went: on to the next generation, or the device is lost. */
hsy_status hsy_state_settle(hsy_device *dev, hsy_status stored, hsy_error *err);

/* The image of a new device: generation 0. */
void hsy_state_new(hsy_device *dev);

/* Read one copy into memory: HSY_OK, HSY_E_DAMAGED (missing and changed alike),
 * HSY_E_POLICY if it is more than there is room for, or as load says. */
hsy_status hsy_state_read(hsy_device *dev, hsy_file file);

/* The generation that an image claims, to whoever has no key; false if it is no
 * image. */
bool hsy_state_generation(const uint8_t *image, size_t len,
                          uint64_t *generation);

/* ---- state_open.c -------------------------------------------------------- */

hsy_status hsy_state_create(hsy_device *dev, hsy_error *err);
hsy_status hsy_state_open(hsy_device *dev, hsy_error *err);

/* ---- ledger.c ------------------------------------------------------------ */

/* The policy's row of a source, NULL if it has none. */
const hsy_source *hsy_ledger_source(const hsy_device *dev, const char *name);

/* The record of a source, or nsources. */
uint32_t hsy_ledger_find(const hsy_device *dev, const char *name);

/* Charge nano to a source and to the device on a day, if no cap is passed. */
bool hsy_ledger_charge(hsy_device *dev, uint32_t source, uint64_t nano,
                       uint32_t day);

/* ---- One call of hsy_device_answer: answer.c, noise.c ---------------------
 */

/* One call, as far as it has been decided. */
struct answer {
    hsy_device *dev;
    const hsy_release *r;
    uint32_t record;
    struct device_record *rec;
    uint32_t day;
    uint64_t slot, round;
    uint32_t number;          /* of the answer in its round, from 0 on */
    hsy_answer_state state;   /* 0: to be answered */
    enum device_slot opening; /* NONE: the slot is open already */
    uint32_t origin;          /* LOWERED: whose answer it is made from */
    uint64_t code;            /* of the truth; of a tuple a hash */
    uint64_t codes[HSY_ATTRIBUTES_MAX];
    uint64_t used, keys[HSY_CHANGES_MAX]; /* of the slot, as they will be */
    uint64_t place;                       /* in the round's reservoir */
};

/* The noised answer, into scratch[0], and the keys of the slot as they will be.
 * On failure nothing has changed. */
hsy_status hsy_noise_make(struct answer *a);

/* Which place of its round the answer takes; sends or more: none. */
hsy_status hsy_noise_place(struct answer *a);

/* ---- What format 2 of a document adds: parties.c ------------------------- */

#define PARTIES_BATCH (1u << 19)     /* min_batch, at most */
#define PARTIES_WAIT 366u            /* max_wait, at most */
#define PARTIES_CLOSE (30u * 86400u) /* close_after_seconds, at most */

/* What a task has more than one of format 1: NULL, or what is wrong with it;
 * its bytes, 0 if there is nothing; written, and where it ends; read, false if
 * it has more than one encoding. */
const char *hsy_more_check(const hsy_task *t, uint32_t *field);
size_t hsy_more_bytes(const hsy_task *t);
uint8_t *hsy_more_put(uint8_t *to, const hsy_task *t);
bool hsy_more_get(hsy_task *t, const uint8_t *from, size_t len);

/* The same of a document's parties (NULL: none). */
bool hsy_parties_any(const hsy_parties *p);
hsy_status hsy_parties_check(const hsy_parties *p, hsy_status status,
                             hsy_error *err);
size_t hsy_parties_bytes(const hsy_parties *p);
void hsy_parties_put(uint8_t *to, const hsy_parties *p);
bool hsy_parties_get(hsy_parties *p, const uint8_t *from, size_t left);

/* The same checked; more: some task needs format 2, so they may be none. */
hsy_status hsy_parties_open(const uint8_t *from, size_t left, bool more,
                            hsy_error *err);

#endif
