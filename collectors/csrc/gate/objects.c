/* Shared objects of the process, and symbols in them, read from their ELF tables.
 *
 * dlsym is answered here, so it cannot be what finds things; and what finds them must neither
 * allocate nor change what dlerror says. Nor may it call strcmp and its like: a sanitizer has its
 * own, which do not work before it has found libc's by dlsym.
 */
#define _GNU_SOURCE
#include "gate/parts.h"

#include <elf.h>
#include <link.h>

#define HIDDEN_VERSION 0x8000 /* in a version's index: not the default */

static bool equals(const char *text, const char *other) {
    for (; *text && *text == *other; text++, other++)
        continue;
    return *text == *other;
}

static bool has_prefix(const char *text, const char *prefix) {
    for (; *prefix && *text == *prefix; text++, prefix++)
        continue;
    return *prefix == 0;
}

const char *file_name(const char *path) {
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

struct tables {
    const ElfW(Sym) *symbols;
    const char *names;
    const uint32_t *gnu_hash, *hash;
    const uint16_t *versions;
};

/* glibc has replaced offsets by addresses where the section is writable. */
static const void *placed(uintptr_t base, ElfW(Addr) value) {
    return (const void *)(value < base ? base + value : value);
}

static struct tables tables_of(uintptr_t base, const ElfW(Dyn) *dynamic) {
    struct tables tables = {0};
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
        switch (dynamic->d_tag) {
        case DT_SYMTAB: tables.symbols = placed(base, dynamic->d_un.d_ptr); break;
        case DT_STRTAB: tables.names = placed(base, dynamic->d_un.d_ptr); break;
        case DT_GNU_HASH: tables.gnu_hash = placed(base, dynamic->d_un.d_ptr); break;
        case DT_HASH: tables.hash = placed(base, dynamic->d_un.d_ptr); break;
        case DT_VERSYM: tables.versions = placed(base, dynamic->d_un.d_ptr); break;
        }
    return tables;
}

static bool is_function(const struct tables *tables, uint32_t i, const char *name) {
    const ElfW(Sym) *symbol = &tables->symbols[i];
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           equals(tables->names + symbol->st_name, name);
}

/* Take a symbol if it is better than the last: the default version, else any. Returns whether to
 * stop. */
static bool take(const struct tables *tables, uint32_t i, const char *name, uint32_t *best) {
    if (!is_function(tables, i, name))
        return false;
    *best = i;
    return !tables->versions || !(tables->versions[i] & HIDDEN_VERSION);
}

static uint32_t find_by_gnu_hash(const struct tables *tables, const char *name) {
    const uint32_t *table = tables->gnu_hash;
    uint32_t bucket_count = table[0], first = table[1], bloom_count = table[2];
    const uint32_t *buckets = table + 4 + bloom_count * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chains = buckets + bucket_count;
    uint32_t hash = 5381, best = 0;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t i = bucket_count ? buckets[hash % bucket_count] : 0;
    if (i < first)
        return 0;
    for (;; i++) {
        if ((chains[i - first] | 1) == (hash | 1) && take(tables, i, name, &best))
            break;
        if (chains[i - first] & 1)
            break;
    }
    return best;
}

static uint32_t find_by_hash(const struct tables *tables, const char *name) {
    const uint32_t *table = tables->hash, *buckets = table + 2, *chains = buckets + table[0];
    uint32_t hash = 0, best = 0;
    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ ((hash >> 24) & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = table[0] ? buckets[hash % table[0]] : 0; i != 0; i = chains[i])
        if (take(tables, i, name, &best))
            break;
    return best;
}

static void *symbol_of(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name) {
    struct tables tables = tables_of(base, dynamic);
    if (!tables.symbols || !tables.names || (!tables.gnu_hash && !tables.hash))
        return NULL;
    uint32_t i = tables.gnu_hash ? find_by_gnu_hash(&tables, name) : find_by_hash(&tables, name);
    return i ? (void *)(base + tables.symbols[i].st_value) : NULL;
}

void *object_symbol(const struct object *object, const char *name) {
    return symbol_of(object->base, object->dynamic, name);
}

/* Of glibc's loader; a program with another C library has none, and no CUDA. */
extern struct r_debug _r_debug __attribute__((weak));

/* From the loader's own list: libc stands in it from the start, and nothing is called. A sanitizer
 * that starts has not made its dl_iterate_phdr ready. */
void *libc_function(const char *name) {
    struct object musl;
    if (!&_r_debug)
        return object_find("ld-musl-", 0, &musl) ? object_symbol(&musl, name) : NULL;
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        const char *file = file_name(map->l_name ? map->l_name : "");
        if (!has_prefix(file, "libc.so.6") && !has_prefix(file, "libdl.so.2"))
            continue;
        void *found = symbol_of(map->l_addr, map->l_ld, name);
        if (found)
            return found;
    }
    return NULL;
}

struct search {
    const char *prefix;
    uintptr_t address;
    struct object *object;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    (void)size;
    if (search->prefix && !has_prefix(file_name(path), search->prefix))
        return 0;
    uintptr_t first = UINTPTR_MAX, last = 0;
    const void *dynamic = NULL;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_DYNAMIC)
            dynamic = (const void *)start;
        if (header->p_type != PT_LOAD)
            continue;
        first = start < first ? start : first;
        last = start + header->p_memsz > last ? start + header->p_memsz : last;
    }
    if (!search->prefix && (search->address < first || search->address >= last))
        return 0;
    *search->object = (struct object){info->dlpi_addr, first, last, dynamic, ""};
    for (size_t i = 0; path[i] && i < sizeof search->object->path - 1; i++)
        search->object->path[i] = path[i];
    return 1;
}

bool object_find(const char *prefix, uintptr_t address, struct object *object) {
    struct search search = {prefix, address, object};
    return dl_iterate_phdr(visit, &search) == 1;
}

bool is_drivers_file(const char *path) { return has_prefix(file_name(path), "libcuda.so"); }

bool is_of_driver_or_tool(uintptr_t address) {
    static const char *const prefixes[] = {"libcuda.so", "libcupti", "libnvidia-", "libcudadebugger",
                                           "libnvcuvid", "libnvperf", "libToolsInjection"};
    struct object object;
    if (!object_find(NULL, address, &object))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (has_prefix(file_name(object.path), prefixes[i]))
            return true;
    return false;
}
