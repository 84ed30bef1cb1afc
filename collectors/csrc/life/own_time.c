/* What of a program's captures and instantiations was gviz's own doing.
 *
 * While a graph is made gviz reads its nodes and takes Python stacks inside the driver's calls, so
 * their times hold gviz's part. It is summed from the entry to the return of each callback meanwhile;
 * what CUPTI does around a callback is in no sum.
 */
#include "life/parts.h"
#include "spool/spool.h"

#include <stdio.h>

static _Atomic uint64_t own_ns[MADE_KINDS], watched_ns[MADE_KINDS];
static const char *const names[MADE_KINDS] = {"capture", "instantiate"};

/* What this thread makes: the last begun of nested ones, so that none is counted twice. */
static __thread struct {
    bool open;
    enum made kind;
    uint64_t begin_ns, own_ns;
} made;

void own_time_reset(void) {
    for (int i = 0; i < MADE_KINDS; i++) {
        atomic_store(&own_ns[i], 0);
        atomic_store(&watched_ns[i], 0);
    }
}

void own_time_forget(void) { made.open = false; }

void own_time_open(enum made kind, uint64_t begin_ns) {
    made.open = true;
    made.kind = kind;
    made.begin_ns = begin_ns;
    made.own_ns = 0;
}

void own_time_close(enum made kind, uint64_t end_ns) {
    if (made.open && made.kind == kind) {
        atomic_fetch_add(&own_ns[kind], made.own_ns);
        atomic_fetch_add(&watched_ns[kind], end_ns - made.begin_ns);
    }
    made.open = false;
}

GVIZ_HOT_CODE uint64_t own_time_enter(void) { return made.open ? now_ns() : 0; }

GVIZ_HOT_CODE void own_time_leave(uint64_t entered_ns) {
    if (made.open && entered_ns)
        made.own_ns += now_ns() - entered_ns;
}

void own_time_counters(void) {
    for (int i = 0; i < MADE_KINDS; i++) {
        char name[40];
        if (!atomic_load(&watched_ns[i]))
            continue;
        snprintf(name, sizeof name, "%s_own_ns", names[i]);
        counter(name, (double)atomic_load(&own_ns[i]), "ns",
                "measured: host time of gviz's callbacks inside such calls, total");
        snprintf(name, sizeof name, "%s_watched_ns", names[i]);
        counter(name, (double)atomic_load(&watched_ns[i]), "ns",
                "measured: host time of these calls, gviz's own included, total");
    }
}
