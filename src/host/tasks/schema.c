/* schema.c - the shape of tasks.yaml: every scalar is a text. */
#include "host/tasks/internal.h"

#define SCHEMA_TEXT(name, in, member)                                          \
    {                                                                          \
        .key = (name), .type = YAML_RAW, .at = offsetof(in, member)            \
    }
#define SCHEMA_LIST(name, member, most)                                        \
    {                                                                          \
        .key = (name), .type = YAML_LIST,                                      \
        .at = offsetof(struct tasks_raw, member), .high = (most)               \
    }
#define SCHEMA_MAP(name, member, of)                                           \
    {                                                                          \
        .key = (name), .type = YAML_MAP,                                       \
        .at = offsetof(struct tasks_raw, member), .map = &(of)                 \
    }

static const struct yaml_field schema_set_fields[] = {
    SCHEMA_TEXT("g", struct tasks_set, param[HSY_PARAM_G]),
    SCHEMA_TEXT("pool-bits", struct tasks_set, param[HSY_PARAM_POOL_BITS]),
    SCHEMA_TEXT("pool-seed", struct tasks_set, param[HSY_PARAM_POOL_SEED]),
    SCHEMA_TEXT("subset", struct tasks_set, param[HSY_PARAM_SUBSET]),
    SCHEMA_TEXT("window", struct tasks_set, param[HSY_PARAM_WINDOW]),
    SCHEMA_TEXT("outputs", struct tasks_set, param[HSY_PARAM_OUTPUTS]),
    SCHEMA_TEXT("mix", struct tasks_set, param[HSY_PARAM_MIX]),
    SCHEMA_TEXT("grid", struct tasks_set, param[HSY_PARAM_GRID]),
    SCHEMA_TEXT("blocks", struct tasks_set, param[HSY_PARAM_BLOCKS]),
    SCHEMA_TEXT("q", struct tasks_set, param[HSY_PARAM_Q]),
    SCHEMA_TEXT("t", struct tasks_set, param[HSY_PARAM_T]),
    SCHEMA_TEXT("fanout", struct tasks_set, param[HSY_PARAM_FANOUT]),
    SCHEMA_TEXT("hashes", struct tasks_set, param[HSY_PARAM_HASHES]),
    SCHEMA_TEXT("width", struct tasks_set, param[HSY_PARAM_WIDTH]),
    SCHEMA_TEXT("cohorts", struct tasks_set, param[HSY_PARAM_COHORTS]),
    SCHEMA_TEXT("filter-bits", struct tasks_set, param[HSY_PARAM_FILTER_BITS]),
    SCHEMA_TEXT("sampled-bits", struct tasks_set,
                param[HSY_PARAM_SAMPLED_BITS]),
    SCHEMA_TEXT("bits", struct tasks_set, param[HSY_PARAM_BITS]),
    SCHEMA_TEXT("first", struct tasks_set, param[HSY_PARAM_FIRST]),
    SCHEMA_TEXT("step", struct tasks_set, param[HSY_PARAM_STEP]),
    SCHEMA_TEXT("prefix-bits", struct tasks_set, param[HSY_PARAM_PREFIX_BITS]),
    SCHEMA_TEXT("max-candidates", struct tasks_set,
                param[HSY_PARAM_MAX_CANDIDATES]),
    SCHEMA_TEXT("sizes", struct tasks_set, param[HSY_PARAM_SIZES]),
    SCHEMA_TEXT("piece-bits", struct tasks_set, param[HSY_PARAM_PIECE_BITS]),
    SCHEMA_TEXT("fragment-bits", struct tasks_set,
                param[HSY_PARAM_FRAGMENT_BITS]),
    SCHEMA_TEXT("fragments", struct tasks_set, param[HSY_PARAM_FRAGMENTS]),
    SCHEMA_TEXT("word-share", struct tasks_set, param[HSY_PARAM_WORD_SHARE]),
    SCHEMA_TEXT("f", struct tasks_set, f),
    SCHEMA_TEXT("p", struct tasks_set, p),
    SCHEMA_TEXT("spinner", struct tasks_set, spinner),
    SCHEMA_TEXT("coins", struct tasks_set, coins),
    SCHEMA_TEXT("channel", struct tasks_set, channel),
    {.key = NULL}};

