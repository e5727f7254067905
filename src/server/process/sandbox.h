/*
 * sandbox.h - what a server gives up once everything is open (R27).
 *
 * After sandbox_enter the process and all its threads can open files in the
 * directories that were named and nowhere else; make no socket unless it
 * connects to others, write no file unless it keeps something; start no
 * program, look into no other process; leave no core file. Whoever takes it
 * over has what it has open, and no more. Enter it with one thread.
 */
#ifndef SERVER_PROCESS_SANDBOX_H
#define SERVER_PROCESS_SANDBOX_H

#include "hearsay.h"

#define SANDBOX_CALLS_MAX 49u /* system calls that are left to a collector */
#define SANDBOX_RELAY_MAX 42u /* and to a relay */

/* What a server does, as bits. */
#define SANDBOX_KEEPS 1u    /* it writes files */
#define SANDBOX_CONNECTS 2u /* it connects to others by TCP */
#define SANDBOX_ASKS 4u     /* a PostgreSQL among them */

struct sandbox_options {
    unsigned does;               /* SANDBOX_KEEPS, SANDBOX_CONNECTS */
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

/* The directory of a listener's socket file, which is removed at its end; "" if
 * the address is none of a file. To be freed; NULL: out of memory. */
char *sandbox_socket_place(const char *address);

/* How many system calls are allowed to a server that does this. */
size_t sandbox_calls(unsigned does);

#endif
