/*
 * upload.c - hsy_device_upload as a program calls it:
 *
 *     upload DIRECTORY DOCUMENT PUBLIC-KEY URL SOURCE...
 *
 * @relay among the sources: the policy demands the relay. Prints the status and
 * what became of the uploads. The device must have been made before.
 */
#include "hearsay/host.h"

#include <stdlib.h>
#include <string.h>

static bool upload_key(uint8_t key[HSY_SIGN_KEY], const char *path)
{
    FILE *f = fopen(path, "r");
    unsigned byte;
    size_t n = 0;

    while (f != NULL && n < HSY_SIGN_KEY && fscanf(f, "%2x", &byte) == 1)
        key[n++] = (uint8_t)byte;
    if (f != NULL)
        fclose(f);
    return n == HSY_SIGN_KEY;
}

static hsy_status upload_all(hsy_client *client, const char *url)
{
    hsy_send_options options = {.size = sizeof options,
                                .spread = HSY_SPREAD_NONE,
                                .attempts = 3,
                                .wait_ms = 1,
                                .one_connection = true};
    hsy_send_result r;
    hsy_error err = {0};
    hsy_status st = hsy_device_upload(client, &r, url, &options, &err);

    printf("%d %llu %llu %llu %u %u %s\n", (int)st, (unsigned long long)r.sent,
           (unsigned long long)r.refused, (unsigned long long)r.waiting,
           (unsigned)r.attempts, (unsigned)r.status,
           err.msg != NULL ? err.msg : "-");
    options.size = 1;
    if (hsy_device_upload(client, NULL, url, &options, &err) != HSY_E_RANGE)
        puts("options of another size are taken");
    return st;
}

/* What hsy_client_next says first. */
static void upload_next(hsy_client *client)
{
    uint8_t upload[HSY_UPLOAD_WIRE + 1024];
    size_t len = 0;

    printf("next %d\n",
           (int)hsy_client_next(client, upload, sizeof upload, &len, NULL));
}

int main(int argc, char **argv)
{
    hsy_source sources[16] = {{.name = NULL}};
    hsy_policy policy = {.size = sizeof policy,
                         .sources = sources,
                         .cap_day = 10 * (uint64_t)HSY_NANO,
                         .cap_lifetime = 20 * (uint64_t)HSY_NANO,
                         .releases = 16,
                         .release_bytes = 256};
    hsy_client *client = NULL;
    hsy_error err = {0};

    if (argc < 5 || !upload_key(policy.sign_key, argv[3]))
        return 2;
    for (int i = 5; i < argc && i < 21; i++)
        if (strcmp(argv[i], "@relay") == 0)
            policy.flags |= HSY_POLICY_RELAY;
        else
            sources[policy.nsources++] =
                (hsy_source){.name = argv[i],
                             .cap_answer = 2 * (uint64_t)HSY_NANO,
                             .cap_day = 5 * (uint64_t)HSY_NANO,
                             .cap_lifetime = 10 * (uint64_t)HSY_NANO};
    if (hsy_client_open(&client, argv[1], &policy, argv[2], NULL, &err) !=
        HSY_OK) {
        printf("cannot be opened: %s\n", err.msg);
        return 1;
    }
    upload_all(client, argv[4]);
    upload_next(client);
    hsy_client_close(client);
    return 0;
}
