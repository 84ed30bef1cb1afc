/* Modules: PTX text, or machine code in an ELF file, is read for its entries and their parameters. */
#include "fake.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>

/* Of a module's global memory. */
struct variable {
    char *name;
    CUdeviceptr address;
    size_t bytes;
};

struct module {
    struct function **functions;
    size_t function_count;
    struct variable *variables;
    size_t variable_count;
};

/* Copy PTX without its comments. */
static char *without_comments(const char *text) {
    char *copy = fake_allocate(strlen(text) + 1, 1), *out = copy;
    while (*text) {
        if (text[0] == '/' && text[1] == '/') {
            while (*text && *text != '\n')
                text++;
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            text = end ? end + 2 : text + strlen(text);
        } else {
            *out++ = *text++;
        }
    }
    return copy;
}

/* Bytes of a PTX type such as ".u64"; 0 when it is none. */
static size_t type_bytes(const char *type) {
    static const char kinds[] = "bsuf";
    if (type[0] != '.' || !strchr(kinds, type[1]))
        return 0;
    return (size_t)strtoul(type + 2, NULL, 10) / 8;
}

/* Read one ".param ..." declaration up to its end; append it to the function. */
static void add_parameter(struct function *function, const char *text, const char *end) {
    char declaration[512];
    size_t length = (size_t)(end - text);
    if (length >= sizeof declaration)
        length = sizeof declaration - 1;
    memcpy(declaration, text, length);
    declaration[length] = 0;
    size_t align = 0, size = 0;
    const char *array = strchr(declaration, '[');
    char *rest = NULL;
    for (char *word = strtok_r(declaration, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (strcmp(word, ".align") == 0) {
            char *number = strtok_r(NULL, " \t\r\n", &rest);
            align = number ? strtoul(number, NULL, 10) : 0;
        } else if (size == 0) {
            size = type_bytes(word);
        }
    }
    if (align == 0)
        align = size ? size : 1;
    if (array)
        size *= strtoul(text + (array - declaration) + 1, NULL, 10);
    size_t offset = (function->parameter_bytes + align - 1) / align * align;
    struct parameter parameter = {offset, size};
    function->parameters =
        fake_append(function->parameters, function->parameter_count++, sizeof parameter, &parameter);
    function->parameter_bytes = offset + size;
}

static void read_parameters(struct function *function, const char *text, const char *end) {
    while (text < end) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const char *stop = comma ? comma : end;
        const char *declaration = strstr(text, ".param");
        if (declaration && declaration < stop)
            add_parameter(function, declaration + strlen(".param"), stop);
        text = stop + 1;
    }
}

static void add_function(struct module *module, struct function *function, char *name) {
    function->module = module;
    function->name = name;
    module->functions =
        fake_append(module->functions, module->function_count++, sizeof function, &function);
    add_object(function, OBJECT_FUNCTION);
}

/* Read the entry that starts at `text`, just after ".entry". Its name may be of any bytes: the
 * real driver takes whatever stands in a binary's symbol table. */
static const char *read_entry(struct module *module, const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    const char *end = text;
    while (*end && !isspace((unsigned char)*end) && *end != '(' && *end != '{')
        end++;
    struct function *function = fake_allocate(1, sizeof *function);
    const char *open = strchr(end, '(');
    const char *body = strchr(end, '{');
    if (open && (!body || open < body)) {
        const char *close = strchr(open, ')');
        if (close)
            read_parameters(function, open + 1, close);
    }
    add_function(module, function, strndup(text, (size_t)(end - text)));
    return end;
}

/* Read ".global .align 4 .u32 name;", just after ".global", and give it memory of 0. */
static void read_variable(struct module *module, const char *text) {
    char declaration[256], *rest = NULL;
    size_t length = strcspn(text, ";");
    snprintf(declaration, sizeof declaration, "%.*s", (int)length, text);
    struct variable variable = {0};
    for (char *word = strtok_r(declaration, " \t\r\n[", &rest); word; word = strtok_r(NULL, " \t\r\n[", &rest)) {
        if (type_bytes(word))
            variable.bytes = type_bytes(word);
        else if (variable.bytes && !variable.name)
            variable.name = strdup(word);
    }
    if (!variable.name || allocate_device(&variable.address, variable.bytes) != CUDA_SUCCESS)
        return;
    memset((void *)variable.address, 0, variable.bytes);
    module->variables =
        fake_append(module->variables, module->variable_count++, sizeof variable, &variable);
}

