/* internal.h - what the files share that write surveys for people. */
#ifndef HOST_SURVEY_INTERNAL_H
#define HOST_SURVEY_INTERNAL_H

#include "host/survey/survey.h"

/* "12.3 %", with so many decimals; as many as give sd three digits
 * (survey_rows.c). */
void survey_percent(char text[48], double share, int decimals);
int survey_decimals(double sd);

/* What a table says of a design above its figures, and the sentence on what
 * must stay hidden (design_text.c). */
void survey_design_print(FILE *to, const struct survey_design *d);
void survey_design_hidden(FILE *to, const struct survey_design *d);

/* Who is left out: a paragraph if there is anybody, and fields of json, at most
 * two, if that is known (survey_rows.c). */
void survey_silent_print(FILE *to, const struct survey_silent *s);
size_t survey_silent_fields(struct table_field *fields,
                            const struct survey_silent *s);

#endif
