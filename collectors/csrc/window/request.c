/* Requests of other processes to begin or end a period: `gviz start PID`, `gviz stop PID`.
 *
 * A program that waits for a call (--paused) has a datagram socket beside its segments, for its own
 * user, from which the flush thread reads. A request is one word, so that gviz of another version is
 * understood, and so is the answer. The descriptor stands high, away from those that programs count
 * on; some close what they do not know, so it is looked at before each use.
 */
#include "spool/spool.h"
#include "window/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_NAME "control.socket" /* gviz/spool/records/format.py */
#define ANSWER_PREFIX "answer-"      /* gviz/spool/records/format.py */
#define HIGHEST 1024                 /* usual limit of descriptors */
#define BELOW_LIMIT 16
/* A program that closes descriptors again and again is not given new ones for ever. */
#define MOST_TIMES 8

GVIZ_LOCK(lock);
static bool wanted;      /* this process listens, until its recording ends */
static int listener = -1;
static dev_t device;
static ino_t inode;
static int times;

/* With the lock held: the descriptor, or -1 when it is not the socket (any more). */
static int listening(void) {
    struct stat now;
    bool same = listener >= 0 && fstat(listener, &now) == 0 && S_ISSOCK(now.st_mode) &&
                now.st_dev == device && now.st_ino == inode;
    return same ? listener : -1;
}

static int move_up(int file) {
    struct rlimit limit;
    int top = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGHEST
                  ? (int)limit.rlim_cur : HIGHEST;
    int moved = fcntl(file, F_DUPFD_CLOEXEC, top > BELOW_LIMIT ? top - BELOW_LIMIT : 0);
    int error = errno;
    close(file);
    errno = error;
    return moved;
}

/* Bind it in the spool's directory, whose path may be longer than an address. */
static int bind_in_spool(int file) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int folder = open(spool_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    unlinkat(folder, SOCKET_NAME, 0); /* of a descriptor that the program closed */
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" SOCKET_NAME, folder);
    int on = 1, result = -1;
    if (fchmod(file, 0600) == 0 && /* so that it is never anybody else's */
        setsockopt(file, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0)
        result = bind(file, (struct sockaddr *)&address, sizeof address);
    int error = errno;
    close(folder);
    errno = error;
    return result;
}

/* With the lock held. */
static int listen_anew(void) {
    struct stat made;
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    file = file < 0 ? -1 : move_up(file);
    if (file < 0)
        return -1;
    if (bind_in_spool(file) != 0 || fstat(file, &made) != 0) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    listener = file;
    device = made.st_dev;
    inode = made.st_ino;
    times++;
    return 0;
}

void requests_open(void) {
    pthread_mutex_lock(&lock);
    bool failed = !wanted && listen_anew() != 0;
    int error = errno;
    wanted = true;
    pthread_mutex_unlock(&lock);
    if (failed)
        note("limit", "gviz start and gviz stop do not reach this process: %s", strerror(error));
}

void requests_close(void) {
    char path[3100];
    pthread_mutex_lock(&lock);
    if (listening() >= 0) {
        snprintf(path, sizeof path, "%s/" SOCKET_NAME, spool_directory());
        unlink(path);
        close(listener);
    }
    listener = -1;
    times = 0;
    wanted = false;
    pthread_mutex_unlock(&lock);
}

/* The file is the parent's. */
void requests_forked(void) {
    if (listening() >= 0)
        close(listener);
    listener = -1;
    times = 0;
    wanted = false;
}

/* Whether a message comes from this user, or from root, who may do anything. */
static bool is_permitted(struct msghdr *message) {
    struct ucred sender;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part))
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&sender, CMSG_DATA(part), sizeof sender);
            return sender.uid == geteuid() || sender.uid == 0;
        }
    return false;
}

/* Without a place for descriptors: one that somebody sends is closed by the kernel. */
static ssize_t receive(int file, char *word, size_t size, struct request *request) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec into = {word, size};
    struct msghdr message = {
        .msg_name = &request->from, .msg_namelen = sizeof request->from, .msg_iov = &into,
        .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(file, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    request->from_size = message.msg_namelen;
    if (got >= 0 && !is_permitted(&message))
        word[0] = 0;
    return got;
}

bool request_take(struct request *request) {
    char word[16] = "";
    pthread_mutex_lock(&lock);
    if (wanted && listening() < 0 && times < MOST_TIMES)
        listen_anew();
    ssize_t got = listening() < 0 ? -1 : receive(listener, word, sizeof word - 1, request);
    pthread_mutex_unlock(&lock);
    request->kind = strcmp(word, "start") == 0 ? REQUEST_START
                  : strcmp(word, "stop") == 0  ? REQUEST_STOP
                                               : REQUEST_NONE;
    return got >= 0;
}

/* A file in the spool's directory, for a sender whose address, which the kernel chose (hexadecimal
 * digits behind a zero), is not known here: it is in another namespace of the network, as outside of a
 * container. */
static void leave_answer(const struct request *request, const char *word) {
    char name[sizeof request->from.sun_path] = "", path[3200];
    size_t size = request->from_size - sizeof request->from.sun_family - 1;
    memcpy(name, request->from.sun_path + 1, size);
    if (request->from.sun_path[0] || size == 0 || strspn(name, "0123456789abcdef") != size)
        return;
    snprintf(path, sizeof path, "%s/" ANSWER_PREFIX "%s", spool_directory(), name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return; /* it is told that there is no answer */
    if (write(file, word, strlen(word)) < 0)
        unlink(path);
    close(file);
}

void request_answer(const struct request *request, const char *word) {
    pthread_mutex_lock(&lock);
    bool has_address = request->from_size > sizeof request->from.sun_family;
    if (listening() >= 0 && has_address &&
        sendto(listener, word, strlen(word), MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&request->from, request->from_size) < 0 && errno == ECONNREFUSED)
        leave_answer(request, word);
    pthread_mutex_unlock(&lock);
}
