/*
 * sanitized.h - whether a sanitizer watches the memory of this program.
 *
 * It makes every access slow, and sees what it is to see in few rounds of a
 * loop: long ones are gone through in full by the plain build. MemorySanitizer
 * (TEST_UNDEFINED) is the slowest, and looks at no bounds.
 */
#ifndef SANITIZED_H
#define SANITIZED_H

#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#define SANITIZED_MEMORY 1
#define SANITIZED_UNDEFINED 1
#elif __has_feature(address_sanitizer)
#define SANITIZED_MEMORY 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED_MEMORY 1
#endif
#ifndef SANITIZED_MEMORY
#define SANITIZED_MEMORY 0
#endif
#ifndef SANITIZED_UNDEFINED
#define SANITIZED_UNDEFINED 0
#endif

enum {
    TEST_SANITIZED = SANITIZED_MEMORY,
    TEST_UNDEFINED = SANITIZED_UNDEFINED
};

#undef SANITIZED_MEMORY
#undef SANITIZED_UNDEFINED

#endif
