/* config_parts.h - what reading a configuration and checking it share. */
#ifndef SERVER_PROCESS_CONFIG_PARTS_H
#define SERVER_PROCESS_CONFIG_PARTS_H

#include "server/process/config.h"

#include "host/yaml/yaml.h"

extern const struct yaml_field config_rows[CONFIG_ROWS + 1];
const struct yaml_field *config_row(const char *key);

/* One configuration in the making. */
struct config_reader {
    struct yaml_notes notes; /* lines and problems */
    struct config c;
    bool set[CONFIG_ROWS]; /* by the command line */
    bool bad[CONFIG_ROWS]; /* something is wrong with it already */
};

/* A problem of a row, at its line if the file has it; what is wrong in itself
 * is not held against others. */
#define config_wrong(r, row, ...)                                              \
    ((r)->bad[(row)-config_rows] ? (void)0                                     \
     : (r)->set[(row)-config_rows]                                             \
         ? yaml_wrong_line(&(r)->notes, 0, yaml_key((row)->key), __VA_ARGS__)  \
         : yaml_wrong(&(r)->notes, yaml_key((row)->key), __VA_ARGS__))

/* Hold the fields against each other. */
void config_check(struct config_reader *r);

#endif
