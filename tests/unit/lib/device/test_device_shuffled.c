/* test_device_shuffled.c - shuffled tasks on a device: what is admitted, and
 * what leaves. */
#include "rig/device_rig.h"
#include "rig/example_shuffled.h"

/* What was to be sealed, and how often. */
struct sealed {
    hsy_envelope last;
    uint8_t seed[64];
    uint8_t keys[3][HSY_SEAL_KEY];
    uint8_t report[8], terms[HSY_DIGEST];
    size_t calls, len;
    hsy_status answer;
};

static struct sealed seen;
static struct example_statements said;

/* Not sealed: what was given, and a hash of it over the rest. */
static hsy_status seal(void *ctx, uint8_t *out, size_t len,
                       const hsy_envelope *e)
{
    (void)ctx;
    seen.last = *e;
    seen.len = len;
    seen.calls++;
    memcpy(seen.seed, e->seed, sizeof seen.seed);
    memcpy(seen.keys, e->keys, sizeof seen.keys);
    memcpy(seen.report, e->report, e->report_len);
    memcpy(seen.terms, e->terms, sizeof seen.terms);
    memset(out, 0xaa, len);
    hsy_blake2b(out, 32, e->report, e->report_len, e->seed, 64);
    out[32] = (uint8_t)(out[0] ^ e->kind);
    return seen.answer;
}

/* Proves what example_shuffle claims, and no less. */
static bool central(void *ctx, const hsy_release *r)
{
    hsy_release_info info;

    (void)ctx;
    hsy_release_describe(r, &info);
    return info.task.nano_central >= EXAMPLE_CENTRAL;
}

/* A device with one task over two shufflers, before it takes its document. */
static struct rig *shuffled_rig(void)
{
    static hsy_parties parties;
    struct rig *g = rig_new();

    parties = example_parties();
    seen = (struct sealed){.answer = HSY_OK};
    g->face.seal = seal;
    g->parties = &parties;
    rig_task(g, "color", "browser", values("grr", 4, EPS), 0);
    example_shuffle(&g->task[0], &said, 2, DAY0);
    return g;
}

/* ---- Admission ----------------------------------------------------------- */

/* The task, taken and admitted under what `change` makes of it. */
static void admits(void (*change)(struct rig *g), hsy_status status,
                   const char *field, const char *what)
{
    struct rig *g = shuffled_rig();
    hsy_status st;

    if (change != NULL)
        change(g);
    rig_publish(g);
    st = rig_open(g, true);
    if (st == HSY_OK)
        st = rig_take(g);
    if (st == HSY_OK)
        st = rig_admit(g, 0);
    ok(st == status &&
           (field == NULL || strcmp(hsy_field_name(g->err.field), field) == 0),
       "%s: %s", what, hsy_strstatus(status));
    if (st != status)
        printf("# %s: %s: %s\n", hsy_strstatus(st),
               hsy_field_name(g->err.field), g->err.msg);
    rig_free(g);
}

#define CHANGE(name, statement)                                                \
    static void name(struct rig *g)                                            \
    {                                                                          \
        (void)g;                                                               \
        statement;                                                             \
    }

static uint8_t pins[2][HSY_SIGN_KEY];

static void pin(struct rig *g, int first, int second, uint32_t flags)
{
    memset(pins[0], first, HSY_SIGN_KEY);
    memset(pins[1], second, HSY_SIGN_KEY);
    g->policy.shuffler_keys = pins[0];
    g->policy.nshuffler_keys = 2;
    g->policy.flags = flags;
}

static void local(struct rig *g)
{
    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), 0);
}

/* The first shuffler's statement names no gateway key. */
static void said_without_gateways(struct rig *g)
{
    hsy_statement s = example_statement(&g->task[0], 1, 2, DAY0);

    s.gateway_keys = 0;
    hsy_statement_encode(said.wire[0], &s, NULL);
    world_sign(said.wire[0] + HSY_STATEMENT_SIGNED, s.sign_key, said.wire[0],
               HSY_STATEMENT_SIGNED);
}

static void pin_gateways(struct rig *g)
{
    static uint8_t keys[2][HSY_SEAL_KEY];

    memset(keys[0], 32, HSY_SEAL_KEY);
    memset(keys[1], 31, HSY_SEAL_KEY);
    g->policy.gateway_keys = keys[0];
    g->policy.ngateway_keys = 2;
}

CHANGE(sealless, g->face.seal = NULL)
CHANGE(older_world, g->face.size = offsetof(hsy_world, seal))
CHANGE(other_world, g->face.size = offsetof(hsy_world, central))
CHANGE(proves, g->face.central = central)
CHANGE(lies, proves(g); g->task[0].nano_central--)
CHANGE(unproved, lies(g); g->face.central = NULL)
CHANGE(older_policy, g->policy.size = offsetof(hsy_policy, min_batch);
       g->policy.min_shufflers = 8)
