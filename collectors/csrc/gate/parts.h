/* The gate's own parts. Code here runs inside any call of the program: no malloc, no stdio, no lock. */
#ifndef GVIZ_GATE_PARTS_H
#define GVIZ_GATE_PARTS_H

#include "gate/gate.h"

#include <stdatomic.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
/* Preloaded, so the room is there: reading never allocates. */
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

/* Offsets of struct entry, mark and call as the assembly of stubs.c has them. */
#define ENTRY_BYTES 64
#define ENTRY_FAST 32
#define ENTRY_OWN_AT 40
#define ENTRY_ID 48
#define ENTRY_FILTER 56
#define MARK_INSIDE 1
#define MARK_CALLS 8
#define MARK_STACK 16
#define MARK_ENTRY 24
#define CALL_BYTES 256
#define CALL_VECTORS 64
#define CALL_ENTRY 192
#define CALL_RESULT 200
#define CALL_CALLER 208
#define CALL_STACK 216
/* Words of stack arguments that a stub hands on: cuTensorMapEncodeIm2colWide has 10 on x86-64, a
 * CUipcMemHandle by value takes 8 (tools/gate_names.py checks cuda.h). */
#define STACK_WORDS 12

/* A function of the driver and the stub before it. Those with a name stand in names.c. */
struct entry {
    _Alignas(ENTRY_BYTES) const char *name;
    void *stub;
    _Atomic(void *) real;
    _Atomic(const struct hooks *) hooks; /* NULL: none */
    /* What the stub calls after nothing but marking: the real function. NULL: call_enter is asked,
     * as while the gate is not open. */
    _Atomic(void *) fast;
    ptrdiff_t own_at; /* where the thread's mark stands, from the thread's pointer */
    uint32_t id;      /* of the name; 0: it has none here */
    atomic_bool told; /* the listener is told of its calls */
    atomic_bool deferred; /* they may have to wait before they begin */
    _Atomic(gate_filter) filter; /* of these, those for which it answers no; NULL: all */
};

/* One call, on the stack of its stub. */
struct call {
    uintptr_t words[8]; /* the registers of arguments: 6 on x86-64, 8 on aarch64 */
    uint64_t vectors[16];
    struct entry *entry;
    uintptr_t result;
    uintptr_t caller; /* the return address */
    uintptr_t stack;  /* the caller's stack pointer: where its stack arguments are */
    uint64_t data[3]; /* the listener's */
    bool told;
    bool made; /* by the listener */
    bool late; /* it came after the driver's end */
};

_Static_assert(sizeof(struct entry) == ENTRY_BYTES, "ENTRY_BYTES");
_Static_assert(offsetof(struct entry, fast) == ENTRY_FAST, "ENTRY_FAST");
_Static_assert(offsetof(struct entry, own_at) == ENTRY_OWN_AT, "ENTRY_OWN_AT");
_Static_assert(offsetof(struct entry, id) == ENTRY_ID, "ENTRY_ID");
_Static_assert(offsetof(struct entry, filter) == ENTRY_FILTER, "ENTRY_FILTER");
_Static_assert(sizeof(struct call) <= CALL_BYTES && CALL_BYTES % 16 == 0, "CALL_BYTES");
_Static_assert(offsetof(struct call, vectors) == CALL_VECTORS, "CALL_VECTORS");
_Static_assert(offsetof(struct call, entry) == CALL_ENTRY, "CALL_ENTRY");
_Static_assert(offsetof(struct call, result) == CALL_RESULT, "CALL_RESULT");
_Static_assert(offsetof(struct call, caller) == CALL_CALLER, "CALL_CALLER");
_Static_assert(offsetof(struct call, stack) == CALL_STACK, "CALL_STACK");

struct hooks {
    void (*wanted)(struct call *call); /* before a call begins while the gate is not open */
    void (*before)(struct call *call); /* within the driver by the mark, before the function */
    void (*after)(struct call *call);  /* before the result is returned */
};

/* ---- names.c: an exported stub and an entry for each function of cuda.h -------------------------- */

