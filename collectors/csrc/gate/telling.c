/* Telling: calls of the driver are handed to a listener before and after, on the program's thread. */
#include "gate/parts.h"

static _Atomic(gate_listener) listener;

const char *telling_name(uint32_t id) {
    size_t count = (size_t)(__stop_gate_entries - __start_gate_entries);
    return id >= 1 && id <= count ? __start_gate_entries[id - 1].name : NULL;
}

void *telling_bare(const char *name) {
    struct entry *entry = driver_find() ? entry_named(name) : NULL;
    return entry ? atomic_load(&entry->real) : NULL;
}

void telling_listen(gate_listener to) { atomic_store(&listener, to); }

void telling_tell(uint32_t id, bool on) {
    if (telling_name(id))
        entries_tell(id, on);
}

void telling_filter(uint32_t id, gate_filter passes) {
    if (telling_name(id))
        entries_filter(id, passes);
}

void telling_defer(uint32_t id, bool on) {
    if (telling_name(id))
        entries_defer(id, on);
}

static int made_already(void) { return 0; }

static bool passes(const struct call *call) {
    gate_filter filter = atomic_load_explicit(&call->entry->filter, memory_order_relaxed);
    return filter && filter(call->words[0], call->words[1], call->entry->id);
}

static void tell(struct call *call, uintptr_t *result) {
    gate_listener to = atomic_load_explicit(&listener, memory_order_acquire);
    if (!to)
        return;
    const struct entry *entry = call->entry;
    struct gate_call seen = {entry->id, entry->name, call->words, (const uintptr_t *)call->stack, result,
                             call->data, &call->made};
    to(&seen);
}

void *telling_before(struct call *call, void *real) {
    call->told = atomic_load_explicit(&call->entry->told, memory_order_relaxed) && !passes(call);
    call->made = false;
    call->data[0] = call->data[1] = call->data[2] = 0;
    if (call->told)
        tell(call, NULL);
    return call->made ? (void *)made_already : real;
}

/* Only of calls whose beginning was told. */
void telling_after(struct call *call) {
    if (call->told)
        tell(call, &call->result);
}