CHANGE(two, g->policy.min_shufflers = 2)
CHANGE(three, g->policy.min_shufflers = 3)
CHANGE(batch, g->policy.min_batch = 45000)
CHANGE(larger_batch, g->policy.min_batch = 45001)
CHANGE(sampled, g->task[0].sample = ((hsy_ratio){1, 3});
       g->policy.min_batch = 15000)
CHANGE(sampled_less, g->task[0].sample = ((hsy_ratio){1, (uint64_t)1 << 31});
       g->policy.min_batch = 1)
CHANGE(one_pinned, pin(g, 9, 102, 0))
CHANGE(none_pinned, pin(g, 8, 9, 0))
CHANGE(all_pinned, pin(g, 102, 101, HSY_POLICY_PIN_ALL))
CHANGE(not_all_pinned, pin(g, 9, 102, HSY_POLICY_PIN_ALL))
CHANGE(other_gateway,
       ((hsy_parties *)(uintptr_t)g->parties)->gateway[1].key[0]++)
CHANGE(gateway_unsaid, said_without_gateways(g))
CHANGE(gateway_unsaid_pinned, said_without_gateways(g); pin(g, 101, 102, 0))
CHANGE(gateway_in_policy, gateway_unsaid_pinned(g); pin_gateways(g))
CHANGE(other_gateway_in_policy, other_gateway(g); pin_gateways(g))
CHANGE(local_two, local(g); g->policy.min_shufflers = 1)
CHANGE(local_batch, local(g); g->policy.min_batch = 1)
CHANGE(local_pinned, local(g); pin(g, 101, 102, HSY_POLICY_PIN_ALL))
CHANGE(local_direct, local(g); g->parties = NULL;
       g->policy.flags = HSY_POLICY_RELAY)
CHANGE(local_relayed, local(g); g->policy.flags = HSY_POLICY_RELAY)
CHANGE(early, g->world.now -= DEVICE_DAY)
CHANGE(late, g->world.now += (uint64_t)500 * DEVICE_DAY; g->task[0].end += 400)
CHANGE(last, g->world.now += (uint64_t)499 * DEVICE_DAY; g->task[0].end += 400)
CHANGE(forged, said.wire[1][HSY_STATEMENT_SIGNED + 5] ^= 1)
CHANGE(altered, said.wire[0][140] ^= 1)
CHANGE(no_way, g->parties = NULL)
CHANGE(directly, no_way(g); g->task[0].flags = 0)
CHANGE(long_report, g->tasks = 0;
       rig_task(g, "color", "browser", values("oue", 1000, EPS), 0);
       g->policy.release_bytes = 4096;
       example_shuffle(&g->task[0], &said, 2, DAY0))

/* Another task after it, on this source. */
static hsy_task *beside(struct rig *g, const char *source)
{
    return rig_task(g, g->tasks == 1 ? "shape" : "size", source,
                    values("grr", 3 + (uint32_t)g->tasks, EPS), 0);
}

/* A shuffled one, whose first shuffler names another gateway key. */
static void other_said_beside(struct rig *g, const char *source)
{
    static struct example_statements others;
    hsy_task *task = beside(g, source);
    hsy_statement s;

    example_shuffle(task, &others, 2, DAY0);
    s = example_statement(task, 1, 2, DAY0);
    s.gateway[1][0]++;
    hsy_statement_encode(others.wire[0], &s, NULL);
    world_sign(others.wire[0] + HSY_STATEMENT_SIGNED, s.sign_key,
               others.wire[0], HSY_STATEMENT_SIGNED);
}

/* One that demands a relay. */
static void relayed_beside(struct rig *g, const char *source)
{
    beside(g, source)->flags = HSY_TASK_RELAY;
}

/* The same, with reports longer than a request. */
static void long_beside(struct rig *g, const char *source)
{
    rig_task(g, "shape", source, values("oue", 4000, EPS), 0)->flags =
        HSY_TASK_RELAY;
    g->policy.release_bytes = 4096;
    g->task[0].flags = 0;
}

/* The task comes last. */
static void last_of_all(struct rig *g)
{
    const hsy_task first = g->task[0];

    memmove(g->task, g->task + 1, (g->tasks - 1) * sizeof first);
    g->task[g->tasks - 1] = first;
}

CHANGE(named, other_said_beside(g, "browser"))
CHANGE(named_elsewhere, other_said_beside(g, "settings"))
CHANGE(named_before, named(g); last_of_all(g))
CHANGE(relayed, directly(g); relayed_beside(g, "browser"))
CHANGE(relayed_elsewhere, directly(g); relayed_beside(g, "settings"))
CHANGE(relayed_before, relayed(g); last_of_all(g))
CHANGE(too_long, long_beside(g, "browser"))
CHANGE(too_long_elsewhere, long_beside(g, "settings"))
CHANGE(too_long_before, too_long(g); last_of_all(g))
CHANGE(full, g->policy.releases = 2; beside(g, "settings");
       beside(g, "browser"))
