/* schema.c - the shape of tasks.yaml, from tasks.def: every scalar is a text.
 */
#include "host/tasks/internal.h"
#include "host/tasks/task_file.h"

#define KEY(group, name, member, what, otherwise)                              \
    {.key = (name), .type = YAML_RAW, .at = offsetof(SCHEMA_OF, member)},
#define NUMBER(group, name, member, ...)                                       \
    {.key = (name), .type = YAML_RAW, .at = offsetof(SCHEMA_OF, member)},
#define LIST(group, name, member, most, what, otherwise)                       \
    {.key = (name),                                                            \
     .type = YAML_LIST,                                                        \
     .at = offsetof(SCHEMA_OF, member),                                        \
     .high = (most)},
#define MAP(group, name, member, what, otherwise)                              \
    {.key = (name),                                                            \
     .type = YAML_MAP,                                                         \
     .at = offsetof(SCHEMA_OF, member),                                        \
     .map = &schema_##member},

#define ENTRIES(group, name, member, most, what, otherwise)                    \
    {.key = (name),                                                            \
     .type = YAML_MAPS,                                                        \
     .at = offsetof(SCHEMA_OF, member),                                        \
     .count = offsetof(SCHEMA_OF, member##_count),                             \
     .high = (most),                                                           \
     .map = &schema_one_task},

static const struct yaml_field schema_set_fields[] = {
#define SCHEMA_OF struct tasks_set
#define TASKS_OF_SET
#include "host/tasks/tasks.def"
    {.key = NULL}};

static const struct yaml_field schema_permanent_fields[] = {
#undef SCHEMA_OF
#define SCHEMA_OF struct tasks_permanent
#define TASKS_OF_PERMANENT
#include "host/tasks/tasks.def"
    {.key = NULL}};

static const struct yaml_map schema_set = {schema_set_fields,
                                           sizeof(struct tasks_set)},
                             schema_permanent = {
                                 schema_permanent_fields,
                                 sizeof(struct tasks_permanent)};

static const struct yaml_field schema_task[] = {
#undef SCHEMA_OF
#define SCHEMA_OF struct tasks_raw
#define TASKS_OF_TASK
#include "host/tasks/tasks.def"
    {.key = NULL}};

static const struct yaml_map schema_one_task = {schema_task,
                                                sizeof(struct tasks_raw)};

static const struct yaml_field schema_file[] = {
#undef SCHEMA_OF
#define SCHEMA_OF struct tasks_file
#define TASKS_OF_FILE
#include "host/tasks/tasks.def"
    {.key = NULL}};

/* Those of hearsay.yaml are read by the server; its tests hold them against
 * this list. */
const struct yaml_kin task_kin[] = {
    {"tasks.yaml", &tasks_form.map, NULL},
    {"policy.yaml", &policy_form.map, NULL},
    {"hearsay.yaml", NULL,
     "data storage node document public_key listen tls_cert tls_key tls12 "
     "gateway_keys sign_key seal_keys next next_ca receipt_key cors admin "
     "admin_open loops connections proxies body_bytes timeout memory ids_epoch "
     "reports_upload day_words keep_days grace_days clock_days "
     "checkpoint_seconds estimate_seconds snapshot_seconds enrolled candidates "
     "backups backup_hours backup_keep lying log_json log_level sandbox "
     "rehearsal"},
    {NULL, NULL, NULL}};

const struct yaml_form tasks_form = {
    .map = {schema_file, sizeof(struct tasks_file)},
    .others = "see tasks.yaml(5)",
    .column = "one task",
    .name = "id",
    .kin = task_kin};
