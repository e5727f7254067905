/*
 * test_rappor_dialect.c - RAPPOR's public clients bit for bit.
 *
 * tests/vectors/rappor_*.csv are made by tools/gen_rappor_vectors.py
 * with Python's own hashes. Where HSY_RAPPOR_DATA names the directory of
 * RAPPOR's own vectors, those must agree too.
 */
#include "host/format/rappor_dialect.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 10u
#define LINE 8192u

/* One line of CSV in place: quotes are undone. The number of fields. */
static size_t split(char *line, char *fields[FIELDS])
{
    size_t n = 0;
    char *in = line;

    line[strcspn(line, "\r\n")] = '\0';
    while (n < FIELDS) {
        bool quoted = *in == '"';
        char *out = in + quoted, *field = out;

        for (in += quoted; *in != '\0' && (quoted || *in != ','); in++) {
            if (quoted && *in == '"' && *++in != '"')
                break;
            *out++ = *in;
        }
        fields[n++] = field;
        if (*in == '\0') {
            *out = '\0';
            return n;
        }
        in++;
        *out = '\0';
    }
    return n;
}

/* Whether bits are those of the text, most significant first: binary digits,
 * or hexadecimal if there are a quarter as many. */
static bool same_bits(const uint8_t *bits, uint32_t k, const char *text)
{
    bool hex = strlen(text) != k;
    uint32_t digits = hex ? k / 4 : k;

    if (strlen(text) != digits)
        return false;
    for (uint32_t i = 0; i < digits; i++) {
        char digit[2] = {text[digits - 1 - i], '\0'};
        unsigned want = (unsigned)strtoul(digit, NULL, 16);
        unsigned got =
            hex ? bits[i / 2] >> 4 * (i % 2) & 15 : bits[i / 8] >> i % 8 & 1;

        if (want != got)
            return false;
    }
    return true;
}

struct vector {
    enum rappor_dialect dialect;
    const char *secret, *id, *value, *bloom, *prr;
    uint32_t k, h, m, cohort;
    double f;
};

/* A kept client and a fresh one. */
static bool agrees(const struct vector *v)
{
    struct rappor_encoder e;
    struct rappor_client c;
    struct rappor_answer kept, fresh;
    size_t len = strlen(v->secret), size = (v->k + 7) / 8;
    bool same;

    if (rappor_encoder_init(&e, v->dialect, v->k, v->h, v->m, v->f, v->id,
                            NULL) != HSY_OK ||
        rappor_client_open(&c, &e, v->secret, len, v->cohort) != HSY_OK)
        return false;
    rappor_client_answer(&c, &e, v->value, strlen(v->value), &kept);
    same = c.cohort == v->cohort && same_bits(kept.prr, v->k, v->prr) &&
           (v->bloom == NULL || same_bits(kept.bloom, v->k, v->bloom));
    rappor_client_clear(&c);
    return same &&
           rappor_answer_once(&e, v->secret, len, v->cohort, v->value,
                              strlen(v->value), &fresh) == HSY_OK &&
           memcmp(kept.prr, fresh.prr, size) == 0 &&
           memcmp(kept.bloom, fresh.bloom, size) == 0;
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

/* The columns of the three files. */
static struct vector row_of(enum rappor_dialect d, char **x)
{
    if (d == RAPPOR_PYTHON)
        return (struct vector){d,
                               x[0],
                               "",
                               x[2],
                               x[6],
                               x[9],
                               number(x[3]),
                               number(x[4]),
                               1u << 16,
                               number(x[1]),
                               strtod(x[5], NULL)};
    return (struct vector){d,
                           x[0],
                           x[1],
                           x[2],
                           d == RAPPOR_CPP ? x[8] : NULL,
                           d == RAPPOR_CPP ? x[9] : x[8],
                           number(x[3]),
                           number(x[4]),
                           number(x[5]),
                           number(x[7]),
                           strtod(x[6], NULL)};
}

static void vectors(const char *dir, const char *name, enum rappor_dialect d)
{
    char path[4096], line[LINE], *x[FIELDS];
    size_t rows = 0, wrong = 0, want = d == RAPPOR_CPP_LONG ? 9 : 10;
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "r");
    if (f == NULL) {
        tap_skip(path);
        return;
    }
    if (fgets(line, sizeof line, f) == NULL)
        line[0] = '\0'; /* the header */
    while (fgets(line, sizeof line, f) != NULL) {
        struct vector v;

        rows++;
        if (split(line, x) != want) {
            wrong++;
            continue;
        }
        v = row_of(d, x);
        wrong += !agrees(&v);
        if (rows == 1) {
            v.secret = "another";
            ok(!agrees(&v), "control: %s: another secret does not agree", name);
        }
    }
    fclose(f);
    ok(rows > 20 && wrong == 0, "%s: %zu of %zu vectors agree", name,
       rows - wrong, rows);
}

static void refuses(enum rappor_dialect d, uint32_t k, uint32_t h, uint32_t m,
                    double f, const char *field)
{
    struct rappor_encoder e;
    hsy_error err = {0};

    ok(rappor_encoder_init(&e, d, k, h, m, f, NULL, &err) == HSY_E_RANGE &&
           strcmp(hsy_field_name(err.field), field) == 0,
       "k %u, h %u, m %u, f %g is refused by %s", k, h, m, f, field);
}

int main(void)
{
    const char *data = getenv("HSY_RAPPOR_DATA");
    const char *dir = data != NULL ? data : "../shared/data/rappor";
    struct rappor_encoder e;
    struct rappor_client c;

    vectors("tests/vectors", "rappor_python.csv", RAPPOR_PYTHON);
    vectors("tests/vectors", "rappor_cpp.csv", RAPPOR_CPP);
    vectors("tests/vectors", "rappor_cpp_long.csv", RAPPOR_CPP_LONG);
    vectors(dir, "encoder_vectors_python.csv", RAPPOR_PYTHON);
    vectors(dir, "encoder_vectors_cpp_short.csv", RAPPOR_CPP);
    vectors(dir, "encoder_vectors_cpp_long.csv", RAPPOR_CPP_LONG);
    refuses(RAPPOR_PYTHON, 33, 2, 64, 0.5, "k");
    refuses(RAPPOR_PYTHON, 0, 2, 64, 0.5, "k");
    refuses(RAPPOR_CPP_LONG, 65, 2, 64, 0.5, "k");
    refuses(RAPPOR_CPP_LONG, 4104, 2, 64, 0.5, "k");
    refuses(RAPPOR_CPP_LONG, 512, 9, 64, 0.5, "h");
    refuses(RAPPOR_PYTHON, 16, 17, 64, 0.5, "h");
    refuses(RAPPOR_PYTHON, 16, 0, 64, 0.5, "h");
    refuses(RAPPOR_CPP, 16, 2, 100, 0.5, "m");
    refuses(RAPPOR_PYTHON, 16, 2, 0, 0.5, "m");
    refuses(RAPPOR_CPP, 16, 2, 64, 1.5, "f");
    refuses(RAPPOR_CPP, 16, 2, 64, -0.1, "f");
    ok(rappor_encoder_init(&e, RAPPOR_PYTHON, 16, 2, 8, 0.45, NULL, NULL) ==
               HSY_OK &&
           e.limit == 58 &&
           rappor_client_open(&c, &e, "s", 1, 8) == HSY_E_RANGE,
       "python compares with the real 128 f, and has no cohort m");
    ok(rappor_encoder_init(&e, RAPPOR_CPP, 16, 2, 8, 0.45, NULL, NULL) ==
               HSY_OK &&
           e.limit == 57,
       "C++ cuts 128 f");
    return tap_done();
}