CHANGE(full_elsewhere, g->policy.releases = 2; beside(g, "settings");
       beside(g, "usage"))
CHANGE(room, full(g); g->policy.releases = 3)
CHANGE(two_elsewhere, named_elsewhere(g); g->policy.releases = 1;
       beside(g, "usage"))
CHANGE(named_over, named(g); g->task[1].end = DAY0 + 5;
       g->world.now += (uint64_t)10 * DEVICE_DAY)
CHANGE(full_over, full(g); g->task[2].end = DAY0 + 5;
       g->world.now += (uint64_t)10 * DEVICE_DAY)

/* How many sealed uploads leave now. */
static unsigned sealed_leave(struct rig *g)
{
    uint8_t upload[4096];
    hsy_upload head;
    size_t len;
    unsigned n = 0;

    for (; rig_next(g, upload, &len) == HSY_OK; rig_sent(g, upload, len)) {
        hsy_upload_decode(&head, upload, NULL);
        n += head.kind == HSY_UPLOAD_SEALED;
    }
    return n;
}

/* Whether the task is answered once all have been tried in their order, and an
 * upload leaves for it; consent comes last and lifts no bar. */
static void answers(void (*change)(struct rig *g), bool want, const char *what)
{
    struct rig *g = shuffled_rig();
    uint32_t own = 0;
    int state;

    change(g);
    while (strcmp(g->task[own].id, "color") != 0)
        own++;
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK, "a device");
    for (uint32_t i = 0; i < g->tasks; i++)
        (void)rig_admit(g, i);
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    state = rig_answer(g, own, 1);
    ok(want ? state == HSY_ANSWERED
            : state == -1 && g->err.status == HSY_E_POLICY &&
                  g->err.field == HSY_FIELD_SOURCE,
       "%s: %s", what, want ? "answered" : "not answered");
    g->world.now += DEVICE_DAY;
    is_u64(sealed_leave(g) != 0, want, "and %s leaves for it",
           want ? "an upload" : "nothing");
    rig_free(g);
}

/* A document for one device could have it refuse what uses up the cap of the
 * source at all others. */
static void tasks_on_a_source_go_together(void)
{
    answers(named, false,
            "another task on the source, whose statement names other gateways");
    answers(named_before, false, "the same before it");
    answers(named_elsewhere, true, "the same on another source");
    answers(relayed, false,
            "one that demands a relay, where there is no gateway");
    answers(relayed_before, false, "the same before it");
    answers(relayed_elsewhere, true, "the same on another source");
    answers(too_long, false, "one whose report is longer than a request");
    answers(too_long_before, false, "the same before it");
    answers(too_long_elsewhere, true, "the same on another source");
    answers(two_elsewhere, false, "one on each of two other sources: all are");
    answers(named_over, false, "other gateways, and it is over");
    answers(full_over, false, "no room, and it is over");
    answers(full, false, "one on the source that finds no room");
    answers(full_elsewhere, true, "no room for one on another source");
    answers(room, true, "room for all");
}

static void admission(void)
{
    admits(NULL, HSY_OK, NULL, "a shuffled task");
    admits(sealless, HSY_E_POLICY, "seal", "a program that cannot seal");
    admits(older_world, HSY_E_POLICY, "seal", "one made before there was seal");
    admits(other_world, HSY_OK, NULL,
           "a program made before there was central");
    admits(proves, HSY_OK, NULL, "a central epsilon that the program proves");
    admits(lies, HSY_E_POLICY, "epsilon_central",
           "a central epsilon that the program does not prove");
    admits(unproved, HSY_OK, NULL,
           "the same with a program that cannot prove any");
    admits(older_policy, HSY_OK, NULL,
           "a policy made before it could demand shufflers");
    admits(two, HSY_OK, NULL, "two demanded");
    admits(three, HSY_E_POLICY, "min_shufflers", "three demanded");
    admits(batch, HSY_OK, NULL, "batches as demanded");
    admits(larger_batch, HSY_E_POLICY, "min_batch", "larger ones demanded");
    admits(sampled, HSY_OK, NULL, "a third of the devices sampled: a third");
    admits(sampled_less, HSY_E_POLICY, "min_batch",
           "a batch of null uploads counts as none");
    admits(one_pinned, HSY_OK, NULL, "one of its shufflers known");
    admits(none_pinned, HSY_E_POLICY, "shuffler_keys", "none known");
    admits(all_pinned, HSY_OK, NULL, "all known, as demanded");
    admits(not_all_pinned, HSY_E_POLICY, "shuffler_keys", "one unknown");
    admits(other_gateway, HSY_E_POLICY, "gateway_keys",
           "a gateway key that the first shuffler's statement does not name");
    admits(gateway_unsaid, HSY_OK, NULL,
           "a statement that names none, without pins");
    admits(gateway_unsaid_pinned, HSY_E_POLICY, "gateway_keys",
           "a statement that names none, where shufflers are pinned");
    admits(gateway_in_policy, HSY_OK, NULL, "the same with keys of the policy");
    admits(other_gateway_in_policy, HSY_E_POLICY, "gateway_keys",
           "a gateway key that is not the policy's");
    admits(local, HSY_OK, NULL, "a local task beside a gateway");
    admits(local_two, HSY_E_POLICY, "min_shufflers",
           "a local task where a shuffler is demanded");
    admits(local_batch, HSY_E_POLICY, "min_batch", "where a batch is");
    admits(local_pinned, HSY_E_POLICY, "shuffler_keys", "where known ones are");
    admits(local_direct, HSY_E_POLICY, "gateway_keys",
           "where a relay is, and there is no gateway");
    admits(local_relayed, HSY_OK, NULL, "and where there is one");
}

