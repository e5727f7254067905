/* sanitized.h - whether a sanitizer watches the memory of this program. */
#ifndef SANITIZED_H
#define SANITIZED_H

#ifdef __has_feature
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED_MEMORY 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED_MEMORY 1
#endif
#ifndef SANITIZED_MEMORY
#define SANITIZED_MEMORY 0
#endif

enum { TEST_SANITIZED = SANITIZED_MEMORY };

#undef SANITIZED_MEMORY

#endif
