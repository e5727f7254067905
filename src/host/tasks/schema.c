/* schema.c - the shape of tasks.yaml, and reading it by libcyaml. */
#include "host/tasks/tasks.h"

#define SCHEMA_TEXT_MAX 4096u /* bytes of a scalar */

#define SCHEMA_TEXT(key, type, member)                                         \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,      \
                           type, member, 0, SCHEMA_TEXT_MAX)

static const cyaml_schema_field_t schema_set[] = {
    SCHEMA_TEXT("g", struct tasks_set, param[HSY_PARAM_G]),
    SCHEMA_TEXT("pool-bits", struct tasks_set, param[HSY_PARAM_POOL_BITS]),
    SCHEMA_TEXT("pool-seed", struct tasks_set, param[HSY_PARAM_POOL_SEED]),
    SCHEMA_TEXT("w", struct tasks_set, param[HSY_PARAM_W]),
    SCHEMA_TEXT("blocks", struct tasks_set, param[HSY_PARAM_BLOCKS]),
    SCHEMA_TEXT("q", struct tasks_set, param[HSY_PARAM_Q]),
    SCHEMA_TEXT("t", struct tasks_set, param[HSY_PARAM_T]),
    SCHEMA_TEXT("bits", struct tasks_set, param[HSY_PARAM_BITS]),
    SCHEMA_TEXT("hashes", struct tasks_set, param[HSY_PARAM_HASHES]),
    SCHEMA_TEXT("width", struct tasks_set, param[HSY_PARAM_WIDTH]),
    SCHEMA_TEXT("outputs", struct tasks_set, param[HSY_PARAM_OUTPUTS]),
    SCHEMA_TEXT("cohorts", struct tasks_set, param[HSY_PARAM_COHORTS]),
    SCHEMA_TEXT("fanout", struct tasks_set, param[HSY_PARAM_FANOUT]),
    SCHEMA_TEXT("mix", struct tasks_set, param[HSY_PARAM_MIX]),
    SCHEMA_TEXT("grid", struct tasks_set, param[HSY_PARAM_GRID]),
    SCHEMA_TEXT("step", struct tasks_set, param[HSY_PARAM_STEP]),
    SCHEMA_TEXT("f", struct tasks_set, f),
    SCHEMA_TEXT("p", struct tasks_set, p),
    SCHEMA_TEXT("spinner", struct tasks_set, spinner),
    SCHEMA_TEXT("coins", struct tasks_set, coins),
    SCHEMA_TEXT("channel", struct tasks_set, channel),
    CYAML_FIELD_END};

static const cyaml_schema_field_t schema_permanent[] = {
    SCHEMA_TEXT("epsilon", struct tasks_permanent, epsilon),
    SCHEMA_TEXT("gamma", struct tasks_permanent, gamma),
    SCHEMA_TEXT("every", struct tasks_permanent, every),
    SCHEMA_TEXT("renew", struct tasks_permanent, renew),
    SCHEMA_TEXT("max_changes", struct tasks_permanent, max_changes),
    SCHEMA_TEXT("grain", struct tasks_permanent, grain),
    CYAML_FIELD_END};

static const cyaml_schema_value_t schema_item = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, SCHEMA_TEXT_MAX)};

static const cyaml_schema_field_t schema_task[] = {
    SCHEMA_TEXT("id", struct tasks_raw, id),
    SCHEMA_TEXT("release", struct tasks_raw, release),
    SCHEMA_TEXT("source", struct tasks_raw, source),
    SCHEMA_TEXT("question", struct tasks_raw, question),
    SCHEMA_TEXT("yes-no", struct tasks_raw, yes_no),
    CYAML_FIELD_SEQUENCE("values", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         struct tasks_raw, values, &schema_item, 0,
                         TASKS_LIST_MAX),
    SCHEMA_TEXT("values-file", struct tasks_raw, values_file),
    CYAML_FIELD_SEQUENCE("range", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         struct tasks_raw, range, &schema_item, 0, 2),
    SCHEMA_TEXT("bins", struct tasks_raw, bins),
    SCHEMA_TEXT("strings", struct tasks_raw, strings),
    SCHEMA_TEXT("epsilon", struct tasks_raw, epsilon),
    SCHEMA_TEXT("mechanism", struct tasks_raw, mechanism),
    SCHEMA_TEXT("alphabet", struct tasks_raw, alphabet),
    SCHEMA_TEXT("oracle", struct tasks_raw, oracle),
    CYAML_FIELD_MAPPING_PTR("set", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                            struct tasks_raw, set, schema_set),
    CYAML_FIELD_SEQUENCE("prefixes", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         struct tasks_raw, prefixes, &schema_item, 0,
                         TASKS_PREFIXES_MAX),
    SCHEMA_TEXT("sizes", struct tasks_raw, sizes),
    SCHEMA_TEXT("start", struct tasks_raw, start),
    SCHEMA_TEXT("end", struct tasks_raw, end),
    SCHEMA_TEXT("repeat", struct tasks_raw, repeat),
    CYAML_FIELD_MAPPING_PTR("permanent",
                            CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                            struct tasks_raw, permanent, schema_permanent),
    SCHEMA_TEXT("sample", struct tasks_raw, sample),
    SCHEMA_TEXT("answers", struct tasks_raw, answers),
    SCHEMA_TEXT("send", struct tasks_raw, send),
    SCHEMA_TEXT("delay", struct tasks_raw, delay),
    SCHEMA_TEXT("grace", struct tasks_raw, grace),
    SCHEMA_TEXT("min_reports", struct tasks_raw, min_reports),
    CYAML_FIELD_END};

static const cyaml_schema_value_t schema_one_task = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tasks_raw, schema_task)};

static const cyaml_schema_field_t schema_file[] = {
    SCHEMA_TEXT("version", struct tasks_file, version),
    SCHEMA_TEXT("issued", struct tasks_file, issued),
    SCHEMA_TEXT("expires", struct tasks_file, expires),
    CYAML_FIELD_SEQUENCE("tasks", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         struct tasks_file, tasks, &schema_one_task, 0,
                         HSY_TASKS_MAX),
    CYAML_FIELD_END};

static const cyaml_schema_value_t schema_tasks = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tasks_file, schema_file)};

const struct tasks_form tasks_form = {
    .schema = &schema_tasks, .page = "docs/tasks.md", .column = "one task"};

/* Silent: what can be said of the text has been said by tasks_index. */
static const cyaml_config_t schema_config = {.mem_fn = cyaml_mem,
                                             .flags = CYAML_CFG_NO_ALIAS};

cyaml_data_t *tasks_load(hsy_tasks *t, const struct tasks_form *form,
                         const uint8_t *text, size_t len)
{
    const struct tasks_place file = {.task = TASKS_NONE, .item = TASKS_NONE};
    cyaml_config_t config = schema_config;
    cyaml_data_t *data = NULL;
    cyaml_err_t st;

    if (t->wrong)
        config.flags |= CYAML_CFG_IGNORE_UNKNOWN_KEYS;
    st = cyaml_load_data(text, len, &config, form->schema, &data, NULL);
    if (st == CYAML_OK)
        return data;
    if (st == CYAML_ERR_OOM)
        t->nomem = true;
    else if (!t->wrong)
        tasks_wrong(t, file, "%s", cyaml_strerror(st));
    return NULL;
}

void tasks_unload(const struct tasks_form *form, cyaml_data_t *data)
{
    (void)cyaml_free(&schema_config, form->schema, data, 0);
}
