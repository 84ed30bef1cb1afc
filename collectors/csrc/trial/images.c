/* Images of modules: whether their kernels may write or print what no block of memory has.
 *
 * A variable in a module's global memory is in none of the blocks that a trial saves, and text that a
 * kernel prints cannot be taken back. Images are read when they are loaded: PTX text, and binaries
 * (ELF), also in a fat binary as long as they are not compressed.
 */
#define _GNU_SOURCE
#include "calls/calls.h"
#include "trial/parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define FAT_MAGIC 0xba55ed50u
#define FAT_PTX 1
#define FAT_ELF 2

static const char unreadable[] = "the code of its kernels is compressed or of an unknown form, so that their "
                                 "variables are not known";
static const char unseen[] = "the module of one of its kernels was not seen to be loaded";
static const char has_variables[] = "a module of its kernels has variables in global memory, which are not saved";
static const char has_calls[] = "a module of its kernels prints, allocates memory or launches kernels by itself";

/* Functions that the driver gives to kernels. */
static const char *const calls_of_kernels[] = {"vprintf", "malloc", "free", "cudaLaunchDevice",
                                               "cudaGraphLaunch", "cnpLaunch"};

/* -- PTX --------------------------------------------------------------------------------------------- */

/* Whether a line declares a variable in global memory. */
static bool declares_variable(const char *line) {
    static const char *const linkage[] = {".visible", ".weak", ".extern", ".common"};
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof linkage / sizeof *linkage; i++) {
        size_t length = strlen(linkage[i]);
        if (strncmp(line, linkage[i], length) == 0) {
            line += length + strspn(line + length, " \t");
            break;
        }
    }
    return strncmp(line, ".global", 7) == 0;
}

static const char *ptx_fault(const char *text) {
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (declares_variable(line))
            return has_variables;
    }
    for (size_t i = 0; i < sizeof calls_of_kernels / sizeof *calls_of_kernels; i++)
        if (strstr(text, calls_of_kernels[i]))
            return has_calls;
    return NULL;
}

/* -- binaries ------------------------------------------------------------------------------------------- */

static bool calls_driver(const char *names, size_t bytes) {
    for (const char *name = names; name < names + bytes;) {
        size_t length = strnlen(name, bytes - (size_t)(name - names));
        for (size_t i = 0; i < sizeof calls_of_kernels / sizeof *calls_of_kernels; i++)
            if (strncmp(name, calls_of_kernels[i], strlen(calls_of_kernels[i])) == 0)
                return true;
        name += length + 1;
    }
    return false;
}

static const char *elf_fault(const Elf64_Ehdr *elf) {
    const char *base = (const char *)elf;
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || !elf->e_shoff || elf->e_shstrndx >= elf->e_shnum)
        return unreadable;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(base + elf->e_shoff);
    const char *names = base + sections[elf->e_shstrndx].sh_offset;
    const char *why = NULL;
    for (size_t i = 0; i < elf->e_shnum && !why; i++) {
        const char *name = names + sections[i].sh_name;
        if (strncmp(name, ".nv.global", 10) == 0 && sections[i].sh_size)
            why = has_variables;
        else if (sections[i].sh_type == SHT_STRTAB && strcmp(name, ".strtab") == 0 &&
                 calls_driver(base + sections[i].sh_offset, sections[i].sh_size))
            why = has_calls;
    }
    return why;
}

/* A part of a fat binary. */
struct fat_part {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes;
};

static const char *part_fault(const struct fat_part *part, const void *image) {
    if (part->kind == FAT_ELF)
        return memcmp(image, ELFMAG, SELFMAG) == 0 ? elf_fault(image) : unreadable;
    char *text = part->kind == FAT_PTX ? strndup(image, part->bytes) : NULL;
    const char *why = text ? ptx_fault(text) : unreadable;
    free(text);
    return why;
}

/* The driver takes one of the parts: all must be free of faults. */
static const char *fat_fault(const char *fat) {
    uint64_t total;
    uint16_t header;
    const char *why = NULL;
    memcpy(&header, fat + 6, sizeof header);
    memcpy(&total, fat + 8, sizeof total);
    for (uint64_t at = 0; at + sizeof(struct fat_part) <= total && !why;) {
        struct fat_part part;
        memcpy(&part, fat + header + at, sizeof part);
        const void *image = fat + header + at + part.header_bytes;
        if (part.compressed_bytes || !part.header_bytes)
            return unreadable;
        why = part_fault(&part, image);
        at += part.header_bytes + part.bytes;
    }
    return why;
}

