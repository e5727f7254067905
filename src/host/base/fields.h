/* fields.h - what errors are about above the library: files of a store, parts
 * of a simulation. */
#ifndef HOST_BASE_FIELDS_H
#define HOST_BASE_FIELDS_H

#include "hearsay.h"

#define HOST_FIELDS(X)                                                         \
    X(STORE, "store")                                                          \
    X(ARCHIVE, "archive")                                                      \
    X(BACKUP, "backup")                                                        \
    X(BACKUPS, "backups")                                                      \
    X(BATCH, "batch")                                                          \
    X(BEFORE, "before")                                                        \
    X(BODY, "body")                                                            \
    X(BOOK, "book")                                                            \
    X(CHECKSUM, "checksum")                                                    \
    X(CHUNK, "chunk")                                                          \
    X(DATA, "data")                                                            \
    X(DOMAIN, "domain")                                                        \
    X(ENROLLED, "enrolled")                                                    \
    X(ENTRY, "entry")                                                          \
    X(FIGURES, "figures")                                                      \
    X(HIGH, "high")                                                            \
    X(LAST, "last")                                                            \
    X(LISTEN, "listen")                                                        \
    X(LOW, "low")                                                              \
    X(MEMORY, "memory")                                                        \
    X(MODEL, "model")                                                          \
    X(NAMED, "named")                                                          \
    X(PLACE, "place")                                                          \
    X(PLOT, "plot")                                                            \
    X(PUBLIC_KEY, "public-key")                                                \
    X(QUOTA, "quota")                                                          \
    X(RECORD_DB, "record.db")                                                  \
    X(REHEARSAL, "rehearsal")                                                  \
    X(RUNS, "runs")                                                            \
    X(SANDBOX, "sandbox")                                                      \
    X(SEQ, "seq")                                                              \
    X(SHOWN_DB, "shown.db")                                                    \
    X(THROUGH, "through")                                                      \
    X(TLS_CERT, "tls_cert")                                                    \
    X(TLS_KEY, "tls_key")                                                      \
    X(TOKENS, "tokens")                                                        \
    X(UPLOADS, "uploads")                                                      \
    X(USERS, "users")                                                          \
    X(AXIS_X, "x")                                                             \
    X(AXIS_Y, "y")                                                             \
    X(CELLS_DB, "cells.db")                                                    \
    X(TOKENS_DB, "tokens.db")                                                  \
    X(BATCHES, "batches")                                                      \
    X(IDS, "ids")                                                              \
    X(CHUNKS, "chunks")                                                        \
    X(TALLIES, "tallies")                                                      \
    X(ENTRIES, "entries")                                                      \
    X(DOCUMENTS, "documents")                                                  \
    X(EPOCHS, "epochs")                                                        \
    X(DIFFERENCE, "the two differ in")                                         \
    X(RECEIVED, "received")                                                    \
    X(MIXES, "mixes")                                                          \
    /* fields end */

#define HOST_FIELD_CONSTANT(id, name) HOST_FIELD_##id,
enum host_field {
    HOST_FIELDS_BEGIN = HSY_FIELD_OWN - 1,
    HOST_FIELDS(HOST_FIELD_CONSTANT) HOST_FIELDS_END
};

/* As hsy_field_name and hsy_field_find, of these too. */
const char *host_field_name(uint32_t field);
uint32_t host_field_find(const char *name);

#endif
