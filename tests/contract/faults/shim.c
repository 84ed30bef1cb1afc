/* Fails, holds up, or counts, calls of the C library, for tests/contract/test_faults.py: preloaded, it is steered by a file that
 * its processes share. Only calls that come from the libraries of one name count (the caller's address tells). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum call { OPEN, READ, WRITE, MMAP, TRUNCATE, RENAME, FSYNC, FORK, MALLOC, THREAD, MKDIR, CALLS };
/* In place of an error: the call never returns; it takes a while; or the first in threads that
 * the process made, the second in its own. */
enum delay { HANG = -1, SLOW = -2, HANG_BESIDE = -3 };

struct control {
    int call, error; /* which fails, and how */
    long at;         /* its n-th call from one; 0: none */
    long task;       /* the thread in which it does; 0: any; below: any but those of a session */
    char caller[32]; /* in the name of the library that calls; empty: any */
    atomic_long seen[CALLS], failed;
};

static struct control *control;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULT_CONTROL");
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *memory = (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    control = memory == MAP_FAILED ? NULL : memory;
}

static struct sigaction as_before;

static void show_stack(int signal) {
    void *frames[64];
    dprintf(STDERR_FILENO, "crashed in:\n");
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    sigaction(signal, &as_before, NULL);
    raise(signal);
}

/* Have this process, and those it forks, write their C stack to standard error when they end by
 * SIGSEGV, before what else is done then. */
void show_crashes(void) {
    void *first;
    backtrace(&first, 1); /* loads what it needs: a crash may come of a lack of memory */
    struct sigaction action = {.sa_handler = show_stack, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, &as_before);
}

static bool is_meant(void) {
    long task = control->task;
    return !task || (task > 0 ? syscall(SYS_gettid) == task : syscall(SYS_getsid, 0) != -task);
}

static int hold_up(enum delay how) {
    bool own = syscall(SYS_gettid) == syscall(SYS_getpid);
    if (how == HANG || (how == HANG_BESIDE && !own))
        for (;;)
            pause();
    struct timespec left = {0, 300000000};
    while (nanosleep(&left, &left) != 0)
        continue;
    return 0;
}

/* Returns the error that a call ends with; 0: it does its work. */
static int fault(enum call call, void *from) {
    Dl_info info;
    if (!control || !is_meant())
        return 0;
    if (control->caller[0] && !(dladdr(from, &info) && strstr(info.dli_fname, control->caller)))
        return 0;
    long number = atomic_fetch_add(&control->seen[call], 1) + 1;
    if ((int)call != control->call || number != control->at)
        return 0;
    atomic_fetch_add(&control->failed, 1);
    return control->error < 0 ? hold_up((enum delay)control->error) : control->error;
}

#define FROM __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_WITH(call, value)                                                                     \
    do {                                                                                           \
        int error = fault(call, FROM);                                                             \
        if (error) {                                                                               \
            errno = error;                                                                         \
            return value;                                                                          \
        }                                                                                          \
    } while (0)

#define OPENS(name)                                                                                \
    int name(const char *path, int flags, ...) {                                                   \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                    \
        va_end(rest);                                                                              \
        FAIL_WITH(OPEN, -1);                                                                       \
        return NEXT(name)(path, flags, mode);                                                      \
    }
OPENS(open)
OPENS(open64)

#define WRAP(type, name, call, failed, parameters, ...)                                            \
    type name parameters {                                                                         \
        FAIL_WITH(call, failed);                                                                   \
        return NEXT(name)(__VA_ARGS__);                                                            \
    }
WRAP(FILE *, fopen, OPEN, NULL, (const char *path, const char *mode), path, mode)
WRAP(FILE *, fopen64, OPEN, NULL, (const char *path, const char *mode), path, mode)
WRAP(ssize_t, read, READ, -1, (int file, void *data, size_t size), file, data, size)
WRAP(ssize_t, pread, READ, -1, (int file, void *data, size_t size, off_t at), file, data, size, at)
WRAP(ssize_t, pread64, READ, -1, (int file, void *data, size_t size, off64_t at), file, data, size,
     at)
WRAP(ssize_t, write, WRITE, -1, (int file, const void *data, size_t size), file, data, size)
WRAP(ssize_t, pwrite, WRITE, -1, (int file, const void *data, size_t size, off_t at), file, data,
     size, at)
WRAP(ssize_t, pwrite64, WRITE, -1, (int file, const void *data, size_t size, off64_t at), file,
     data, size, at)
WRAP(void *, mmap, MMAP, MAP_FAILED, (void *at, size_t size, int may, int flags, int file, off_t from),
     at, size, may, flags, file, from)
WRAP(void *, mmap64, MMAP, MAP_FAILED,
     (void *at, size_t size, int may, int flags, int file, off64_t from), at, size, may, flags, file,
     from)
WRAP(int, ftruncate, TRUNCATE, -1, (int file, off_t size), file, size)
WRAP(int, ftruncate64, TRUNCATE, -1, (int file, off64_t size), file, size)
WRAP(int, truncate, TRUNCATE, -1, (const char *path, off_t size), path, size)
WRAP(int, rename, RENAME, -1, (const char *from, const char *to), from, to)
WRAP(int, fsync, FSYNC, -1, (int file), file)
WRAP(int, fdatasync, FSYNC, -1, (int file), file)
WRAP(int, mkdir, MKDIR, -1, (const char *path, mode_t mode), path, mode)
WRAP(pid_t, fork, FORK, -1, (void), )

/* Returns twice, so it cannot be called for another; fork does what it promises. */
pid_t vfork(void) {
    FAIL_WITH(FORK, -1);
    return NEXT(fork)();
}

int posix_spawn(pid_t *id, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *how, char *const arguments[], char *const environment[]) {
    int error = fault(FORK, FROM);
    return error ? error : NEXT(posix_spawn)(id, path, actions, how, arguments, environment);
}

int posix_fallocate(int file, off_t at, off_t size) {
    int error = fault(TRUNCATE, FROM);
    return error ? error : NEXT(posix_fallocate)(file, at, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *given) {
    int error = fault(THREAD, FROM);
    return error ? error : NEXT(pthread_create)(thread, how, run, given);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    FAIL_WITH(MALLOC, NULL);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    FAIL_WITH(MALLOC, NULL);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    FAIL_WITH(MALLOC, NULL);
    return __libc_realloc(old, size);
}
