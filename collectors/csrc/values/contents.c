/* Contents: what memory held, in a file a range, beside the records.
 *
 * A file is named by what it holds (gviz/recording/kept_contents.py): contents that nodes hand on are
 * kept once. None is seen before it is whole.
 */
#include "spool/spool.h"
#include "values/parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns whether there is a file with it. */
static bool keep(const void *contents, const struct probed_value *value, uint64_t hash) {
    char path[3200], part[3200];
    if (!value->bytes)
        return true;
    int length = snprintf(path, sizeof path, "%s/%016llx-%llu-%u-%u.contents", spool_directory(),
                          (unsigned long long)hash, (unsigned long long)value->bytes,
                          (unsigned)((value->address + value->start) % 8), value->type);
    snprintf(part, sizeof part, "%s/contents.part", spool_directory());
    if (length >= (int)sizeof path || !spool_is_open())
        return false;
    if (access(path, F_OK) == 0)
        return true;
    unlink(part);
    void *file = spool_map(part, value->bytes);
    if (!file)
        return false;
    memcpy(file, contents, value->bytes);
    munmap(file, value->bytes);
    return rename(part, path) == 0;
}

static bool keep_sides(const struct probes *probes, const struct range *range, const struct probed_value *value) {
    const char *before = (const char *)probes->held + range->content;
    bool changed = value->hash_before != value->hash_after;
    return keep(before, value, value->hash_before) &&
           (!changed || keep(before + content_room(range), value, value->hash_after));
}

/* What lies beyond and was left as it was has no values either. */
static bool is_wanted(const struct probed_value *value) {
    return !value->start || value->hash_before != value->hash_after;
}

size_t contents_keep(const struct probes *probes, const struct probed_value *values) {
    size_t n = 0, left_out = 0;
    for (size_t at = probes->first; at < probes->last; at++) {
        const struct site *site = &probes->plan->sites[at];
        for (size_t i = 0; i < site->ranges; i++, n++) {
            const struct range *range = &probes->plan->ranges[site->first_range + i];
            if (site->dumped && is_wanted(&values[n]))
                left_out += !(range->dumped && probes->contents && keep_sides(probes, range, &values[n]));
        }
    }
    return left_out;
}
