/*
 * yaml.h - YAML files with line numbers.
 *
 * A table of fields says what a file may hold. One walk over libyaml's events
 * fills a struct by it and notes on which line everything stands. What does not
 * fit becomes a problem with its line and its field (an unknown or double key,
 * another shape, a number outside its limits) and the walk goes on behind it,
 * so that all are listed at once; what is found wrong later, when fields are
 * held against each other, is said with yaml_wrong and has its line too.
 *
 * What a file can cost is bounded: its bytes, the bytes of a scalar, the items
 * of a list, how deep it may nest. Nothing is ever expanded, so a small file
 * stays small: there are no aliases, but of single scalars where a form allows
 * them.
 */
#ifndef HOST_YAML_YAML_H
#define HOST_YAML_YAML_H

#include "hearsay/host.h"

#define YAML_FILE_MAX (16u << 20) /* bytes of a file */
#define YAML_TEXT_MAX 4096u       /* bytes of a scalar */
#define YAML_DEPTH_MAX 16u        /* of what no table describes */
#define YAML_FIELDS_MAX 64u       /* of a mapping */
#define YAML_PROBLEMS_MAX 200u    /* of a file that are listed */
#define YAML_NONE SIZE_MAX        /* no entry, no item */

/* ---- Tables -------------------------------------------------------------- */

enum yaml_type {
    YAML_RAW,     /* char *, owned: as it stands; NULL: not given */
    YAML_TEXT,    /* the same, but not empty; nor is anything below */
    YAML_PATH,    /* the same, from the file's directory */
    YAML_BOOL,    /* bool: yes or no */
    YAML_COUNT,   /* uint64_t, from low to high, as the three that follow */
    YAML_SIZE,    /* 64M */
    YAML_SECONDS, /* 30s */
    YAML_DAYS,    /* 3, 3 days */
    YAML_WORD,    /* unsigned: a place in words */
    YAML_OWN,     /* what take makes of it */
    YAML_LIST,    /* char **, owned, ended by NULL; NULL: not given */
    YAML_MAP,     /* pointer to a struct, owned; NULL: not given */
    YAML_MAPS     /* array of structs, owned; NULL: not given */
};

struct yaml_map;

struct yaml_field {
    const char *key;  /* NULL ends a table */
    const char *also; /* other words for it, with spaces between them, by which
                         it is suggested; NULL: none */
    enum yaml_type type;
    size_t at;             /* in the struct */
    size_t count;          /* YAML_MAPS: where their number stands, a size_t */
    uint64_t low, high;    /* of a number; high: items of a list */
    const char *otherwise; /* what yaml_defaults takes; NULL: nothing */
    const char *const *words;                  /* YAML_WORD: ended by NULL */
    bool (*take)(void *out, const char *text); /* YAML_OWN: false: it is none */
    const char *wants;                         /* YAML_OWN: what it takes */
    size_t size;                               /* YAML_OWN: in the struct */
    const struct yaml_map *map;                /* YAML_MAP, YAML_MAPS */
    bool required;
    bool live;  /* may change while a program runs */
    bool paths; /* YAML_LIST: of names, from the file's directory */
    bool one;   /* YAML_LIST: a plain value is a list too, of words with spaces
                   between them */
};

/* A mapping: its fields, at most YAML_FIELDS_MAX, in a struct of size bytes. */
struct yaml_map {
    const struct yaml_field *fields;
    size_t size;
};

/* The keys of some sort of file: those of a mapping and of what is in it, or
 * names with spaces between them. */
struct yaml_kin {
    const char *file; /* what it is called; NULL ends a list */
    const struct yaml_map *map;
    const char *keys;
};

/* A sort of file. Entries are the items of a list of mappings, of which a file
 * has one at its top. */
struct yaml_form {
    struct yaml_map map;
    const char *others; /* where all keys are, said of an unknown one */
    const char *column; /* whose keys begin in one column */
    const char *name;   /* the key by which an entry is called; NULL: none */
    bool aliases;       /* of scalars; anchors and tags are passed over */
    const struct yaml_kin *kin; /* files that a key may be taken for; or NULL */
};

/* ---- Notes --------------------------------------------------------------- */

/* `epsilon` in `permanent` of the third entry is {2, "permanent", "epsilon",
 * YAML_NONE}. Keys are the table's. */
