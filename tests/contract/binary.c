/* A CUDA program without Python, for the contract: `binary WHAT [ARGUMENT ...]`.
 *
 * It finds the driver with dlopen, so it runs on the fake and on a real GPU. A graph of four
 * memsets in a row is built and launched LAUNCHES times. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHES = 3, NODES = 4, WORDS = 1024 };

struct memset_params { /* CUDA_MEMSET_NODE_PARAMS */
    unsigned long long dst;
    size_t pitch;
    unsigned value, element_size;
    size_t width, height;
};

static void *driver, *exec_handle, *stream;

static void check(const char *name, int result) {
    if (result != 0) {
        fprintf(stderr, "%s returned %d\n", name, result);
        exit(9);
    }
}

#define CALL(name, types, ...) check(#name, ((int(*) types)dlsym(driver, #name))(__VA_ARGS__))

static void start(void) {
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        exit(9);
    }
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
    CALL(cuCtxSetCurrent, (void *), context);
    CALL(cuStreamCreate, (void **, unsigned), &stream, 1);
}

static void launch(int times) {
    for (int i = 0; i < times; i++) {
        CALL(cuGraphLaunch, (void *, void *), exec_handle, stream);
        CALL(cuStreamSynchronize, (void *), stream);
    }
}

static void work(void) {
    void *graph, *context, *node = NULL;
    unsigned long long memory;
    unsigned words[WORDS];
    CALL(cuCtxGetCurrent, (void **), &context);
    CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &memory, sizeof words);
    CALL(cuGraphCreate, (void **, unsigned), &graph, 0);
    for (unsigned i = 0; i < NODES; i++) {
        struct memset_params params = {memory, 0, i + 1, 4, WORDS, 1};
        void *after = node;
        CALL(cuGraphAddMemsetNode,
             (void **, void *, void **, size_t, const struct memset_params *, void *), &node,
             graph, &after, i > 0, &params, context);
    }
    CALL(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long), &exec_handle, graph,
         0);
    launch(LAUNCHES);
    CALL(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t), words, memory, sizeof words);
    printf("words are %u\n", words[WORDS - 1]);
    fflush(stdout);
}

/* -- NVTX as its headers do it ------------------------------------------------------------------- */

typedef void (*function)(void);
static int (*push)(const char *), (*pop)(void);
static function *slots[16];

static int module_table(int module, function ***table, unsigned *size) {
    static const int push_id = 9, pop_id = 11; /* nvtxTypes.h: CB_MODULE_CORE = 1 */
    slots[push_id] = (function *)&push;
    slots[pop_id] = (function *)&pop;
    *table = slots;
    *size = module == 1 ? 16 : 0;
    return module == 1;
}

static const void *export_table(uint32_t id) {
    static const struct {
        size_t size;
        int (*get)(int, function ***, unsigned *);
    } callbacks = {sizeof callbacks, module_table};
    return id == 1 ? &callbacks : NULL;
}

static void start_nvtx(void) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*initialize)(const void *(*)(uint32_t)) =
        library ? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2")
                : NULL;
    if (initialize)
        initialize(export_table);
}

/* nvtxExtInit.h: a table of the payload extension's calls (module 2), and who fills it. */
static void end_range_with_payload(void) {
    struct {
        size_t id, count;
        intptr_t *slots;
    } segment = {0, 63, (intptr_t[63]){0}};
    struct {
        uint16_t version, size, module, compatibility;
        size_t segment_count;
        void *segments, *export, *information;
    } module = {3, sizeof module, 2, 0x0104, 1, &segment, NULL, NULL};
    void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_NOW);
    int (*initialize)(void *) =
        library ? (int (*)(void *))dlsym(library, "InitializeInjectionNvtxExtension") : NULL;
    int (*end)(void *, const void *, size_t);
    if (!initialize || initialize(&module) != 1)
        return;
    end = (int (*)(void *, const void *, size_t))segment.slots[4]; /* nvtxRangePopPayload */
    if (end)
        end(NULL, NULL, 0);
}

/* -- what it can be told to do ----------------------------------------------------------------- */

static void last_launches(void) { launch(2); }

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    pid_t child = 0;
    if (strcmp(what, "nothing") == 0) {
        puts("no CUDA here");
        return 3;
    }
    if (strncmp(what, "nvtx", 4) == 0) {
        start_nvtx();
        if (push)
            push("outer");
    }
    if (strcmp(what, "nvtx payload") == 0)
        end_range_with_payload();
    if (strcmp(what, "fork first") == 0)
        child = fork();
    start();
    work();
    if (strcmp(what, "fork first") == 0 && child == 0) {
        if (count == 2)
            return 4;
        getchar(); /* until the test lets it go */
        _exit(atoi(arguments[2]));
    }
    if (strcmp(what, "fork later") == 0 && (child = fork()) == 0)
        exit(0);
    if (strcmp(what, "nvtx") == 0 && pop) {
        push("inner");
        work();
        pop();
        pop();
    }
    if (strcmp(what, "atexit") == 0)
        atexit(last_launches);
    if (strcmp(what, "_exit") == 0)
        _exit(5);
    if (strcmp(what, "wait") == 0) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    if (strcmp(what, "exec") == 0) {
        fflush(stdout);
        execvp(arguments[2], arguments + 2);
        return 9;
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    fprintf(stderr, "to stderr\n");
    return 3;
}
