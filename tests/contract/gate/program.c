/* Programs for the gate's tests, by name. Each exits with 0 or names the line of what is wrong. */
#define _GNU_SOURCE
#include "gate/gate.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define CHECK(what)                                                       \
    do {                                                                  \
        if (!(what)) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);            \
            _exit(1);                                                     \
        }                                                                 \
    } while (0)

typedef int (*launch_function)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, void *, void **, void **);
typedef struct {
    char reserved[64];
} CUipcMemHandle;

static void *library;
static const struct gate_api *gate;
static launch_function launch_kernel;
static int (*occupancy)(int *, int *, void *, size_t (*)(int), size_t, int);
static int (*synchronize)(void *);
static int (*driver_inside)(void);
static void (*driver_work)(uint64_t);
static atomic_bool stop;
static _Atomic uint64_t launches;

static void *symbol(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        _exit(1);
    }
    return found;
}

/* Whether a function is the gate's stub. */
static int is_stub(void *function) {
    Dl_info object;
    return dladdr(function, &object) && strstr(object.dli_fname, "_gate") != NULL;
}

static int launch(void) {
    launches++;
    return launch_kernel((void *)42, 1, 2, 3, 4, 5, 6, 7, (void *)8, (void **)9, (void **)10) == 42;
}

static void start(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(library);
    gate = dlsym(RTLD_DEFAULT, "gviz_gate");
    launch_kernel = (launch_function)symbol("cuLaunchKernel");
    occupancy = symbol("cuOccupancyMaxPotentialBlockSize");
    synchronize = symbol("cuStreamSynchronize");
    driver_inside = symbol("driver_inside");
    driver_work = symbol("driver_work");
}

static void sleep_ms(int ms) {
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void do_nothing(void *unused) { (void)unused; }

static int closes(void) { return gate->run_closed(do_nothing, NULL) == GATE_RAN; }

static struct gate_counts counts(void) {
    struct gate_counts found;
    gate->read_counts(&found);
    return found;
}

/* -- the calling convention -------------------------------------------------------------- */

static void *beyond; /* an address that is found only through the stub's frame */

static int unwinds_to(void *address) {
    void *frames[64];
    int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++)
        if (frames[i] == address)
            return 1;
    return 0;
}

static size_t launch_within(int limit) {
    CHECK(unwinds_to(beyond));
    CHECK(!gate || gate->is_inside());
    CHECK(launch());
    CHECK(!gate || gate->is_inside());
    return (size_t)limit + 1;
}

static __attribute__((noinline)) int arguments(void) {
    beyond = __builtin_return_address(0);
    CHECK(launch());
    int (*encode)() = symbol("cuTensorMapEncodeIm2colWide");
    CHECK(encode(100ul, 101ul, 102ul, 103ul, 104ul, 105ul, 106ul, 107ul, 108ul, 109ul, 110ul, 111ul, 112ul,
                 113ul, 114ul, 115ul) == 77);
    int (*clamp)(void *, float, float) = symbol("cuTexRefSetMipmapLevelClamp");
    CHECK(clamp((void *)1, 0.5f, 2.5f) == 0);
    int (*open)(uint64_t *, CUipcMemHandle, unsigned) = symbol("cuIpcOpenMemHandle_v2");
    CUipcMemHandle handle;
    uint64_t address = 0;
    for (int i = 0; i < 64; i++)
        handle.reserved[i] = (char)(i + 1);
    CHECK(open(&address, handle, 9) == 0 && address == 9);
    int grid = 0, block = 0;
    CHECK(occupancy(&grid, &block, &grid, launch_within, 1, 5) == 0 && grid == 6 && block == 1);
    CHECK(!gate || !gate->is_inside());
    return 0;
}

/* -- finding functions --------------------------------------------------------------------- */

/* A function as one of CUDA's own libraries finds it: without a stub. */
static void *bare(const char *name) {
    void *tool = dlopen("libnvidia-bound.so", RTLD_NOW);
    CHECK(tool);
    void *(*find)(void *, const char *) = (void *(*)(void *, const char *))dlsym(tool, "find");
    CHECK(find && !is_stub(find(library, name)));
    return find(library, name);
}

