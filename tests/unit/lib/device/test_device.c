/* test_device.c - the device's files, policy and documents. */
#include "rig/device_rig.h"

/* ---- Making and opening -------------------------------------------------- */

static void a_device_is_made_once(void)
{
    struct rig *g = rig_new();

    ok(rig_open(g, false) == HSY_E_EMPTY, "there is none at first");
    g->world.entropy = HSY_E_ENTROPY;
    ok(rig_open(g, true) == HSY_E_ENTROPY && g->world.stores == 0,
       "without entropy nothing is written");
    g->world.entropy = HSY_OK;
    for (int left = 0; left < 3; left++) {
        g->world.stores_left = left;
        ok(rig_open(g, true) == HSY_E_IO, "making fails at store %d", left);
        g->world.stores_left = -1;
        ok(rig_open(g, false) == HSY_E_EMPTY, "and there is no device");
    }
    ok(rig_open(g, true) == HSY_OK && rig_open(g, false) == HSY_OK,
       "it is made, and opens");
    ok(rig_open(g, true) == HSY_E_REFUSED, "making it again is refused");
    ok(hsy_device_consent(g->dev) == HSY_CONSENT_NONE, "nobody has agreed yet");
    rig_free(g);
}

/* Whether opening gives this status after one thing was done to the files. */
static void damage_is_not_emptiness(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(rig_answer(g, 0, 2) == HSY_ANSWERED, "answered");
    *kept = g->world;
    g->world.file[0].there = false;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "without its key a used state is damaged");
    g->world = *kept;
    g->world.file[0].bytes[20] ^= 1;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "with a changed key too");
    g->world = *kept;
    g->world.file[1].there = g->world.file[2].there = false;
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "a key without state is damaged");
    g->world = *kept;
    g->world.load = HSY_E_IO;
    ok(rig_open(g, false) == HSY_E_IO, "a disk that cannot be read is told");
    g->world = *kept;
    g->world.file[1].bytes[100] ^= 1;
    g->world.file[2].bytes[100] ^= 1;
    ok(rig_open(g, false) == HSY_E_DAMAGED, "two bad copies are refused");
    g->world = *kept;
    for (int f = 0; f < 3; f++)
        memset(g->world.file[f].bytes, 0, g->world.file[f].len);
    ok(rig_open(g, false) == HSY_E_DAMAGED &&
           rig_open(g, true) == HSY_E_REFUSED,
       "three files of zeros are damage: a key was made after whole copies");
    free(kept);
    rig_free(g);
}

/* Every bit of one copy, and every length: the other one holds everything. */
static void one_bad_copy_is_mended(void)
{
    struct rig *g = rig_new();
    struct world *kept = malloc(sizeof *kept);
    size_t wrong = 0, tried = 0;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    rig_answer(g, 0, 2);
    *kept = g->world;
    for (int f = 1; f <= 2; f++) {
        for (size_t bit = 0; bit < 8 * kept->file[f].len; bit++, tried++) {
            g->world.file[f].bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            wrong += rig_open(g, false) != HSY_OK ||
                     rig_spent(g, "browser") != EPS ||
                     memcmp(g->world.file[f].bytes, kept->file[f].bytes,
                            kept->file[f].len) != 0;
            g->world.file[f] = kept->file[f];
        }
        for (size_t len = 0; len < kept->file[f].len; len++, tried++) {
            g->world.file[f].len = len;
            wrong += rig_open(g, false) != HSY_OK ||
                     rig_spent(g, "browser") != EPS ||
                     g->world.file[f].len != kept->file[f].len;
            g->world.file[f] = kept->file[f];
        }
    }
    ok(wrong == 0, "%zu changes of one copy: mended, nothing lost", tried);
    free(kept);
    rig_free(g);
}

static void a_failing_store_stops_everything(void)
{
    for (int left = 0; left < 2; left++) {
        struct rig *g = rig_new();
        uint64_t spent;

        rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
        rig_begin(g);
        g->world.stores_left = left;
        ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_IO,
           "a store fails: no answer");
        g->world.stores_left = -1;
        ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_DAMAGED,
           "and none until it is opened again");
        ok(rig_again(g), "opened again");
        spent = rig_spent(g, "browser");
        ok(spent == (left == 0 ? 0 : EPS), "what was written counts");
        ok(rig_answer(g, 0, 1) == (left == 0 ? HSY_ANSWERED : HSY_ANSWER_KEPT),
           "and the answer is made once");
        ok(rig_spent(g, "browser") == EPS, "and charged once");
        rig_free(g);
    }
}

