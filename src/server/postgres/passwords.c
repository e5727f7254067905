/* passwords.c - the file of passwords that a URL names, read once. */
#define _GNU_SOURCE
#include "server/postgres/internal.h"

#include "host/base/host_fail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Cut off a field and take its backslashes away: "\:" is a colon that is not an
 * end. NULL: there is no end. */
static char *passwords_cut(char *at, bool last)
{
    char *to = at;

    while (*at != '\0' && (last || *at != ':')) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        *to++ = *at++;
    }
    if (!last && *at == '\0')
        return NULL;
    *to = '\0';
    return at + 1;
}

/* The password of a line host:port:database:user:password if it is this one's,
 * any of the first four may be '*'. */
static const char *passwords_line(char *line, const struct pg_host *h,
                                  const char *database, const char *user)
{
    const char *const wanted[] = {h->name, h->port, database, user};
    char *at = line;

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *next = passwords_cut(at, false);

        if (next == NULL ||
            (strcmp(at, "*") != 0 && strcmp(at, wanted[i]) != 0))
            return NULL;
        at = next;
    }
    (void)passwords_cut(at, true);
    return at;
}

/* The first line that fits; false: out of memory. */
static bool passwords_find(struct pg_host *h, FILE *f, const char *database,
                           const char *user)
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;

    rewind(f);
    while (good && h->password == NULL && getline(&line, &room, f) != -1) {
        const char *found;

        line[strcspn(line, "\r\n")] = '\0';
        found = line[0] != '#' ? passwords_line(line, h, database, user) : NULL;
        h->password = found != NULL ? strdup(found) : NULL;
        good = found == NULL || h->password != NULL;
    }
    if (line != NULL)
        explicit_bzero(line, room);
    free(line);
    return good;
}

/* Why a file is not to be used; NULL: it may be. That its group reads it is
 * how secrets are given to a service. */
static const char *passwords_wrong(FILE *f)
{
    struct stat st;

    if (f == NULL)
        return strerror(errno);
    if (fstat(fileno(f), &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "it is no file";
    if ((st.st_mode & S_IRWXO) != 0)
        return "everybody can read it: chmod o= it";
    return NULL;
}

hsy_status pg_passwords(struct pg_place *p, const char *path,
                        const char *database, const char *user,
                        char reason[PG_REASON], hsy_error *err)
{
    FILE *f = fopen(path, "re");
    const char *wrong = passwords_wrong(f);
    hsy_status st = wrong == NULL ? HSY_OK : HSY_E_RANGE;

    for (size_t i = 0; i < p->nhosts && st == HSY_OK; i++)
        if (!passwords_find(&p->hosts[i], f, database, user))
            st = HSY_E_NOMEM;
    if (f != NULL)
        fclose(f);
    if (st == HSY_OK)
        return HSY_OK;
    snprintf(reason, PG_REASON, "passfile %.120s: %.60s", path,
             wrong != NULL ? wrong : "out of memory");
    return host_fail(err, st, HOST_FIELD_STORE,
                     "the URL of a database cannot be used");
}
