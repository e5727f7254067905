/* device.c - an app that answers a private question, and sends what is due.
 *
 *     cc device.c $(pkg-config --cflags --libs hearsay-host) -o device
 *     ./device STATE TASKS.signed KEY TASK ANSWER
 *
 * KEY is the public key of who signs the tasks, in hexadecimal digits. What the
 * app allows is compiled in: no document can raise it.
 */
#include <hearsay/host.h>
#include <stdio.h>
#include <string.h>

static const hsy_source sources[] = {
    /* name, epsilon of one report, a day, ever: all in nano-epsilon */
    {"settings.theme", 1 * HSY_NANO, 2 * (uint64_t)HSY_NANO,
     4 * (uint64_t)HSY_NANO}};

static int fail(const hsy_error *err)
{
    fprintf(stderr, "device: %s%s%s\n", hsy_field_name(err->field),
            err->field != HSY_FIELD_NONE ? ": " : "",
            err->msg != NULL ? err->msg : hsy_strstatus(err->status));
    return 1;
}

int main(int argc, char **argv)
{
    hsy_policy policy = {.size = sizeof policy,
                         .sources = sources,
                         .nsources = 1,
                         .cap_day = 2 * (uint64_t)HSY_NANO,
                         .cap_lifetime = 4 * (uint64_t)HSY_NANO,
                         .releases = 16};
    static const char *const said[] = {
        [HSY_ANSWERED] = "answered",
        [HSY_ANSWER_KEPT] = "this round has its answer; the first stands",
        [HSY_ANSWER_SAMPLED_OUT] = "not drawn for this slot",
        [HSY_ANSWER_EXHAUSTED] = "a cap is reached",
        [HSY_ANSWER_CLOSED] = "not begun, over or forgotten",
        [HSY_ANSWER_NO_CONSENT] = "the person has not agreed"};
    hsy_client *client;
    hsy_error err = {0};
    hsy_answer_state state;
    uint8_t upload[1024];
    size_t len;
    int failed = 0;

    if (argc != 6) {
        fprintf(stderr, "usage: device STATE TASKS.signed KEY TASK ANSWER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof policy.sign_key; i++)
        if (strlen(argv[3]) != 2 * sizeof policy.sign_key ||
            sscanf(argv[3] + 2 * i, "%2hhx", &policy.sign_key[i]) != 1) {
            fprintf(stderr, "device: KEY: expected 64 hexadecimal digits\n");
            return 2;
        }

    /* From here on it is a dozen lines. */
    if (hsy_client_open(&client, argv[1], &policy, argv[2], NULL, &err))
        return fail(&err);
    /* Whoever runs this has agreed. An app asks, and says NONE if told no. */
    if (hsy_device_consent_set(hsy_client_device(client), HSY_CONSENT_SEND,
                               &err) ||
        hsy_client_answer_text(client, &state, argv[4], argv[5],
                               strlen(argv[5]), &err))
        failed = fail(&err);
    else
        printf("%s\n", said[state]); /* the same for every truth */
    while (hsy_client_next(client, upload, sizeof upload, &len, &err) == 0) {
        printf("an upload of %zu bytes\n", len); /* send it; once it arrived: */
        if (hsy_client_sent(client, upload, len, &err))
            break;
    }
    if (err.status != HSY_E_END) /* that nothing more is due is no failure */
        failed = fail(&err);
    hsy_client_close(client);
    return failed;
}