const char *image_fault(const void *image) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC) {
        const char *fat;
        memcpy(&fat, (const char *)image + 8, sizeof fat);
        return image_fault(fat);
    }
    if (magic == FAT_MAGIC)
        return fat_fault(image);
    if (memcmp(image, ELFMAG, SELFMAG) == 0)
        return elf_fault(image);
    unsigned char first = *(const unsigned char *)image;
    return first == '/' || first == '.' || first == '\n' || first == ' ' || first == '\t' ? ptx_fault(image)
                                                                                         : unreadable;
}

/* For tests. */
GVIZ_EXPORT const char *gviz_image_fault(const void *image) { return image_fault(image); }

/* -- what is loaded --------------------------------------------------------------------------------------- */

enum effect { NO_EFFECT, LOADS_MODULE, LOADS_LIBRARY, READS_MODULE_FILE, READS_LIBRARY_FILE };

static const struct {
    const char *name;
    enum effect effect;
} effects[] = {
    {"cuModuleLoadData", LOADS_MODULE},      {"cuModuleLoadDataEx", LOADS_MODULE},
    {"cuModuleLoadFatBinary", LOADS_MODULE}, {"cuLibraryLoadData", LOADS_LIBRARY},
    {"cuModuleLoad", READS_MODULE_FILE},     {"cuLibraryLoadFromFile", READS_LIBRARY_FILE},
};

struct loaded {
    void *handle; /* of a module or library */
    bool is_library;
    const char *fault;
};

GVIZ_LOCK(lock);
static uint8_t effect_of[CALL_ID_LIMIT];
static struct loaded *loaded;
static size_t count, room;

void images_reset(void) {
    memset(effect_of, 0, sizeof effect_of);
    count = 0;
}

bool images_want(uint32_t cbid, const char *name) {
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (strcmp(effects[i].name, name) == 0)
            effect_of[cbid] = (uint8_t)effects[i].effect;
    return effect_of[cbid] != NO_EFFECT;
}

/* With the lock. Handles are used again: the last one counts. */
static void keep(struct loaded one) {
    for (size_t i = 0; i < count; i++)
        if (loaded[i].handle == one.handle && loaded[i].is_library == one.is_library) {
            loaded[i] = one;
            return;
        }
    if (count == room) {
        size_t wanted = room ? 2 * room : 64;
        struct loaded *grown = realloc(loaded, wanted * sizeof *grown);
        if (!grown)
            return; /* it was not seen */
        loaded = grown;
        room = wanted;
    }
    loaded[count++] = one;
}

void images_call(const CUpti_CallbackData *data, uint32_t cbid) {
    const uintptr_t *words = data->params;
    enum effect effect = (enum effect)effect_of[cbid];
    if (data->site == 0 || (data->return_value && *(const int *)data->return_value != 0) || !words[0])
        return;
    bool from_file = effect == READS_MODULE_FILE || effect == READS_LIBRARY_FILE;
    struct loaded one = {.handle = *(void *const *)words[0],
                         .is_library = effect == LOADS_LIBRARY || effect == READS_LIBRARY_FILE,
                         .fault = from_file ? unreadable : image_fault((const void *)words[1])};
    pthread_mutex_lock(&lock);
    keep(one);
    pthread_mutex_unlock(&lock);
}

/* -- whose kernel it is ------------------------------------------------------------------------------------ */

/* With the lock. */
static const struct loaded *find(const void *handle, bool is_library) {
    for (size_t i = 0; handle && i < count; i++)
        if (loaded[i].handle == handle && loaded[i].is_library == is_library)
            return &loaded[i];
    return NULL;
}

/* With the lock: the library whose module this is, in the current context. */
static const struct loaded *library_of(CUmodule module) {
    CUresult (*module_of)(CUmodule *, void *);
    *(void **)&module_of = cuda_symbol("cuLibraryGetModule");
    for (size_t i = 0; module_of && i < count; i++) {
        CUmodule found = NULL;
        if (loaded[i].is_library && module_of(&found, loaded[i].handle) == 0 && found == module)
            return &loaded[i];
    }
    return NULL;
}

const char *images_obstacle(CUfunction function, CUkernel kernel) {
    CUmodule module = NULL;
    if (!function && kernel && cuda.KernelGetFunction)
        cuda.KernelGetFunction(&function, kernel);
    if (!cuda.FuncGetModule || !function || cuda.FuncGetModule(&module, function) != 0)
        return unseen;
    pthread_mutex_lock(&lock);
    const struct loaded *found = find(module, false);
    found = found ? found : library_of(module);
    const char *why = found ? found->fault : unseen;
    pthread_mutex_unlock(&lock);
    return why;
}