static void statements_are_checked(void)
{
    admits(early, HSY_E_OLD, "statement", "statements from tomorrow on");
    admits(last, HSY_OK, NULL, "their last day");
    admits(late, HSY_E_OLD, "statement", "the day after");
    admits(forged, HSY_E_SIGNATURE, "statement", "a signature changed");
    admits(altered, HSY_E_SIGNATURE, "statement", "an operator changed");
    admits(no_way, HSY_E_POLICY, "gateway_keys", "a relay without a gateway");
    admits(directly, HSY_OK, NULL, "no relay demanded, and no gateway");
    admits(long_report, HSY_E_POLICY, "request_bytes",
           "a report longer than a request");
}

static void sizes_are_checked(void)
{
    struct rig *g = shuffled_rig();

    g->face.size = sizeof g->face + 1;
    ok(rig_open(g, true) == HSY_E_RANGE && g->err.field == HSY_FIELD_SIZE,
       "a world of another size is refused");
    g->face.size = sizeof g->face;
    g->policy.size = offsetof(hsy_policy, flags);
    ok(rig_open(g, true) == HSY_E_RANGE && g->err.field == HSY_FIELD_SIZE,
       "and a policy");
    rig_free(g);
}

/* ---- What leaves --------------------------------------------------------- */

static bool keys_are(int first, int second, int collector)
{
    uint8_t want[3][HSY_SEAL_KEY];

    memset(want[0], first, HSY_SEAL_KEY);
    memset(want[1], second, HSY_SEAL_KEY);
    memset(want[2], collector, HSY_SEAL_KEY);
    return memcmp(seen.keys, want, sizeof want) == 0;
}

static void uploads_are_sealed(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096], again[4096], terms[HSY_DIGEST];
    size_t len = 0, len2 = 0;
    hsy_release_info info;
    hsy_upload head;

    rig_begin(g);
    hsy_document_terms(&g->doc, terms, 0);
    hsy_release_describe(g->release[0], &info);
    ok(info.upload_bytes == HSY_UPLOAD_WIRE + 3 * HSY_SEAL_LAYER + 1 + 1 &&
           info.task.statements == NULL && info.task.collector_key == NULL,
       "an upload is a header, three layers, a letter and the report");
    rig_answer(g, 0, 2);
    ok(info.nano_slot == EPS && rig_spent(g, "browser") == EPS,
       "what is charged is the report's epsilon");
    rig_day(g, 1);
    ok(rig_next(g, upload, &len) == HSY_OK && len == info.upload_bytes &&
           hsy_upload_decode(&head, upload, NULL) == HSY_OK &&
           head.kind == HSY_UPLOAD_SEALED && head.count == 1 &&
           head.length == len - HSY_UPLOAD_WIRE,
       "it is of kind 3, with its length");
    ok(seen.len == head.length && seen.last.layers == 3 &&
           seen.last.kind == HSY_UPLOAD_REPORTS && seen.last.report_len == 1 &&
           seen.last.epoch == head.epoch && seen.last.release == 1 &&
           memcmp(seen.terms, terms, sizeof terms) == 0 &&
           keys_are(201, 202, 33),
       "the report is sealed for the shufflers in order and the collector, "
       "under the terms of the document");
    ok(rig_next(g, again, &len2) == HSY_OK && len2 == len &&
           memcmp(upload, again, len) == 0 && seen.calls == 2,
       "a retry has the same bytes");
    ok(rig_again(g) && rig_next(g, again, &len2) == HSY_OK &&
           memcmp(upload, again, len) == 0,
       "also after the device was opened again");
    ok(rig_sent(g, upload, len) == HSY_OK &&
           rig_next(g, again, &len2) == HSY_E_END,
       "what has arrived does not come again");
    rig_free(g);
}

