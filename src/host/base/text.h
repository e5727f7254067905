/* text.h - numbers as people write them, and the word that was meant. */
#ifndef HOST_BASE_TEXT_H
#define HOST_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* "0.001", ".001" or "1e-3": no sign, no name, no blank, no hexadecimal. */
bool text_number(double *out, const char *text);

/* 0.25, 25% or 1/4: from 0 to 1; the second without these ends. */
bool text_part(double *out, const char *value, size_t len);
bool text_share(double *out, const char *value, size_t len);

/* Which of names (ended by NULL) comes nearest to text, NULL if none is near:
 * two slips of the finger at most. */
const char *text_nearest(const char *text, const char *const *names);

#endif
