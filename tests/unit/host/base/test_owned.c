/* test_owned.c - memory that is freed together; schemes on the heap. */
#include "host/base/grow.h"
#include "host/base/owned.h"
#include "tap.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static void arrays(void)
{
    struct owned o = {0};
    const unsigned char *a = owned_array(&o, 3, 1000);
    const void *none = owned_array(&o, 0, 8);
    unsigned sum = 0;

    for (size_t i = 0; a != NULL && i < 3000; i++)
        sum += a[i];
    ok(a != NULL && (uintptr_t)a % _Alignof(max_align_t) == 0 && sum == 0,
       "zeroes at a place for anything");
    ok(none != NULL && eq_status(owned_all(&o, NULL), HSY_OK),
       "nothing has a place too");
    ok(owned_array(&o, SIZE_MAX / 2, 3) == NULL &&
           owned_array(&o, 1, SIZE_MAX - 8) == NULL &&
           eq_status(owned_all(&o, NULL), HSY_E_NOMEM),
       "more than there can be is remembered");
    owned_free(&o);
    ok(o.last == NULL && !o.failed, "all of it goes at once");
}

static void schemes(void)
{
    hsy_spec spec = {.size = sizeof spec,
                     .mechanism = "rr",
                     .kind = HSY_KIND_YES_NO,
                     .nano_epsilon = HSY_NANO};
    struct owned o = {0};
    hsy_scheme *s;

    is_status(owned_scheme(&o, &s, &spec, NULL), HSY_OK, "a scheme among them");
    spec.mechanism = "nonesuch";
    ok(eq_status(scheme_open(&s, &spec, NULL), HSY_E_UNKNOWN) && s == NULL,
       "none is left of one that is refused");
    owned_free(&o);
}

static void growing(void)
{
    uint32_t *list = NULL;
    size_t room = 0;
    bool good = true;

    for (uint32_t i = 0; good && i < 1000; i++) {
        good = grow_room(&list, &room, i + 1, sizeof *list);
        if (good)
            list[i] = i;
    }
    for (uint32_t i = 0; good && i < 1000; i++)
        good = list[i] == i;
    ok(good && room >= 1000 && room < 4000,
       "an array grows, and keeps its own");
    ok(!grow_room(&list, &room, SIZE_MAX, sizeof *list) && list != NULL &&
           list[999] == 999,
       "more than there can be leaves it as it is");
    free(list);
}

int main(void)
{
    arrays();
    growing();
    schemes();
    return tap_done();
}