static void nulls_look_alike(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096], other[4096], seed[64];
    size_t len = 0, len2 = 0;

    rig_begin(g);
    rig_day(g, 1);
    ok(rig_next(g, upload, &len) == HSY_OK &&
           seen.last.kind == HSY_UPLOAD_NULL &&
           rig_sent(g, upload, len) == HSY_OK,
       "a round without an answer seals a null");
    memcpy(seed, seen.seed, sizeof seed);
    rig_answer(g, 0, 1);
    rig_day(g, 2);
    ok(rig_next(g, other, &len2) == HSY_OK &&
           seen.last.kind == HSY_UPLOAD_REPORTS && len == len2 &&
           memcmp(upload, other, 80) == 0,
       "null and real have one length and, up to the id, one header");
    ok(memcmp(seed, seen.seed, sizeof seed) != 0,
       "every upload is sealed with coins of its own");
    seen.answer = HSY_E_ENTROPY;
    ok(rig_next(g, other, &len2) == HSY_E_ENTROPY &&
           g->err.field == HSY_FIELD_SEAL,
       "what cannot be sealed does not leave");
    rig_free(g);
}

/* Without its document a release describes itself; sending for it takes one. */
static void release_alone(void)
{
    struct rig *g = shuffled_rig();
    hsy_release *r = calloc(1, hsy_release_size(&g->task[0]));
    hsy_release_info info;

    g->task[0].collector_key = NULL;
    ok(hsy_release_init(r, &g->task[0], NULL) == HSY_OK,
       "a release without a key of the collector");
    hsy_release_describe(r, &info);
    ok(info.upload_bytes == HSY_UPLOAD_WIRE + 3 * HSY_SEAL_LAYER + 2,
       "knows the length of its uploads");
    free(r);
    rig_free(g);
}

/* The label of a task that promises 0.1, by a program that proves it or not.
 * Returns true if it has the document's digest. */
static bool label_of(char *label, size_t room, bool proved)
{
    struct rig *g = shuffled_rig();
    uint8_t digest[HSY_DIGEST];
    char hex[2 * HSY_DIGEST + 1];
    hsy_task task;

    g->task[0].nano_central = HSY_NANO / 10;
    rig_begin(g);
    if (proved)
        hsy_release_proved(g->release[0]);
    hsy_document_task(&g->doc, &task, 0);
    hsy_release_label(g->release[0], label, room, &task);
    hsy_document_digest(&g->doc, digest);
    for (size_t i = 0; i < HSY_DIGEST; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    rig_free(g);
    return strstr(label, hex) != NULL;
}

/* The label names both promises, who must not work together, and the way. */
static void label_says_both(void)
{
    static const char *const words[] = {
        "by at most 2.8 times.",
        "That holds whoever works together.",
        "2 shufflers, run by Verein f\xc3\xbcr Statistik and Verein",
        "fewer than 50000 uploads",
        "Unless the collector and all shufflers work together",
        "at least 9 in 10 of a batch are real and honest, one report can move",
        "by at most 1.2 times. That may fail with a chance of 1 in 100000000.",
        "through a relay"};
    char label[4096];
    size_t found = 0;

    ok(label_of(label, sizeof label, true),
       "the label has the digest of the document");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(label, words[i]) != NULL)
            found++;
        else
            printf("# no '%s' in: %s\n", words[i], label);
    ok(found == sizeof words / sizeof words[0],
       "the label says both epsilons in words, and who must not collude");
    label_of(label, sizeof label, false);
    ok(strstr(label, "honest, one report, by the collector's claim, can move "
                     "the odds") != NULL,
       "a program that does not prove the second calls it the collector's "
       "claim");
}

/* What was shown under one epoch is not shown under another: with another delay
 * the terms are others, too. */
static void shown_stays(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096];
    size_t len = 0;

    g->task[0].slot_days = 7;
    g->task[0].delay_seconds = 6 * DEVICE_DAY;
    rig_begin(g);
    rig_answer(g, 0, 2);
    rig_day(g, 13);
    ok(rig_next(g, upload, &len) == HSY_OK && seen.last.epoch > DAY0 + 7,
       "an upload that has waited for more than a day");
    g->task[0].delay_seconds = 0;
    rig_publish(g);
    ok(rig_again(g) && rig_next(g, upload, &len) == HSY_E_END,
       "does not leave under a document without a delay");
    rig_free(g);
}

/* ---- Promises ------------------------------------------------------------ */

/* The kind of the next upload, in the envelope if it has one; 0: there is none.
 */
static uint32_t next_kind(struct rig *g, uint8_t upload[4096], size_t *len)
{
    hsy_upload head;

    if (rig_next(g, upload, len) != HSY_OK ||
        hsy_upload_decode(&head, upload, NULL) != HSY_OK)
        return 0;
    return head.kind == HSY_UPLOAD_SEALED ? seen.last.kind : head.kind;
}

/* The next document has the same question in the local model. */
static void downgrade(struct rig *g, uint64_t permanent)
{
    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), permanent);
    g->task[0].release = 2;
    rig_publish(g);
}

static void upgrade(struct rig *g, uint64_t permanent)
{
    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), permanent);
    example_shuffle(&g->task[0], &said, 2, DAY0);
    rig_publish(g);
}

