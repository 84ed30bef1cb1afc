/* Kernels left out, or replaced by pauses: what follows them computes something else, or never ends.
 *
 * So this is tried in the process's last moment alone (last.c). Memsets stay, as kernels wait for what
 * they reset, and kernels that by their names make indices or random numbers, which others use as
 * addresses.
 */
#include "trial/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* In names of kernels, in lower case. */
static const char *const makers[] = {"index", "indices", "offset", "arange", "iota", "sort", "topk", "argm", "scan",
                                     "cumsum", "unique", "nonzero", "bincount", "histogram", "rand", "philox",
                                     "rout", "permut", "semaphore", "barrier"};

/* Of a kernel without a name nothing is known. */
static bool may_make_indices(const char *name) {
    char lower[512];
    size_t i = 0;
    for (; name && name[i] && i < sizeof lower - 1; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    lower[i] = 0;
    for (i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strstr(lower, makers[i]))
            return true;
    return !lower[0];
}

size_t off_find(const struct level *level, struct edits *families, size_t most) {
    struct parts found = delays_find(level);
    size_t kept = 0;
    for (size_t i = 0; i < found.count; i++) {
        struct edits *family = &found.all[i];
        if (i >= most || may_make_indices(delays_name(level, family))) {
            free(family->edits);
            continue;
        }
        for (size_t k = 0; k < family->count; k++)
            family->edits[k].kind = CHANGE_OFF;
        families[kept++] = *family;
    }
    free(found.all);
    return kept;
}

/* -- in a copy ------------------------------------------------------------------------------------ */

static bool replace(struct removal *removal, const struct level *level, const struct delays *delays, size_t at,
                    const struct trial_edit *edit, CUgraphNode *made) {
    if (edit->kind == CHANGE_SPIN) {
        removal->leaves[at] = true; /* a pause has its place, and all of its dependencies */
        *made = delays_pause(level, delays, NULL, edit->value_ns);
        return *made;
    }
    enum leaving leaving = removal_leave(removal, at);
    return leaving == LEAVING_DONE ||
           (leaving == LEAVING_NEEDS_OTHER && cuda.GraphAddEmptyNode(made, level->graph, NULL, 0) == 0);
}

bool off_apply(const struct level *level, const void *data) {
    const struct delays *delays = data;
    struct removal removal;
    CUgraphNode *made = calloc(level->count + 1, sizeof *made); /* in place of each, or NULL */
    bool good = removal_make(&removal, level) && made && cuda.GraphDestroyNode && cuda.GraphAddEmptyNode;
    for (size_t i = 0; good && i < level->count; i++) {
        size_t at = removal.order.nodes[i];
        const struct trial_edit *edit = edit_of(delays->edits, level->graph_id, level->ids[at]);
        good = !edit || replace(&removal, level, delays, at, edit, &made[at]);
    }
    good = good && removal_rewire(&removal, level, made);
    removal_free(&removal);
    free(made);
    for (size_t i = 0; good && i < level->count; i++)
        good = !level->children[i] || off_apply(level->children[i], data);
    return good;
}
