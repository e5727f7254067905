/* json_value.h - what is written as JSON the same way in the readable twin
 * of a stream and in a collector's requests. */
#ifndef HOST_FORMAT_JSON_VALUE_H
#define HOST_FORMAT_JSON_VALUE_H

#include "hearsay.h"

#include <jansson.h>
#include <stdbool.h>

/* HSY_E_FORMAT; or HSY_E_NOMEM if errno, cleared before the line was parsed,
 * says so: the parser tells want of memory in no other reliable way. */
hsy_status container_json_refuse(hsy_error *err, uint32_t field,
                                 const char *msg);

/* The report that a JSON value stands for; one has room for one packed report.
 * False: it is none of the scheme. */
bool container_json_value(uint8_t *report, uint8_t *one, const hsy_scheme *s,
                          const hsy_scheme_info *info, const json_t *value);

/* The same of a text: the number, or the digits of the string. */
bool container_text_value(uint8_t *report, uint8_t *one, const hsy_scheme *s,
                          const hsy_scheme_info *info, const char *text,
                          size_t len);

#endif
