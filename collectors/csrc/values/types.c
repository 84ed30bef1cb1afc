/* Types of what parameters point to, as the names of kernels have them. */
#define _GNU_SOURCE
#include "values/parts.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangler)(const char *mangled, char *buffer, size_t *size, int *status);

static demangler demangle;

/* Without namespaces. Of char and void nobody says that they are numbers. */
static const struct {
    const char *name;
    enum element_type type;
} elements[] = {
    {"bool", ELEMENT_BOOL},
    {"signed char", ELEMENT_INT8},
    {"unsigned char", ELEMENT_UINT8},
    {"short", ELEMENT_INT16},
    {"unsigned short", ELEMENT_UINT16},
    {"int", ELEMENT_INT32},
    {"unsigned int", ELEMENT_UINT32},
    {"long", ELEMENT_INT64},
    {"long long", ELEMENT_INT64},
    {"unsigned long", ELEMENT_UINT64},
    {"unsigned long long", ELEMENT_UINT64},
    {"__half", ELEMENT_HALF},
    {"Half", ELEMENT_HALF},
    {"half_t", ELEMENT_HALF},
    {"__nv_bfloat16", ELEMENT_BFLOAT16},
    {"BFloat16", ELEMENT_BFLOAT16},
    {"bfloat16_t", ELEMENT_BFLOAT16},
    {"float", ELEMENT_FLOAT},
    {"double", ELEMENT_DOUBLE},
    {"__nv_fp8_e4m3", ELEMENT_FP8_E4M3},
    {"Float8_e4m3fn", ELEMENT_FP8_E4M3},
    {"__nv_fp8_e5m2", ELEMENT_FP8_E5M2},
    {"Float8_e5m2", ELEMENT_FP8_E5M2},
};

/* The C++ library is never loaded for this: where the program has none, nothing is told. */
void types_prepare(void) {
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&demangle = dlsym(library ? library : RTLD_DEFAULT, "__cxa_demangle");
}

/* Where the list of parameters of a demangled name begins, behind its bracket; NULL: it has none. */
static char *parameters_in(char *name) {
    char *end = strrchr(name, ')');
    int depth = 0;
    if (!end)
        return NULL;
    *end = 0;
    for (char *at = end - 1; at >= name; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth < 0)
            return at + 1;
    }
    return NULL;
}

/* The next of a list, cut out; NULL at its end. */
static char *next_parameter(char **list) {
    char *begin = *list, *at = begin;
    int depth = 0;
    if (!begin || !*begin)
        return NULL;
    for (; *at && (depth || *at != ','); at++)
        depth += strchr("<({[", *at) ? 1 : strchr(">)}]", *at) ? -1 : 0;
    *list = *at ? at + 1 : NULL;
    *at = 0;
    return begin;
}

static void remove_word(char *text, const char *word) {
    size_t length = strlen(word);
    for (char *at; (at = strstr(text, word));)
        memmove(at, at + length, strlen(at + length) + 1);
}

static enum element_type pointed_to(char *parameter) {
    size_t length = strlen(parameter);
    if (!length || parameter[length - 1] != '*' || strchr(parameter, '<'))
        return ELEMENT_BYTES;
    parameter[length - 1] = 0;
    remove_word(parameter, " const");
    remove_word(parameter, " volatile");
    char *name = strrchr(parameter, ':');
    for (name = name ? name + 1 : parameter; isspace((unsigned char)*name);)
        name++;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, name) == 0)
            return elements[i].type;
    return ELEMENT_BYTES;
}

/* A list that contradicts the sizes is not of these parameters. */
static bool take(char *list, const size_t *sizes, size_t count, enum element_type *types) {
    for (size_t i = 0; i < count; i++) {
        char *parameter = next_parameter(&list);
        bool is_pointer = parameter && strlen(parameter) && parameter[strlen(parameter) - 1] == '*';
        if (!parameter || (is_pointer && sizes[i] != sizeof(CUdeviceptr)))
            return false;
        types[i] = pointed_to(parameter);
    }
    return !list;
}

void types_of(const char *name, const size_t *sizes, size_t count, enum element_type *types) {
    int status = 0;
    char *text = demangle && name ? demangle(name, NULL, NULL, &status) : NULL;
    char *list = text ? parameters_in(text) : NULL;
    memset(types, 0, count * sizeof *types);
    if (list && !take(list, sizes, count, types))
        memset(types, 0, count * sizeof *types);
    free(text);
}
