/*
 * sandbox.h - what a collector gives up once everything is open (R27).
 *
 * After sandbox_enter the process and all its threads can open files in the
 * directories that were named and nowhere else; make no socket, start no
 * program, look into no other process; leave no core file. Whoever takes it
 * over has what it has open, and no more. Enter it with one thread.
 */
#ifndef SERVER_PROCESS_SANDBOX_H
#define SERVER_PROCESS_SANDBOX_H

#include "hearsay.h"

#define SANDBOX_CALLS_MAX 49u /* system calls that are left */

struct sandbox_options {
    size_t size;                 /* sizeof(struct sandbox_options) */
    const char *const *writable; /* directories, ended by NULL */
    const char *const *readable; /* files, whose directories become readable so
                                    that they can be replaced; ended by NULL.
                                    An entry "" stands for none */
    bool required; /* a kernel without Landlock or seccomp is HSY_E_UNKNOWN */
};

struct sandbox_result {
    int landlock; /* version of the kernel's, 0: it has none */
    bool seccomp;
};

hsy_status sandbox_enter(const struct sandbox_options *o,
                         struct sandbox_result *out, hsy_error *err);

/* How many system calls are allowed. */
size_t sandbox_calls(void);

#endif