#if defined(__x86_64__)
#define STUB_CODE(name, code)                                                                      \
    "  endbr64\n  leaq .Lentry_" name "(%rip), %r11\n  jmp " code "\n"
#elif defined(__aarch64__)
#define STUB_CODE(name, code)                                                                      \
    "  hint #34\n  adrp x16, .Lentry_" name "\n  add x16, x16, :lo12:.Lentry_" name "\n"           \
    "  b " code "\n"
#endif
/* The entry names the stub by a local label: another preloaded library may have the global one. */
#define STUB_OF(name, code)                                                                        \
    __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"        \
            ".Lstub_" #name ":\n.cfi_startproc\n" STUB_CODE(#name, code) ".cfi_endproc\n"         \
            ".size " #name ", . - " #name "\n"                                                     \
            ".pushsection .rodata\n.Lname_" #name ": .asciz \"" #name "\"\n.popsection\n"           \
            ".pushsection gate_entries, \"aw\", %progbits\n.p2align 6\n"                            \
            ".Lentry_" #name ": .quad .Lname_" #name ", .Lstub_" #name ", 0, 0, 0, 0, 0, 0\n"      \
            ".popsection\n");
#define STUB(name) STUB_OF(name, "gate_fast")
#define WIDE(name) STUB_OF(name, "gate_fast_wide") /* it may have arguments on the stack */
#define FILTERED(name) STUB_OF(name, "gate_fast_filtered") /* it has four arguments at most, and many calls */

/* ---- stubs.c ------------------------------------------------------------------------------ */

#define SPARE_COUNT 1024
#define SPARE_BYTES 16
extern HIDDEN char spare_stubs[SPARE_COUNT * SPARE_BYTES];
extern HIDDEN struct entry spares[SPARE_COUNT];
/* Between these stand the entries of names.c, sorted by name. */
extern HIDDEN struct entry __start_gate_entries[], __stop_gate_entries[];

/* ---- entries.c: which entry a function of the driver has ------------------------------------ */

/* Find libcuda and the functions in it. Returns whether it is loaded. */
bool driver_find(void);
bool driver_has(const void *address);
struct entry *entry_named(const char *name);
/* The stub before `real`, or NULL where there are no more. `name` is that of hooks. */
void *stub_of(void *real, const char *name);
/* While the gate is open, let the entry's stub do without call_enter, if marking is all. */
void entry_let_pass(struct entry *entry);
/* Have all stubs ask call_enter, when the gate is not open any more. Returns false where it cannot be
 * known who did not. */
bool entries_stop(void);
void entries_tell(uint32_t id, bool on);
void entries_filter(uint32_t id, gate_filter passes);
void entries_defer(uint32_t id, bool on);
void entries_start(void);
const struct hooks *hooks_of(const char *name);

/* ---- marks.c: who is inside ------------------------------------------------------------------ */

/* A thread's mark. Only its thread writes, except in a forked child. */
struct mark {
    _Alignas(64) atomic_bool used;
    atomic_bool inside;
    int rounds; /* of destructors that the thread's end has run */
    _Atomic uint64_t calls;
    uintptr_t stack; /* of the outermost call */
    _Atomic(struct entry *) entry;
};

void *call_enter(struct call *call); /* returns the function to call, or NULL */
uintptr_t call_leave(struct call *call);
bool mark_is_inside(void);
/* The first mark for which a function answers true, or NULL. */
struct mark *mark_find(bool (*matches)(struct mark *mark, void *data), void *data);
struct mark *own_mark(void); /* NULL: none yet */
ptrdiff_t own_mark_at(void); /* from the thread's pointer */
bool marks_others_in(const char *prefix);
void mark_step_aside(bool (*needed)(void), void (*wait)(void));
void marks_set_wait(bool (*needed)(void), void (*wait)(void));
void marks_start(void);
void marks_clear_others(void);

