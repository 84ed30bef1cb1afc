/* Modules: where their variables are, and whether their kernels print, allocate or launch by themselves.
 *
 * Variables in a module's global memory are in none of the blocks that the program allocated: those of
 * a graph's kernels are saved as well. What a kernel prints cannot be taken back. Images are remembered
 * as they are loaded, and those that lie in a file's mapping read when a graph asks for them.
 */
#include "calls/calls.h"
#include "trial/parts.h"

#include <stdlib.h>
#include <string.h>

#define CAPABILITY_MAJOR 75 /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
#define CAPABILITY_MINOR 76

static const char unseen[] = "the module of one of its kernels was not seen to be loaded";
static const char from_file[] = "the module of one of its kernels was loaded from a file, which is not read";
static const char not_found[] = "a variable of a module of its kernels was not found in memory, so that it is not saved";
static const char has_calls[] = "a kernel of it prints, allocates memory or launches kernels by itself";

enum effect {
    NO_EFFECT,
    LOADS_MODULE,
    LOADS_LIBRARY,
    READS_MODULE_FILE,
    READS_LIBRARY_FILE,
    UNLOADS_MODULE,
    UNLOADS_LIBRARY
};

static const struct {
    const char *name;
    enum effect effect;
} effects[] = {
    {"cuModuleLoadData", LOADS_MODULE},      {"cuModuleLoadDataEx", LOADS_MODULE},
    {"cuModuleLoadFatBinary", LOADS_MODULE}, {"cuLibraryLoadData", LOADS_LIBRARY},
    {"cuModuleLoad", READS_MODULE_FILE},     {"cuLibraryLoadFromFile", READS_LIBRARY_FILE},
    {"cuModuleUnload", UNLOADS_MODULE},      {"cuLibraryUnload", UNLOADS_LIBRARY},
};

struct loaded {
    void *handle; /* of a module or library */
    bool is_library;
    CUmodule module; /* of a library, once a kernel of it was asked for */
    struct image image;
    const char *fault;     /* why kernels of it are not tried, once they were asked for */
    struct block *blocks;  /* the variables */
    size_t block_count;
    bool asked;
};

GVIZ_LOCK(lock);
static uint8_t effect_of[CALL_ID_LIMIT];
static struct loaded *loaded;
static size_t count, room;
static _Atomic bool missed; /* a load or unload: what there is is not known */
static _Atomic uint64_t changes;

/* -- what is loaded --------------------------------------------------------------------------------------- */

static void forget(struct loaded *one) {
    image_forget(&one->image);
    free(one->blocks);
    *one = (struct loaded){0};
}

void images_reset(void) {
    memset(effect_of, 0, sizeof effect_of);
    for (size_t i = 0; i < count; i++)
        forget(&loaded[i]);
    count = 0;
    atomic_store(&missed, false);
}

bool images_want(uint32_t cbid, const char *name) {
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (strcmp(effects[i].name, name) == 0)
            effect_of[cbid] = (uint8_t)effects[i].effect;
    return effect_of[cbid] != NO_EFFECT;
}

/* With the lock: where it is, else a free place; NULL without memory. */
static struct loaded *place_of(const void *handle, bool is_library) {
    struct loaded *unused = NULL;
    for (size_t i = 0; i < count; i++) {
        if (loaded[i].handle == handle && loaded[i].is_library == is_library)
            return &loaded[i];
        if (!loaded[i].handle)
            unused = &loaded[i];
    }
    if (unused)
        return unused;
    if (count == room) {
        size_t wanted = room ? 2 * room : 64;
        struct loaded *grown = realloc(loaded, wanted * sizeof *grown);
        if (!grown)
            return NULL;
        loaded = grown;
        room = wanted;
    }
    loaded[count] = (struct loaded){0};
    return &loaded[count++];
}

/* With the lock. Handles are used again: the last one counts. */
static void unload(const void *handle, bool is_library) {
    for (size_t i = 0; i < count; i++)
        if (loaded[i].handle == handle && loaded[i].is_library == is_library)
            forget(&loaded[i]);
}

/* Of the current context's device, such as 90; 0: not known. */
static unsigned capability(void) {
    CUdevice device;
    int major = 0, minor = 0;
    if (cuda.CtxGetDevice(&device) != 0 || cuda.DeviceGetAttribute(&major, CAPABILITY_MAJOR, device) != 0 ||
        cuda.DeviceGetAttribute(&minor, CAPABILITY_MINOR, device) != 0)
        return 0;
    return (unsigned)(10 * major + minor);
}

static void load(void *handle, const void *data, enum effect effect) {
    bool is_file = effect == READS_MODULE_FILE || effect == READS_LIBRARY_FILE;
    struct loaded one = {.handle = handle,
                         .is_library = effect == LOADS_LIBRARY || effect == READS_LIBRARY_FILE};
    if (is_file)
        one.image.fault = from_file;
    else
        image_take(&one.image, data, capability());
    if (!lock_for_program(&lock)) {
        atomic_store(&missed, true);
        forget(&one);
        return;
    }
    struct loaded *place = place_of(handle, one.is_library);
    if (place) {
        forget(place);
        *place = one;
    }
    pthread_mutex_unlock(&lock);
}