static void restored_states(void)
{
    struct rig *g = rig_new();
    struct file old[3];
    uint8_t before[4096], after[4096];
    size_t len;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    memcpy(old, g->world.file, sizeof old);
    rig_answer(g, 0, 1);
    rig_day(g, 1);
    rig_next(g, before, &len);
    g->world.file[1] = old[1];
    ok(rig_again(g) && rig_spent(g, "browser") == EPS,
       "one old copy is overruled");
    memcpy(g->world.file, old, sizeof old);
    ok(rig_again(g) && rig_spent(g, "browser") == 0,
       "without an anchor a restored state is not noticed");
    rig_day(g, 0);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED, "it answers again");
    rig_day(g, 1);
    ok(rig_next(g, after, &len) == HSY_OK && memcmp(before, after, len) == 0,
       "the same bytes");
    rig_free(g);

    g = rig_new();
    g->world.anchored = true;
    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    memcpy(old, g->world.file, sizeof old);
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED && rig_again(g),
       "with an anchor it answers and opens");
    g->world.anchor += 5;
    ok(rig_answer(g, 0, 1) == HSY_ANSWER_KEPT, "what stands, stands");
    rig_day(g, 1);
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_DAMAGED,
       "if the anchor went on without it nothing new is answered");
    g->world.anchor -= 5;
    memcpy(g->world.file, old, sizeof old);
    ok(rig_open(g, false) == HSY_E_DAMAGED, "a restored state is refused");
    memset(g->world.file, 0, sizeof g->world.file);
    ok(rig_open(g, true) == HSY_E_REFUSED,
       "and no new device is made beside an anchor that knows one");
    rig_free(g);
}

static void policies_and_worlds_are_checked(void)
{
    struct rig *g = rig_new();

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "b", "usage", values("grr", 4, EPS), 0);
    rig_begin(g);
    g->policy.releases = 1;
    ok(rig_open(g, false) == HSY_E_POLICY,
       "a state that is too large for the policy is not cut");
    g->policy.releases = 0;
    ok(rig_open(g, false) == HSY_E_RANGE, "no releases are refused");
    g->policy.releases = 16;
    g->sources[2].name = "browser";
    ok(rig_open(g, false) == HSY_E_RANGE, "two sources of one name are");
    g->sources[2].name = "Usage";
    ok(rig_open(g, false) == HSY_E_RANGE, "and a name with other letters");
    g->sources[2].name = "usage";
    g->face.anchor_read = world_anchor_read;
    ok(rig_open(g, false) == HSY_E_RANGE, "half an anchor is refused");
    g->face.anchor_read = NULL;
    ok(rig_again(g), "all is as before");
    rig_free(g);
}

/* ---- Documents and admission --------------------------------------------- */

static void documents(void)
{
    struct rig *g = rig_new();
    uint8_t *old;
    size_t old_len;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    old = g->bytes;
    old_len = g->len;
    g->bytes = NULL;
    rig_publish(g);
    ok(rig_take(g) == HSY_OK && g->doc.version == 2, "a newer one is taken");
    ok(rig_take(g) == HSY_OK, "and again");
    ok(hsy_device_accept_document(g->dev, &g->doc, old, old_len, &g->err) ==
           HSY_E_OLD,
       "an older one is refused");
    g->version--;
    g->expires++;
    rig_publish(g);
    ok(rig_take(g) == HSY_E_OLD, "another one of the same version is");
    g->bytes[old_len - 1] ^= 1;
    ok(rig_take(g) == HSY_E_SIGNATURE, "a wrong signature is");
    memset(g->signer, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_E_SIGNATURE, "a stranger's is");
    memset(g->signer, 1, HSY_SIGN_KEY);
    memset(g->next_key, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_OK, "the next key is named");
    rig_publish(g);
    ok(rig_take(g) == HSY_OK, "the old key still signs");
    memset(g->signer, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_OK && rig_open(g, false) == HSY_OK &&
           rig_take(g) == HSY_OK,
       "the new key signs, also after opening");
    memset(g->signer, 1, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_E_SIGNATURE, "and then the old one no more");
    memset(g->policy.sign_key, 3, HSY_SIGN_KEY);
    memset(g->signer, 2, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_open(g, false) == HSY_OK && rig_take(g) == HSY_E_SIGNATURE,
       "a program with another key no longer knows what the old one led to");
    memset(g->signer, 3, HSY_SIGN_KEY);
    rig_publish(g);
    ok(rig_take(g) == HSY_OK && rig_open(g, false) == HSY_OK &&
           rig_take(g) == HSY_OK,
       "its own key signs, also after opening");
    rig_publish(g);
    g->world.now = (uint64_t)g->expires * DEVICE_DAY;
    ok(rig_take(g) == HSY_E_OLD, "an expired one is refused");
    g->world.now = (uint64_t)DAY0 * DEVICE_DAY;
    ok(rig_take(g) == HSY_OK, "in time it is taken");
    g->world.now = (uint64_t)g->expires * DEVICE_DAY;
    ok(rig_take(g) == HSY_OK && rig_open(g, false) == HSY_OK &&
           rig_take(g) == HSY_OK,
       "and stays, past its last day too");
    g->world.clock = HSY_E_IO;
    ok(rig_take(g) == HSY_E_IO, "without a clock none is taken");
    free(old);
    rig_free(g);
}

