/*
 * message.h - the one reader of HTTP/1.1 heads, of requests and of responses.
 *
 * A head is accepted if it is, byte for byte,
 *
 *     first line  CR LF  field*  CR LF
 *
 *     request's first line   METHOD SP /target SP HTTP/1.1
 *     response's first line  HTTP/1.1 SP status SP reason
 *     field                  name ":" blanks value CR LF
 *
 * where METHOD and name are tokens (RFC 9110, 5.6.2), a target is visible
 * ASCII, and a value has no control character but a tab. A request's value does
 * not end in a blank; behind a response's value blanks are dropped. There are
 * no folded lines and no bare CR or LF. One empty line before a request is
 * skipped (RFC 9112, 2.2). HTTP/1.0 is accepted as well.
 *
 * Where a body ends is said once or not at all: by one Content-Length in
 * digits. Two lengths, any Transfer-Encoding, and fields that some readers take
 * for one of them (Content_Length) are refused.
 *
 * The reader allocates nothing and keeps no bytes. It is called again with the
 * same buffer when more bytes have come, looks at each byte once or twice
 * however they are split, and its answer does not depend on the split.
 */
#ifndef SERVER_HTTP_MESSAGE_H
#define SERVER_HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_HEAD_BYTES                                                     \
    8192u                  /* of a head at most, its empty line included */
#define MESSAGE_FIELDS 64u /* of a head at most */

enum message_kind { MESSAGE_REQUEST, MESSAGE_RESPONSE };

/* Part of the caller's buffer. */
struct message_text {
    uint16_t at, len;
};

struct message_field {
    struct message_text name, value;
};

/* Fields that the reader itself looks at. */
enum message_known {
    MESSAGE_HOST,
    MESSAGE_CONTENT_LENGTH,
    MESSAGE_CONTENT_TYPE,
    MESSAGE_TRANSFER_ENCODING,
    MESSAGE_CONTENT_ENCODING,
    MESSAGE_UPGRADE,
    MESSAGE_EXPECT,
    MESSAGE_CONNECTION,
    MESSAGE_KNOWN
};

struct message {
    enum message_kind kind;

    /* What a complete head says. */
    struct message_text method, target; /* of a request */
    unsigned status;                    /* of a response: 200 to 599 */
    uint64_t length;                    /* of the body; 0 if none is given */
    bool close;            /* no message follows on its connection */
    bool expects_continue; /* Expect: 100-continue in HTTP/1.1 */
    unsigned minor;        /* of the version: 0 or 1 */
    uint16_t size;         /* bytes of the head */

    /* Why a head is refused: the status of an answer to it, and its title. */
    int refusal;
    const char *title;

    /* How far the reader is. */
    uint16_t line;    /* where the first line without an end begins */
    uint16_t scanned; /* bytes in which ends of lines have been looked for */
    bool begun;       /* the first line has been read */
    bool keep_alive, strange_version;
    uint8_t counts[MESSAGE_KNOWN];
    struct message_text length_text, expect_text;

    unsigned nfields;
    struct message_field fields[MESSAGE_FIELDS];
};

enum message_state { MESSAGE_MORE, MESSAGE_WHOLE, MESSAGE_BAD };

/* Call it before the first byte of a head. */
void message_begin(struct message *m, enum message_kind kind);

/* Reads on. bytes are all that have come since message_begin, len of them; they
 * may go on behind the head. Returns MESSAGE_MORE until the head is complete.
 * After MESSAGE_BAD where the message ends is in doubt: the connection must be
 * closed. */
enum message_state message_read(struct message *m, const char *bytes,
                                size_t len);

/* Returns the first field of this name, in any case, or NULL. */
const struct message_field *message_find(const struct message *m,
                                         const char *bytes, const char *name);

/* Returns true if the text is this word, in any case. */
bool message_is(const char *bytes, struct message_text text, const char *word);

#endif
