/* test_document_parties.c - formats 2 and 3 of a task document. */
#include "lib/bits/bytes.h"
#include "rig/example_shuffled.h"
#include "rig/example_tasks.h"
#include "tap.h"

static struct example_tasks good;
static struct example_statements said;

/* A document of tasks and parties, signature zeros; NULL: it does not encode.
 */
static uint8_t *written(const hsy_task *tasks, size_t n, const hsy_parties *p,
                        size_t *len, hsy_error *err)
{
    const hsy_document doc = {
        .version = 9, .issued = 5, .expires = 6, .parties = p};
    uint8_t *bytes;

    if (hsy_document_encode(&doc, NULL, 0, len, tasks, n, err) != HSY_OK)
        return NULL;
    bytes = calloc(1, *len + HSY_SIGNATURE);
    if (bytes != NULL)
        hsy_document_encode(&doc, bytes, *len, len, tasks, n, err);
    *len += HSY_SIGNATURE;
    return bytes;
}

/* Read a document and write it again: the same bytes? */
static bool comes_back(const uint8_t *bytes, size_t len)
{
    hsy_task tasks[EXAMPLE_TASKS];
    hsy_parties parties;
    hsy_document doc;
    uint8_t *again;
    size_t again_len = 0;
    bool same;

    if (hsy_document_open(&doc, bytes, len, NULL) != HSY_OK ||
        doc.tasks > EXAMPLE_TASKS)
        return false;
    for (uint32_t i = 0; i < doc.tasks; i++)
        hsy_document_task(&doc, &tasks[i], i);
    hsy_document_parties(&doc, &parties);
    doc.parties = &parties;
    again = calloc(1, len);
    same = hsy_document_encode(&doc, again, len, &again_len, tasks, doc.tasks,
                               NULL) == HSY_OK &&
           again_len + HSY_SIGNATURE == len &&
           memcmp(again, bytes, again_len) == 0;
    free(again);
    return same;
}

static void document_comes_back(void)
{
    const hsy_parties p = example_parties();
    hsy_parties read;
    hsy_document doc;
    hsy_task t;
    size_t len;
    uint8_t *bytes = written(good.task, EXAMPLE_TASKS, &p, &len, NULL);

    ok(bytes != NULL && comes_back(bytes, len) && bytes_get32(bytes + 4) == 2,
       "a document with a shuffled task and parties is of format 2, and comes "
       "back");
    hsy_document_open(&doc, bytes, len, NULL);
    hsy_document_task(&doc, &t, 1);
    ok(t.model == HSY_MODEL_SHUFFLED && t.flags == HSY_TASK_RELAY &&
           t.shufflers == 2 && t.min_batch == 50000 && t.max_wait == 2 &&
           t.close_after_seconds == 21600 && t.assume_honest.num == 9 &&
           t.assume_honest.den == 10 && t.delta.num == 1 &&
           t.delta.den == 100000000 && t.nano_central == EXAMPLE_CENTRAL &&
           memcmp(t.statements, said.wire, 2 * HSY_STATEMENT_WIRE) == 0 &&
           memcmp(t.collector_key, said.collector_key, HSY_SEAL_KEY) == 0,
       "what its task has more comes back, and the collector's key with it");
    hsy_document_task(&doc, &t, 0);
    ok(t.model == HSY_MODEL_LOCAL && t.statements == NULL &&
           t.collector_key == NULL,
       "another task of it has none of that");
    hsy_document_parties(&doc, &read);
    ok(read.request_bytes == 512 && read.response_bytes == 256 &&
           read.gateway_keys == 2 && read.gateway[1].id == 8 &&
           memcmp(read.gateway[1].key, p.gateway[1].key, HSY_SEAL_KEY) == 0 &&
           read.relay_len == p.relay_len &&
           memcmp(read.relay, p.relay, p.relay_len) == 0,
       "its parties come back");
    free(bytes);
}