void *module_variable(const struct module *module, const char *name) {
    for (size_t i = 0; i < module->variable_count; i++)
        if (strcmp(module->variables[i].name, name) == 0)
            return (void *)module->variables[i].address;
    return NULL;
}

/* As the real driver, of what kernels declare. */
static CUresult get_variable(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    if (!fake_is(module, OBJECT_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < module->variable_count && !fake_refuses(name); i++)
        if (strcmp(module->variables[i].name, name) == 0) {
            *address = module->variables[i].address;
            *bytes = module->variables[i].bytes;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    fake_waits("cuModuleGetGlobal_v2");
    return get_variable(address, bytes, module, name);
}

static CUresult read_text(struct module *module, const char *image) {
    char *text = without_comments(image);
    if (!strstr(text, ".version") || !strstr(text, ".target")) {
        free(text);
        return strstr(image, ".entry") ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
    }
    for (const char *at = strstr(text, ".entry"); at; at = strstr(at, ".entry"))
        at = read_entry(module, at + strlen(".entry"));
    for (const char *at = strstr(text, ".global "); at; at = strstr(at + 1, ".global "))
        read_variable(module, at + strlen(".global"));
    free(text);
    return CUDA_SUCCESS;
}

/* Parameters of a kernel, as section .nv.info.NAME lists them: each attribute has a form (4: with bytes, so
 * many), a number (0x17: a parameter) and its bytes: an index, number and place of the parameter, and its
 * size above bit 18. As ptxas 13.0 writes it, and cuobjdump -elf shows it. */
static void read_listed(struct function *function, const unsigned char *at, const unsigned char *end) {
    while (at + 4 <= end) {
        size_t bytes = at[0] == 4 ? (size_t)at[2] | (size_t)at[3] << 8 : 0;
        struct {
            uint32_t index;
            uint16_t number, offset;
            uint32_t size;
        } listed;
        if (at[0] == 4 && at[1] == 0x17 && bytes == sizeof listed) {
            memcpy(&listed, at + 4, sizeof listed);
            struct parameter parameter = {listed.offset, listed.size >> 18};
            function->parameters =
                fake_append(function->parameters, function->parameter_count++, sizeof parameter, &parameter);
            function->parameter_bytes += parameter.size;
        }
        at += 4 + bytes;
    }
}

/* It runs on GPUs of its major compute capability, from its minor one on; FAKE_OLD_DRIVER: older than any. */
static CUresult read_elf(struct module *module, const char *image) {
    static const char listed[] = ".nv.info.";
    const Elf64_Ehdr *head = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + head->e_shoff);
    const char *names = image + sections[head->e_shstrndx].sh_offset;
    unsigned architecture = head->e_flags >> 8 & 0xff;
    if (architecture / 10 != 9 || architecture % 10 > 0 || fake_setting("FAKE_OLD_DRIVER"))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    for (size_t i = 0; i < head->e_shnum; i++) {
        const char *name = names + sections[i].sh_name;
        const unsigned char *at = (const unsigned char *)image + sections[i].sh_offset;
        if (strncmp(name, listed, strlen(listed)) != 0)
            continue;
        struct function *function = fake_allocate(1, sizeof *function);
        read_listed(function, at, at + sections[i].sh_size);
        add_function(module, function, strdup(name + strlen(listed)));
    }
    return CUDA_SUCCESS;
}

static size_t elf_bytes(const char *image) {
    const Elf64_Ehdr *head = (const void *)image;
    return head->e_phoff + head->e_phnum * sizeof(Elf64_Phdr);
}

/* FAKE_NO_COMPILER: the driver's compiler of PTX is missing, for what has a kernel of gviz's probes. */
static CUresult load(CUmodule *out, const char *image) {
    CUresult result = require_context();
    if (result == CUDA_SUCCESS)
        result = check_unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    bool is_elf = memcmp(image, ELFMAG, SELFMAG) == 0;
    if (!is_elf && strstr(image, "gviz_probe") && fake_setting("FAKE_NO_COMPILER"))
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
    struct module *module = fake_allocate(1, sizeof *module);
    result = is_elf ? read_elf(module, image) : read_text(module, image);
    if (result != CUDA_SUCCESS) {
        free(module);
        return result;
    }
    take_code_memory();
    add_object(module, OBJECT_MODULE);
    struct {
        uint32_t id;
        size_t bytes;
        const char *image;
    } descriptor = {1, is_elf ? elf_bytes(image) : strlen(image), image};
    notify(RESOURCE_MODULE_LOADED, NULL, &descriptor);
    *out = module;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    TRACED(cuModuleLoadData, { CUmodule *a; const void *b; }, load(module, image), module, image);
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count, int *options,
                                   void **values) {
    TRACED(cuModuleLoadDataEx, { CUmodule *a; const void *b; unsigned int c; int *d; void **e; },
           load(module, image), module, image, count, options, values);
}

/* Functions live on: records and nodes may still name them. */
static CUresult unload(CUmodule module) {
    if (!fake_is(module, OBJECT_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    remove_object(module);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
    TRACED(cuModuleUnload, { CUmodule a; }, unload(module), module);
}

static CUresult get_function(CUfunction *out, CUmodule module, const char *name) {
    if (!fake_is(module, OBJECT_MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < module->function_count; i++)
        if (strcmp(module->functions[i]->name, name) == 0 && !fake_refuses(name)) {
            *out = module->functions[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    TRACED(cuModuleGetFunction, { CUfunction *a; CUmodule b; const char *c; },
           get_function(function, module, name), function, module, name);
}

static CUresult get_name(const char **name, const void *function) {
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fake_is(function, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = ((const struct function *)function)->name;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetName(const char **name, CUfunction function) {
    TRACED(cuFuncGetName, { const char **a; CUfunction b; }, get_name(name, function), name, function);
}

/* A kernel handle and its function are one object here. */
EXPORT CUresult cuKernelGetName(const char **name, CUkernel kernel) {
    TRACED(cuKernelGetName, { const char **a; CUkernel b; }, get_name(name, kernel), name, kernel);
}

EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    TRACED(cuKernelGetFunction, { CUfunction *a; CUkernel b; },
           fake_is(kernel, OBJECT_FUNCTION) ? (*function = (CUfunction)kernel, CUDA_SUCCESS)
                                            : CUDA_ERROR_INVALID_HANDLE,
           function, kernel);
}

EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    TRACED(cuFuncGetModule, { CUmodule *a; CUfunction b; },
           fake_is(function, OBJECT_FUNCTION) ? (*module = function->module, CUDA_SUCCESS)
                                              : CUDA_ERROR_INVALID_HANDLE,
           module, function);
}

static CUresult get_attribute(int *value, int attribute, CUfunction function) {
    /* MAX_THREADS_PER_BLOCK, SHARED_SIZE, CONST_SIZE, LOCAL_SIZE, NUM_REGS, PTX and binary version */
    static const int values[] = {1024, 0, 0, 0, 16, 70, 90, 0, 49152, -1};
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fake_is(function, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute < 0 || attribute > 15)
        return CUDA_ERROR_INVALID_VALUE;
    *value = attribute < (int)(sizeof values / sizeof *values) ? values[attribute] : 0;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    TRACED(cuFuncGetAttribute, { int *a; int b; CUfunction c; },
           get_attribute(value, attribute, function), value, attribute, function);
}

static CUresult get_parameter(CUfunction function, size_t index, size_t *offset, size_t *size) {
    if (!fake_is(function, OBJECT_FUNCTION) || !offset || index >= function->parameter_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = function->parameters[index].offset;
    if (size)
        *size = function->parameters[index].size;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
    TRACED(cuFuncGetParamInfo, { CUfunction a; size_t b; size_t *c; size_t *d; },
           get_parameter(function, index, offset, size), function, index, offset, size);
}

/* Bounded by threads (2,048) and by blocks (32) of a multiprocessor of compute capability 9.0. */
static int blocks_that_fit(int block_size, size_t shared) {
    int warps = (block_size + 31) / 32;
    int found = 64 / warps < 32 ? 64 / warps : 32;
    if (shared && (int)(233472 / (shared + 1024)) < found)
        found = (int)(233472 / (shared + 1024));
    return found;
}

bool fills_gpu(const struct work *work) {
    if (work->type != NODE_KERNEL)
        return false;
    uint64_t blocks = (uint64_t)work->grid[0] * work->grid[1] * work->grid[2];
    int room = blocks_that_fit((int)(work->block[0] * work->block[1] * work->block[2]), work->shared_mem_bytes);
    return blocks >= (uint64_t)room * MULTIPROCESSORS;
}

static CUresult get_occupancy(int *blocks, CUfunction function, int block_size, size_t shared) {
    if (!fake_is(function, OBJECT_FUNCTION))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!blocks || block_size <= 0 || block_size > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = blocks_that_fit(block_size, shared);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                            size_t shared) {
    TRACED(cuOccupancyMaxActiveBlocksPerMultiprocessor, { int *a; CUfunction b; int c; size_t d; },
           get_occupancy(blocks, function, block_size, shared), blocks, function, block_size, shared);
}
