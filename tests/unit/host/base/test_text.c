/* test_text.c - hexadecimal digits, days, records of CSV and whole files. */
#define _DEFAULT_SOURCE
#include "host/base/csv.h"
#include "host/base/day.h"
#include "host/base/files.h"
#include "host/base/hex.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void digits_come_back(void)
{
    uint8_t bytes[256], back[256];
    char text[513];

    for (size_t i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    hex_put(text, bytes, 256);
    ok(eq_int(strncmp(text, "000102", 6), 0) && eq_text(text + 506, "fdfeff"),
       "bytes are written as lower-case digits");
    ok(hex_get(back, 256, text, 512) && eq_bytes(back, bytes, 256),
       "and read back");
    ok(hex_any(back, 2, "aBcD", 4) && eq_u64(back[0], 0xab) &&
           eq_u64(back[1], 0xcd),
       "capitals are read where people type them");
    ok(!hex_get(back, 2, "aBcD", 4), "and refused where there is one way only");
    ok(!hex_any(back, 2, "abc", 3) && !hex_any(back, 2, "abcde", 5),
       "neither fewer nor more digits");
    ok(!hex_any(back, 1, "g0", 2) && !hex_any(back, 1, "0/", 2) &&
           !hex_any(back, 1, "0:", 2) && !hex_any(back, 1, "@0", 2),
       "nothing else is a digit");
    ok(hex_line(back, 1, "7f\r\n", 4) && eq_u64(back[0], 0x7f) &&
           !hex_line(back, 1, "7f \n", 4),
       "a line of digits may have its end");
}

static void days_are_the_systems(void)
{
    bool same = true, parsed = true;

    for (uint32_t day = 0; day < 2932897; day += 11) {
        const time_t seconds = (time_t)day * DAY_SECONDS;
        char text[DAY_TEXT], want[DAY_TEXT];
        struct tm date;
        uint32_t back = 0;

        day_text(text, day);
        strftime(want, sizeof want, "%Y-%m-%d", gmtime_r(&seconds, &date));
        same &= strcmp(text, want) == 0;
        parsed &= day_parse(&back, text) && back == day;
    }
    ok(same, "dates up to the year 9999 are those of gmtime");
    ok(parsed, "and are read as the same days");
}

static void the_last_day_fits(void)
{
    char text[DAY_TEXT];

    day_text(text, UINT32_MAX);
    is_text(text, "11761191-01-20", "the last day of all has a date");
}

static void fields_lose_their_quotes(void)
{
    char text[] = "a,\"b,\"\"c\"\"\",,\"\"";
    struct csv_record r = {(uint8_t *)text, (uint8_t *)text + strlen(text),
                           true, ','};
    const char *const want[] = {"a", "b,\"c\"", "", ""};
    bool good = true;

    for (size_t i = 0; i < 4; i++) {
        uint8_t *place = (uint8_t *)text + (r.at - (uint8_t *)text);
        size_t len = 0;

        good &= r.more && csv_take(&r, place, &len) && len == strlen(want[i]) &&
                memcmp(place, want[i], len) == 0;
    }
    ok(good && !r.more, "fields are undone in their places");
}

static void quotes_stand_in_their_places(void)
{
    const char *const bad[] = {"a\"b", "\"a", "\"a\"b", "\"", "\"a\"\""};
    uint8_t room[16];
    bool refused = true;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const uint8_t *text = (const uint8_t *)bad[i];
        struct csv_record r = {text, text + strlen(bad[i]), true, ','};
        size_t len;

        refused &= !csv_take(&r, room, &len);
    }
    ok(refused, "a quote that is out of place is refused");
}

static void the_first_line_says_what_separates(void)
{
    const struct {
        const char *line;
        uint8_t separator;
    } firsts[] = {{"a,b", ','},         {"a;b", ';'},
                  {"a", ','},           {"", ','},
                  {"a;b,c", ','},       {"a;b, c;d", ';'},
                  {"\"a;b;c\",d", ','}, {"\"a,b,c\";d", ';'}};
    bool good = true;

    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        const struct line line = {(const uint8_t *)firsts[i].line,
                                  strlen(firsts[i].line)};

        good &= csv_separator(&line) == firsts[i].separator;
    }
    ok(good, "semicolons separate if there are more of them, outside quotes");
}

static void files_come_whole(void)
{
    char path[] = "/tmp/test_text.XXXXXX";
    int fd = mkstemp(path), pipes[2];
    uint8_t *bytes = NULL;
    size_t len = 0;

    ok(fd != -1 && eq_int(write(fd, "0123456789", 10), 10),
       "a file of ten bytes");
    ok(eq_status(file_whole(&bytes, &len, path, 10, NULL), HSY_OK) &&
           eq_u64(len, 10) && eq_text((char *)bytes, "0123456789"),
       "is read whole, with a NUL behind it");
    free(bytes);
    bytes = NULL;
    ok(eq_status(file_whole(&bytes, &len, path, 9, NULL), HSY_E_RANGE) &&
           bytes == NULL,
       "and not if nine are the most");
    unlink(path);
    close(fd);
    errno = 0;
    ok(eq_status(file_whole(&bytes, &len, path, 9, NULL), HSY_E_IO) &&
           eq_int(errno, ENOENT),
       "what is not there says so");
    ok(pipe(pipes) == 0 && write(pipes[1], "01234", 5) == 5, "a pipe");
    close(pipes[1]);
    ok(eq_status(file_whole_fd(&bytes, &len, pipes[0], 1u << 20, NULL),
                 HSY_OK) &&
           eq_u64(len, 5) && eq_text((char *)bytes, "01234"),
       "is read to its end");
    free(bytes);
    close(pipes[0]);
}

static void long_inputs_grow(void)
{
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    uint8_t *bytes = NULL;
    size_t len = 0;

    is_status(file_whole_fd(&bytes, &len, fd, 300000, NULL), HSY_E_RANGE,
              "what has no end is too long");
    close(fd);
}

int main(void)
{
    digits_come_back();
    days_are_the_systems();
    the_last_day_fits();
    fields_lose_their_quotes();
    quotes_stand_in_their_places();
    the_first_line_says_what_separates();
    files_come_whole();
    long_inputs_grow();
    return tap_done();
}
