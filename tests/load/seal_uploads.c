/* seal_uploads.c - sealed requests for tests/load/load.py: the upload in a file
 * again and again, each with an id of its own.
 *
 *     seal_uploads PUBLIC_KEY UPLOAD N REQUEST_BYTES >requests
 */
#include "hearsay/host.h"
#include "host/base/hex.h"
#include "host/seal/bhttp.h"
#include "host/seal/ohttp.h"
#include "lib/bits/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define UPLOAD_MAX 4096u
#define ID_AT 80u
#define CRC_AT (HSY_UPLOAD_WIRE - 4)

static uint8_t upload[UPLOAD_MAX], message[1u << 16],
    sealed[(1u << 16) + OHTTP_REQUEST_EXTRA];

static int seal_one(uint8_t id, const uint8_t pub[SEAL_KEY], size_t len,
                    size_t size)
{
    const struct bhttp_request r = {
        .method = bhttp_text("POST"),
        .scheme = bhttp_text("https"),
        .authority = bhttp_text("load"),
        .path = bhttp_text("/v1/uploads"),
        .fields = {{bhttp_text("content-type"),
                    bhttp_text("application/octet-stream")}},
        .n_fields = 1,
        .content = upload,
        .content_len = len};
    struct ohttp_client keep;
    size_t written;

    if (getrandom(upload + ID_AT, 16, 0) != 16)
        return 1;
    bytes_put32(upload + CRC_AT, hsy_crc32c(0, upload, CRC_AT));
    if (bhttp_request_encode(message, sizeof message, &written, &r, size) !=
            HSY_OK ||
        ohttp_request_seal(&keep, sealed, sizeof sealed, &written, id, pub,
                           SEAL_CHACHA20, NULL, message, size) != HSY_OK)
        return 1;
    return fwrite(sealed, written, 1, stdout) != 1;
}

int main(int argc, char **argv)
{
    uint8_t pub[SEAL_KEY], id[SEAL_KEY_ID];
    FILE *from = argc == 5 ? fopen(argv[2], "rb") : NULL;
    size_t len = from != NULL ? fread(upload, 1, sizeof upload, from) : 0;
    int failed = len < HSY_UPLOAD_WIRE ||
                 !hex_line(pub, sizeof pub, argv[1], strlen(argv[1]));

    if (!failed)
        seal_key_id(id, pub);
    for (long i = 0; !failed && i < atol(argv[3]); i++)
        failed = seal_one(id[0], pub, len, (size_t)atol(argv[4]));
    return failed || fflush(stdout) != 0;
}
