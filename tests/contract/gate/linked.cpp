/* A C++ program linked with -lcuda that leaves calls by exceptions, longjmp and the end of a thread: the
 * stubs are those that its procedure linkage table leads to. */
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <dlfcn.h>
#include <pthread.h>

extern "C" {
#include "gate/gate.h"
int cuInit(unsigned flags);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, size_t (*memory)(int), size_t size,
                                     int limit);
void driver_forget_inside(void);
}

#define CHECK(condition)                                      \
    do {                                                      \
        if (!(condition)) {                                   \
            std::printf("%d: %s\n", __LINE__, #condition);    \
            return 1;                                         \
        }                                                     \
    } while (0)

static std::jmp_buf back;
static size_t throw_out(int limit) { throw limit; }
static size_t jump_out(int) { std::longjmp(back, 1); }
static size_t end_thread(int) { pthread_exit(nullptr); }

static void call(size_t (*memory)(int)) {
    int grid, block;
    cuOccupancyMaxPotentialBlockSize(&grid, &block, &grid, memory, 1, 7);
}

static void *end_inside(void *unused) {
    call(end_thread);
    return unused;
}

static void do_nothing(void *) {}

static bool closes(const gate_api *gate) {
    driver_forget_inside();
    return gate->run_closed(do_nothing, nullptr) == GATE_RAN;
}

int main() {
    auto gate = static_cast<const gate_api *>(dlsym(RTLD_DEFAULT, "gviz_gate"));
    CHECK(gate && cuInit(0) == 0);
    int caught = 0;
    for (int i = 0; i < 100; i++) {
        try {
            call(throw_out);
        } catch (int limit) {
            caught += limit;
        }
    }
    CHECK(caught == 700);
    CHECK(cuInit(0) == 0 && !gate->is_inside());
    if (setjmp(back) == 0)
        call(jump_out);
    CHECK(cuInit(0) == 0 && !gate->is_inside());
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, nullptr, end_inside, nullptr) == 0);
        CHECK(pthread_join(thread, nullptr) == 0);
    }
    CHECK(closes(gate));
    return 0;
}
