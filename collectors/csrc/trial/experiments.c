/* What is tried of a graph, one experiment after the other, and the copies of the one that is made.
 *
 * Copies are there only while their experiment is made: many of a large graph would take memory that
 * the program may need.
 */
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

/* Of a launch, what is delayed by in all, and each node at least. */
#define DELAYED_PART 20
#define LEAST_DELAY_NS 500
/* What is left out in the last moment, and of that halved. */
#define MOST_FAMILIES 6
#define MOST_HALVES 5
#define USE_NODE_PRIORITY 8u

static bool make_room(struct experiments *these) {
    if (these->count < these->room)
        return true;
    size_t room = these->room ? 2 * these->room : 16;
    struct experiment *grown = realloc(these->all, room * sizeof *grown);
    if (!grown)
        return false;
    these->all = grown;
    these->room = room;
    return true;
}

/* `edits` are its own from now on; those of kinds that change something are left out where there are none. */
static void add(struct experiments *these, enum trial_kind kind, struct edits edits) {
    bool has_any = edits.count || kind < TRIAL_IMPLIED;
    if (has_any && make_room(these))
        these->all[these->count++] = (struct experiment){.kind = kind, .edits = edits};
    else
        free(edits.edits);
}

void experiments_plan(struct experiments *these, const struct loan *loan) {
    const struct edits none = {0};
    struct edits chain = {0}, order = {0};
    these->planned = true;
    add(these, TRIAL_EXECUTABLE, none);
    add(these, TRIAL_CONTROL, none);
    add(these, TRIAL_IMPLIED, edits_implied(loan->level));
    if (!(loan->flags & USE_NODE_PRIORITY))
        add(these, TRIAL_PRIORITY, edits_prioritized(loan->level));
    arrange_find(loan->level, &chain, &order);
    add(these, TRIAL_ORDER, order);
    add(these, TRIAL_SERIAL, chain);
}

/* -- delays, once it is known how long a launch takes ------------------------------------------------------ */

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median_launch(const struct experiment *experiment, bool edited) {
    uint64_t ns[MOST_PAIRS];
    for (uint32_t i = 0; i < experiment->count; i++)
        ns[i] = edited ? experiment->pairs[i].edited_ns : experiment->pairs[i].unedited_ns;
    qsort(ns, experiment->count, sizeof *ns, compare);
    return ns[experiment->count / 2];
}

static void add_delay(struct experiments *these, enum trial_kind kind, struct edits part) {
    uint64_t ns = these->launch_ns / DELAYED_PART / (part.count ? part.count : 1);
    for (size_t i = 0; i < part.count; i++)
        part.edits[i].value_ns = ns > LEAST_DELAY_NS ? ns : LEAST_DELAY_NS;
    add(these, kind, part);
}

void experiments_plan_delays(struct experiments *these, const struct level *level) {
    struct parts families = delays_find(level), layers = layers_find(level);
    these->delays = true;
    for (size_t i = 0; i < families.count || i < layers.count; i++) {
        if (i < families.count)
            add_delay(these, TRIAL_DELAY, families.all[i]);
        if (i < layers.count)
            add_delay(these, TRIAL_LAYER, layers.all[i]);
    }
    free(families.all);
    free(layers.all);
}

/* -- what only the last moment allows ---------------------------------------------------------------------- */

void experiments_plan_last(struct experiments *these, const struct level *level) {
    struct edits families[MOST_FAMILIES];
    size_t count = off_find(level, families, MOST_FAMILIES);
    these->last = true;
    for (size_t i = 0; i < count; i++)
        add(these, TRIAL_OFF, families[i]);
}

/* NULL: there is none more. */
static struct experiment *largest_gain(struct experiments *these) {
    struct experiment *best = NULL;
    for (size_t i = 0; i < these->count; i++) {
        struct experiment *one = &these->all[i];
        if (one->kind == TRIAL_OFF && !one->halved && one->gain_ns && (!best || one->gain_ns > best->gain_ns))
            best = one;
    }
    return best;
}

