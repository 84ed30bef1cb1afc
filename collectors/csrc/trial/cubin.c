/* Binaries of a GPU (ELF): the variables of a module, and which of its kernels call the driver.
 *
 * Variables are the objects of the sections .nv.global and .nv.global.init; the section .nv.callgraph
 * holds pairs of symbols, caller and callee, in lists that a pair (0, -n) begins. Both are read off
 * binaries of nvcc 13.0 to 13.3; NVIDIA documents neither.
 */
#include "trial/parts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define IS_KERNEL 0x10 /* in st_other */
#define CALLS (-1)
#define CALLS_BY_ADDRESS (-3)
#define CALLS_PERHAPS (-4)

/* Functions that the driver gives to kernels, by how their names begin. */
const char *const calls_of_kernels[] = {"vprintf",   "malloc",      "free",       "cudaLaunchDevice", "cudaGraphLaunch",
                                        "cnpLaunch", "cnpv2Launch", "__cudaCDP2", NULL};

static bool is_call_of_kernels(const char *name) {
    for (size_t i = 0; calls_of_kernels[i]; i++)
        if (strncmp(name, calls_of_kernels[i], strlen(calls_of_kernels[i])) == 0)
            return true;
    return false;
}

/* The parts of a binary that are read. */
struct cubin {
    const char *base;
    const Elf64_Shdr *sections;
    size_t count;
    const char *section_names;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *names; /* of symbols */
    const int32_t (*calls)[2];
    size_t call_count;
};

static bool open_cubin(struct cubin *cubin, const void *image, size_t bytes) {
    const Elf64_Ehdr *elf = image;
    if (bytes < sizeof *elf || elf->e_ident[EI_CLASS] != ELFCLASS64 || !elf->e_shoff ||
        elf->e_shstrndx >= elf->e_shnum || elf->e_shoff + elf->e_shnum * sizeof(Elf64_Shdr) > bytes)
        return false;
    *cubin = (struct cubin){.base = image, .count = elf->e_shnum};
    cubin->sections = (const Elf64_Shdr *)(cubin->base + elf->e_shoff);
    cubin->section_names = cubin->base + cubin->sections[elf->e_shstrndx].sh_offset;
    for (size_t i = 0; i < cubin->count; i++) {
        const Elf64_Shdr *section = &cubin->sections[i];
        const char *name = cubin->section_names + section->sh_name;
        if (section->sh_type != SHT_NOBITS && section->sh_offset + section->sh_size > bytes)
            return false;
        if (section->sh_type == SHT_SYMTAB && section->sh_link < cubin->count) {
            cubin->symbols = (const Elf64_Sym *)(cubin->base + section->sh_offset);
            cubin->symbol_count = section->sh_size / sizeof(Elf64_Sym);
            cubin->names = cubin->base + cubin->sections[section->sh_link].sh_offset;
        } else if (strcmp(name, ".nv.callgraph") == 0) {
            cubin->calls = (const int32_t(*)[2])(cubin->base + section->sh_offset);
            cubin->call_count = section->sh_size / sizeof *cubin->calls;
        }
    }
    return true;
}

/* -- variables --------------------------------------------------------------------------------------- */

static bool read_variables(struct image *image, const struct cubin *cubin) {
    static const char global[] = ".nv.global";
    for (size_t i = 0; i < cubin->count; i++) {
        const Elf64_Shdr *section = &cubin->sections[i];
        if (strncmp(cubin->section_names + section->sh_name, global, sizeof global - 1) != 0 || !section->sh_size)
            continue;
        bool known = false;
        for (size_t k = 0; k < cubin->symbol_count; k++) {
            const Elf64_Sym *symbol = &cubin->symbols[k];
            if (symbol->st_shndx != i || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
                continue;
            known = true;
            if (!image_add_variable(image, cubin->names + symbol->st_name, symbol->st_size))
                return false;
        }
        if (!known)
            return false;
    }
    return true;
}

/* -- calls -------------------------------------------------------------------------------------------- */

/* Mark the callers of what is marked, and theirs. */
static void mark_callers(const struct cubin *cubin, uint8_t *calls) {
    for (bool changed = true; changed;) {
        int32_t list = CALLS;
        changed = false;
        for (size_t i = 0; i < cubin->call_count; i++) {
            int32_t from = cubin->calls[i][0], to = cubin->calls[i][1];
            if (to < 0) {
                list = to;
                continue;
            }
            bool known = from >= 0 && (size_t)from < cubin->symbol_count && (size_t)to < cubin->symbol_count;
            bool reaches = known && (list == CALLS_BY_ADDRESS ||
                                     ((list == CALLS || list == CALLS_PERHAPS) && calls[to]));
            if (reaches && !calls[from])
                calls[from] = changed = true;
        }
    }
}

/* Whether any function of the binary calls the driver: they are marked. */
static bool mark_called(const struct cubin *cubin, uint8_t *calls) {
    bool any = false;
    for (size_t i = 0; i < cubin->symbol_count; i++) {
        const Elf64_Sym *symbol = &cubin->symbols[i];
        calls[i] = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && !(symbol->st_other & IS_KERNEL) &&
                   is_call_of_kernels(cubin->names + symbol->st_name);
        any = any || calls[i];
    }
    return any;
}

static bool read_callers(struct image *image, const struct cubin *cubin) {
    uint8_t *calls = calloc(cubin->symbol_count + 1, 1);
    if (!calls)
        return false;
    bool good = true;
    if (mark_called(cubin, calls)) {
        image->all_call = !cubin->calls;
        mark_callers(cubin, calls);
    }
    for (size_t i = 0; i < cubin->symbol_count && good; i++)
        if (calls[i] && (cubin->symbols[i].st_other & IS_KERNEL))
            good = image_add_caller(image, cubin->names + cubin->symbols[i].st_name);
    free(calls);
    return good;
}

bool cubin_read(struct image *image, const void *binary, size_t bytes) {
    struct cubin cubin;
    return open_cubin(&cubin, binary, bytes) && read_variables(image, &cubin) && read_callers(image, &cubin);
}
