/* The spool: memory-mapped segment files that records are appended to.
 *
 * A record is whole once the segment's `committed` offset has passed it, so a
 * reader, also one that comes after SIGKILL, never sees half a record: what was
 * committed is in the page cache and outlives the process.
 */
#include "spool/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_BYTES (8u << 20)
/* Kept free at the end of a segment, to say there why no other follows. */
#define LAST_WORDS_BYTES 512

GVIZ_LOCK_IN(GVIZ_HOT, lock);
static char directory[3000];
static struct segment_header *segment GVIZ_HOT;
static uint64_t capacity GVIZ_HOT;
static uint32_t next_index;
static _Atomic uint64_t total_bytes GVIZ_HOT; /* written with the lock held */
static char why_closed[LAST_WORDS_BYTES / 2]; /* with the lock held; "": nothing went wrong */

/* Reserved, not sparse: on a full disk a sparse mapping would kill the program (SIGBUS). Signals
 * wait meanwhile: they would interrupt the call; and beyond RLIMIT_FSIZE the kernel sends SIGXFSZ,
 * which ends a program that does not ignore it. */
static int reserve(int file, uint64_t bytes) {
    sigset_t all, limit, before, pending;
    sigfillset(&all);
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sigpending(&pending);
    int error = posix_fallocate(file, 0, (off_t)bytes);
    if (error == EFBIG && !sigismember(&pending, SIGXFSZ)) {
        struct timespec none = {0, 0};
        sigtimedwait(&limit, NULL, &none); /* take away the one that was for us */
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void *spool_map(const char *path, size_t bytes) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    int error = reserve(file, bytes);
    void *memory = error ? MAP_FAILED
                         : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = error ? error : errno;
    close(file);
    if (memory != MAP_FAILED)
        return memory;
    unlink(path);
    errno = error;
    return NULL;
}

static int open_segment(uint64_t bytes) {
    char path[3100];
    snprintf(path, sizeof path, "%s/%06u.segment", directory, next_index);
    struct segment_header *made = spool_map(path, bytes);
    if (!made)
        return -1; /* the one before takes the last words */
    segment = made;
    capacity = bytes;
    segment->version = SPOOL_VERSION;
    segment->number = next_index++;
    segment->capacity = bytes;
    segment->process_id = (uint64_t)getpid();
    segment->process_start = process_start_ticks();
    atomic_store(&segment->committed, sizeof *segment);
    memcpy(segment->magic, "GVIZSPL1", 8);
    return 0;
}

static void close_segment(struct segment_header *old, uint64_t bytes) {
    if (!old)
        return;
    char path[3100];
    uint64_t used = atomic_load(&old->committed);
    snprintf(path, sizeof path, "%s/%06u.segment", directory, old->number);
    munmap(old, bytes);
    if (truncate(path, (off_t)used) != 0)
        return; /* a longer file reads the same */
}

int spool_open(const char *where) {
    if (strlen(where) >= sizeof directory)
        return -1;
    pthread_mutex_lock(&lock);
    strcpy(directory, where);
    next_index = 0;
    atomic_store_explicit(&total_bytes, 0, memory_order_relaxed);
    why_closed[0] = 0;
    int result = open_segment(SEGMENT_BYTES);
    pthread_mutex_unlock(&lock);
    return result;
}

void spool_close(void) {
    pthread_mutex_lock(&lock);
    close_segment(segment, capacity);
    segment = NULL;
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
    bool is_open = segment != NULL;
    pthread_mutex_unlock(&lock);
    return is_open;
}

const char *spool_directory(void) { return directory; }
uint64_t spool_bytes(void) { return atomic_load_explicit(&total_bytes, memory_order_relaxed); }

/* With the lock held, and room for the record. */
GVIZ_HOT_CODE static void write_record(uint32_t type, uint64_t size, const struct slice *slices, int count) {
    uint64_t whole = (sizeof(struct record_header) + size + 7) & ~7ull;
    uint64_t at = atomic_load_explicit(&segment->committed, memory_order_relaxed);
    char *to = (char *)segment + at;
    *(struct record_header *)to = (struct record_header){type, (uint32_t)size};
    to += sizeof(struct record_header);
    for (int i = 0; i < count; i++) {
        if (slices[i].size)
            memcpy(to, slices[i].data, slices[i].size);
        to += slices[i].size;
    }
    atomic_store_explicit(&segment->committed, at + whole, memory_order_release);
    uint64_t bytes = atomic_load_explicit(&total_bytes, memory_order_relaxed);
    atomic_store_explicit(&total_bytes, bytes + whole, memory_order_relaxed);
}

static const char *next_step(int error) {
    bool is_full = error == ENOSPC || error == EDQUOT;
    return is_full ? "; make room on its disk, or have it on another (gviz run -o PATH)" : "";
}

/* With the lock held. When there is no next segment, say so at the end of this one, which is
 * the last. */
static int next_segment(uint64_t record_bytes) {
    struct segment_header *old = segment;
    uint64_t old_capacity = capacity;
    uint64_t need = record_bytes + sizeof(struct segment_header) + LAST_WORDS_BYTES;
    int result = open_segment(need > SEGMENT_BYTES ? need : SEGMENT_BYTES);
    if (result != 0) {
        int error = errno;
        snprintf(why_closed, sizeof why_closed, "the spool cannot grow: %s%s", strerror(error), next_step(error));
        struct slice words = {why_closed, strlen(why_closed)};
        write_record(RECORD_STOPPED, words.size, &words, 1);
        segment = NULL;
    }
    close_segment(old, old_capacity);
    return result;
}

GVIZ_HOT_CODE int spool_append(uint32_t type, const struct slice *slices, int count) {
    char why[sizeof why_closed] = "";
    uint64_t size = 0;
    for (int i = 0; i < count; i++)
        size += slices[i].size;
    uint64_t whole = (sizeof(struct record_header) + size + 7) & ~7ull;
    int result = -1;
    pthread_mutex_lock(&lock);
    if (!segment)
        goto out;
    if (atomic_load_explicit(&segment->committed, memory_order_relaxed) + whole >
            capacity - LAST_WORDS_BYTES &&
        next_segment(whole) != 0)
        goto out;
    write_record(type, size, slices, count);
    result = 0;
out:
    if (result != 0)
        snprintf(why, sizeof why, "%s", why_closed[0] ? why_closed : "the spool is closed");
    pthread_mutex_unlock(&lock);
    if (result != 0 && recording())
        give_up(why);
    return result;
}

GVIZ_HOT_CODE int spool_append_one(uint32_t type, const void *data, size_t size) {
    struct slice one = {data, size};
    return spool_append(type, &one, 1);
}
