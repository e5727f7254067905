/* tasks_show.c - what tasks ask and cost: a table, or labels in plain words. */
#define _DEFAULT_SOURCE
#include "cli/base/tasks_show.h"

#include "host/tasks/calendar.h"
#include "host/tasks/task_cost.h"
#include "host/tasks/task_fields.h"

#include <inttypes.h>
#include <string.h>

#define SHOW_LABEL 4096u /* bytes of one, with a question of 1024 */

/* Then come the numbers of tasks.def. */
static const struct table_column show_columns[] = {
    {"task", NULL},
    {"release", ""},
    {"source", ""},
    {"kind", NULL},
    {"mechanism", NULL},
    {"values", ""},
    {"epsilon_report", "eps one"},
    {"epsilon_7", ""},
    {"epsilon_30", "30 reports"},
    {"epsilon_slot_exact", ""},
    {"epsilon_slot", "a slot"},
    {"epsilon_task", "all slots"},
    {"slots", NULL},
    {"rounds", NULL},
    {"kept_days", ""},
    {"keys", NULL},
    {"report_bytes", "report B"},
    {"upload_bytes", "upload B"},
    {"start", ""},
    {"end", ""},
    {"digest", ""},
    {"model", ""},
    {"relay", ""},
    {"shufflers", ""},
    {"epsilon_central", ""},
    {"question", ""},
};

#define SHOW_COLUMNS (sizeof show_columns / sizeof show_columns[0])

struct show_list {
    struct task_costs costs;
    char *label;                /* room for SHOW_LABEL bytes */
    char *start, *end, *digest; /* of the row that was asked for last */
};

static struct table_cell show_nano(uint64_t nano)
{
    return nano == UINT64_MAX ? cell_text(NULL)
                              : cell_number((double)nano / HSY_NANO);
}

static struct table_cell show_if(bool there, uint64_t count)
{
    return there ? cell_count(count) : cell_text(NULL);
}

/* Number n of those that have no column of their own; NULL: none. */
static const struct task_field *show_number(size_t n)
{
    const struct task_field *f = task_fields;

    while (f->key != NULL && ((f->flags & TASK_OWN) != 0 || n-- != 0))
        f++;
    return f->key != NULL ? f : NULL;
}

static struct table_cell show_field(const struct task_field *f,
                                    const hsy_task *task)
{
    return (f->flags & TASK_SHUFFLED) != 0 && task->model != HSY_MODEL_SHUFFLED
               ? cell_text(NULL)
               : cell_number(task_field_value(f, task));
}

/* In the order of the columns. */
static void tasks_show_cell(const void *ctx, size_t i, size_t column,
                            struct table_cell *out)
{
    const struct show_list *l = ctx;
    const struct task_cost *row = &l->costs.rows[i];
    const hsy_release_info *info = &row->info;
    const hsy_scheme_info *scheme = &row->scheme;
    const bool kept = info->memo != NULL;
    const bool frozen = kept && info->task.max_changes == 1;
    const bool shuffled = row->task->model == HSY_MODEL_SHUFFLED;

    day_text(l->start, row->task->start);
    day_text(l->end, row->task->end - 1);
    hex_put(l->digest, info->digest, HSY_DIGEST);
    {
        const struct table_cell cells[] = {
            cell_text(row->task->id),
            cell_count(row->task->release),
            cell_text(row->task->source),
            cell_text(hsy_kind_name(scheme->kind)),
            cell_text(scheme->mechanism),
            show_if(scheme->d != 0, scheme->d),
            show_nano(info->nano_report),
            cell_number(row->after[TASK_COST_7]),
            cell_number(row->after[TASK_COST_30]),
            cell_number(row->after[TASK_COST_ALL]),
            show_nano(info->nano_slot),
            show_nano(info->nano_task),
            cell_count(info->slots),
            cell_count(info->rounds),
            show_if(frozen, frozen ? calendar_slot(&info->task) : 0),
            show_if(kept && row->memo.keys != 0, row->memo.keys),
            cell_count(scheme->report_bytes),
            cell_count(info->upload_bytes),
            cell_text(l->start),
            cell_text(l->end),
            cell_text(l->digest),
            cell_text(shuffled ? "shuffled" : "local"),
            cell_text((row->task->flags & HSY_TASK_RELAY) != 0 ? "required"
                                                               : "optional"),
            show_if(shuffled, row->task->shufflers),
            shuffled ? show_nano(row->task->nano_central) : cell_text(NULL),
            {.type = CELL_TEXT,
             .text = row->task->question,
             .len = row->task->question_len}};

        *out = column < SHOW_COLUMNS
                   ? cells[column]
                   : show_field(show_number(column - SHOW_COLUMNS), row->task);
    }
}

/* ---- Printing ------------------------------------------------------------ */

static void tasks_show_notes(const struct show_list *l)
{
    puts("\nEpsilon of one report, of 30 reports in a slot, of a slot (charged "
         "at its first\nanswer) and of all slots. rounds: reports in a slot. "
         "B: bytes.");
    if (task_costs_keep(&l->costs, 1, UINT32_MAX))
        puts("keys: number of possible permanent answers. '-': not "
             "applicable, or too many to\ncount.");
    if (task_costs_keep(&l->costs, 1, 1))
        puts("Where max_changes is 1, a device sends the first answer of a "
             "slot for the whole\nslot, even if the truth changes.");
    if (task_costs_keep(&l->costs, 2, UINT32_MAX))
        puts("With more than one change per slot, reports may reveal that and "
             "when the answer\nchanged. The bounds hold between people who "
             "change permanent answers at the same\ntimes; no epsilon bounds "
             "the rest. The figure for 30 reports assumes the worst\ndivision "
             "of them among the permanent answers.");
}

