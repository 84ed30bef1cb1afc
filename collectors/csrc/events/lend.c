/* Copies for trials (trial/): of a watched executable as it is by now, without events inside.
 *
 * They are clones of a clone that belongs to the loan: what the copier does to the watch meanwhile is
 * nothing to them. An update of the executable ends the loan.
 */
#include "calls/calls.h"
#include "events/parts.h"

#include <string.h>

/* With the watch's lock. */
static const char *obstacle(const struct watch *watch) {
    if (watch->refused || !watch->clone || !watch->followed)
        return "no copy of it can be made";
    return watch->ended || !watch->exec ? "it is being destroyed" : NULL;
}

/* With the watch's lock. */
static bool take(const struct watch *watch, struct loan *loan) {
    if (cuda.GraphClone(&loan->graph, watch->clone) != 0)
        loan->graph = NULL;
    else
        loan->level = level_in_clone(watch->level, loan->graph, true);
    return loan->level;
}

const char *lend_begin(int id, struct loan *loan) {
    struct watch *watch = watch_find(id);
    if (!watch)
        return "no copy of it can be made";
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_lock(&watch->clone_lock);
    const char *why = obstacle(watch);
    *loan = (struct loan){.watch = watch, .exec = watch->exec, .context = watch->context,
                          .device = watch->device, .graph_id = watch->graph_id,
                          .exec_id = watch->exec_id, .updates = watch->updates,
                          .flags = watch->flags, .extent_ns = watch->extent_ns};
    if (!why && !take(watch, loan))
        why = "the driver does not clone its clone";
    pthread_mutex_unlock(&watch->clone_lock);
    pthread_mutex_unlock(&watch->lock);
    if (why)
        lend_end(loan);
    return why;
}

bool lend_refused(int id) {
    struct watch *watch = watch_find(id);
    if (!watch)
        return false;
    pthread_mutex_lock(&watch->lock);
    bool refused = watch->untimed;
    pthread_mutex_unlock(&watch->lock);
    return refused;
}

/* With the watch's lock. */
static bool is_current(const struct loan *loan) {
    const struct watch *watch = loan->watch;
    return !obstacle(watch) && watch->exec == loan->exec && watch->updates == loan->updates;
}

bool lend_is_current(const struct loan *loan) {
    if (loan->settled)
        return true;
    if (pthread_mutex_trylock(&loan->watch->lock) != 0)
        return false;
    bool current = is_current(loan);
    pthread_mutex_unlock(&loan->watch->lock);
    return current;
}

/* Nodes that are off are so in executables alone: copies would have them on. */
bool lend_settle(struct loan *loan) {
    struct watch *watch = loan->watch;
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_lock(&watch->clone_lock);
    loan->settled = is_current(loan) && followed_is_whole(watch->followed);
    pthread_mutex_unlock(&watch->clone_lock);
    pthread_mutex_unlock(&watch->lock);
    return loan->settled;
}

struct copy *lend_copy(const struct loan *loan, bool (*edit)(const struct level *level, const void *data),
                       const void *data) {
    struct watch *watch = loan->watch;
    CUgraph graph = NULL;
    struct copy *copy = NULL;
    if (cuda.GraphClone(&graph, loan->graph) != 0)
        return NULL;
    struct level *level = level_in_clone(loan->level, graph, false);
    if (level && (!edit || edit(level, data)))
        copy = copy_make(graph, level, loan->flags, 0, 0);
    else
        cuda.GraphDestroy(graph);
    level_free(level);
    if (loan->settled)
        return copy;
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_lock(&watch->clone_lock);
    bool good = copy && !obstacle(watch) && followed_apply(watch, copy, loan->updates);
    pthread_mutex_unlock(&watch->clone_lock);
    pthread_mutex_unlock(&watch->lock);
    if (good)
        return copy;
    copy_free(copy);
    return NULL;
}

void lend_end(struct loan *loan) {
    level_free(loan->level);
    if (loan->graph)
        cuda.GraphDestroy(loan->graph);
    memset(loan, 0, sizeof *loan);
}
