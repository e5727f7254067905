/*
 * replay.c - run a fuzz target over files, without libFuzzer.
 *
 *     fuzz_NAME [FILE | DIRECTORY]...
 *
 * Without arguments: the corpus in tests/fuzz/corpus/NAME.
 */
#define _GNU_SOURCE

#include "fuzz.h"
#include "tap.h"

#include <dirent.h>
#include <sys/stat.h>

static size_t replay_files;

static bool replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data;
    long len;
    bool read;

    if (f == NULL)
        return false;
    fseek(f, 0, SEEK_END);
    len = ftell(f);
    rewind(f);
    data = malloc((size_t)len + 1);
    read = data != NULL && fread(data, 1, (size_t)len, f) == (size_t)len;
    fclose(f);
    if (read) {
        /* An exact copy: a sanitizer sees a step past its end. */
        uint8_t *exact = realloc(data, (size_t)len + (len == 0));

        data = exact == NULL ? data : exact;
        LLVMFuzzerTestOneInput(data, (size_t)len);
        replay_files++;
    }
    free(data);
    return read;
}

static bool replay_path(const char *path)
{
    struct dirent *entry;
    char name[4096];
    bool good = true;
    struct stat st;
    DIR *dir;

    if (stat(path, &st) == -1)
        return false;
    if (!S_ISDIR(st.st_mode))
        return replay_file(path);
    dir = opendir(path);
    if (dir == NULL)
        return false;
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        good &= replay_file(name);
    }
    closedir(dir);
    return good;
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '_');
    char corpus[256];
    bool good = true;

    snprintf(corpus, sizeof corpus, "tests/fuzz/corpus/%s",
             name == NULL ? "" : name + 1);
    if (argc < 2)
        good = replay_path(corpus);
    for (int i = 1; i < argc; i++)
        good &= replay_path(argv[i]);
    ok(good && replay_files != 0, "%zu inputs keep every promise",
       replay_files);
    return tap_done();
}