/* Who runs the shufflers, as their statements say. */
static void tasks_show_operators(const hsy_task *task)
{
    hsy_statement s;

    for (uint32_t i = 0; i < task->shufflers; i++)
        if (hsy_statement_decode(
                &s, task->statements + (size_t)i * HSY_STATEMENT_WIRE, NULL) ==
            HSY_OK)
            printf("%s%s", i == 0 ? " " : ", ", s.operated_by);
}

/* What a shuffled task promises, to whom, and if whom one trusts. */
static void tasks_show_shuffled(const struct task_cost *row)
{
    const hsy_task *task = row->task;
    hsy_worth w;

    if (task_model_worth(&w, &row->info, NULL) != HSY_OK)
        return;
    printf("\n%s, shuffled by %" PRIu32 ":", task->id, task->shufflers);
    tasks_show_operators(task);
    printf("\n  epsilon %.6g of a report, even if all parties collude\n  "
           "epsilon %.6g (delta %.3g) of a report in a batch, unless the "
           "collector and all\n    shufflers collude: n = %" PRIu64
           " of %" PRIu32 " uploads are counted on (assume_honest\n    %.4g",
           (double)row->info.nano_report / HSY_NANO,
           (double)task->nano_central / HSY_NANO, w.delta, w.n, task->min_batch,
           (double)task->assume_honest.num / (double)task->assume_honest.den);
    if (task->sample.num != task->sample.den)
        printf(", sample %.4g",
               (double)task->sample.num / (double)task->sample.den);
    if (w.among < w.n)
        printf(", %" PRIu64 " of them share a kept seed", w.among);
    printf("), by the bound '%s'\n",
           w.by == HSY_SHUFFLE_ANY ? "clones" : "blanket");
    if (!task_model_proved(&row->info))
        printf("  the document says less than this program finds: %.6g\n",
               w.epsilon);
}

static void tasks_show_table(const struct show_list *l,
                             const struct task_file *t,
                             const struct tasks_show *how)
{
    struct table_column columns[SHOW_COLUMNS + TASK_FIELDS_MAX];
    struct table table = {columns, SHOW_COLUMNS, l->costs.n, tasks_show_cell,
                          l};
    static const uint8_t none[HSY_SIGN_KEY];
    char issued[16], expires[16], next[2 * HSY_SIGN_KEY + 1] = "";
    char digest[2 * HSY_DIGEST + 1] = "";
    uint8_t bytes[HSY_DIGEST];

    memcpy(columns, show_columns, sizeof show_columns);
    for (size_t n = 0; show_number(n) != NULL; n++)
        columns[table.ncolumns++] =
            (struct table_column){show_number(n)->key, ""};
    day_text(issued, t->doc.issued);
    day_text(expires, t->doc.expires - 1);
    if (memcmp(t->doc.next_key, none, sizeof none) != 0)
        hex_put(next, t->doc.next_key, HSY_SIGN_KEY);
    if (t->yaml == NULL) {
        hsy_document_digest(&t->doc, bytes);
        hex_put(digest, bytes, HSY_DIGEST);
    }
    {
        const struct table_field fields[] = {
            {"version", cell_count(t->doc.version)},
            {"issued", cell_text(issued)},
            {"expires", cell_text(expires)},
            {"signature", cell_text(how->signature)},
            {"next_key", cell_text(next[0] != '\0' ? next : NULL)},
            {"document_digest", cell_text(digest[0] != '\0' ? digest : NULL)}};

        if (how->format == TABLE_ALIGNED)
            printf("version %" PRIu64 ", issued %s, expires %s%s%s%s%s%s%s\n\n",
                   t->doc.version, issued, expires,
                   how->signature != NULL ? ", signature " : "",
                   how->signature != NULL ? how->signature : "",
                   next[0] != '\0' ? ", next key " : "", next,
                   digest[0] != '\0' ? "\ndigest " : "", digest);
        table_print(stdout, how->format, &table, fields,
                    sizeof fields / sizeof fields[0], "tasks");
    }
    if (how->format == TABLE_ALIGNED)
        tasks_show_notes(l);
    for (size_t i = 0; i < l->costs.n && how->format == TABLE_ALIGNED; i++)
        if (l->costs.rows[i].task->model == HSY_MODEL_SHUFFLED)
            tasks_show_shuffled(&l->costs.rows[i]);
}

static void tasks_show_labels(const struct show_list *l)
{
    for (size_t i = 0; i < l->costs.n; i++) {
        const struct task_cost *row = &l->costs.rows[i];

        hsy_release_label(row->release, l->label, SHOW_LABEL, row->task);
        printf("%s%s\n", i == 0 ? "" : "\n", row->task->id);
        table_paragraph(stdout, l->label);
    }
}

int tasks_show(const struct task_file *t, const struct tasks_show *how)
{
    char label[SHOW_LABEL], start[DAY_TEXT], end[DAY_TEXT];
    char digest[2 * HSY_DIGEST + 1];
    struct show_list list = {
        .label = label, .start = start, .end = end, .digest = digest};
    hsy_error err = {0};
    size_t at = 0;
    const hsy_status st = task_costs_open(&list.costs, t, &at, &err);

    if (st == HSY_OK && how->labels)
        tasks_show_labels(&list);
    else if (st == HSY_OK)
        tasks_show_table(&list, t, how);
    task_costs_clear(&list.costs);
    if (st == HSY_OK)
        return cli_finish();
    return st == HSY_E_NOMEM ? cli_fail_nomem()
                             : cli_fail_error(t->all[at].id, &err);
}