/* What needs no format 2 does not get it. */
static void formats(void)
{
    const hsy_parties p = example_parties(), none = {.relay_len = 0};
    hsy_parties gives = p;
    hsy_task relayed = good.task[0];
    size_t first, other, second, flagged, unsealed, third;
    uint8_t *a = written(good.task, 1, NULL, &first, NULL),
            *b = written(good.task, 1, &none, &other, NULL),
            *c = written(good.task, 1, &p, &second, NULL), *d, *e, *f;

    ok(bytes_get32(a + 4) == 1 && first == other && memcmp(a, b, first) == 0,
       "without parties and shufflers it is of format 1");
    ok(bytes_get32(c + 4) == 2 && comes_back(c, second),
       "with parties alone of format 2");
    relayed.flags = HSY_TASK_RELAY;
    d = written(&relayed, 1, NULL, &flagged, NULL);
    ok(d != NULL && bytes_get32(d + 4) == 2 && comes_back(d, flagged),
       "and with a flag alone");
    d[flagged - HSY_SIGNATURE - 32 - 1] = 1; /* before parties of 32 */
    ok(!comes_back(d, flagged), "a local task has no key of a collector");
    e = written(&good.task[1], 1, NULL, &unsealed, NULL);
    ok(e != NULL && comes_back(e, unsealed),
       "a shuffled task without parties is a document too, as stores keep one");
    bytes_put32(c + 4, 3);
    ok(!comes_back(c, second), "format 3 without document_bytes is refused");
    bytes_put32(c + 4, 1);
    ok(!comes_back(c, second), "format 2 is not read as format 1");
    gives.document_bytes = HSY_DOCUMENT_BYTES_MIN;
    f = written(good.task, 1, &gives, &third, NULL);
    ok(f != NULL && bytes_get32(f + 4) == 3 && comes_back(f, third),
       "a document whose gateway gives documents is of format 3");
    bytes_put32(f + 4, 2);
    ok(!comes_back(f, third), "format 2 with document_bytes is refused");
    bytes_put32(f + 4, 4);
    ok(!comes_back(f, third), "format 4 is not known");
    free(a);
    free(b);
    free(c);
    free(d);
    free(e);
    free(f);
}

/* A document of format 2 in which nothing needs it is refused. */
static void needless(void)
{
    size_t len, all;
    uint8_t *bytes = written(good.task, 1, NULL, &len, NULL), *longer;
    hsy_error err = {0};
    hsy_document doc;

    all = len + 32;
    longer = calloc(1, all);
    memcpy(longer, bytes, len - HSY_SIGNATURE);
    bytes_put32(longer + 4, 2);
    bytes_put32(longer + 28, (uint32_t)all);
    bytes_put32(longer + len - HSY_SIGNATURE, 32);
    ok(hsy_document_open(&doc, longer, all, &err) == HSY_E_FORMAT &&
           err.field == HSY_FIELD_FORMAT,
       "format 2 without anything that needs it is refused");
    free(bytes);
    free(longer);
}

/* ---- Every field --------------------------------------------------------- */

struct change {
    const char *what;
    void (*task)(hsy_task *t, struct example_statements *e);
    void (*parties)(hsy_parties *p);
    const char *field; /* NULL: it is allowed */
};

#define TASK(name, statement)                                                  \
    static void name(hsy_task *t, struct example_statements *e)                \
    {                                                                          \
        (void)e;                                                               \
        statement;                                                             \
    }
#define PARTIES(name, statement)                                               \
    static void name(hsy_parties *p)                                           \
    {                                                                          \
        statement;                                                             \
    }

static void say(hsy_task *t, struct example_statements *e, uint32_t place,
                void (*change)(hsy_statement *s))
{
    hsy_statement s;

    t->statements = e->wire[0];
    hsy_statement_decode(&s, e->wire[place - 1], NULL);
    change(&s);
    hsy_statement_encode(e->wire[place - 1], &s, NULL);
}

