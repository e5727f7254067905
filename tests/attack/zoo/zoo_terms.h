/*
 * zoo_terms.h - digests of a task's terms that are wrong on purpose.
 */
#ifndef ZOO_TERMS_H
#define ZOO_TERMS_H

#include <hearsay/device.h>

/* Instead of hsy_document_terms, at devices and hops. */
void zoo_terms_ignored(const hsy_document *doc, uint8_t terms[HSY_DIGEST],
                       uint32_t i);
void zoo_terms_narrow(const hsy_document *doc, uint8_t terms[HSY_DIGEST],
                      uint32_t i);

#endif
