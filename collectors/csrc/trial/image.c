/* An image of a module: what is known of its variables, and of its kernels that call the driver. */
#define _GNU_SOURCE
#include "trial/parts.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define FAT_MAGIC 0xba55ed50u

const char unknown_form[] = "the code of its kernels is of an unknown form, so that their variables are not known";

/* -- what is known ------------------------------------------------------------------------------------ */

/* Room for one more in an array that doubles; NULL without memory. */
static void *grown(void *array, size_t count, size_t bytes) {
    bool full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
    return full ? realloc(array, (count < 8 ? 8 : 2 * count) * bytes) : array;
}

bool image_add_variable(struct image *image, const char *name, uint64_t bytes) {
    struct variable *array = grown(image->variables, image->variable_count, sizeof *array);
    if (!array)
        return false;
    image->variables = array;
    image->variables[image->variable_count] = (struct variable){strdup(name), bytes};
    return image->variables[image->variable_count++].name != NULL;
}

bool image_add_caller(struct image *image, const char *name) {
    char **array = grown(image->callers, image->caller_count, sizeof *array);
    if (!array)
        return false;
    image->callers = array;
    image->callers[image->caller_count++] = strdup(name);
    return image->callers[image->caller_count - 1] != NULL;
}

void image_forget(struct image *image) {
    for (size_t i = 0; i < image->variable_count; i++)
        free(image->variables[i].name);
    for (size_t i = 0; i < image->caller_count; i++)
        free(image->callers[i]);
    free(image->variables);
    free(image->callers);
    *image = (struct image){0};
}

bool image_calls(const struct image *image, const char *kernel) {
    bool calls = image->all_call;
    for (size_t i = 0; i < image->caller_count && !calls; i++)
        calls = strcmp(image->callers[i], kernel) == 0;
    return calls;
}

/* -- PTX --------------------------------------------------------------------------------------------- */

/* Where a declaration of a variable in global memory goes on after that word, or NULL. */
static const char *after_global(const char *line) {
    static const char *const linkage[] = {".visible", ".weak", ".extern", ".common"};
    line += strspn(line, " \t");
    for (size_t i = 0; i < sizeof linkage / sizeof *linkage; i++) {
        size_t length = strlen(linkage[i]);
        if (strncmp(line, linkage[i], length) == 0) {
            line += length + strspn(line + length, " \t");
            break;
        }
    }
    return strncmp(line, ".global", 7) == 0 ? line + 7 : NULL;
}

/* The name is the last word before the size, the value or the end. Several names are not understood. */
static bool add_declared(struct image *image, const char *declared) {
    const char *end = declared + strcspn(declared, "[=;\n");
    if (memchr(declared, ',', (size_t)(end - declared)))
        return false;
    while (end > declared && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    const char *name = end;
    while (name > declared && name[-1] != ' ' && name[-1] != '\t')
        name--;
    char text[512];
    snprintf(text, sizeof text, "%.*s", (int)(end - name), name);
    return *text && image_add_variable(image, text, 0);
}

bool ptx_read(struct image *image, const char *text) {
    bool good = true;
    for (const char *statement = text; statement && good; statement = strpbrk(statement, "\n;")) {
        statement += *statement == '\n' || *statement == ';';
        const char *declared = after_global(statement);
        if (declared)
            good = add_declared(image, declared);
    }
    for (size_t i = 0; calls_of_kernels[i]; i++)
        image->all_call = image->all_call || strstr(text, calls_of_kernels[i]);
    return good;
}

/* -- any ------------------------------------------------------------------------------------------------ */

/* Whether its file stays loaded: then it can be read later, if at all. */
static bool is_of_a_file(const void *image) {
    Dl_info info;
    return dladdr(image, &info) != 0;
}

/* How many bytes a binary has: its headers come last. */
static size_t cubin_bytes(const void *image) {
    const Elf64_Ehdr *elf = image;
    size_t programs = elf->e_phoff + (size_t)elf->e_phnum * sizeof(Elf64_Phdr);
    size_t sections = elf->e_shoff + (size_t)elf->e_shnum * sizeof(Elf64_Shdr);
    return programs > sections ? programs : sections;
}

static const void *unwrapped(const void *image) {
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC)
        memcpy(&image, (const char *)image + 8, sizeof image);
    return image;
}

static void read_now(struct image *image, const void *data, unsigned capability) {
    uint32_t magic;
    memcpy(&magic, data, sizeof magic);
    unsigned char first = (unsigned char)magic;
    bool is_text = first == '/' || first == '.' || first == '\n' || first == ' ' || first == '\t';
    if (magic == FAT_MAGIC)
        fat_read(image, data, capability);
    else if (memcmp(data, ELFMAG, SELFMAG) == 0 ? !cubin_read(image, data, cubin_bytes(data))
                                                : !is_text || !ptx_read(image, data))
        image->fault = unknown_form;
}

void image_take(struct image *image, const void *data, unsigned capability) {
    *image = (struct image){0};
    data = unwrapped(data);
    if (is_of_a_file(data))
        image->unread = data;
    else
        read_now(image, data, capability);
}

void image_read(struct image *image, unsigned capability) {
    const void *data = image->unread;
    image->unread = NULL;
    if (data && is_of_a_file(data))
        read_now(image, data, capability);
    else if (data)
        image->fault = unknown_form;
}

/* For tests: what is known of an image, a line each. Returns how many bytes the text has. */
GVIZ_EXPORT size_t gviz_image_text(const void *data, unsigned capability, char *text, size_t room) {
    struct image image = {0};
    size_t length = 0;
    read_now(&image, unwrapped(data), capability);
#define SAY(...) length += (size_t)snprintf(text + length, length < room ? room - length : 0, __VA_ARGS__)
    if (image.fault)
        SAY("fault %s\n", image.fault);
    for (size_t i = 0; i < image.variable_count; i++)
        SAY("variable %s %zu\n", image.variables[i].name, (size_t)image.variables[i].bytes);
    if (image.all_call)
        SAY("all call\n");
    for (size_t i = 0; i < image.caller_count; i++)
        SAY("calls %s\n", image.callers[i]);
#undef SAY
    image_forget(&image);
    return length;
}
