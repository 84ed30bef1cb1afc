/* The processes of `gviz run`: which spool each writes, and its metadata.
 *
 * Every process that uses CUDA writes a spool of its own into the job's directory: the first one
 * at its top, each other in a folder named by process id and start. A spool is made when the
 * driver initialises, so that a process without CUDA leaves nothing. Python prepares this through
 * gviz_prepare; where there is no Python, the environment has what Python would pass.
 */
#include "entry/entry.h"
#include "events/events.h"
#include "life/life.h"
#include "spool/spool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMAND (32u << 10)
/* Metadata and a few notes; a process that never uses CUDA keeps them until it ends. */
#define MAX_KEPT (256u << 10)
#define FOLDERS_TRIED 1000
#define MAX_ANCESTORS 32

struct kept {
    struct kept *next;
    uint32_t type;
    size_t size;
    char data[];
};

static char job[2900];
static pid_t job_parent;    /* gviz run itself; its own child is the first process */
static bool follow_children;
GVIZ_LOCK(lock);
static struct kept *kept_first, **kept_end = &kept_first;
static size_t kept_bytes;

/* -- records that wait for the spool --------------------------------------------------------- */

int process_keep(uint32_t type, const void *data, size_t size) {
    struct kept *record = size < MAX_KEPT ? malloc(sizeof *record + size) : NULL;
    if (!record)
        return -1;
    *record = (struct kept){NULL, type, size};
    memcpy(record->data, data, size);
    pthread_mutex_lock(&lock);
    bool room = kept_bytes + size <= MAX_KEPT;
    if (room) {
        *kept_end = record;
        kept_end = &record->next;
        kept_bytes += size;
    }
    pthread_mutex_unlock(&lock);
    if (!room)
        free(record);
    return room ? 0 : -1;
}

static void take_kept(bool write) {
    pthread_mutex_lock(&lock);
    struct kept *record = kept_first;
    kept_first = NULL;
    kept_end = &kept_first;
    kept_bytes = 0;
    pthread_mutex_unlock(&lock);
    while (record) {
        struct kept *next = record->next;
        if (write)
            spool_append_one(record->type, record->data, record->size);
        free(record);
        record = next;
    }
}

void process_forget(void) { take_kept(false); }

/* After fork(): what was kept describes the parent. Another thread may have been at it, so it is
 * left where it is. */
void process_forked(void) {
    pthread_mutex_init(&lock, NULL);
    kept_first = NULL;
    kept_end = &kept_first;
    kept_bytes = 0;
}

/* -- metadata as JSON, for a process without Python ------------------------------------------------ */

/* Length of the UTF-8 sequence at `s` of `n` bytes; 0 where it is none. */
static int utf8_length(const unsigned char *s, size_t n) {
    int length = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3
               : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    if (!length || (size_t)length > n)
        return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] >= 0xA0, beyond = s[0] == 0xF4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static void json_text(FILE *out, const char *text, size_t size) {
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < size;) {
        int length = utf8_length(s + i, size - i);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (s[i] == '"' || s[i] == '\\')
            fprintf(out, "\\%c", s[i]);
        else if (s[i] < 0x20 || s[i] == 0x7F)
            fprintf(out, "\\u%04x", s[i]);
        else
            fwrite(s + i, 1, (size_t)length, out);
        i += length ? (size_t)length : 1;
    }
}

/* One argument of the command line, quoted for a shell. */
static void json_argument(FILE *out, const char *text, size_t size) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789@%+=:,./_-";
    bool quoted = size == 0;
    for (size_t i = 0; i < size && !quoted; i++)
        quoted = !memchr(plain, text[i], sizeof plain - 1);
    if (quoted)
        fputc('\'', out);
    for (const char *at = text, *end = text + size; at < end;) {
        const char *apostrophe = memchr(at, '\'', (size_t)(end - at));
        const char *stop = apostrophe ? apostrophe : end;
        json_text(out, at, (size_t)(stop - at));
        if (apostrophe)
            fputs("'\\\"'\\\"'", out);
        at = apostrophe ? apostrophe + 1 : end;
    }
    if (quoted)
        fputc('\'', out);
}

static void json_command(FILE *out) {
    char *text = malloc(MAX_COMMAND);
    FILE *file = text ? fopen("/proc/self/cmdline", "re") : NULL;
    size_t n = file ? fread(text, 1, MAX_COMMAND, file) : 0;
    if (file)
        fclose(file);
    for (size_t at = 0; at < n;) {
        size_t length = strnlen(text + at, n - at);
        if (at)
            fputc(' ', out);
        json_argument(out, text + at, length);
        at += length + 1;
    }
    free(text);
}