static int lookups(void) {
    typedef int (*lookup1)(const char *, void **, int, uint64_t);
    typedef int (*lookup2)(const char *, void **, int, uint64_t, int *);
    CHECK(dlsym(RTLD_DEFAULT, "cuInit") == NULL && dlerror() != NULL);
    CHECK(dlsym(RTLD_DEFAULT, "cuInit") == NULL && strstr(dlerror(), "cuInit") != NULL);
    CHECK(dlerror() == NULL);
    start();
    CHECK(gate);
    CHECK(is_stub((void *)launch_kernel) && !is_stub((void *)driver_inside));
    CHECK(dlsym(library, "cuNoSuchFunction") == NULL && strstr(dlerror(), "cuNoSuchFunction"));
    CHECK(dlsym(library, "cuGraphUpload") == NULL); /* this driver has none */
    CHECK(dlvsym(library, "cuInit", "NONE_1.0") == NULL);
    lookup1 old = (lookup1)symbol("cuGetProcAddress");
    lookup2 new = (lookup2)symbol("cuGetProcAddress_v2");
    CHECK(is_stub((void *)old) && is_stub((void *)new));
    void *found = NULL;
    uint64_t address = 0;
    CHECK(old("cuMemAlloc", &found, 3020, 0) == 0 && is_stub(found));
    CHECK(((int (*)(uint64_t *, size_t))found)(&address, 1ul << 40) == 2 && address == 1ul << 40);
    unsigned small = 0;
    CHECK(old("cuMemAlloc", &found, 2000, 0) == 0 && is_stub(found));
    CHECK(((int (*)(unsigned *, unsigned))found)(&small, 5) == 1 && small == 5);
    int status = -1;
    CHECK(new("cuGetProcAddress", &found, 13000, 0, &status) == 0 && status == 0 && found == (void *)new);
    CHECK(new("cuGetProcAddress", &found, 11030, 0, &status) == 0 && found == (void *)old);
    CHECK(new("cuLaunchKernel", &found, 13000, 0, &status) == 0 && found == (void *)launch_kernel);
    CHECK(new("cuNone", &found, 13000, 0, &status) == 500 && status == 1 && found == NULL);
    /* A function that no symbol leads to has a stub too, and one only. */
    void *again = NULL;
    CHECK(new("cuUnexported", &found, 13000, 0, &status) == 0 && is_stub(found));
    CHECK(new("cuUnexported", &again, 13000, 0, &status) == 0 && again == found);
    CHECK(((int (*)(int))found)(3) == 1003);
    /* An export table stays bare, and is counted. */
    int (*export)(const void **, const void *) = symbol("cuGetExportTable");
    const void *table = NULL;
    CHECK(export(&table, "0123456789abcdef") == 0 && export(&table, "0123456789abcdef") == 0);
    CHECK(!is_stub(*(void **)table));
    struct gate_hole hole = {0};
    CHECK(gate->read_holes(&hole, 1) == 1 && hole.count == 2 && strcmp(hole.caller, "the program") == 0);
    CHECK(strcmp(hole.name, "export table 30313233343536373839616263646566") == 0);
    CHECK(counts().without_stub == 0 && counts().without_mark == 0);
    return 0;
}

/* A library that was loaded with RTLD_DEEPBIND asks libc itself: a hole, and its calls leave no mark. */
static int deepbind(void) {
    start();
    void *bound = dlopen("libbound.so", RTLD_NOW | RTLD_DEEPBIND);
    CHECK(bound);
    void *(*find)(void *, const char *) = dlsym(bound, "find");
    CHECK(find && find(library, "cuLaunchKernel") && !is_stub(find(library, "cuLaunchKernel")));
    return 0;
}

/* -- programs that leave calls and threads in every way ------------------------------------------ */

static jmp_buf back;

static size_t jump_out(int unused) {
    (void)unused;
    longjmp(back, 1);
}