/* Promised sealed and mixed, and the next document asks for it in clear. */
static void a_promise_is_kept(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096];
    size_t len = 0;

    rig_begin(g);
    rig_answer(g, 0, 2);
    rig_day(g, 1);
    downgrade(g, 0);
    ok(rig_again(g) && next_kind(g, upload, &len) == HSY_UPLOAD_NULL,
       "does not hand out in clear what was answered as shuffled");
    is_u64(world_entries(&g->world, HSY_LOG_WITHHELD), 1,
           "logs that an answer was withheld");
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    ok(next_kind(g, upload, &len) == HSY_UPLOAD_NULL,
       "new consent does not let out what was answered before");
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED,
       "answers a new round under the new promise");
    rig_day(g, 2);
    while (next_kind(g, upload, &len) == HSY_UPLOAD_NULL)
        rig_sent(g, upload, len);
    ok(next_kind(g, upload, &len) == HSY_UPLOAD_REPORTS,
       "hands out the new answer in clear");
    upgrade(g, 0);
    ok(rig_again(g) && next_kind(g, upload, &len) == 0,
       "does not seal what was answered as local");
    rig_free(g);
}

/* A permanent answer outlives the document: it is neither sent otherwise nor
 * drawn again, until the person consents. */
static void permanent_answers_wait_for_consent(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096];
    size_t len = 0;
    uint64_t spent, key;

    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), 2 * EPS);
    example_shuffle(&g->task[0], &said, 2, DAY0);
    rig_begin(g);
    ok(rig_answer(g, 0, 2) == HSY_ANSWERED, "a permanent answer");
    spent = rig_spent(g, "browser");
    key = g->dev->records[0].keys[0];
    rig_day(g, 1);
    downgrade(g, 2 * EPS);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT &&
           rig_answer(g, 0, 3) == HSY_ANSWER_NO_CONSENT,
       "a kept answer is not reported under another promise");
    rig_day(g, 2);
    for (int i = 0; i < 2; i++) {
        ok(next_kind(g, upload, &len) == HSY_UPLOAD_NULL,
           "round %d sends a null upload", i);
        rig_sent(g, upload, len);
    }
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWERED &&
           rig_spent(g, "browser") == spent &&
           g->dev->records[0].keys[0] == key,
       "after new consent it is reported, neither drawn nor charged again");
    rig_day(g, 3);
    ok(next_kind(g, upload, &len) == HSY_UPLOAD_REPORTS,
       "and leaves as the new document says");
    rig_free(g);
}

/* Consent is for the document that the person has seen. */
static void consent_holds_for_its_document(void)
{
    struct rig *g = shuffled_rig();

    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), 2 * EPS);
    example_shuffle(&g->task[0], &said, 2, DAY0);
    rig_begin(g);
    hsy_device_consent_set(g->dev, HSY_CONSENT_COLLECT, NULL);
    rig_answer(g, 0, 2);
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    rig_day(g, 1);
    downgrade(g, 2 * EPS);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "consent before a document does not cover what that document asks");
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    g->task[0].min_reports++;
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWERED,
       "consent still holds under a later document with the same promise");
    rig_free(g);
}

/* Each release of the task has another delay, and so other terms. */
static void publish_release(struct rig *g, uint64_t permanent, uint32_t release)
{
    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), permanent);
    g->task[0].release = release;
    g->task[0].delay_seconds = release;
    example_shuffle(&g->task[0], &said, 2, DAY0);
}

/* Sends all that is due: the number of uploads, and of reports among them. */
static size_t send_all(struct rig *g, size_t *reports)
{
    uint8_t upload[4096];
    size_t len = 0, n = 0;
    uint32_t kind;

    *reports = 0;
    for (; (kind = next_kind(g, upload, &len)) != 0; n++) {
        *reports += kind == HSY_UPLOAD_REPORTS;
        rig_sent(g, upload, len);
    }
    return n;
}

/* As tasks_on_a_source_go_together, where the task has been answered under a
 * document without them. */
static void known_tasks_go_together(uint32_t releases)
{
    struct rig *g = shuffled_rig();
    unsigned sealed;

    g->policy.releases = releases;
    rig_begin(g);
    rig_answer(g, 0, 1);
    beside(g, "settings");
    beside(g, "usage")->id[0] = 'u';
    rig_task(g, "weight", "browser", values("grr", 9, EPS), 0);
    last_of_all(g);
    rig_publish(g);
    rig_day(g, 2);
    ok(rig_take(g) == HSY_OK, "a document with other tasks before it");
    for (uint32_t i = 0; i < g->tasks; i++)
        (void)rig_admit(g, i);
    rig_day(g, 4); /* terms are other ones, so it has waited for a slot */
    ok(rig_answer(g, 3, 1) == (releases == 4 ? HSY_ANSWERED : -1),
       "room for %u releases of 4: a known task is %s", releases,
       releases == 4 ? "answered" : "not answered");
    rig_day(g, 5);
    sealed = sealed_leave(g);
    ok((sealed != 0) == (releases == 4), "and %u uploads leave for it", sealed);
    rig_free(g);
}

