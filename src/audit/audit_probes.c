/* audit_probes.c - the truths that an audit plays against each other. */
#include "audit_parts.h"

#include <string.h>

/* A number in the middle of bin `bin`; hi - lo may be all of 63 bits. */
static int64_t audit_probes_in_bin(const hsy_info *info, uint64_t bin)
{
    uint64_t width = (uint64_t)info->hi - (uint64_t)info->lo;
    uint64_t whole = width / info->d, rest = width % info->d;
    uint64_t start = whole * bin + rest * bin / info->d;

    return (int64_t)((uint64_t)info->lo + start + whole / 2);
}

static void audit_probes_string(struct audit_probe *probe, uint64_t number)
{
    static const char names[AUDIT_PROBES][8] = {"hearsay", "rumour", "", "x"};

    memcpy(probe->text, names[number % AUDIT_PROBES], sizeof probe->text);
    probe->truth.type = HSY_TRUTH_BYTES;
    probe->truth.u.bytes.data = probe->text;
    probe->truth.u.bytes.len = strlen(probe->text);
}

static void audit_probes_truth(struct audit_probe *probe, const hsy_info *info,
                               uint64_t place)
{
    switch (info->kind) {
    case HSY_KIND_STRINGS:
        audit_probes_string(probe, place);
        break;
    case HSY_KIND_NUMBER:
        probe->truth.type = HSY_TRUTH_NUMBER;
        probe->truth.u.number = (int64_t)((uint64_t)info->lo + place);
        break;
    case HSY_KIND_BINS:
        probe->truth.type = HSY_TRUTH_NUMBER;
        probe->truth.u.number = audit_probes_in_bin(info, place);
        break;
    default:
        probe->truth.type = HSY_TRUTH_INDEX;
        probe->truth.u.index = (uint32_t)place;
    }
}

/*
 * First, last, middle, second: a slip at either end of a loop shows at an end,
 * and a mean's law is widest between the ends.
 */
size_t audit_probes(struct audit_probe probes[AUDIT_PROBES],
                    const hsy_scheme *s, const hsy_info *info)
{
    uint64_t codes = hsy_code_count(s);
    uint64_t last = codes == 0 ? AUDIT_PROBES - 1 : codes - 1;
    const uint64_t places[AUDIT_PROBES] = {0, last, last / 2, 1};
    static const char *const names[] = {"first", "last", "middle", "second"};
    size_t n = 0;

    for (size_t i = 0; i < AUDIT_PROBES; i++) {
        bool seen = false;

        for (size_t j = 0; j < i; j++)
            seen |= places[j] == places[i];
        if (seen || places[i] > last)
            continue;
        probes[n].name = names[i];
        audit_probes_truth(&probes[n], info, places[i]);
        if (hsy_truth_code(s, &probes[n].code, &probes[n].truth, NULL) ==
            HSY_OK)
            n++;
    }
    return n;
}
