/* fields.c - what the text of a field is worth: limits, words, defaults, and
 * who owns it. */
#define _POSIX_C_SOURCE 200809L

#include "host/yaml/yaml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void *fields_at(void *into, const struct yaml_field *f)
{
    return (char *)into + f->at;
}

/* ---- Texts and lists ----------------------------------------------------- */

static void fields_keep(struct yaml_notes *n, char **at, char *text)
{
    if (text == NULL) {
        n->nomem = true;
        return;
    }
    free(*at);
    *at = text;
}

char *yaml_path(const struct yaml_notes *n, const char *text)
{
    const bool beside = text[0] != '/' && n->directory != NULL &&
                        strcmp(n->directory, ".") != 0;
    const size_t room =
        strlen(text) + (beside ? strlen(n->directory) + 1 : 0) + 1;
    char *name = malloc(room);

    if (name != NULL)
        snprintf(name, room, "%s%s%s", beside ? n->directory : "",
                 beside ? "/" : "", text);
    return name;
}

size_t yaml_items(char *const *list)
{
    size_t n = 0;

    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

static void fields_free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* Words with commas (or what stands) between them; what is empty between two is
 * none. */
static void fields_words(struct yaml_notes *n, char ***at, const char *text,
                         const char *between)
{
    char *copy = strdup(text), *rest = NULL;
    char **list = calloc(strlen(text) / 2 + 2, sizeof *list);
    size_t used = 0;

    n->nomem |= copy == NULL || list == NULL;
    for (char *w = n->nomem ? NULL : strtok_r(copy, between, &rest); w != NULL;
         w = strtok_r(NULL, between, &rest)) {
        list[used] = strdup(w);
        if (list[used++] == NULL) {
            n->nomem = true;
            break;
        }
    }
    free(copy);
    if (n->nomem) {
        fields_free_list(list);
        return;
    }
    fields_free_list(*at);
    *at = list;
}

/* ---- Values -------------------------------------------------------------- */

static bool fields_number(uint64_t *out, enum yaml_type type, const char *text)
{
    if (type == YAML_SIZE)
        return yaml_size(out, text);
    return yaml_count(out, text) ||
           (type == YAML_SECONDS && yaml_seconds(out, text)) ||
           (type == YAML_DAYS && yaml_days(out, text));
}

static bool fields_count(uint64_t *out, const struct yaml_field *f,
                         const char *text)
{
    uint64_t number;

    if (!fields_number(&number, f->type, text) || number < f->low ||
        number > f->high)
        return false;
    *out = number;
    return true;
}

static bool fields_bool(bool *out, const char *text)
{
    static const char *const words[] = {"no",  "yes", "false", "true",
                                        "off", "on",  "0",     "1"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    return false;
}

static bool fields_word(unsigned *out, const struct yaml_field *f,
                        const char *text)
{
    for (unsigned i = 0; f->words[i] != NULL; i++)
        if (strcmp(text, f->words[i]) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* "a, b, c" */
static void fields_list_words(char *text, size_t room, const char *const *words)
{
    size_t used = 0;

    text[0] = '\0';
    for (; *words != NULL && used < room; words++)
        used += (size_t)snprintf(text + used, room - used, "%s%s",
                                 used != 0 ? ", " : "", *words);
}

/* What the field takes instead. */
static void fields_wrong(struct yaml_notes *n, const struct yaml_field *f,
                         struct yaml_place at, uint32_t line)
{
    static const char *const like[] = {[YAML_COUNT] = "",
                                       [YAML_SIZE] = ", e.g. 64M",
                                       [YAML_SECONDS] = " of seconds, or 30s",
                                       [YAML_DAYS] = " of days"};
    char words[128];

    if (f->type == YAML_OWN) {
        yaml_wrong_line(n, line, at, "%s", f->wants);
    } else if (f->type == YAML_BOOL) {
        yaml_wrong_line(n, line, at, "must be yes or no");
    } else if (f->type == YAML_WORD) {
        fields_list_words(words, sizeof words, f->words);
        yaml_wrong_line(n, line, at, "must be one of: %s", words);
    } else {
        yaml_wrong_line(n, line, at,
                        "must be a number%s, from %" PRIu64 " to %" PRIu64,
                        like[f->type], f->low, f->high);
    }
}

void yaml_take(struct yaml_notes *n, const struct yaml_field *f, void *into,
               const char *text, struct yaml_place at, uint32_t line)
{
    void *to = fields_at(into, f);

    if (text[0] == '\0' && f->type != YAML_RAW && f->type != YAML_LIST)
        yaml_wrong_line(n, line, at,
                        f->required ? "is empty"
                                    : "is empty; leave it out for the default");
    else if (f->type == YAML_RAW || f->type == YAML_TEXT)
        fields_keep(n, to, strdup(text));
    else if (f->type == YAML_PATH)
        fields_keep(n, to, yaml_path(n, text));
    else if (f->type == YAML_LIST)
        fields_words(n, to, text, f->one ? " " : ",");
    else if (f->type == YAML_BOOL   ? !fields_bool(to, text)
             : f->type == YAML_WORD ? !fields_word(to, f, text)
             : f->type == YAML_OWN  ? !f->take(to, text)
                                    : !fields_count(to, f, text))
        fields_wrong(n, f, at, line);
}

/* ---- Structs ------------------------------------------------------------- */

void yaml_defaults(struct yaml_notes *n, const struct yaml_field *fields,
                   void *into)
{
    for (const struct yaml_field *f = fields; f->key != NULL; f++)
        if (f->otherwise != NULL)
            yaml_take(n, f, into, f->otherwise, yaml_key(f->key), 0);
}

static void fields_free_maps(const struct yaml_field *f, void *from)
{
    char *all = *(char **)fields_at(from, f);
    const size_t n = f->type == YAML_MAPS
                         ? *(const size_t *)((const char *)from + f->count)
                         : all != NULL;

    for (size_t i = 0; i < n; i++)
        yaml_clear(f->map, all + i * f->map->size);
    free(all);
}

void yaml_clear(const struct yaml_map *map, void *from)
{
    for (const struct yaml_field *f = map->fields; f->key != NULL; f++) {
        if (f->type <= YAML_PATH)
            free(*(char **)fields_at(from, f));
        else if (f->type == YAML_LIST)
            fields_free_list(*(char ***)fields_at(from, f));
        else if (f->type == YAML_MAP || f->type == YAML_MAPS)
            fields_free_maps(f, from);
    }
    memset(from, 0, map->size);
}

static bool fields_same_list(char *const *a, char *const *b)
{
    const size_t n = yaml_items(a);
    size_t i = 0;

    if (n != yaml_items(b))
        return false;
    while (i < n && strcmp(a[i], b[i]) == 0)
        i++;
    return i == n;
}

bool yaml_same(const struct yaml_field *f, const void *a, const void *b)
{
    const void *x = (const char *)a + f->at, *y = (const char *)b + f->at;

    if (f->type <= YAML_PATH) {
        const char *one = *(char *const *)x, *two = *(char *const *)y;

        return one == two ||
               (one != NULL && two != NULL && strcmp(one, two) == 0);
    }
    if (f->type == YAML_LIST)
        return fields_same_list(*(char *const *const *)x,
                                *(char *const *const *)y);
    return memcmp(x, y,
                  f->type == YAML_BOOL   ? sizeof(bool)
                  : f->type == YAML_WORD ? sizeof(unsigned)
                  : f->type == YAML_OWN  ? f->size
                                         : sizeof(uint64_t)) == 0;
}
