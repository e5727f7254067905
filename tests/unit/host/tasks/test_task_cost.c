/* test_task_cost.c - what a task costs as its reports add up. */
#include "host/tasks/task_cost.h"

#include "rig/example_tasks.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct task_file example(void)
{
    static struct example_tasks e;
    struct task_file t = {0};
    uint8_t *bytes = NULL;
    size_t len = 0;

    if (example_tasks_make(&e))
        bytes = example_document(e.task, EXAMPLE_TASKS, 1, &len);
    ok(bytes != NULL && task_file_bytes(&t, bytes, len, NULL) == HSY_OK,
       "a document");
    return t;
}

static void kept_answers_add_up_slowly(const struct task_costs *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct task_cost *c = &l->rows[i];

        if (c->info.memo == NULL) {
            ok(isnan(c->after[TASK_COST_ALL]), "%s keeps none", c->task->id);
            continue;
        }
        kept++;
        ok(c->after[TASK_COST_ALL] <= (double)c->info.nano_slot / HSY_NANO,
           "%s: a slot tells no more than it is charged", c->task->id);
        ok(isnan(c->after[TASK_COST_30]) ||
               c->after[TASK_COST_7] <= c->after[TASK_COST_30],
           "%s: and more reports tell no less", c->task->id);
    }
    ok(kept != 0, "some keep their answers");
    ok(task_costs_keep(l, 1, UINT32_MAX), "which is known of all");
    ok(!task_costs_keep(l, UINT32_MAX, UINT32_MAX), "none changes so often");
}

static void broken_tasks_are_named(struct task_file *t)
{
    struct task_costs l = {0};
    hsy_error err = {0};
    size_t at = 99;

    t->all[1].end = t->all[1].start;
    ok(task_costs_open(&l, t, &at, &err) != HSY_OK && eq_u64(at, 1),
       "the task that is broken is named");
    task_costs_clear(&l);
}

int main(void)
{
    struct task_file t = example();
    struct task_costs l = {0};
    hsy_error err = {0};
    size_t at;

    is_status(task_costs_open(&l, &t, &at, &err), HSY_OK, "costs of all tasks");
    is_u64(l.n, EXAMPLE_TASKS, "a row each");
    kept_answers_add_up_slowly(&l);
    task_costs_clear(&l);
    broken_tasks_are_named(&t);
    task_file_clear(&t);
    return tap_done();
}
