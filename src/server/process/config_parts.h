/* config_parts.h - what reading a configuration and checking it share. */
#ifndef SERVER_PROCESS_CONFIG_PARTS_H
#define SERVER_PROCESS_CONFIG_PARTS_H

#include "server/process/config.h"

#include "host/tasks/tasks.h"

enum config_kind {
    CONFIG_FILE, /* a name of a file: char * */
    CONFIG_TEXT, /* char * */
    CONFIG_BOOL,
    CONFIG_COUNT,   /* these four: uint64_t */
    CONFIG_SIZE,    /* 64M */
    CONFIG_SECONDS, /* 30s */
    CONFIG_DAYS,    /* 3, 3 days */
    CONFIG_SHARE,   /* double: 0.01, 1% */
    CONFIG_LEVEL,   /* unsigned: a place in a list of words */
    CONFIG_STRICT,
    CONFIG_LIST /* char ** ended by NULL */
};

#define CONFIG_ROWS 42

struct config_row {
    const char *key;
    enum config_kind kind;
    size_t at; /* in struct config */
    uint64_t low, high;
    const char *otherwise; /* its default; NULL: none */
    bool live;
};

extern const struct config_row config_rows[CONFIG_ROWS];
const struct config_row *config_row(const char *key);

/* One configuration in the making. */
struct config_reader {
    hsy_tasks *notes; /* lines and problems */
    struct config *c;
    const char *directory; /* of the file */
    bool set[CONFIG_ROWS]; /* by the command line */
    bool bad[CONFIG_ROWS]; /* something is wrong with it already */
    bool read;             /* the file, but for what is wrong */
};

static inline struct tasks_place config_place(const char *key)
{
    return (struct tasks_place){
        .task = TASKS_NONE, .key = key, .item = TASKS_NONE};
}

/* A problem of a row, at its line if the file has it; what is wrong in itself
 * is not held against others. */
#define config_wrong(r, row, ...)                                              \
    ((r)->bad[(row)-config_rows] ? (void)0                                     \
     : (r)->set[(row)-config_rows]                                             \
         ? tasks_wrong_line((r)->notes, 0, config_place((row)->key),           \
                            __VA_ARGS__)                                       \
         : tasks_wrong((r)->notes, config_place((row)->key), __VA_ARGS__))

/* Hold the fields against each other. */
void config_check(struct config_reader *r);

#endif
