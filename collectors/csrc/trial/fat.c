/* Fat binaries: the part that the driver takes, without its compression.
 *
 * Parts are compressed by LZ4 or, since CUDA 12.4, by zstd; the libraries of these names are loaded
 * when the first such part is read. The header's fields are read off files of fatbinary 11 to 13.3;
 * NVIDIA does not document them.
 */
#define _GNU_SOURCE
#include "trial/parts.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FAT_PTX 1
#define FAT_ELF 2
#define COMPRESSED_LZ4 0x2000u
#define COMPRESSED_ZSTD 0x8000u
#define OF_THIS_GPU_ALONE 0x100000u /* as sm_90a */
#define OF_A_FAMILY 0x1000000u      /* as sm_100f */
/* What takes longer to read than a trial is worth. */
#define MOST_BYTES (256u << 20)

/* A part's header, up to the field after the last one that is read. */
struct part {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes, unknown;
    uint16_t minor, major;
    uint32_t capability, name_offset, name_bytes;
    uint64_t flags, zero, decompressed_bytes;
};

/* -- which part ---------------------------------------------------------------------------------------- */

/* How well a part fits a GPU of this capability, such as 90; 0: not at all. Code for it before PTX. */
static unsigned fitness(const struct part *part, unsigned capability) {
    bool same_family = part->capability / 10 == capability / 10;
    if (part->capability > capability)
        return 0;
    if (part->kind == FAT_PTX)
        return 1 + part->capability;
    if (part->kind != FAT_ELF || !same_family ||
        ((part->flags & OF_THIS_GPU_ALONE) && part->capability != capability))
        return 0;
    unsigned special = part->flags & OF_THIS_GPU_ALONE ? 2 : part->flags & OF_A_FAMILY ? 1 : 0;
    return 10000 + 10 * part->capability + special;
}

static const void *choose(struct part *best, const char *fat, unsigned capability) {
    uint64_t total;
    uint16_t header;
    const void *chosen = NULL;
    unsigned most = 0;
    memcpy(&header, fat + 6, sizeof header);
    memcpy(&total, fat + 8, sizeof total);
    for (uint64_t at = 0; at + sizeof(struct part) <= total;) {
        struct part part;
        memcpy(&part, fat + header + at, sizeof part);
        if (part.header_bytes < sizeof part)
            return NULL;
        if (fitness(&part, capability) > most) {
            most = fitness(&part, capability);
            *best = part;
            chosen = fat + header + at + part.header_bytes;
        }
        at += part.header_bytes + part.bytes;
    }
    return chosen;
}

/* -- compression ---------------------------------------------------------------------------------------- */

static bool expand_zstd(char *to, size_t bytes, const void *from, size_t from_bytes) {
    size_t (*decompress)(void *, size_t, const void *, size_t) = NULL;
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&decompress = dlsym(library, "ZSTD_decompress");
    return decompress && decompress(to, bytes, from, from_bytes) == bytes;
}

static bool expand_lz4(char *to, size_t bytes, const void *from, size_t from_bytes) {
    int (*decompress)(const char *, char *, int, int) = NULL;
    void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&decompress = dlsym(library, "LZ4_decompress_safe");
    return decompress && decompress(from, to, (int)from_bytes, (int)bytes) == (int)bytes;
}

/* A text of PTX ends with 0. */
static char *expand(const struct part *part, const void *data, size_t *bytes) {
    bool is_zstd = part->flags & COMPRESSED_ZSTD, is_lz4 = part->flags & COMPRESSED_LZ4;
    *bytes = is_zstd || is_lz4 ? part->decompressed_bytes : part->bytes;
    char *expanded = *bytes <= MOST_BYTES ? malloc(*bytes + 1) : NULL;
    bool good = expanded != NULL;
    if (good && is_zstd)
        good = expand_zstd(expanded, *bytes, data, part->compressed_bytes);
    else if (good && is_lz4)
        good = expand_lz4(expanded, *bytes, data, part->compressed_bytes);
    else if (good)
        memcpy(expanded, data, *bytes);
    if (!good) {
        free(expanded);
        return NULL;
    }
    expanded[*bytes] = 0;
    return expanded;
}

static const char *unreadable(const struct part *part) {
    if (part->flags & COMPRESSED_ZSTD)
        return "the code of its kernels is compressed, and could not be read with libzstd.so.1";
    if (part->flags & COMPRESSED_LZ4)
        return "the code of its kernels is compressed, and could not be read with liblz4.so.1";
    return "the code of its kernels is too large to read";
}

void fat_read(struct image *image, const void *fat, unsigned capability) {
    struct part part;
    size_t bytes;
    const void *data = choose(&part, fat, capability);
    if (!data) {
        image->fault = unknown_form;
        return;
    }
    char *expanded = expand(&part, data, &bytes);
    if (!expanded)
        image->fault = unreadable(&part);
    else if (part.kind == FAT_PTX ? !ptx_read(image, expanded) : !cubin_read(image, expanded, bytes))
        image->fault = unknown_form;
    free(expanded);
}