static void say_smaller(hsy_statement *s)
{
    s->min_batch--;
}
static void say_larger(hsy_statement *s)
{
    s->min_batch++;
}
static void say_release(hsy_statement *s)
{
    s->release++;
}
static void say_task(hsy_statement *s)
{
    s->task[0] = 'x';
}
static void say_longer(hsy_statement *s)
{
    s->task[strlen(s->task)] = 'x';
}
static void say_place(hsy_statement *s)
{
    s->place = 1;
}
static void say_of(hsy_statement *s)
{
    s->of = 3;
}
static void say_wait(hsy_statement *s)
{
    s->max_wait = 3;
}
static void say_close(hsy_statement *s)
{
    s->close_after_seconds = 1;
}
static void say_key(hsy_statement *s)
{
    memset(s->sign_key, 101, 32);
}
static void say_seal(hsy_statement *s)
{
    memset(s->seal_key, 201, 32);
}

TASK(strange_model, t->model = 2)
TASK(strange_flag, t->flags = 2)
TASK(local_batch, t->model = HSY_MODEL_LOCAL)
TASK(no_shuffler, t->shufflers = 0)
TASK(nine, t->shufflers = 9)
TASK(no_batch, t->min_batch = 0)
TASK(waits, t->max_wait = 367)
TASK(closes, t->close_after_seconds = 30 * 86400 + 1)
TASK(nobody, t->assume_honest.num = 0)
TASK(everybody, t->assume_honest = ((hsy_ratio){1, 1}))
TASK(too_honest, t->assume_honest = ((hsy_ratio){11, 10}))
TASK(no_delta, t->delta.num = 0)
TASK(whole_delta, t->delta = ((hsy_ratio){1, 1}))
TASK(fine_delta, t->delta = ((hsy_ratio){1, 1000000000000000000u}))
TASK(finer_delta, t->delta = ((hsy_ratio){1, 1000000000000000001u}))
TASK(no_central, t->nano_central = 0)
TASK(much_central, t->nano_central = HSY_EPSILON_MAX + 1)
TASK(keyless, t->collector_key = NULL)
TASK(zero_key, memset(e->collector_key, 0, HSY_SEAL_KEY);
     t->collector_key = e->collector_key)
TASK(direct, t->flags = 0)
TASK(smaller, say(t, e, 2, say_smaller))
TASK(larger, say(t, e, 2, say_larger))
TASK(other_release, say(t, e, 1, say_release))
TASK(other_task, say(t, e, 1, say_task))
TASK(longer_task, say(t, e, 1, say_longer))
TASK(other_place, say(t, e, 2, say_place))
TASK(other_of, say(t, e, 2, say_of))
TASK(other_wait, say(t, e, 2, say_wait))
TASK(other_close, say(t, e, 1, say_close))
TASK(one_key, say(t, e, 2, say_key))
TASK(one_seal, say(t, e, 2, say_seal))
TASK(garbage, e->wire[1][0] = 'X'; t->statements = e->wire[0])
PARTIES(odd_request, p->request_bytes = 768)
PARTIES(small_request, p->request_bytes = 256)
PARTIES(large_request, p->request_bytes = 1 << 21)
PARTIES(larger_request, p->request_bytes = 1 << 22)
PARTIES(no_request, p->request_bytes = 0)
PARTIES(short_response, p->response_bytes = 255)
PARTIES(marked_response, p->response_bytes = 300)
PARTIES(no_response, p->response_bytes = 0)
PARTIES(lone_response, p->gateway_keys = 0; p->request_bytes = 0;
        p->relay_len = 0)
PARTIES(least_document, p->document_bytes = 1 << 16)
PARTIES(most_document, p->document_bytes = 1 << 20)
PARTIES(small_document, p->document_bytes = 1 << 15)
PARTIES(large_document, p->document_bytes = 1 << 21)
PARTIES(odd_document, p->document_bytes = 3 << 16)
PARTIES(lone_document, p->gateway_keys = 0; p->request_bytes = 0;
        p->response_bytes = 0; p->relay_len = 0; p->document_bytes = 1 << 16)
