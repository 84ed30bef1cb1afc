/* Lasting copies: each makes every launch of its executable, from the first one on.
 *
 * So launches come one after another, as the driver runs those of one executable. Updates are made in
 * the copy too (follow.c). Where one cannot be, the copy launches no more, for good: the executable
 * is what it would be without gviz, and its first launch waits for the copy's last.
 */
#include "events/parts.h"
#include "life/life.h"

#include <string.h>

static const struct lasting_maker *maker; /* NULL: none are made */

void lasting_start(const struct lasting_maker *who) {
    maker = who;
}

bool lasting_on(void) { return maker != NULL; }

void lasting_refused(struct watch *watch, const char *why) {
    if (!watch->refused)
        maker->refused(watch->graph_id, watch->exec_id, why);
    watch->refused = true;
}

static struct copy *make(struct watch *watch, int id, const char **why) {
    struct loan loan;
    struct copy *copy = NULL;
    if ((*why = lend_begin(id, &loan)))
        return NULL;
    watch->lasting = maker->begins(loan.level, watch->exec_id, why);
    if (watch->lasting && !(copy = lend_copy(&loan, maker->edits, watch->lasting)))
        *why = copy_error()[0] ? copy_error() : "a copy of it could not be made";
    lend_end(&loan);
    return copy;
}

void lasting_begin(struct watch *watch, int id) {
    const char *why = "the GPU has little free memory, and a copy of the graph would take some";
    struct copy *copy = watch->copies && copier_has_room(watch) ? make(watch, id, &why) : NULL;
    pthread_mutex_lock(&watch->lock);
    watch->copy = copy;
    if (copy)
        maker->made(watch->lasting, watch->context, copy->end);
    else
        lasting_over(watch);
    if (!copy && watch->copies)
        watch_refuse(watch, why);
    if (!copy)
        copier_call(watch); /* to release what is there */
    pthread_mutex_unlock(&watch->lock);
}

static bool launch(struct watch *watch, CUstream stream, struct launch_record *record) {
    record->start_ns = now_ns();
    int result = copy_launch(watch->copy, stream);
    record->end_ns = now_ns();
    if (result == 0)
        maker->launched(watch->lasting);
    else if (!maker->is_fault(result))
        watch_refuse(watch, copy_error());
    return result == 0;
}

bool lasting_launch(struct watch *watch, CUstream stream, struct launch_record *record) {
    if (!watch->copy)
        return false;
    if (watch->copies && launch(watch, stream, record))
        return watch->lasting_last = true;
    if (watch->lasting_last)
        cuda.StreamWaitEvent(stream, watch->copy->end, 0);
    watch->lasting_last = false;
    return false;
}

/* With the watch's lock. */
void lasting_over(struct watch *watch) {
    if (watch->lasting)
        maker->over(watch->lasting);
    watch->lasting = NULL;
}