/* The next document has a gateway for the task that was refused. */
static void a_bar_is_lifted_with_a_slot(void)
{
    struct rig *g = shuffled_rig();
    const hsy_parties *parties = g->parties;
    size_t reports;

    relayed(g);
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK &&
           rig_admit(g, 0) == HSY_OK && rig_admit(g, 1) == HSY_E_POLICY &&
           hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL) == HSY_OK &&
           !rig_again(g) && rig_answer(g, 0, 1) == -1,
       "a task is barred by the one behind it");
    g->parties = parties;
    rig_publish(g);
    rig_day(g, 2);
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWER_NO_CONSENT,
       "the next document bars it no more: it waits for a slot");
    rig_day(g, 3);
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWERED, "and is answered");
    rig_day(g, 4);
    ok(rig_admit(g, 0) == HSY_OK && send_all(g, &reports) != 0 && reports == 1,
       "and its report leaves");
    rig_free(g);
}

/* A document that has the known task itself refused, and the first again. */
static void a_refused_task_waits_for_a_slot(void)
{
    struct rig *g = shuffled_rig();

    rig_begin(g);
    rig_answer(g, 0, 1);
    other_gateway(g);
    rig_publish(g);
    rig_day(g, 1);
    ok(rig_take(g) == HSY_OK && rig_admit(g, 0) == HSY_E_POLICY,
       "a known task is refused");
    ((hsy_parties *)(uintptr_t)g->parties)->gateway[1].key[0]--;
    rig_publish(g);
    rig_day(g, 3);
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWER_NO_CONSENT,
       "once it is not, it waits for a slot");
    is_u64(sealed_leave(g), 0, "and nothing of the days before leaves");
    rig_free(g);
}

/* A new release on the second day, for a device that has answered or not. It
 * must send nothing before the next slot: null uploads in a batch would leave
 * the report of a newcomer alone. */
static void new_terms_begin_with_a_slot(uint64_t permanent, bool answered)
{
    const uint32_t next = permanent != 0 ? 10 : 2; /* days until it begins */
    struct rig *g = shuffled_rig();
    size_t reports, uploads;

    publish_release(g, permanent, 1);
    rig_begin(g);
    if (answered)
        rig_answer(g, 0, 2);
    rig_day(g, 1);
    publish_release(g, permanent, 2);
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "new terms: nothing is answered before the next slot (%s, %s)",
       permanent != 0 ? "permanent" : "fresh",
       answered ? "answered before" : "not answered");
    rig_day(g, next);
    ok(rig_again(g) && send_all(g, &reports) == 0,
       "new terms: nothing leaves of the slot that had begun");
    rig_answer(g, 0, 3);
    rig_day(g, next + 1);
    uploads = send_all(g, &reports);
    ok(uploads == 1 && reports == 1,
       "new terms: the next slot is answered and leaves");
    rig_free(g);
}

static void new_terms_begin_with_consent(void)
{
    struct rig *g = shuffled_rig();
    size_t reports, uploads;

    publish_release(g, 2 * EPS, 1);
    rig_begin(g);
    rig_answer(g, 0, 2);
    rig_day(g, 1);
    publish_release(g, 2 * EPS, 2);
    rig_publish(g);
    rig_again(g);
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWERED,
       "new terms: a kept answer is reported at once after new consent");
    rig_day(g, 2);
    uploads = send_all(g, &reports);
    ok(uploads == 1 && reports == 1, "new terms: that report leaves");
    publish_release(g, 2 * EPS, 3);
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "new terms: that consent does not cover the release after it");
    rig_free(g);
}

/* The task is shuffled, then local, then shuffled under its first terms again.
 * Whoever has answered the local one would send null uploads. */
static void old_terms_begin_with_a_slot(bool answered)
{
    struct rig *g = shuffled_rig();
    size_t reports, uploads;

    publish_release(g, 2 * EPS, 1);
    rig_begin(g);
    rig_day(g, 1);
    downgrade(g, 2 * EPS);
    rig_again(g);
    if (answered)
        rig_answer(g, 0, 2);
    publish_release(g, 2 * EPS, 1);
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "old terms again: nothing is answered before the next slot (%s)",
       answered ? "answered as local" : "not answered");
    rig_day(g, 10);
    ok(rig_again(g) && send_all(g, &reports) == 0,
       "old terms again: nothing leaves of the slot that had begun");
    rig_answer(g, 0, 3);
    rig_day(g, 11);
    uploads = send_all(g, &reports);
    ok(uploads == 1 && reports == 1,
       "old terms again: the next slot is answered and leaves");
    rig_free(g);
}

