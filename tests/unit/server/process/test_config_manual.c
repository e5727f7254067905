/* test_config_manual.c - hearsay.yaml(5) has every key with its default, and no
 * other. */
#define _GNU_SOURCE
#include "server/process/config.h"

#include "rig/manual.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool says(const char *text, size_t len, const char *otherwise)
{
    char wanted[64];

    if (otherwise == NULL)
        return true;
    snprintf(wanted, sizeof wanted, "Default: \\fB%s\\fR.", otherwise);
    return memmem(text, len, wanted, strlen(wanted)) != NULL;
}

int main(void)
{
    char *page = manual_read("hearsay.yaml.5");
    const char *otherwise = NULL, *key;
    size_t n = 0;

    if (!ok(page != NULL, "hearsay.yaml(5) is there"))
        return tap_done();
    while ((key = config_key(n, &otherwise)) != NULL) {
        size_t len = 0;
        const char *text = manual_item(page, "THE FILE", key, &len);

        ok(text != NULL && says(text, len, otherwise),
           "it has '%s', by default %s", key,
           otherwise != NULL ? otherwise : "nothing");
        n++;
    }
    is_u64(manual_keys(page, "THE FILE"), n, "and no key that is not read");
    free(page);
    return tap_done();
}
