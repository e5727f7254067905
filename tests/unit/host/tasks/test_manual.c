/* test_manual.c - tasks.yaml(5) and policy.yaml(5) have every key that is read,
 * and no other. */
#include "host/tasks/internal.h"

#include "rig/manual.h"
#include "tap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a page calls the keys of a mapping: by its own key, in capitals. */
static void section_of(char out[32], const char *key)
{
    size_t i = 0;

    for (; key[i] != '\0' && i < 31; i++)
        out[i] = (char)toupper((unsigned char)key[i]);
    out[i] = '\0';
}

/* A mapping whose key is also RAPPOR's has it twice in the page. */
static void has_the_keys(const char *page, const char *section,
                         const struct yaml_map *map)
{
    size_t n = 0, twice = strcmp(section, "SET") == 0;

    for (const struct yaml_field *f = map->fields; f->key != NULL; f++, n++) {
        size_t len = 0;

        ok(manual_item(page, section, f->key, &len) != NULL, "%s has '%s'",
           section, f->key);
        if (f->map != NULL) {
            char below[32];

            section_of(below, f->key);
            has_the_keys(page, below, f->map);
        }
    }
    is_u64(manual_keys(page, section), n + twice,
           "and no key that is not read");
}

int main(void)
{
    const struct {
        const char *name;
        const struct yaml_form *form;
    } pages[] = {{"tasks.yaml.5", &tasks_form},
                 {"policy.yaml.5", &policy_form}};

    for (size_t i = 0; i < 2; i++) {
        char *page = manual_read(pages[i].name);
        size_t len;

        if (!ok(page != NULL, "%s is there", pages[i].name))
            continue;
        has_the_keys(page, "THE FILE", &pages[i].form->map);
        ok(manual_item(page, "THE FILE", "nonesuch", &len) == NULL,
           "a key that is not there is not found");
        free(page);
    }
    return tap_done();
}
