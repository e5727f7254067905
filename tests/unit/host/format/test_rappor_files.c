/* test_rappor_files.c - RAPPOR's own files: read, refused, written. */
#define _GNU_SOURCE /* mkstemp */
#include "host/format/rappor_files.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/hearsay-rappor-XXXXXX";
static const struct rappor_params small = {4, 1, 2, 0.25, 0.75, 0.5};

static void put(const char *text, size_t len)
{
    FILE *f = fopen(path, "wb");

    if (f == NULL || fwrite(text, 1, len, f) != len || fclose(f) != 0) {
        puts("Bail out! no temporary file");
        exit(1);
    }
}

static void put_text(const char *text)
{
    put(text, strlen(text));
}

enum which { PARAMS, COUNTS, MAP, REPORTS };

/* Variables whose names begin with a or w have four bits, with b or f two. */
static bool find(void *ctx, const char *name, struct rappor_params *params)
{
    (void)ctx;
    *params = small;
    params->k = strchr("aw", name[0]) != NULL ? 4 : 2;
    return strchr("awbf", name[0]) != NULL;
}

static hsy_status reads(enum which which, hsy_error *err)
{
    struct rappor_params params;
    struct rappor_counts counts;
    struct rappor_map map;
    struct rappor_reports reports;
    hsy_status st;

    memset(err, 0, sizeof *err);
    switch (which) {
    case PARAMS:
        return rappor_params_read(&params, path, err);
    case COUNTS:
        st = rappor_counts_read(&counts, &small, path, err);
        if (st == HSY_OK)
            rappor_counts_free(&counts);
        return st;
    case MAP:
        st = rappor_map_read(&map, &small, path, err);
        if (st == HSY_OK)
            rappor_map_free(&map);
        return st;
    default:
        st = rappor_reports_find(&reports, find, NULL, path, err);
        if (st == HSY_OK)
            rappor_reports_free(&reports);
        return st;
    }
}