/* From far below the calls that follow. */
static void leave_by_longjmp(void) {
    char room[4096];
    int grid, block;
    memset(room, 0, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
    void (*forget)(void) = symbol("driver_forget_inside");
    if (setjmp(back) == 0)
        occupancy(&grid, &block, &grid, jump_out, 1, 1);
    forget();
}

static int jumps(void) {
    start();
    leave_by_longjmp();
    CHECK(gate->is_inside()); /* it stands until the next call */
    CHECK(launch());
    CHECK(!gate->is_inside());
    leave_by_longjmp();
    CHECK(closes()); /* the closer's own does not matter */
    return 0;
}

static void *launch_once(void *unused) {
    CHECK(launch());
    return unused;
}

/* aarch64 runs in an emulator, which takes 1 ms a thread. */
#ifdef __aarch64__
enum { SHORT_THREADS = 1000 };
#else
enum { SHORT_THREADS = 10000 };
#endif

static int short_threads(void) {
    pthread_t thread;
    start();
    for (int i = 0; i < SHORT_THREADS; i++) {
        CHECK(pthread_create(&thread, NULL, launch_once, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(closes());
    CHECK(counts().without_mark == 0 && launches == SHORT_THREADS);
    return 0;
}

static size_t cancel_within(int unused) {
    (void)unused;
    pthread_exit(NULL);
}

static void *end_inside(void *unused) {
    int grid, block;
    occupancy(&grid, &block, &grid, cancel_within, 1, 1);
    return unused;
}

static int threads_that_end_inside(void) {
    pthread_t thread;
    start();
    for (int i = 0; i < 100; i++) {
        CHECK(pthread_create(&thread, NULL, end_inside, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(closes());
    return 0;
}

static void *launch_on(void *unused) {
    while (!stop) {
        CHECK(launch());
        for (volatile int i = 0; i < 2000; i++)
            continue;
    }
    return unused;
}

/* Launch and close in a child that is forked while the gate is closed. */
static void fork_child(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(5);
        CHECK(launch() && closes());
        _exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void nobody_is_inside(void *number) {
    for (volatile int spin = 0; spin < 10000; spin++)
        CHECK(driver_inside() == 0);
    CHECK(launch()); /* the closer passes */
    if (*(int *)number % 20 == 0)
        fork_child();
}

/* Close over and over beside launching threads, short ones and forks: nobody may be inside. */
/* STORM: closings, 200 where it is not set. */
static int storm(void) {
    const char *given = getenv("STORM");
    pthread_t threads[3], brief;
    int closed = 0, closings = given ? atoi(given) : 200;
    start();
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_on, NULL) == 0);
    for (int i = 0; i < 25 * closings && closed < closings; i++) {
        CHECK(pthread_create(&brief, NULL, launch_once, NULL) == 0);
        enum gate_answer answer = gate->run_closed(nobody_is_inside, &closed);
        CHECK(answer == GATE_RAN || answer == GATE_BUSY || answer == GATE_BACKING_OFF);
        closed += answer == GATE_RAN;
        sleep_ms(answer == GATE_RAN ? 0 : 1);
        CHECK(pthread_join(brief, NULL) == 0);
    }
    stop = true;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counts().closed == (uint64_t)closed);
    printf("%d\n", closed);
    return 0;
}

static void in_a_thread(void *(*function)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* A child that another thread forks while the gate is closed is not held. */
static void *fork_and_launch(void *unused) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(5);
        CHECK(launch());
        _exit(counts().held == 0 ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return unused;
}

static void let_another_fork(void *unused) {
    (void)unused;
    in_a_thread(fork_and_launch);
}

static int forks(void) {
    start();
    CHECK(launch() && gate->run_closed(let_another_fork, NULL) == GATE_RAN);
    return 0;
}

/* -- closing beside waits ---------------------------------------------------------------------- */

static void *wait_once(void *unused) {
    CHECK(synchronize((void *)8) == 0);
    return unused;
}

static void nobody_waits(void *unused) {
    (void)unused;
    CHECK(driver_inside() == 0);
}

/* A long wait beside four launching threads: nobody is held for it. */
static int waits(void) {
    pthread_t threads[4], waiting;
    bool refused = false;
    start();
    driver_work(600000000000); /* until it is seen, however busy the machine */
    CHECK(pthread_create(&waiting, NULL, wait_once, NULL) == 0);
    while (!driver_inside())
        sleep_ms(1);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_on, NULL) == 0);
    sleep_ms(50);
    /* A launching thread that lost its core may be the first that is found inside. */
    for (int i = 0; i < 6000 && !refused; i++) {
        enum gate_answer answer = gate->run_closed(nobody_waits, NULL);
        CHECK(answer == GATE_BUSY || answer == GATE_BACKING_OFF);
        refused = strcmp(counts().busy_with, "cuStreamSynchronize") == 0;
        sleep_ms(refused ? 0 : 10);
    }
    CHECK(refused && counts().held == 0);
    driver_work(0);
    CHECK(pthread_join(waiting, NULL) == 0);
    stop = true;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}

static void *wait_over_and_over(void *unused) {
    while (!stop) {
        driver_work(300000000);
        CHECK(synchronize((void *)8) == 0);
    }
    return unused;
}

/* A program that always waits, 300 ms a time: the gate closes as its next wait is polls. */
static int polls(void) {
    pthread_t waiting;
    bool closed = false;
    start();
    CHECK(pthread_create(&waiting, NULL, wait_over_and_over, NULL) == 0);
    for (int i = 0; i < 20000 && !closed; i++) {
        /* It may find the moment between two waits. */
        closed = gate->run_closed(nobody_waits, NULL) == GATE_RAN && counts().polled > 0;
        sleep_ms(1);
    }
    CHECK(closed && counts().overrun == 0);
    stop = true;
    CHECK(pthread_join(waiting, NULL) == 0);
    return 0;
}

/* -- closing beside full queues ------------------------------------------------------------------ */

#define LAUNCHERS 4
#define CLOSINGS 200

static int (*launch_graph)(void *, void *);
static _Atomic uint64_t launched_ns[LAUNCHERS];

/* Two of 1 ms, which leave the driver while the gate waits, two of 8 ms, which do not. */
static uint64_t graph_ns(uintptr_t number) { return number % 2 ? 1000000 : 8000000; }

static void *launch_graphs(void *number) {
    uintptr_t stream = (uintptr_t)number;
    while (!stop) {
        CHECK(launch_graph((void *)graph_ns(stream), number) == 0);
        launched_ns[stream] += graph_ns(stream);
    }
    return NULL;
}

/* Closings hold launches for a moment, and the GPU has work enough meanwhile: print the longest hold
 * and the least work that a queue got, in nanoseconds and percent of what it could do. Run in stepped
 * time (stepped_time.c): in the machine's, a thread that lost its core is held longer. */
static int full_queues(void) {
    pthread_t threads[LAUNCHERS];
    struct timespec begin, end;
    start();
    launch_graph = (int (*)(void *, void *))symbol("cuGraphLaunch");
    for (uintptr_t i = 0; i < LAUNCHERS; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_graphs, (void *)i) == 0);
    sleep_ms(600); /* until they are full */
    uint64_t before[LAUNCHERS], least = 1000;
    for (int i = 0; i < LAUNCHERS; i++)
        before[i] = launched_ns[i];
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CLOSINGS; i++) {
        enum gate_answer answer = gate->run_closed(nobody_waits, NULL);
        CHECK(answer == GATE_RAN || answer == GATE_BUSY || answer == GATE_BACKING_OFF);
        sleep_ms(5);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t took_ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000 + (uint64_t)end.tv_nsec -
                       (uint64_t)begin.tv_nsec;
    for (int i = 0; i < LAUNCHERS; i++) {
        uint64_t share = 100 * (launched_ns[i] - before[i]) / took_ns;
        least = share < least ? share : least;
    }
    stop = true;
    for (int i = 0; i < LAUNCHERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(counts().overrun == 0);
    printf("%llu %llu\n", (unsigned long long)counts().longest_hold_ns, (unsigned long long)least);
    return 0;
}

/* -- work that takes long, and the end ----------------------------------------------------------- */

static void let_another_launch(void *unused) {
    (void)unused;
    in_a_thread(launch_once);
}

/* Work that waits for a held call: held calls end the closure. */
static int overrun(void) {
    start();
    CHECK(launch() && gate->run_closed(let_another_launch, NULL) == GATE_OVERRAN);
    CHECK(counts().overrun == 1 && counts().held == 1);
    CHECK(closes());
    return 0;
}

/* Read by constructing.c. */
__attribute__((visibility("default"))) _Atomic int constructor_begun;

static void *load(void *name) {
    CHECK(dlopen(name, RTLD_NOW));
    return NULL;
}

static void load_another(void *unused) {
    (void)unused;
    load("libbound.so");
}

/* The loader's lock is held by a constructor that is held itself: that ends the closure. */
static int constructors(void) {
    pthread_t thread;
    start();
    CHECK(launch() && pthread_create(&thread, NULL, load, "libconstructing.so") == 0);
    for (int i = 0; i < 5000 && !atomic_load(&constructor_begun); i++)
        sleep_ms(1);
    enum gate_answer answer = GATE_BUSY;
    for (int i = 0; i < 200 && (answer == GATE_BUSY || answer == GATE_BACKING_OFF); i++) {
        answer = gate->run_closed(load_another, NULL);
        sleep_ms(1);
    }
    CHECK(answer == GATE_OVERRAN && counts().overrun == 1);
    CHECK(pthread_join(thread, NULL) == 0 && closes());
    return 0;
}

static void *exit_soon(void *unused) {
    sleep_ms(20);
    exit(3);
    return unused;
}

static void let_another_exit(void *unused) {
    pthread_t thread;
    (void)unused;
    CHECK(pthread_create(&thread, NULL, exit_soon, NULL) == 0);
    sleep_ms(200);
    printf("still here\n");
    fflush(stdout);
}

/* The process exits while the gate is closed: it waits for the closer, then forbids it. */
static int exits(void) {
    start();
    CHECK(launch() && gate->run_closed(let_another_exit, NULL) == GATE_RAN);
    CHECK(gate->run_closed(do_nothing, NULL) == GATE_FORBIDDEN);
    sleep_ms(5000);
    return 1;
}

/* -- the last moment -------------------------------------------------------------------------------- */

static int (*driver_ended)(void), (*initialize)(unsigned);

static void begun_before(void) { printf("registered before the driver: %d\n", initialize(0)); }
static void begun_after(void) { printf("registered after it: %d\n", initialize(0)); }
__attribute__((destructor)) static void destruct(void) {
    if (initialize)
        printf("destructor: %d\n", initialize(0));
}

static void call_driver(void *result) { *(int *)result = initialize(0); }

static bool work_at_last(int status) {
    int outside = initialize(0), inside = -1;
    CHECK(gate->run_closed(call_driver, &inside) == GATE_RAN);
    printf("last, of status %d: %d, %d by the gate, ended %d\n", status, outside, inside, driver_ended());
    return true;
}

static int stays(void) {
    atexit(begun_before);
    start();
    *(void **)&driver_ended = symbol("driver_ended");
    *(void **)&initialize = symbol("cuInit");
    atexit(begun_after);
    CHECK(gate->stay(work_at_last));
    if (fork() == 0)
        exit(0); /* a child's end is its own */
    wait(NULL);
    return 3;
}

/* Not asked to stay, the driver ends when it does. */
static int leaves(void) {
    atexit(begun_before);
    start();
    *(void **)&initialize = symbol("cuInit");
    return 3;
}

/* -- telling, and what passes --------------------------------------------------------------------- */

#define TELLERS 4
#define TOLD_CALLS 20000
static _Atomic uint64_t told_of, passed;
static int (*set_params)(void *, void *, void *, void *);
static uint32_t filtered; /* the function's number */

/* Those on streams, or of nodes, of odd numbers pass. */
static bool lets_pass(uintptr_t graph, uintptr_t second, uint32_t id) {
    CHECK(graph == 1 && id == filtered && gate->is_inside());
    passed += second & 1;
#if defined(__x86_64__) /* whatever registers a function may change */
    __asm__ volatile("mov $-1, %%rcx\n mov %%rcx, %%rdx\n mov %%rcx, %%rsi\n mov %%rcx, %%rdi\n"
                     "mov %%rcx, %%r8\n mov %%rcx, %%r11" ::: "rcx", "rdx", "rsi", "rdi", "r8", "r11");
#endif
    return second & 1;
}

static void on_told(const struct gate_call *call) {
    CHECK(call->words[0] == 1 && call->words[1] < TELLERS);
    told_of += call->result == NULL;
}

static void *launch_told(void *stream) {
    for (int i = 0; i < TOLD_CALLS; i++)
        CHECK(launch_graph((void *)1, stream) == 0);
    return NULL;
}

static void *update_told(void *node) {
    for (int i = 0; i < TOLD_CALLS; i++)
        CHECK(set_params((void *)1, node, (char *)node + 2, (char *)node + 3) == 0);
    return NULL;
}

/* Launch on all streams or update all nodes, the gate closing meanwhile; are the calls told of, and do
 * they pass, so often? */
static int is_told(void *(*work)(void *), uint64_t tells, uint64_t passes) {
    pthread_t threads[TELLERS];
    told_of = passed = 0;
    for (uintptr_t i = 0; i < TELLERS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < 20; i++) {
        closes();
        sleep_ms(1);
    }
    for (size_t i = 0; i < TELLERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return told_of == tells * TOLD_CALLS && passed == passes * TOLD_CALLS;
}

static void are_filtered(const char *name, void *(*work)(void *)) {
    for (filtered = 1; strcmp(gate->name_of(filtered), name) != 0;)
        filtered++;
    CHECK(is_told(work, 0, 0));
    gate->listen(on_told);
    gate->tell(filtered, true);
    CHECK(is_told(work, TELLERS, 0));
    gate->filter(filtered, lets_pass);
    CHECK(is_told(work, TELLERS / 2, TELLERS / 2) && !gate->others_in(name));
    gate->filter(filtered, NULL);
    CHECK(is_told(work, TELLERS, 0));
    gate->tell(filtered, false);
    CHECK(is_told(work, 0, 0));
}

static int filters(void) {
    start();
    launch_graph = symbol("cuGraphLaunch");
    set_params = symbol("cuGraphExecMemcpyNodeSetParams");
    CHECK(is_stub((void *)launch_graph) && is_stub((void *)set_params));
    are_filtered("cuGraphLaunch", launch_told);
    are_filtered("cuGraphExecMemcpyNodeSetParams", update_told);
    int (*find)(const char *, void **, int, uint64_t, int *) = symbol("cuGetProcAddress_v2");
    void *named = (void *)set_params, *found = NULL;
    CHECK(find("cuGraphExecMemcpyNodeSetParams", &found, 13000, 2, NULL) == 0 && found != named);
    CHECK(is_stub(found));
    set_params = found;
    are_filtered("cuGraphExecMemcpyNodeSetParams", update_told);
    return 0;
}

/* -- what a stub costs --------------------------------------------------------------------------- */

#define CALLS 1000000

static double call_ns(int (*function)(unsigned)) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < CALLS; i++)
        function(0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / CALLS;
}

/* Print what a call takes longer for its stub, in picoseconds: the least of ten rounds. */
static int cost(void) {
    double with = 1e9, without = 1e9;
    start();
    int (*stub)(unsigned) = (int (*)(unsigned))symbol("cuInit");
    int (*init)(unsigned) = (int (*)(unsigned))bare("cuInit");
    CHECK(is_stub((void *)stub));
    for (int round = 0; round < 10; round++) {
        double stub_ns = call_ns(stub), bare_ns = call_ns(init);
        with = stub_ns < with ? stub_ns : with;
        without = bare_ns < without ? bare_ns : without;
    }
    printf("%d\n", (int)(1000 * (with - without)));
    return 0;
}

#if defined(__x86_64__)
#define TRAP_FLAG 0x100 /* the processor traps after each instruction */
#define STEPPED 100

static volatile sig_atomic_t stepping;
static volatile struct steps {
    int instructions, barriers, system_calls;
} steps;

/* Whether an instruction that writes memory waits until all processors see it. */
static int is_barrier(const unsigned char *at) {
    while (*at == 0x66 || *at == 0xf2 || *at == 0xf3 || (*at & 0xf0) == 0x40) /* prefixes */
        at++;
    return *at == 0xf0 /* lock */ || ((*at & 0xfe) == 0x86 && at[1] < 0xc0) /* xchg with memory */ ||
           (at[0] == 0x0f && at[1] == 0xae && at[2] == 0xf0) /* mfence */;
}

static void step(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *at = (const unsigned char *)registers[REG_RIP];
    registers[REG_EFL] &= ~TRAP_FLAG;
    if (!stepping)
        return;
    registers[REG_EFL] |= TRAP_FLAG;
    steps.instructions++;
    steps.barriers += is_barrier(at);
    steps.system_calls += at[0] == 0x0f && at[1] == 0x05;
}

static struct steps steps_of(int (*function)(unsigned)) {
    memset((void *)&steps, 0, sizeof steps);
    stepping = 1;
    raise(SIGTRAP); /* the first step is taken when its handler returns */
    for (int i = 0; i < STEPPED; i++)
        function(0);
    stepping = 0;
    return steps;
}

/* Print how many instructions, barriers and system calls a stub adds to a call after the first. */
static int instructions(void) {
    struct sigaction each = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    start();
    int (*stub)(unsigned) = (int (*)(unsigned))symbol("cuInit");
    int (*init)(unsigned) = (int (*)(unsigned))bare("cuInit");
    CHECK(is_stub((void *)stub) && sigaction(SIGTRAP, &each, NULL) == 0);
    steps_of(stub); /* finds its way */
    struct steps without = steps_of(init), with = steps_of(stub);
    CHECK(without.instructions > STEPPED);
    printf("%d %d %d\n", (with.instructions - without.instructions) / STEPPED,
           (with.barriers - without.barriers) / STEPPED, (with.system_calls - without.system_calls) / STEPPED);
    return 0;
}
#endif

/* Start a program of these where the kernel refuses membarrier. */
static int without_membarrier(const char *self, const char *name) {
    struct sock_filter refuse[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number of the call */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof refuse / sizeof *refuse, refuse};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    execl(self, self, name, NULL);
    return 1;
}

static int plain(void) {
    start();
    CHECK(!gate && !is_stub((void *)launch_kernel));
    return arguments() == 0 ? 0 : 1;
}

static int convention(void) {
    start();
    CHECK(gate && is_stub((void *)launch_kernel));
    arguments(); /* the first calls go another way than those after them */
    return arguments() == 0 ? 0 : 1; /* no tail call: it is to be found on the stack */
}

int main(int count, char **values) {
    static const struct {
        const char *name;
        int (*run)(void);
    } programs[] = {
        {"plain", plain}, {"convention", convention}, {"lookups", lookups}, {"deepbind", deepbind}, {"jumps", jumps},
        {"short threads", short_threads}, {"threads that end inside", threads_that_end_inside},
        {"storm", storm}, {"forks", forks}, {"waits", waits}, {"polls", polls},
        {"full queues", full_queues}, {"overrun", overrun}, {"constructors", constructors}, {"exits", exits},
        {"filters", filters}, {"cost", cost}, {"stays", stays}, {"leaves", leaves},
#if defined(__x86_64__)
        {"instructions", instructions},
#endif
    };
    if (count == 3)
        return without_membarrier(values[0], values[2]);
    for (size_t i = 0; count == 2 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(values[1], programs[i].name) == 0)
            return programs[i].run();
    return 2;
}