PARTIES(three_keys, p->gateway_keys = 3)
PARTIES(one_gateway, p->gateway_keys = 1)
PARTIES(zero_gateway, memset(p->gateway[1].key, 0, HSY_SEAL_KEY))
PARTIES(one_id, p->gateway[1].id = 7)
PARTIES(keyless_relay, p->gateway_keys = 0; p->request_bytes = 0;
        p->response_bytes = 0)
PARTIES(no_relay, p->relay_len = 0)
PARTIES(spaced_relay, p->relay = "https://a b"; p->relay_len = 11)

static const struct change changes[] = {
    {"model 2", strange_model, NULL, "model"},
    {"flag 2", strange_flag, NULL, "flags"},
    {"a local task with a batch", local_batch, NULL, "model"},
    {"no shuffler", no_shuffler, NULL, "shufflers"},
    {"9 shufflers", nine, NULL, "shufflers"},
    {"batches of 0", no_batch, NULL, "min_batch"},
    {"a wait of 367 days", waits, NULL, "max_wait"},
    {"closing after 30 days", closes, NULL, "close_after"},
    {"nobody honest", nobody, NULL, "assume_honest"},
    {"everybody honest", everybody, NULL, NULL},
    {"more than all honest", too_honest, NULL, "assume_honest"},
    {"delta 0", no_delta, NULL, "delta"},
    {"delta 1", whole_delta, NULL, "delta"},
    {"delta 10^-18", fine_delta, NULL, NULL},
    {"a finer delta", finer_delta, NULL, "delta"},
    {"central epsilon 0", no_central, NULL, "epsilon_central"},
    {"central epsilon above 32", much_central, NULL, "epsilon_central"},
    {"no key of the collector", keyless, NULL, "collector_key"},
    {"one of zeros", zero_key, NULL, "collector_key"},
    {"a shuffled task without a relay", direct, NULL, NULL},
    {"a shuffler of smaller batches", smaller, NULL, "statement"},
    {"a shuffler of larger batches", larger, NULL, NULL},
    {"a statement about another release", other_release, NULL, "statement"},
    {"about another task", other_task, NULL, "statement"},
    {"about a task of a longer name", longer_task, NULL, "statement"},
    {"about another place", other_place, NULL, "statement"},
    {"about another number", other_of, NULL, "statement"},
    {"about another wait", other_wait, NULL, "statement"},
    {"about another closing", other_close, NULL, "statement"},
    {"two shufflers that sign with one key", one_key, NULL, "statement"},
    {"two shufflers to seal for with one key", one_seal, NULL, "statement"},
    {"a statement that is none", garbage, NULL, "statement"},
    {"requests of 768 bytes", NULL, odd_request, "request_bytes"},
    {"of 256", NULL, small_request, "request_bytes"},
    {"of 2^21", NULL, large_request, NULL},
    {"of 2^22", NULL, larger_request, "request_bytes"},
    {"of none with a gateway", NULL, no_request, "request_bytes"},
    {"answers of 255 bytes", NULL, short_response, "response_bytes"},
    {"answers of 300 bytes, for one device", NULL, marked_response,
     "response_bytes"},
    {"answers of 0 bytes with a gateway", NULL, no_response, "response_bytes"},
    {"answers of 256 bytes without a gateway", NULL, lone_response,
     "response_bytes"},
    {"documents of 2^16", NULL, least_document, NULL},
    {"documents of 2^20", NULL, most_document, NULL},
    {"documents of 2^15", NULL, small_document, "document_bytes"},
    {"documents of 2^21", NULL, large_document, "document_bytes"},
    {"documents of 3 * 2^16", NULL, odd_document, "document_bytes"},
    {"documents without a gateway", NULL, lone_document, "document_bytes"},
    {"3 keys of a gateway", NULL, three_keys, "gateway_keys"},
    {"one key of a gateway", NULL, one_gateway, NULL},
    {"a key of zeros", NULL, zero_gateway, "gateway_keys"},
    {"two keys of one id", NULL, one_id, "gateway_keys"},
    {"a relay without a gateway", NULL, keyless_relay, "relay"},
    {"a gateway without a relay", NULL, no_relay, NULL},
    {"a relay with a space", NULL, spaced_relay, "relay"},
};

