/* pq.h - libpq, loaded when a database is wanted and not before: who counts on
 * one machine need not have it. */
#ifndef SERVER_POSTGRES_PQ_H
#define SERVER_POSTGRES_PQ_H

#include <postgresql/libpq-fe.h>

/* X(the name in libpq without PQ) */
#define PQ_FUNCTIONS(X)                                                        \
    X(conninfoParse)                                                           \
    X(conninfoFree)                                                            \
    X(connectStartParams)                                                      \
    X(connectPoll)                                                             \
    X(status)                                                                  \
    X(socket)                                                                  \
    X(finish)                                                                  \
    X(errorMessage)                                                            \
    X(setnonblocking)                                                          \
    X(enterPipelineMode)                                                       \
    X(sendPrepare)                                                             \
    X(sendQueryPrepared)                                                       \
    X(sendQueryParams)                                                         \
    X(pipelineSync)                                                            \
    X(flush)                                                                   \
    X(consumeInput)                                                            \
    X(isBusy)                                                                  \
    X(getResult)                                                               \
    X(resultStatus)                                                            \
    X(resultErrorField)                                                        \
    X(clear)                                                                   \
    X(cmdStatus)                                                               \
    X(cmdTuples)                                                               \
    X(ntuples)                                                                 \
    X(getisnull)                                                               \
    X(getlength)                                                               \
    X(getvalue)                                                                \
    X(setNoticeReceiver)                                                       \
    X(serverVersion)

#define PQ_POINTER(name) __typeof__(PQ##name) *name;
struct pq {
    PQ_FUNCTIONS(PQ_POINTER)
};

/* NULL: it is not there, or too old (before 14). */
const struct pq *pq_load(void);

#endif