/* The process's own metadata, over what gviz run gives for the whole job. */
static void describe(void) {
    const char *given = getenv("GVIZ_META");
    if (given && *given)
        spool_append_one(RECORD_META, given, strlen(given));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    fputs("{\"command\": \"", out);
    json_command(out);
    fprintf(out, "\", \"process_id\": %d, \"started_ns\": %lld", (int)getpid(),
            (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0 && host[0]) {
        fputs(", \"host\": \"", out);
        json_text(out, host, strlen(host));
        fputc('"', out);
    }
    if (process_rank())
        fprintf(out, ", \"rank\": %lu", strtoul(process_rank(), NULL, 10));
    fputc('}', out);
    if (fclose(out) == 0)
        spool_append_one(RECORD_META, text, size);
    free(text);
}

/* -- the spool -------------------------------------------------------------------------------------- */

void process_set_job(const char *directory, int parent, bool follow) {
    snprintf(job, sizeof job, "%s", directory);
    job_parent = parent;
    follow_children = follow;
}

bool process_has_job(void) { return job[0] != 0; }
bool process_follows_children(void) { return job[0] && follow_children; }

static int open_folder(void) {
    char path[2980];
    for (int number = 1; number < FOLDERS_TRIED; number++) {
        /* A process that replaces itself (exec) keeps its id and its start. */
        int at = snprintf(path, sizeof path, "%s/%d-%llu", job, (int)getpid(),
                          (unsigned long long)process_start_ticks());
        if (number > 1)
            snprintf(path + at, sizeof path - (size_t)at, "-%d", number);
        if (mkdir(path, 0700) == 0) {
            int result = spool_open(path), why = errno;
            if (result != 0)
                rmdir(path);
            return errno = why, result;
        }
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

/* Say in the job's directory why this process has no spool, for gviz run to say (UNOPENED_PREFIX in
 * gviz/spool/records/format.py): in a file's name, for on a full disk there is no room in it. */
static void leave_reason(int error) {
    char path[2980];
    snprintf(path, sizeof path, "%s/unopened-%d-%d", job, (int)getpid(), error);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    errno = error;
}

/* Make this process's spool. Returns 0, or -1 (errno; 0: it is not to be followed, or gviz run
 * has ended and nobody would read it). `at_once`: Python makes it now, and describes it next. */
int process_open(bool describe_it, bool at_once) {
    int result = -1;
    errno = EEXIST;
    if (getppid() == job_parent)
        result = spool_open(job); /* fails with EEXIST where the first process has replaced itself */
    if (result != 0 && errno == EEXIST) {
        if (!follow_children)
            return errno = 0, -1;
        result = open_folder();
    }
    if (result != 0) {
        errno = errno == ENOENT ? 0 : errno;
        if (errno)
            leave_reason(errno);
        return -1;
    }
    if (describe_it || (!at_once && !kept_first)) /* C code forked: Python does not know */
        describe();
    take_kept(true);
    nvtx_write_paths();
    return 0;
}

/* -- a request that came before CUDA --------------------------------------------------------------- */

/* A file that `gviz start` left in the job's directory (gviz/spool/records/format.py). */
static bool start_left_for(pid_t process) {
    char path[2980];
    snprintf(path, sizeof path, "%s/start-%d", job, (int)process);
    return access(path, F_OK) == 0;
}

/* It holds for the processes that the one asked for starts, too, until `gviz stop`. */
bool process_start_waits(void) {
    pid_t asked = getpid();
    for (int i = 0; i < MAX_ANCESTORS && asked > 1 && asked != job_parent; i++) {
        if (start_left_for(asked))
            return true;
        asked = process_parent(asked);
    }
    return false;
}

/* -- without Python: options from the environment ---------------------------------------------------- */

/* "name:offset:size=value;...": what native.options_text of Python wrote of struct options. A
 * value is the field's bits as a number: the program's locale may have a decimal comma. */
GVIZ_EXPORT void gviz_parse_options(const char *text, struct options *to) {
    while (text && *text) {
        unsigned offset, size;
        unsigned long long value;
        if (sscanf(text, "%*[^:]:%u:%u=%llu", &offset, &size, &value) == 3 &&
            size <= sizeof value && offset <= sizeof *to - size)
            memcpy((char *)to + offset, &value, size); /* little endian */
        text = strchrnul(text, ';');
        text += *text != 0;
    }
}

/* Take the job from the environment that gviz run made. False: there is none for this process. */
bool process_from_environment(struct options *wanted, char *cupti, size_t size) {
    const char *directory = getenv("GVIZ_SPOOL"), *parent = getenv("GVIZ_PARENT");
    const char *text = getenv("GVIZ_OPTIONS"), *follow = getenv("GVIZ_FOLLOW");
    if (!directory || !*directory || strlen(directory) >= sizeof job || !parent || !text)
        return false;
    process_set_job(directory, (int)strtol(parent, NULL, 10), follow && *follow == '1');
    if (!follow_children && getppid() != job_parent) {
        job[0] = 0;
        return false;
    }
    gviz_parse_options(text, wanted);
    gviz_set_graph_pattern(getenv("GVIZ_GRAPH"));
    gviz_set_range(getenv("GVIZ_RANGE"));
    const char *collector = getenv("GVIZ_COLLECTOR");
    gviz_want_collector(collector ? (int)strtol(collector, NULL, 10) : 0);
    const char *library = getenv("GVIZ_CUPTI");
    if (!library)
        library = getenv("GVIZ_CUPTI_FOUND");
    snprintf(cupti, size, "%s", library ? library : "");
    return true;
}

/* Why nodes have no Python stacks in a process that Python did not prepare. */
int32_t process_stack_reason(void) {
    return dlsym(RTLD_DEFAULT, "Py_IsInitialized") ? STACK_PYTHON_UNPREPARED : STACK_NOT_PYTHON;
}

void process_note_gate(void) {
    const char *state = getenv("GVIZ_GATE");
    if (!state || !*state || dlsym(RTLD_DEFAULT, "gviz_gate"))
        return;
    note("warning", "the gate is not in this process: %s",
         strcmp(state, "preloaded") == 0 ? "something between gviz run and it changed LD_PRELOAD, "
                                           "or its loader took no notice"
                                         : state);
}
