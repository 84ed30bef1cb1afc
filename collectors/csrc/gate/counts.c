/* What the gate did, and what it cannot see behind. */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <string.h>

#define HOLES 64

struct tallies tallies;
static struct slot {
    atomic_int state; /* 0: free, 1: being filled, 2: filled */
    char name[64], caller[64];
    _Atomic uint64_t count;
} slots[HOLES];

static void copy_text(char *target, const char *text, size_t size) {
    strncpy(target, text, size - 1);
    target[size - 1] = 0;
}

/* Fills a free slot, or counts in the one that is there. Beyond HOLES nothing is kept. */
void hole_add(const char *name, uintptr_t caller) {
    struct object object;
    char file[64] = "";
    if (object_find(NULL, caller, &object))
        copy_text(file, object.path[0] ? file_name(object.path) : "the program", sizeof file);
    for (size_t i = 0; i < HOLES; i++) {
        struct slot *slot = &slots[i];
        int state = 0;
        if (atomic_compare_exchange_strong(&slot->state, &state, 1)) {
            copy_text(slot->name, name, sizeof slot->name);
            copy_text(slot->caller, file, sizeof slot->caller);
            atomic_store(&slot->count, 1);
            atomic_store(&slot->state, 2);
            return;
        }
        while (atomic_load(&slot->state) == 1)
            continue; /* two short copies by another thread */
        if (strcmp(slot->caller, file) == 0 && strncmp(slot->name, name, sizeof slot->name - 1) == 0) {
            atomic_fetch_add(&slot->count, 1);
            return;
        }
    }
}

size_t holes_read(struct gate_hole *holes, size_t limit) {
    size_t count = 0;
    for (; count < HOLES && atomic_load(&slots[count].state) == 2; count++) {
        if (count >= limit)
            continue;
        memcpy(holes[count].name, slots[count].name, sizeof holes->name);
        memcpy(holes[count].caller, slots[count].caller, sizeof holes->caller);
        holes[count].count = atomic_load(&slots[count].count);
    }
    return count;
}

void counts_read(struct gate_counts *counts) {
    const char *busy_with = atomic_load(&tallies.busy_with);
    *counts = (struct gate_counts){
        .closed = atomic_load(&tallies.closed),
        .busy = atomic_load(&tallies.busy),
        .held = atomic_load(&tallies.held),
        .overrun = atomic_load(&tallies.overrun),
        .longest_hold_ns = atomic_load(&tallies.longest_hold_ns),
        .polled = atomic_load(&tallies.polled),
        .without_stub = atomic_load(&tallies.without_stub),
        .without_mark = atomic_load(&tallies.without_mark),
    };
    copy_text(counts->busy_with, busy_with ? busy_with : "", sizeof counts->busy_with);
}

void counts_clear(void) {
    memset(&tallies, 0, sizeof tallies);
    memset(slots, 0, sizeof slots);
}
