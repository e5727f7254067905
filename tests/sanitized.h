/* sanitized.h - whether a sanitizer watches the memory of this program. */
#ifndef SANITIZED_H
#define SANITIZED_H

#ifdef __has_feature
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer)
#define TEST_SANITIZED true
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define TEST_SANITIZED true
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED false
#endif

#endif