/* A task in the local model that demands the relay promises it. */
static void the_relay_is_promised(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096];
    size_t len = 0;

    downgrade(g, 0);
    g->task[0].flags = HSY_TASK_RELAY;
    rig_begin(g);
    rig_answer(g, 0, 2);
    rig_day(g, 1);
    downgrade(g, 0);
    ok(rig_again(g) && next_kind(g, upload, &len) == HSY_UPLOAD_NULL,
       "does not send without the relay what was answered with it");
    rig_answer(g, 0, 2);
    rig_day(g, 2);
    downgrade(g, 0);
    g->task[0].flags = HSY_TASK_RELAY;
    rig_publish(g);
    rig_again(g);
    while (next_kind(g, upload, &len) == HSY_UPLOAD_NULL)
        rig_sent(g, upload, len);
    ok(next_kind(g, upload, &len) == HSY_UPLOAD_REPORTS,
       "sends through the relay what was answered without it");
    rig_free(g);
}

/* Another task may be answered from the kept answer: the same rule. */
static void lowered_answers_wait_for_consent(void)
{
    struct rig *g = shuffled_rig();

    rig_begin(g);
    rig_answer(g, 0, 2);
    g->tasks = 0;
    rig_task(g, "less", "browser", values("grr", 4, EPS / 2), 0);
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "an answer is not made from one that was given under another promise");
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    ok(rig_answer(g, 0, 2) == HSY_ANSWERED && rig_spent(g, "browser") == EPS,
       "after new consent it is, without another charge");
    rig_free(g);
}

/* A new release with a smaller epsilon, which a device would answer from the
 * answer that it gave to the release before. */
static void lower_terms_begin_with_a_slot(bool answered, bool before_local)
{
    struct rig *g = shuffled_rig();
    size_t reports, uploads;

    if (before_local) {
        g->tasks = 0;
        rig_task(g, "color", "browser", values("grr", 4, EPS), 2 * EPS);
    } else {
        publish_release(g, 2 * EPS, 1);
    }
    rig_begin(g);
    if (answered)
        rig_answer(g, 0, 2);
    rig_day(g, 1);
    g->tasks = 0;
    rig_task(g, "color", "browser", values("grr", 4, EPS), EPS + EPS / 2);
    g->task[0].release = 2;
    example_shuffle(&g->task[0], &said, 2, DAY0);
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "a smaller epsilon: nothing is answered before the next slot (%s, %s)",
       before_local ? "local before" : "shuffled before",
       answered ? "answered before" : "not answered");
    rig_day(g, 10);
    ok(rig_again(g) && send_all(g, &reports) == 0,
       "a smaller epsilon: nothing leaves of the slot that had begun");
    rig_answer(g, 0, 3);
    rig_day(g, 11);
    uploads = send_all(g, &reports);
    ok(uploads == 1 && reports == 1,
       "a smaller epsilon: the next slot is answered and leaves");
    rig_free(g);
}

/* Of several answers to a round those before the new document stay here. */
static void rounds_have_one_promise(void)
{
    struct rig *g = shuffled_rig();
    uint8_t upload[4096];
    size_t len = 0, reports = 0, uploads = 0;
    uint32_t kind;

    g->task[0].answers = g->task[0].sends = 3;
    rig_begin(g);
    rig_answer(g, 0, 2);
    downgrade(g, 0);
    g->task[0].answers = g->task[0].sends = 3;
    rig_publish(g);
    ok(rig_again(g) && rig_answer(g, 0, 2) == HSY_ANSWER_NO_CONSENT,
       "a round that was begun under another promise takes no answers");
    hsy_device_consent_set(g->dev, HSY_CONSENT_SEND, NULL);
    ok(rig_answer(g, 0, 2) == HSY_ANSWERED, "after new consent it does");
    rig_day(g, 1);
    for (; (kind = next_kind(g, upload, &len)) != 0; uploads++) {
        reports += kind == HSY_UPLOAD_REPORTS;
        rig_sent(g, upload, len);
    }
    ok(uploads == 3 && reports == 1,
       "only the later answer leaves: %zu of %zu uploads", reports, uploads);
    rig_free(g);
}

int main(void)
{
    label_says_both();
    admission();
    tasks_on_a_source_go_together();
    known_tasks_go_together(3);
    known_tasks_go_together(4);
    a_bar_is_lifted_with_a_slot();
    a_refused_task_waits_for_a_slot();
    statements_are_checked();
    sizes_are_checked();
    uploads_are_sealed();
    shown_stays();
    a_promise_is_kept();
    permanent_answers_wait_for_consent();
    consent_holds_for_its_document();
    for (int i = 0; i < 4; i++)
        new_terms_begin_with_a_slot(i < 2 ? 2 * EPS : 0, i % 2 == 0);
    new_terms_begin_with_consent();
    old_terms_begin_with_a_slot(true);
    old_terms_begin_with_a_slot(false);
    the_relay_is_promised();
    lowered_answers_wait_for_consent();
    for (int i = 0; i < 4; i++)
        lower_terms_begin_with_a_slot(i % 2 == 0, i < 2);
    rounds_have_one_promise();
    nulls_look_alike();
    release_alone();
    return tap_done();
}
