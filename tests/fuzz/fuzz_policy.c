/*
 * fuzz_policy.c - policies: problems with a line that there is, or a policy
 * within its limits.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "host/base/written.h"
#include "host/tasks/policy.h"

static void policy_complain(const hsy_problem *p, size_t n, size_t lines)
{
    fuzz_expect(n > 0, "what is refused is explained");
    for (size_t i = 0; i < n; i++) {
        fuzz_expect(p[i].line <= lines, "a problem's line is in the file");
        for (const char *c = p[i].text; *c != '\0'; c++)
            fuzz_expect((unsigned char)*c >= 0x20 && *c != 0x7f,
                        "a message is one line of text");
    }
}

static void policy_holds(const struct policy *p)
{
    fuzz_expect(p->policy.nsources <= HSY_TASKS_MAX && p->policy.releases > 0 &&
                    (p->anchor == NULL || p->anchor[0] == '/'),
                "a policy is within its limits");
    for (size_t i = 0; i < p->policy.nsources; i++) {
        char text[WRITTEN_NUMBER];
        uint64_t nano = 0;

        fuzz_expect(policy_find(p, p->sources[i].name) == &p->sources[i],
                    "a source is there once");
        written_nano(text, p->sources[i].cap_day);
        fuzz_expect(policy_cap_parse(&nano, text, strlen(text)) &&
                        nano == p->sources[i].cap_day,
                    "a cap is read as it is written");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct policy p = {.sources = NULL};
    hsy_problem *problems = NULL;
    size_t n = 0, lines = 1;
    hsy_status st = policy_read_bytes(&p, data, len, &problems, &n, NULL);

    for (size_t i = 0; i < len; i++)
        lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
    fuzz_expect(st == HSY_OK || st == HSY_E_FORMAT, "there is memory");
    if (st == HSY_OK)
        policy_holds(&p);
    else
        policy_complain(problems, n, lines);
    free(problems);
    policy_clear(&p);
    return 0;
}