static void admission(void)
{
    struct rig *g = rig_new();
    hsy_document other;

    rig_task(g, "known", "browser", values("grr", 4, EPS), 0);
    rig_task(g, "foreign", "location", values("grr", 4, EPS), 0);
    rig_task(g, "loud", "browser", values("grr", 4, 2 * EPS + 1), 0);
    rig_task(g, "dear", "browser", values("grr", 4, EPS), 5 * EPS);
    g->task[3].max_changes = 2;
    rig_task(g, "wide", "browser", values("sue", 2048, EPS), 0);
    rig_task(g, "over", "browser", values("grr", 5, EPS), 0);
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK, "taken");
    ok(rig_admit(g, 0) == HSY_OK, "a task within the policy is admitted");
    ok(rig_admit(g, 1) == HSY_E_POLICY && g->err.field == HSY_FIELD_SOURCE,
       "an unknown source is not");
    ok(rig_admit(g, 2) == HSY_E_POLICY && g->err.limit == 2 * EPS,
       "nor too much epsilon in one report");
    ok(rig_admit(g, 3) == HSY_E_POLICY && g->err.limit == 8 * EPS &&
           g->err.field == HSY_FIELD_CAP_DAY,
       "nor what no day can pay for");
    ok(rig_admit(g, 4) == HSY_E_POLICY && g->err.limit == 256,
       "nor reports that do not fit");
    ok(rig_admit(g, 6) == HSY_E_RANGE, "nor a task that is not there");
    other = g->doc;
    other.bytes++;
    ok(hsy_device_admit(g->dev, g->release[0], &other, 0, &g->err) ==
           HSY_E_MISMATCH,
       "nor one of another document");
    rig_day(g, 400);
    ok(rig_admit(g, 5) == HSY_E_OLD, "nor one that is over");
    ok(rig_admit(g, 0) == HSY_OK,
       "one that was admitted before may still send its last");
    rig_free(g);
}

/* Each cap that a slot must fit into is asked, by its name. */
static void every_cap_is_asked(void)
{
    for (int which = 0; which < 4; which++) {
        struct rig *g = rig_new();
        uint64_t *const caps[] = {&g->sources[0].cap_day,
                                  &g->sources[0].cap_lifetime,
                                  &g->policy.cap_day, &g->policy.cap_lifetime};

        *caps[which] = EPS - 1;
        rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
        rig_publish(g);
        ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK &&
               rig_admit(g, 0) == HSY_E_POLICY && g->err.limit == EPS - 1 &&
               strcmp(hsy_field_name(g->err.field),
                      which % 2 == 0 ? "cap_day" : "cap_lifetime") == 0,
           "a slot above cap %d is not admitted", which);
        rig_free(g);
    }
}

static void room_for_releases(void)
{
    struct rig *g = rig_new();

    g->policy.releases = 2;
    for (uint32_t i = 0; i < 3; i++)
        rig_task(g, (const char *[]){"a", "b", "c"}[i], "browser",
                 values("grr", 3 + i, EPS), 0);
    rig_publish(g);
    ok(rig_open(g, true) == HSY_OK && rig_take(g) == HSY_OK &&
           rig_admit(g, 0) == HSY_OK && rig_admit(g, 1) == HSY_OK &&
           rig_admit(g, 1) == HSY_OK && rig_admit(g, 2) == HSY_E_POLICY &&
           g->err.limit == 2,
       "as many releases as the policy has room for");
    rig_free(g);
}

/* ---- Begin and end ------------------------------------------------------- */

