/*
 * poison_text.c - read truths from texts that valgrind follows: as poison.c.
 *
 *     poison_text text      no branch and no address depends on which value a
 *                           text is
 *     poison_text control   a branch on what came out, which must be reported
 */
#include "host/client/client.h"

#include "rig/example_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

/* One text of a task; what came out is still poisoned. */
static bool poison_parse(struct client_truth *out, const hsy_task *task,
                         const char *text)
{
    hsy_release *r = malloc(hsy_release_size(task));
    char secret[16];
    size_t len = strlen(text);
    hsy_status st;

    if (r == NULL || hsy_release_init(r, task, NULL) != HSY_OK)
        return false;
    memcpy(secret, text, len);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(secret, len);
    st = hsy_client_parse(out, r, task, secret, len, NULL);
    free(r);
    return st == HSY_OK;
}

int main(int argc, char **argv)
{
    static const char *const yes_no[] = {"yes", "no", "FALSE", "1"};
    static const char *const values[] = {"firefox", "chrome", "other", "lynx"};
    static struct example_tasks e;
    struct client_truth truth;
    bool good = example_tasks_make(&e);

    for (size_t i = 0; i < 4; i++)
        good = good && poison_parse(&truth, &e.task[0], yes_no[i]) &&
               poison_parse(&truth, &e.task[1], values[i]);
    if (argc == 2 && strcmp(argv[1], "control") == 0 && good)
        puts(truth.truth.u.index == 1 ? "chrome" : "another");
    return good ? 0 : 1;
}
