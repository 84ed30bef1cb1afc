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

/* What waited for the node waits for what it waited for, and for the pause. */
static bool replace(const struct level *level, const struct delays *delays, const struct arc *arcs, size_t count,
                    size_t at, const struct trial_edit *edit) {
    CUgraphNode made = NULL, node = level->nodes[at];
    bool good = cuda.GraphDestroyNode && cuda.GraphAddEmptyNode;
    if (good && edit->kind == CHANGE_SPIN)
        made = delays_pause(level, delays, NULL, edit->value_ns);
    else if (good && cuda.GraphAddEmptyNode(&made, level->graph, NULL, 0) != 0)
        made = NULL;
    good = made != NULL;
    for (size_t i = 0; good && i < count; i++) {
        if (arcs[i].to == at)
            good = arc_add(level, level->nodes[arcs[i].from], made);
        if (good && arcs[i].from == at)
            good = arc_add(level, made, level->nodes[arcs[i].to]);
    }
    good = good && cuda.GraphDestroyNode(node) == 0;
    level->nodes[at] = good ? made : node;
    return good;
}

bool off_apply(const struct level *level, const void *data) {
    const struct delays *delays = data;
    size_t count = 0;
    struct arc *arcs = arcs_of(level, &count);
    bool good = arcs != NULL;
    for (size_t i = 0; good && i < level->count; i++) {
        const struct trial_edit *edit = edit_of(delays->edits, level->graph_id, level->ids[i]);
        good = (!edit || replace(level, delays, arcs, count, i, edit)) &&
               (!level->children[i] || off_apply(level->children[i], data));
    }
    free(arcs);
    return good;
}