void images_call(const CUpti_CallbackData *data, uint32_t cbid) {
    const uintptr_t *words = data->params;
    enum effect effect = (enum effect)effect_of[cbid];
    if (effect == NO_EFFECT)
        return;
    atomic_fetch_add(&changes, 1);
    if (effect == UNLOADS_MODULE || effect == UNLOADS_LIBRARY) {
        if (!lock_for_program(&lock)) {
            atomic_store(&missed, true);
            return;
        }
        unload((const void *)words[0], effect == UNLOADS_LIBRARY);
        pthread_mutex_unlock(&lock);
    } else if (data->site != 0 && !(data->return_value && *(const int *)data->return_value != 0) && words[0]) {
        load(*(void *const *)words[0], (const void *)words[1], effect);
    }
}

/* -- variables ---------------------------------------------------------------------------------------------- */

/* Texts of assertions and of what is printed: nothing writes them, and the driver does not find them. */
static bool is_text(const struct variable *variable) {
    return strncmp(variable->name, "$str", 4) == 0 || strncmp(variable->name, "__unnamed_", 10) == 0;
}

/* Objects without contents that NVIDIA's libraries for C++ put into every module: a byte each. */
static bool is_tag(const struct variable *variable) {
    static const char *const namespaces[] = {"4cuda3std3__4", "6thrust", "4cute", "3cub"};
    for (size_t i = 0; variable->bytes == 1 && i < sizeof namespaces / sizeof *namespaces; i++)
        if (strstr(variable->name, "_INTERNAL_") && strstr(variable->name, namespaces[i]))
            return true;
    return false;
}

/* Each has a place of its own, 256 bytes or more after the last one (driver 580); the driver copies no
 * byte beyond its end. */
static bool find_variable(struct loaded *one, const struct variable *variable, CUmodule module) {
    CUdeviceptr at = 0;
    size_t bytes = 0;
    if (is_text(variable) || is_tag(variable))
        return true;
    if (cuda.ModuleGetGlobal(&at, &bytes, module, variable->name) != 0 || at % 8 != 0 ||
        (variable->bytes && variable->bytes != bytes))
        return false;
    one->blocks[one->block_count++] = (struct block){.address = at, .bytes = bytes};
    return true;
}

static const char *find_variables(struct loaded *one, CUmodule module) {
    const struct image *image = &one->image;
    one->blocks = calloc(image->variable_count + 1, sizeof *one->blocks);
    if (image->variable_count && (!one->blocks || !cuda.ModuleGetGlobal))
        return not_found;
    for (size_t i = 0; i < image->variable_count; i++)
        if (!find_variable(one, &image->variables[i], module))
            return not_found;
    return NULL;
}

/* With the lock. What is asked for the first time is read, and its variables found. */
static void ask(struct loaded *one, CUmodule module) {
    if (one->asked)
        return;
    one->asked = true;
    image_read(&one->image, capability());
    one->fault = one->image.fault ? one->image.fault : find_variables(one, module);
}

uint64_t images_changes(void) { return atomic_load(&changes); }

bool images_hold(CUdeviceptr address, size_t bytes) {
    bool holds = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !holds; i++)
        for (size_t k = 0; !loaded[i].fault && k < loaded[i].block_count && !holds; k++) {
            const struct block *block = &loaded[i].blocks[k];
            holds = block->address <= address && address + bytes <= block->address + block->bytes;
        }
    pthread_mutex_unlock(&lock);
    return holds;
}

struct block *images_blocks(size_t *found) {
    pthread_mutex_lock(&lock);
    *found = 0;
    for (size_t i = 0; i < count; i++)
        *found += loaded[i].fault ? 0 : loaded[i].block_count;
    struct block *list = atomic_load(&missed) ? NULL : calloc(*found + 1, sizeof *list), *next = list;
    for (size_t i = 0; i < count && list; i++)
        if (!loaded[i].fault && loaded[i].block_count) {
            memcpy(next, loaded[i].blocks, loaded[i].block_count * sizeof *next);
            next += loaded[i].block_count;
        }
    pthread_mutex_unlock(&lock);
    return list;
}

/* -- whose kernel it is ------------------------------------------------------------------------------------ */

/* With the lock: the module, or the library whose module this is in the current context. */
static struct loaded *find(CUmodule module) {
    CUresult (*module_of)(CUmodule *, void *);
    for (size_t i = 0; i < count; i++)
        if (loaded[i].handle && (loaded[i].is_library ? loaded[i].module : loaded[i].handle) == module)
            return &loaded[i];
    *(void **)&module_of = cuda_symbol("cuLibraryGetModule");
    for (size_t i = 0; module_of && i < count; i++) {
        CUmodule found = NULL;
        if (loaded[i].is_library && !loaded[i].module && module_of(&found, loaded[i].handle) == 0 &&
            found == module) {
            loaded[i].module = module;
            return &loaded[i];
        }
    }
    return NULL;
}

const char *images_obstacle(CUfunction function, const char *name) {
    CUmodule module = NULL;
    if (!cuda.FuncGetModule || cuda.FuncGetModule(&module, function) != 0)
        return unseen;
    pthread_mutex_lock(&lock);
    struct loaded *found = atomic_load(&missed) ? NULL : find(module);
    if (found)
        ask(found, module);
    const char *why = found ? found->fault : unseen;
    if (!why && image_calls(&found->image, name))
        why = has_calls;
    pthread_mutex_unlock(&lock);
    return why;
}