static const struct yaml_field schema_permanent_fields[] = {
    SCHEMA_TEXT("epsilon", struct tasks_permanent, epsilon),
    SCHEMA_TEXT("gamma", struct tasks_permanent, gamma),
    SCHEMA_TEXT("every", struct tasks_permanent, every),
    SCHEMA_TEXT("renew", struct tasks_permanent, renew),
    SCHEMA_TEXT("max_changes", struct tasks_permanent, max_changes),
    SCHEMA_TEXT("grain", struct tasks_permanent, grain),
    {.key = NULL}};

static const struct yaml_map schema_set = {schema_set_fields,
                                           sizeof(struct tasks_set)},
                             schema_permanent = {
                                 schema_permanent_fields,
                                 sizeof(struct tasks_permanent)};

static const struct yaml_field schema_task[] = {
    SCHEMA_TEXT("id", struct tasks_raw, id),
    SCHEMA_TEXT("release", struct tasks_raw, release),
    SCHEMA_TEXT("source", struct tasks_raw, source),
    SCHEMA_TEXT("question", struct tasks_raw, question),
    SCHEMA_TEXT("yes-no", struct tasks_raw, yes_no),
    SCHEMA_LIST("values", values, TASKS_LIST_MAX),
    SCHEMA_TEXT("values-file", struct tasks_raw, values_file),
    SCHEMA_LIST("range", range, 2),
    SCHEMA_TEXT("bins", struct tasks_raw, bins),
    SCHEMA_TEXT("strings", struct tasks_raw, strings),
    SCHEMA_TEXT("epsilon", struct tasks_raw, epsilon),
    SCHEMA_TEXT("mechanism", struct tasks_raw, mechanism),
    SCHEMA_TEXT("alphabet", struct tasks_raw, alphabet),
    SCHEMA_TEXT("oracle", struct tasks_raw, oracle),
    SCHEMA_MAP("set", set, schema_set),
    SCHEMA_LIST("prefixes", prefixes, TASKS_PREFIXES_MAX),
    SCHEMA_TEXT("sizes", struct tasks_raw, sizes),
    SCHEMA_TEXT("start", struct tasks_raw, start),
    SCHEMA_TEXT("end", struct tasks_raw, end),
    SCHEMA_TEXT("repeat", struct tasks_raw, repeat),
    SCHEMA_MAP("permanent", permanent, schema_permanent),
    SCHEMA_TEXT("sample", struct tasks_raw, sample),
    SCHEMA_TEXT("answers", struct tasks_raw, answers),
    SCHEMA_TEXT("send", struct tasks_raw, send),
    SCHEMA_TEXT("delay", struct tasks_raw, delay),
    SCHEMA_TEXT("grace", struct tasks_raw, grace),
    SCHEMA_TEXT("min_reports", struct tasks_raw, min_reports),
    SCHEMA_TEXT("model", struct tasks_raw, model),
    SCHEMA_TEXT("relay", struct tasks_raw, relay),
    SCHEMA_LIST("shufflers", shufflers, HSY_SHUFFLERS_MAX),
    SCHEMA_TEXT("min_batch", struct tasks_raw, min_batch),
    SCHEMA_TEXT("max_wait", struct tasks_raw, max_wait),
    SCHEMA_TEXT("close_after", struct tasks_raw, close_after),
    SCHEMA_TEXT("delta", struct tasks_raw, delta),
    SCHEMA_TEXT("assume_honest", struct tasks_raw, assume_honest),
    SCHEMA_TEXT("epsilon_central", struct tasks_raw, epsilon_central),
    {.key = NULL}};

static const struct yaml_map schema_one_task = {schema_task,
                                                sizeof(struct tasks_raw)};

static const struct yaml_field schema_file[] = {
    SCHEMA_TEXT("version", struct tasks_file, version),
    SCHEMA_TEXT("issued", struct tasks_file, issued),
    SCHEMA_TEXT("expires", struct tasks_file, expires),
    SCHEMA_TEXT("relay", struct tasks_file, relay),
    SCHEMA_TEXT("collector_key", struct tasks_file, collector_key),
    {.key = "gateway_keys",
     .type = YAML_LIST,
     .at = offsetof(struct tasks_file, gateway_keys),
     .high = HSY_GATEWAY_KEYS},
    {.key = "tasks",
     .type = YAML_MAPS,
     .at = offsetof(struct tasks_file, tasks),
     .count = offsetof(struct tasks_file, tasks_count),
     .high = HSY_TASKS_MAX,
     .map = &schema_one_task},
    {.key = NULL}};

const struct yaml_form tasks_form = {
    .map = {schema_file, sizeof(struct tasks_file)},
    .others = "docs/tasks.md has them",
    .column = "one task",
    .name = "id"};