/* Every refusal names its line, and its field where there is one. */
static void refusals(void)
{
    static const struct {
        enum which which;
        const char *text;
        uint64_t line;
        const char *field;
    } bad[] = {
        {PARAMS, "", 1, NULL},
        {PARAMS, "k,h,m,p,q\n1,1,1,0,1\n", 1, NULL},
        {PARAMS, "k,h,m,p,q,g\n", 1, "f"},
        {PARAMS, "k,h,m,p,q,f\n", 2, NULL},
        {PARAMS, "\xef\xbb\xbfk,h,m,p,q,f\n16,2,64,0.5,0.75,0.5\n", 1, NULL},
        {PARAMS, "k,h,m,p,q,f\n0,2,64,0.5,0.75,0.5\n", 2, "k"},
        {PARAMS, "k,h,m,p,q,f\n4097,2,64,0.5,0.75,0.5\n", 2, "k"},
        {PARAMS, "k,h,m,p,q,f\n16,-2,64,0.5,0.75,0.5\n", 2, "h"},
        {PARAMS, "k,h,m,p,q,f\n4096,2,65536,0.5,0.75,0.5\n", 2, "m"},
        {PARAMS, "k,h,m,p,q,f\n16,2,64,1.5,0.75,0.5\n", 2, "p"},
        {PARAMS, "k,h,m,p,q,f\n16,2,64,nan,0.75,0.5\n", 2, "p"},
        {PARAMS, "k,h,m,p,q,f\n16,2,64,0.5,0.5,0.5\n", 2, "q"},
        {PARAMS, "k,h,m,p,q,f\n16,2,64,0.5,0.75,1\n", 2, "f"},
        {PARAMS, "k,h,m,p,q,f\n16,2,64,0.5,0.75,0.5\n1,1,1,0,1,0\n", 3, NULL},
        {COUNTS, "", 1, NULL},
        {COUNTS, "9,1,2,3,4\n", 2, "m"},
        {COUNTS, "9,1,2,3,4\n\n9,1,2,3,4\n", 2, NULL},
        {COUNTS, "9,1,2,3\n9,1,2,3\n", 1, "k"},
        {COUNTS, "9,1,2,3,10\n9,1,2,3,4\n", 1, "count"},
        {COUNTS, "9,1,2,3,4\n9,1,2,3,4\n9,1,2,3,4\n", 3, "m"},
        {COUNTS, "9,1,2,3,x\n9,1,2,3,4\n", 1, "count"},
        {COUNTS, "99999999999999999999,1,2,3,4\n", 1, "total"},
        {COUNTS, "9223372036854775807,1,1,1,1\n1,0,0,0,0\n", 2, "total"},
        {COUNTS, "client,cohort,bloom,prr,irr\n1,2,0000,0000,0000\n", 2,
         "cohort"},
        {COUNTS, "client,cohort,bloom,prr,irr\n1,0,0000,0000,00002\n", 2,
         "irr"},
        {COUNTS, "client,cohort,bloom,prr,irr\n1,0,0000,0000\n", 2, NULL},
        {COUNTS, "client,cohort,a,b\n1,0,0000,0000\n", 1, NULL},
        {MAP, "", 1, NULL},
        {MAP, "v1,1,5\nv2,2\n", 2, "map"},
        {MAP, "v1,1,5\nv2,2,4\n", 2, "position"},
        {MAP, "v1,1,5\nv2,0,5\n", 2, "position"},
        {MAP, "v1,1,5\nv2,5,5\n", 2, "position"},
        {MAP, "v1,1,9\n", 1, "position"},
        {MAP, "v1,1,5\nv2,2,6\nv1,3,7\nv2,1,5\n", 3, "candidate"},
        {MAP, ",1,5\n", 1, "candidate"},
        {MAP, "v1,1,5\n\n", 2, NULL},
        {MAP, "\"v1,1,5\n", 1, NULL},
        {MAP, "\"v1\"\"\n", 1, NULL},
        {MAP, "v\"1,1,5\n", 1, NULL},
        {REPORTS, "client,cohort,a,b,c\n", 1, "variable"},
        {REPORTS, "client,cohort,a,b\n1,0,0101,01\n2,1,0101,1\n", 3, "bits"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hsy_error err;
        hsy_status st;

        put_text(bad[i].text);
        st = reads(bad[i].which, &err);
        if (!ok(st == HSY_E_FORMAT && err.at == bad[i].line &&
                    (bad[i].field == NULL) == (err.field == HSY_FIELD_NONE) &&
                    (err.field == HSY_FIELD_NONE ||
                     !strcmp(hsy_field_name(err.field), bad[i].field)),
                "bad file %zu is refused by line and field", i))
            printf("# %d line %d field %s: %s\n", (int)st, (int)err.at,
                   hsy_field_name(err.field), err.msg);
    }
}

static void broken(void)
{
    static const char nul[] = "9,1,2,3,4\n9,1,\0,3,4\n";
    hsy_error err;

    put(nul, sizeof nul - 1);
    ok(reads(COUNTS, &err) == HSY_E_FORMAT && err.at == 2,
       "a NUL byte is refused");
    put_text("\x1f\x8b\x08");
    ok(reads(COUNTS, &err) == HSY_E_FORMAT && err.at == 1 &&
           strstr(err.msg, "zcat") != NULL,
       "gzip is refused with what to do");
    unlink(path);
    ok(reads(COUNTS, &err) == HSY_E_IO, "no file is an error of its own");
}

static void contents(void)
{
    struct rappor_params p;
    struct rappor_counts counts;
    struct rappor_map map;
    struct rappor_reports r;

    put_text("k,h,m,p,q,f\r\n16,2,64,0.5,7.5e-01,0.5\r\n");
    ok(rappor_params_read(&p, path, NULL) == HSY_OK && p.k == 16 && p.h == 2 &&
           p.m == 64 && p.p == 0.5 && p.q == 0.75 && p.f == 0.5,
       "params, with line ends of another system");
    put_text("9,1,2,3,4\n8,0,0,8,7");
    ok(rappor_counts_read(&counts, &small, path, NULL) == HSY_OK &&
           counts.totals[1] == 8 && counts.ones[3] == 4 && counts.ones[6] == 8,
       "counts, without a last line end");
    rappor_counts_free(&counts);
    put_text("client,cohort,bloom,prr,irr\n1,1,0000,0000,0001\n"
             "2,1,0000,0000,1001\n2,0,0000,0000,0110\n");
    ok(rappor_counts_read(&counts, &small, path, NULL) == HSY_OK &&
           counts.totals[0] == 1 && counts.totals[1] == 2 &&
           counts.ones[1] == 1 && counts.ones[2] == 1 && counts.ones[4] == 2 &&
           counts.ones[7] == 1 && counts.ones[5] == 0,
       "reports add up to counts, the last digit is bit 0");
    rappor_counts_free(&counts);
    put_text("\"a,\"\"b\"\"\",1,8\nv2,4,5\n");
    ok(rappor_map_read(&map, &small, path, NULL) == HSY_OK &&
           map.candidates == 2 && strcmp(map.names[0], "a,\"b\"") == 0 &&
           map.bits[0] == 0 && map.bits[1] == 3 && map.bits[2] == 3 &&
           map.bits[3] == 0,
       "map, with quotes");
    rappor_map_free(&map);
    put_text("client,cohort,word,flag\nx,1,0101,10\ny,0,1000,01\n");
    ok(rappor_reports_find(&r, find, NULL, path, NULL) == HSY_OK && r.n == 2 &&
           r.stride == 2 && r.cohorts[0] == 1 && r.words[0] == 5 &&
           r.words[1] == 2 && r.words[2] == 8 && r.words[3] == 1 &&
           strcmp(r.names[1], "flag") == 0,
       "reports of an association");
    rappor_reports_free(&r);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd == -1) {
        puts("Bail out! no temporary file");
        return 1;
    }
    close(fd);
    refusals();
    contents();
    broken();
    unlink(path);
    return tap_done();
}
