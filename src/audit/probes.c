/* probes.c - the truths that an audit plays against each other. */
#include "audit/internal.h"

#include <string.h>

/* A number in the middle of bin `bin`; hi - lo may be all of 63 bits. */
static int64_t audit_probes_in_bin(const hsy_scheme_info *info, uint64_t bin)
{
    uint64_t width = (uint64_t)info->hi - (uint64_t)info->lo;
    uint64_t whole = width / info->d, rest = width % info->d;
    uint64_t start = whole * bin + rest * bin / info->d;

    return (int64_t)((uint64_t)info->lo + start + whole / 2);
}

/* The same string in the letters of an alphabet, if there is one. */
static void audit_probes_letters(char *text, size_t len,
                                 const uint8_t alphabet[HSY_ALPHABET])
{
    uint8_t bytes[256];
    size_t size = 0;

    for (unsigned b = 0; b < 256; b++)
        if (alphabet[b / 8] >> b % 8 & 1)
            bytes[size++] = (uint8_t)b;
    for (size_t i = 0; i < len && size > 0; i++)
        text[i] = (char)bytes[(uint8_t)text[i] % size];
}

/* A string, or as much of it as the scheme can spell. */
static void audit_probes_string(struct audit_probe *probe, hsy_truth *truth,
                                const hsy_scheme *s, uint64_t number)
{
    static const char names[AUDIT_PROBES][8] = {"hearsay", "rumour", "", "x"};
    const char *name = names[number % AUDIT_PROBES];
    hsy_scheme_info info;

    hsy_scheme_describe(s, &info);
    memcpy(probe->text, name, sizeof probe->text);
    truth->type = HSY_TRUTH_BYTES;
    truth->u.bytes.data = probe->text;
    truth->u.bytes.len = strlen(name);
    audit_probes_letters(probe->text, strlen(name), info.alphabet);
    while (truth->u.bytes.len > 0 &&
           hsy_truth_code(s, probe->codes, truth, NULL) != HSY_OK)
        truth->u.bytes.len--;
}

static void audit_probes_truth(struct audit_probe *probe, hsy_truth *truth,
                               const hsy_scheme *s, const hsy_scheme_info *info,
                               uint64_t place)
{
    switch (info->kind) {
    case HSY_KIND_STRINGS:
        audit_probes_string(probe, truth, s, place);
        break;
    case HSY_KIND_NUMBER:
        truth->type = HSY_TRUTH_NUMBER;
        truth->u.number = (int64_t)((uint64_t)info->lo + place);
        break;
    case HSY_KIND_BINS:
        truth->type = HSY_TRUTH_NUMBER;
        truth->u.number = audit_probes_in_bin(info, place);
        break;
    default:
        truth->type = HSY_TRUTH_INDEX;
        truth->u.index = (uint32_t)place;
    }
}

/* Item i of a truth, at the which-th place of its domain. */
static void audit_probes_item(struct audit_probe *probe, const hsy_scheme *s,
                              size_t i, size_t which)
{
    const hsy_scheme *own = hsy_scheme_attribute(s, i);
    uint64_t codes = hsy_code_count(own);
    uint64_t last = codes == 0 ? AUDIT_PROBES - 1 : codes - 1;
    const uint64_t places[AUDIT_PROBES] = {0, last, last / 2, 1};
    hsy_scheme_info info;

    hsy_scheme_describe(own, &info);
    if (info.kind == HSY_KIND_STRINGS && codes > UINT32_MAX) {
        audit_probes_string(probe, &probe->items[i], own, which);
        return;
    }
    if (info.kind == HSY_KIND_STRINGS && codes != 0) /* few, so an index does */
        info.kind = HSY_KIND_VALUES;
    audit_probes_truth(probe, &probe->items[i], own, &info, places[which]);
}

/*
 * First, last, middle, second: a slip at either end of a loop shows at an end,
 * and a mean's law is widest between the ends. Of a tuple every attribute has
 * its own.
 */
size_t audit_probes(struct audit_probe probes[AUDIT_PROBES],
                    const hsy_scheme *s)
{
    static const char *const names[] = {"first", "last", "middle", "second"};
    const size_t width = hsy_codes_per_truth(s);
    const bool tuple = hsy_scheme_attribute(s, 0) != s;
    size_t n = 0;

    for (size_t k = 0; k < AUDIT_PROBES; k++) {
        struct audit_probe *probe = &probes[n];
        bool seen = false;

        memset(probe, 0, sizeof *probe);
        probe->name = names[k];
        for (size_t i = 0; i < (tuple ? width : 1); i++)
            audit_probes_item(probe, s, i, k);
        probe->truth = probe->items[0];
        if (tuple) {
            probe->truth.type = HSY_TRUTH_TUPLE;
            probe->truth.u.tuple.items = probe->items;
            probe->truth.u.tuple.count = width;
        }
        if (hsy_truth_code(s, probe->codes, &probe->truth, NULL) != HSY_OK)
            continue;
        probe->code = probe->codes[0];
        for (size_t j = 0; j < n; j++)
            seen |= memcmp(probes[j].codes, probe->codes,
                           width * sizeof *probe->codes) == 0;
        n += !seen;
    }
    return n;
}