static void without_waiting(void)
{
    struct rig *g = rig_new();
    hsy_truth t = index_truth(1);
    hsy_answer_state state;
    hsy_device_write write;
    hsy_budget b;

    rig_task(g, "a", "browser", values("grr", 4, EPS), 0);
    rig_begin(g);
    ok(hsy_device_end(g->dev, HSY_OK, NULL) == HSY_E_RANGE,
       "nothing was begun");
    g->world.stores = 0;
    ok(hsy_device_begin(g->dev, &state, &write, g->release[0], &t, &g->err) ==
               HSY_OK &&
           state == HSY_ANSWERED && write.len > 0 && g->world.stores == 0,
       "begin writes nothing itself");
    ok(rig_answer(g, 0, 1) == -1 && g->err.status == HSY_E_BUSY &&
           hsy_device_budget(g->dev, &b, NULL, NULL) == HSY_E_BUSY &&
           world_entries(&g->world, HSY_LOG_ANSWER) == 0,
       "in between everything else is busy, and the log says nothing");
    world_store(&g->world, HSY_FILE_A, write.bytes, write.len);
    world_store(&g->world, HSY_FILE_B, write.bytes, write.len);
    ok(hsy_device_end(g->dev, HSY_OK, NULL) == HSY_OK &&
           world_entries(&g->world, HSY_LOG_ANSWER) == 1,
       "end: then it is answered");
    ok(hsy_device_begin(g->dev, &state, &write, g->release[0], &t, &g->err) ==
               HSY_OK &&
           state == HSY_ANSWER_KEPT && write.len == 0,
       "where nothing is to be written there is nothing to end");
    ok(rig_again(g) && rig_answer(g, 0, 1) == HSY_ANSWER_KEPT,
       "what the program wrote opens");
    rig_day(g, 1);
    hsy_device_begin(g->dev, &state, &write, g->release[0], &t, NULL);
    ok(hsy_device_end(g->dev, HSY_E_IO, &g->err) == HSY_E_IO &&
           rig_answer(g, 0, 1) == -1,
       "a write that failed loses the device until it is opened again");
    rig_free(g);
}

/* ---- Golden files -------------------------------------------------------- */

static size_t golden(const char *path, uint8_t *bytes, size_t room)
{
    FILE *in = fopen(path, "rb");
    size_t len = in == NULL ? 0 : fread(bytes, 1, room, in);

    if (in != NULL)
        fclose(in);
    return len;
}

/* Made once for version 3 of the format: opened by every program since. */
static void golden_files_open(void)
{
    struct rig *g = rig_golden();
    static uint8_t key[WORLD_ROOM], state[WORLD_ROOM];
    const size_t key_len = golden("tests/golden/device.key", key, sizeof key);
    const size_t state_len =
        golden("tests/golden/device.state", state, sizeof state);
    const struct file *f = g->world.file;

    ok(key_len == f[0].len && memcmp(key, f[0].bytes, key_len) == 0,
       "the golden key is written again");
    ok(state_len == f[1].len && memcmp(state, f[1].bytes, state_len) == 0,
       "and the golden state, byte for byte");
    memset(g->world.file, 0, sizeof g->world.file);
    world_store(&g->world, HSY_FILE_KEY, key, key_len);
    world_store(&g->world, HSY_FILE_A, state, state_len);
    ok(rig_again(g) && rig_spent(g, "browser") == 6 * EPS &&
           rig_spent(g, "usage") == 4 * EPS &&
           memcmp(g->world.file[2].bytes, state, state_len) == 0,
       "they open, with all that was spent");
    ok(rig_answer(g, 0, 1) == HSY_ANSWERED &&
           rig_answer(g, 1, 1) == HSY_ANSWER_KEPT,
       "and go on");
    rig_free(g);
}

/* Version 1 did not say what was shown, version 2 under which promise: they are
 * refused, and left alone. */
static void an_older_state_is_refused(const char *path)
{
    struct rig *g = rig_golden();
    static uint8_t state[WORLD_ROOM];
    const size_t len = golden(path, state, sizeof state);
    uint32_t stores;

    world_store(&g->world, HSY_FILE_A, state, len);
    ok(len != 0 && rig_again(g), "%s: one copy of it is mended", path);
    world_store(&g->world, HSY_FILE_A, state, len);
    world_store(&g->world, HSY_FILE_B, state, len);
    stores = g->world.stores;
    hsy_device_close(g->dev);
    ok(eq_status(rig_open(g, false), HSY_E_VERSION) &&
           eq_u64(g->err.field, HSY_FIELD_STATE),
       "%s: a device of an older program is refused, with the reason", path);
    ok(eq_status(rig_open(g, true), HSY_E_REFUSED) &&
           eq_u64(g->world.stores, stores),
       "%s: none is made in its place, and its files stay as they are", path);
    rig_free(g);
}

int main(void)
{
    a_device_is_made_once();
    damage_is_not_emptiness();
    one_bad_copy_is_mended();
    a_failing_store_stops_everything();
    restored_states();
    policies_and_worlds_are_checked();
    documents();
    admission();
    every_cap_is_asked();
    room_for_releases();
    without_waiting();
    golden_files_open();
    an_older_state_is_refused("tests/golden/device-1.state");
    an_older_state_is_refused("tests/golden/device-2.state");
    return tap_done();
}