_Static_assert(offsetof(struct mark, inside) == MARK_INSIDE, "MARK_INSIDE");
_Static_assert(offsetof(struct mark, calls) == MARK_CALLS, "MARK_CALLS");
_Static_assert(offsetof(struct mark, stack) == MARK_STACK, "MARK_STACK");
_Static_assert(offsetof(struct mark, entry) == MARK_ENTRY, "MARK_ENTRY");

/* ---- closing.c: the phases ------------------------------------------------------------------- */

enum phase { PHASE_OPEN, PHASE_WANTED, PHASE_CLOSED };
extern HIDDEN _Atomic uint32_t phase;
bool is_closer(void); /* the thread for which the gate is closed passes */
void hold(void);      /* until the gate is not closed */
void closing_forked(void);
void closing_watch_exit(void);
uint64_t gate_now_ns(void);

/* ---- last.c: the end of the process ---------------------------------------------------------- */

void last_start(void);
void last_forked(void);
bool last_stay(gate_last work);
bool last_has_come(void); /* the driver has ended, for the program */
void *last_answer(const char *name, void *real); /* what a call then is answered by */

/* ---- quiet.c: work in flight and open captures ------------------------------------------------ */

/* What the program has open, or NULL. `surely`: while nobody is inside, with the streams that have no
 * handle of their own; from quiet_begin() on these are asked once. */
const char *quiet_obstacle(bool surely);
extern HIDDEN const char quiet_in_flight[]; /* the obstacle that may end soon */
void quiet_begin(void);
bool quiet_current_is_over(void); /* the calling thread's context */
#define RELAXED_CAPTURE 2 /* CU_STREAM_CAPTURE_MODE_RELAXED: what the thread does breaks no capture */
/* Set the calling thread's mode of captures, within the driver by the mark; returns the one before. */
int quiet_exchange_mode(int mode);
void quiet_forked(void);
/* Hooks. */
void quiet_context_created(struct call *call);
void quiet_context_ends(struct call *call);
void quiet_primary_retained(struct call *call);
void quiet_primary_released(struct call *call);
void quiet_primary_stays(struct call *call);
void quiet_primary_reset(struct call *call);
void quiet_stream_created(struct call *call);
void quiet_stream_ends(struct call *call);
void quiet_capture_begins(struct call *call);
void quiet_capture_begun(struct call *call);
void quiet_capture_ended(struct call *call);

/* ---- telling.c: who is told of calls ---------------------------------------------------------- */

void *telling_before(struct call *call, void *real); /* returns what is to be called */
void telling_after(struct call *call);
const char *telling_name(uint32_t id);
void *telling_bare(const char *name);
void telling_listen(gate_listener listener);
void telling_tell(uint32_t id, bool on);
void telling_filter(uint32_t id, gate_filter passes);
void telling_defer(uint32_t id, bool on);

/* ---- profilers.c: functions of CUPTI by which another profiler begins --------------------------- */

bool is_profilers(const char *name);
void profilers_listen(gate_arrival listener);
void *profilers_answer(const char *name, void *found, uintptr_t caller);

/* ---- counts.c -------------------------------------------------------------------------------- */

extern HIDDEN struct tallies {
    _Atomic uint64_t closed, busy, held, overrun, longest_hold_ns, polled, without_stub, without_mark;
    _Atomic(const char *) busy_with;
} tallies;
void hole_add(const char *name, uintptr_t caller);
void counts_read(struct gate_counts *counts);
size_t holes_read(struct gate_hole *holes, size_t limit);
void counts_clear(void);

/* ---- objects.c: shared objects, read from their ELF tables ------------------------------------- */

/* A function of libc or libdl, found without calling them. */
void *libc_function(const char *name);
struct object {
    uintptr_t base, first, last; /* the addresses that it takes */
    const void *dynamic;
    char path[256];
};
/* Find the object whose file's name begins with `prefix`, or, where it is NULL, that has `address`. */
bool object_find(const char *prefix, uintptr_t address, struct object *object);
void *object_symbol(const struct object *object, const char *name);
const char *file_name(const char *path);
/* Whether an address is code of CUDA's own libraries or another tool's. */
bool is_of_driver_or_tool(uintptr_t address);
bool is_drivers_file(const char *path);

#endif
