/* The spool: memory-mapped segment files that records are appended to.
 *
 * A record is whole once the segment's `committed` offset has passed it, so a
 * reader, also one that comes after SIGKILL, never sees half a record: what was
 * committed is in the page cache and outlives the process.
 */
#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_BYTES (8u << 20)
#define SPOOL_VERSION 1

struct segment_header {
    char magic[8];              /* GVIZSPL1 */
    uint32_t version, index;
    uint64_t capacity;
    _Atomic uint64_t committed; /* offset past the last whole record */
    uint64_t process_id;
    uint64_t reserved[3];
};

struct record_header {
    uint32_t type, size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char directory[3000];
static struct segment_header *segment;
static uint64_t capacity;
static uint32_t next_index;
static uint64_t total_bytes;

static int open_segment(uint64_t bytes) {
    char path[3100];
    snprintf(path, sizeof path, "%s/%06u.segment", directory, next_index);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    /* Reserved, not sparse: on a full disk a sparse mapping would kill the program (SIGBUS). */
    int error = posix_fallocate(file, 0, (off_t)bytes);
    void *memory = error ? MAP_FAILED
                         : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
        unlink(path);
        errno = error ? error : errno;
        return -1;
    }
    segment = memory;
    capacity = bytes;
    segment->version = SPOOL_VERSION;
    segment->index = next_index++;
    segment->capacity = bytes;
    segment->process_id = (uint64_t)getpid();
    atomic_store(&segment->committed, sizeof *segment);
    memcpy(segment->magic, "GVIZSPL1", 8);
    return 0;
}

static void close_segment(void) {
    if (!segment)
        return;
    char path[3100];
    uint64_t used = atomic_load(&segment->committed);
    snprintf(path, sizeof path, "%s/%06u.segment", directory, segment->index);
    munmap(segment, capacity);
    segment = NULL;
    if (truncate(path, (off_t)used) != 0)
        return; /* a longer file reads the same */
}

int spool_open(const char *where) {
    if (strlen(where) >= sizeof directory)
        return -1;
    strcpy(directory, where);
    next_index = 0;
    total_bytes = 0;
    return open_segment(SEGMENT_BYTES);
}

void spool_close(void) {
    pthread_mutex_lock(&lock);
    close_segment();
    pthread_mutex_unlock(&lock);
}

void spool_abandon(void) {
    pthread_mutex_init(&lock, NULL);
    if (segment)
        munmap(segment, capacity);
    segment = NULL;
}

bool spool_is_open(void) {
    pthread_mutex_lock(&lock);
    bool open = segment != NULL;
    pthread_mutex_unlock(&lock);
    return open;
}

const char *spool_directory(void) { return directory; }
uint64_t spool_bytes(void) { return total_bytes; }

int spool_append(uint32_t type, const struct slice *slices, int count) {
    uint64_t size = 0;
    for (int i = 0; i < count; i++)
        size += slices[i].size;
    uint64_t whole = (sizeof(struct record_header) + size + 7) & ~7ull;
    int result = -1;
    pthread_mutex_lock(&lock);
    if (!segment)
        goto out;
    uint64_t at = atomic_load_explicit(&segment->committed, memory_order_relaxed);
    if (at + whole > capacity) {
        close_segment();
        uint64_t need = whole + sizeof(struct segment_header);
        if (open_segment(need > SEGMENT_BYTES ? need : SEGMENT_BYTES) != 0)
            goto out;
        at = sizeof(struct segment_header);
    }
    char *to = (char *)segment + at;
    *(struct record_header *)to = (struct record_header){type, (uint32_t)size};
    to += sizeof(struct record_header);
    for (int i = 0; i < count; i++) {
        memcpy(to, slices[i].data, slices[i].size);
        to += slices[i].size;
    }
    atomic_store_explicit(&segment->committed, at + whole, memory_order_release);
    total_bytes += whole;
    result = 0;
out:
    pthread_mutex_unlock(&lock);
    if (result != 0 && recording())
        give_up("the spool cannot grow (is the disk full?)");
    return result;
}

int spool_append_one(uint32_t type, const void *data, size_t size) {
    struct slice one = {data, size};
    return spool_append(type, &one, 1);
}