/* Pauses take half of what a launch without the family saves, each as much. */
void experiments_plan_halves(struct experiments *these) {
    struct experiment *one;
    these->halves = true;
    for (size_t i = 0; i < MOST_HALVES && (one = largest_gain(these)); i++) {
        struct edits halves = {0};
        one->halved = true;
        for (size_t k = 0; k < one->edits.count; k++) {
            struct trial_edit edit = one->edits.edits[k];
            edit.kind = CHANGE_SPIN;
            edit.value_ns = one->gain_ns / 2 / one->edits.count;
            edits_add(&halves, edit);
        }
        add(these, TRIAL_HALF, halves);
    }
}

static bool is_of_family(const struct experiment *one, const struct level *level, const char *family) {
    const char *name = family[0] ? delays_name(level, &one->edits) : "";
    return name && strstr(name, family);
}

bool experiments_keep(struct experiments *these, enum trial_kind kind, const struct level *level,
                      const char *family) {
    size_t kept = 0;
    these->delays = these->halves = true; /* none are to come */
    for (size_t i = 0; i < these->count; i++) {
        const struct experiment *one = &these->all[i];
        bool wanted = one->kind == kind && !(kept && these->all[kept - 1].kind == kind) &&
                      is_of_family(one, level, family);
        if (one->kind == TRIAL_CONTROL || wanted)
            these->all[kept++] = *one;
        else
            free(one->edits.edits);
    }
    these->count = kept;
    return kept > 1;
}

/* -- the one that is made ---------------------------------------------------------------------------------- */

struct experiment *experiments_current(struct experiments *these) {
    return these->at < these->count ? &these->all[these->at] : NULL;
}

static bool (*apply_of(enum trial_kind kind))(const struct level *, const void *) {
    switch (kind) {
    case TRIAL_IMPLIED:
        return edits_apply;
    case TRIAL_ORDER:
        return order_apply;
    case TRIAL_SERIAL:
        return chain_apply;
    case TRIAL_DELAY:
    case TRIAL_LAYER:
        return delays_apply;
    case TRIAL_OFF:
    case TRIAL_HALF:
        return off_apply;
    default:
        return NULL;
    }
}

const char *experiment_prepare(struct experiment *one, const struct loan *loan, const struct kernels *kernels) {
    bool is_delay = one->kind == TRIAL_DELAY || one->kind == TRIAL_LAYER;
    bool is_last = one->kind == TRIAL_OFF || one->kind == TRIAL_HALF;
    const struct delays idle = {&one->edits, kernels, true}, delays = {&one->edits, kernels, false};
    struct loan edited = *loan;
    edited.flags |= one->kind == TRIAL_PRIORITY ? USE_NODE_PRIORITY : 0u;
    if (one->edited)
        return NULL;
    growth_open();
    if (one->kind != TRIAL_EXECUTABLE)
        one->unedited = lend_copy(loan, is_delay ? delays_apply : NULL, &idle);
    if (one->unedited || one->kind == TRIAL_EXECUTABLE)
        one->edited = lend_copy(&edited, apply_of(one->kind),
                                is_delay || is_last ? (const void *)&delays : (const void *)&one->edits);
    growth_close();
    return one->edited ? NULL : copy_error()[0] ? copy_error() : "a copy with this edit could not be made";
}

static void free_copies(struct experiment *one) {
    growth_open();
    copy_free(one->unedited);
    copy_free(one->edited);
    growth_close();
}

void experiment_drop(struct experiment *one) {
    if (one->unedited || one->edited)
        free_copies(one);
    one->unedited = one->edited = NULL;
    one->count = 0;
    one->warm = false;
    one->begin_ns = one->held_ns = 0;
}

void experiments_next(struct experiments *these) {
    struct experiment *one = &these->all[these->at++];
    uint64_t unedited_ns = one->count ? median_launch(one, false) : 0;
    uint64_t edited_ns = one->count ? median_launch(one, true) : 0;
    if (one->kind == TRIAL_EXECUTABLE && one->count)
        these->launch_ns = unedited_ns;
    one->gain_ns = unedited_ns > edited_ns ? unedited_ns - edited_ns : 0;
    these->varies = these->varies || (one->kind < TRIAL_IMPLIED && one->results == TRIAL_DIFFERENT);
    experiment_drop(one);
}

void experiments_free(struct experiments *these) {
    for (size_t i = 0; i < these->count; i++) {
        experiment_drop(&these->all[i]);
        free(these->all[i].edits.edits);
    }
    free(these->all);
    memset(these, 0, sizeof *these);
}