struct yaml_place {
    size_t entry; /* YAML_NONE: the file */
    const char *key, *sub;
    size_t item; /* of a list, else YAML_NONE */
};

struct yaml_line {
    struct yaml_place at;
    uint32_t line;
};

struct yaml_entry {
    size_t first; /* its first line; its others follow */
    char name[sizeof(((hsy_problem *)0)->task)]; /* may be cut */
    bool misread; /* something in it was not taken: it may be what is missing */
};

/* Where everything in a file stands, and what is wrong with it. Zero it to
 * begin. */
struct yaml_notes {
    const char *directory; /* from which YAML_PATH is taken; NULL: as it is */
    struct yaml_line *lines;
    size_t nlines, lines_room;
    struct yaml_entry *entries;
    size_t nentries, entries_room;
    hsy_problem *problems;
    size_t nproblems, problems_room;
    bool whole;   /* the file was read to its end */
    bool misread; /* as of an entry: what stands beside them */
    bool wrong;   /* a problem is no warning */
    bool nomem;
};

void yaml_notes_clear(struct yaml_notes *n);

/* As the problems stand in the file; what is not of it comes last. */
void yaml_notes_sort(struct yaml_notes *n);

static inline struct yaml_place yaml_key(const char *key)
{
    return (struct yaml_place){YAML_NONE, key, NULL, YAML_NONE};
}

/* Add a problem, its line being that of the place or of what encloses it. */
void yaml_wrong(struct yaml_notes *n, struct yaml_place at, const char *format,
                ...) __attribute__((format(printf, 3, 4)));
void yaml_warn(struct yaml_notes *n, struct yaml_place at, const char *format,
               ...) __attribute__((format(printf, 3, 4)));

/* Add a problem of what is not there, unless what was misread may be it: then
 * the file is wrong already. */
void yaml_missing(struct yaml_notes *n, struct yaml_place at,
                  const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a line of its own; 0: it is not of the file. */
void yaml_wrong_line(struct yaml_notes *n, uint32_t line, struct yaml_place at,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Room for one more of size bytes in an array; NULL and nomem if there is
 * none. */
void *yaml_grow(struct yaml_notes *n, void *array, size_t used, size_t *room,
                size_t size);

/* Which of the fields' keys comes nearest to text, or has it as another word;
 * NULL if none is near. */
const char *yaml_nearest(const char *text, const struct yaml_field *fields);

/* ---- Reading ------------------------------------------------------------- */

/* All of a file of at most YAML_FILE_MAX bytes, and unless directory is NULL
 * where it is, for the files that it names; both the caller's to free. HSY_E_IO
 * with errno, HSY_E_RANGE if it is longer, HSY_E_NOMEM. */
hsy_status yaml_file(uint8_t **text, size_t *len, char **directory,
                     const char *path, hsy_error *err);

/* Fill the struct of a form, which is zeroed or has defaults, from the bytes of
 * a file. A value that does not fit leaves its field as it was. */
void yaml_read(struct yaml_notes *n, const struct yaml_form *form, void *into,
               const uint8_t *text, size_t len);

/* One field from a text: of a file if line is not 0; a list has commas. */
void yaml_take(struct yaml_notes *n, const struct yaml_field *field, void *into,
               const char *text, struct yaml_place at, uint32_t line);

/* What the fields are unless they are given. */
void yaml_defaults(struct yaml_notes *n, const struct yaml_field *fields,
                   void *into);

/* Free what the fields own, and zero the struct. */
void yaml_clear(const struct yaml_map *map, void *from);

/* Whether a field that is no mapping is the same in two structs; a list that is
 * empty is none. */
bool yaml_same(const struct yaml_field *field, const void *a, const void *b);

/* Number of items; NULL has none. */
size_t yaml_items(char *const *list);

/* A name beside the file, to be freed; NULL: out of memory. */
char *yaml_path(const struct yaml_notes *n, const char *text);

/* ---- Numbers (numbers.c) ------------------------------------------------- */

bool yaml_count(uint64_t *out, const char *text);   /* digits */
bool yaml_size(uint64_t *out, const char *text);    /* 64M */
bool yaml_seconds(uint64_t *out, const char *text); /* 6h, 2d */
bool yaml_days(uint64_t *out, const char *text);    /* week, 3 days */

#endif