static void fields_are_checked(void)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const struct change *c = &changes[i];
        struct example_tasks e = good;
        struct example_statements s = said;
        hsy_parties p = example_parties();
        hsy_error err = {0};
        uint8_t *bytes;
        size_t len;

        if (c->task != NULL)
            c->task(&e.task[1], &s);
        if (c->parties != NULL)
            c->parties(&p);
        bytes = written(e.task, EXAMPLE_TASKS, &p, &len, &err);
        if (c->field == NULL)
            ok(bytes != NULL && comes_back(bytes, len), "%s: allowed", c->what);
        else
            ok(bytes == NULL && err.status == HSY_E_RANGE &&
                   (c->task == NULL || err.at == 2) &&
                   strcmp(hsy_field_name(err.field), c->field) == 0,
               "%s: refused for its %s", c->what, c->field);
        free(bytes);
    }
}

/* ---- Bytes from outside -------------------------------------------------- */

static void every_length_is_refused(void)
{
    const hsy_parties p = example_parties();
    size_t len, opened = 0;
    uint8_t *bytes = written(good.task, 2, &p, &len, NULL);
    hsy_document doc;

    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *exact = malloc(cut + (cut == 0));

        memcpy(exact, bytes, cut);
        opened += hsy_document_open(&doc, exact, cut, NULL) == HSY_OK;
        if (cut >= 32) { /* and with its length made right */
            bytes_put32(exact + 28, (uint32_t)cut);
            opened += hsy_document_open(&doc, exact, cut, NULL) == HSY_OK;
        }
        free(exact);
    }
    ok(opened == 0, "none of %zu shorter documents opens", len);
    free(bytes);
}

/* A document that says 300 to one device would make it reject every answer and
 * send the same id again. */
static void other_responses_do_not_open(void)
{
    static const uint32_t lengths[] = {0, 64, 255, 257, 300, 65536};
    const hsy_parties p = example_parties();
    const size_t parties = 32 + 2 * 40 + p.relay_len;
    size_t len;
    uint8_t *bytes = written(good.task, 2, &p, &len, NULL);
    uint8_t *at = bytes + len - HSY_SIGNATURE - parties + 8;
    hsy_document doc;

    ok(bytes_get32(at) == HSY_RESPONSE_BYTES &&
           hsy_document_open(&doc, bytes, len, NULL) == HSY_OK,
       "opens a document whose answers have 256 bytes");
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        hsy_error err = {0};

        bytes_put32(at, lengths[i]);
        ok(hsy_document_open(&doc, bytes, len, &err) == HSY_E_FORMAT &&
               err.field == HSY_FIELD_RESPONSE_BYTES,
           "does not open a document whose answers have %u bytes", lengths[i]);
    }
    free(bytes);
}

/* Whatever opens after a bit has changed encodes to the same bytes. */
static void no_second_encoding(void)
{
    const hsy_parties p = example_parties();
    size_t len, opened = 0, other = 0;
    uint8_t *bytes = written(good.task, 2, &p, &len, NULL);
    hsy_document doc;

    for (size_t bit = 0; bit < 8 * (len - HSY_SIGNATURE); bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (hsy_document_open(&doc, bytes, len, NULL) == HSY_OK) {
            opened++;
            other += !comes_back(bytes, len);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ok(opened > 0 && other == 0,
       "%zu of %zu documents with a bit changed still open, each with one "
       "encoding",
       opened, 8 * (len - HSY_SIGNATURE));
    free(bytes);
}

int main(void)
{
    if (!ok(example_tasks_make(&good), "the examples resolve"))
        return tap_done();
    example_shuffle(&good.task[1], &said, 2, EXAMPLE_DAY);
    document_comes_back();
    formats();
    needless();
    fields_are_checked();
    every_length_is_refused();
    other_responses_do_not_open();
    no_second_encoding();
    return tap_done();
}
