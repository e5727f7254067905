/* dead_stack.c - see dead_stack.h. */

#define _GNU_SOURCE

#include "rig/dead_stack.h"

_Alignas(4096) uint8_t dead_stack[1 << 18];

/* Far below what the end of the thread writes over. */
static void *dead_stack_deep(void *act)
{
    volatile uint8_t room[16384];

    room[0] = 1;
    (*(void (**)(void))act)();
    return room[0] == 1 ? act : NULL;
}

bool dead_stack_run(void (*act)(void))
{
    pthread_attr_t attr;
    pthread_t thread;
    bool ran;

    memset(dead_stack, 0, sizeof dead_stack);
    ran = pthread_attr_init(&attr) == 0 &&
          pthread_attr_setstack(&attr, dead_stack, sizeof dead_stack) == 0 &&
          pthread_create(&thread, &attr, dead_stack_deep, &act) == 0 &&
          pthread_join(thread, NULL) == 0;
    pthread_attr_destroy(&attr);
    return ran;
}

static int dead_stack_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

size_t dead_stack_holds(uint64_t *words, size_t n)
{
    size_t found = 0;

    qsort(words, n, sizeof *words, dead_stack_order);
    for (size_t at = 0; at + 8 <= sizeof dead_stack; at += 4) {
        uint64_t word;

        memcpy(&word, dead_stack + at, sizeof word);
        found +=
            bsearch(&word, words, n, sizeof *words, dead_stack_order) != NULL;
    }
    return found;
}
