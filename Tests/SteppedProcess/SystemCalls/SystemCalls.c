// The system calls of a test program that work on files and locks. These definitions replace those of the C library, in the
// program and in the libraries that it uses, among them SQLite. Each pauses before the call until the test continues it.
//
//   stdout   at KIND LABEL RESOURCE      the next step; KIND: r reads, w changes, u may release a lock
//            waits                       another process has the lock; the thread tries again
//   stdin    one byte                    take the step
//
// A read of an open file has no pause: it belongs to the step that opened or locked the file. fsync has none: it changes
// nothing that another process sees, or that a killed process leaves. It is counted.

#define _GNU_SOURCE
#include "SystemCalls.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local int is_stepping;
static int sync_count;
// The descriptors that flock(2) has locked: closing them releases the lock.
static char is_locked[1024];

#define REAL(name, type, ...) \
    static type (*_Atomic real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static ssize_t real_write(int descriptor, const void *bytes, size_t count) {
    REAL(write, ssize_t, int, const void *, size_t);
    return real(descriptor, bytes, count);
}

void pushcrypt_report(const char *line) {
    char text[1024];
    int count = snprintf(text, sizeof text, "%s\n", line);
    if (count > 0 && count < (int)sizeof text && real_write(1, text, count) != count) _exit(70);
}

static void await_test(void) {
    char byte;
    ssize_t count;
    while ((count = read(0, &byte, 1)) < 0 && errno == EINTR) {}
    if (count != 1) _exit(0);
}

// The last part of a path. The random part of a temporary name is cut off, because labels must not depend on chance.
static void short_name(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/');
    snprintf(name, size, "%s", slash && slash[1] ? slash + 1 : path);
    char *mark = strstr(name, ".new-");
    if (mark) mark[5] = 0;
    for (char *next = name; *next; next++) if (*next == ' ' || *next == '\n') *next = '_';
}

// Devices aren't shared, and only the first use of random numbers opens one.
static void step(char kind, const char *call, const char *path) {
    if (!is_stepping || (path && strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0)) return;
    int number = errno;
    char name[256], line[512];
    short_name(path ? path : "?", name, sizeof name);
    snprintf(line, sizeof line, "at %c %s %s", kind, call, name);
    pushcrypt_report(line);
    await_test();
    errno = number;
}

static void step_on(char kind, const char *call, int descriptor) {
    if (!is_stepping) return;
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    path[count < 0 ? 0 : count] = 0;
    step(kind, call, path);
}

static void wait_for_others(void) {
    int number = errno;
    pushcrypt_report("waits");
    await_test();
    errno = number;
}

void pushcrypt_steps_begin(void) { is_stepping = 1; sync_count = 0; }
void pushcrypt_steps_end(void) { is_stepping = 0; }
void pushcrypt_step(const char *label, const char *resource) { step('w', label, resource); }
int pushcrypt_sync_count(void) { return sync_count; }

#define OPEN_STEP(flags) ((flags) & (O_CREAT | O_TRUNC) ? 'w' : 'r')
#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & O_CREAT) { va_list list; va_start(list, flags); mode = va_arg(list, int); va_end(list); }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    REAL(open, int, const char *, int, ...);
    step(OPEN_STEP(flags), "open", path);
    return real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    REAL(open64, int, const char *, int, ...);
    step(OPEN_STEP(flags), "open", path);
    return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(flags, mode)
    REAL(openat, int, int, const char *, int, ...);
    step(OPEN_STEP(flags), "open", path);
    return real(folder, path, flags, mode);
}

int close(int descriptor) {
    REAL(close, int, int);
    int locked = descriptor >= 0 && descriptor < (int)sizeof is_locked && is_locked[descriptor];
    if (locked) {
        step_on('u', "close-locked", descriptor);
        is_locked[descriptor] = 0;
    }
    return real(descriptor);
}

int flock(int descriptor, int operation) {
    REAL(flock, int, int, int);
    // There is nothing to release.
    if (operation & LOCK_UN && descriptor < (int)sizeof is_locked && !is_locked[descriptor]) return real(descriptor, operation);
    int can_wait = is_stepping && !(operation & (LOCK_NB | LOCK_UN));
    step_on(operation & LOCK_UN ? 'u' : 'w', operation & LOCK_UN ? "unlock" : "lock", descriptor);
    int result;
    while ((result = real(descriptor, operation | (can_wait ? LOCK_NB : 0))) != 0 && can_wait && errno == EWOULDBLOCK) {
        wait_for_others();
    }
    if (result == 0 && descriptor < (int)sizeof is_locked) is_locked[descriptor] = !(operation & LOCK_UN);
    return result;
}

static void step_fcntl(int descriptor, int command, void *argument) {
    if (command != F_SETLK && command != F_SETLKW) return;
    int type = ((struct flock *)argument)->l_type;
    step_on(type == F_UNLCK ? 'u' : 'w', type == F_UNLCK ? "unlock" : type == F_RDLCK ? "lock-shared" : "lock", descriptor);
}

int fcntl64(int descriptor, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    REAL(fcntl64, int, int, int, ...);
    step_fcntl(descriptor, command, argument);
    return real(descriptor, command, argument);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    step_on('w', "write", descriptor);
    return real_write(descriptor, bytes, count);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64, ssize_t, int, const void *, size_t, off64_t);
    step_on('w', "write", descriptor);
    return real(descriptor, bytes, count, offset);
}

int ftruncate64(int descriptor, off64_t length) {
    REAL(ftruncate64, int, int, off64_t);
    step_on('w', "truncate", descriptor);
    return real(descriptor, length);
}

int renameat(int folder, const char *path, int other_folder, const char *other) {
    REAL(renameat, int, int, const char *, int, const char *);
    step('w', "rename-to", other);
    return real(folder, path, other_folder, other);
}

int unlink(const char *path) {
    REAL(unlink, int, const char *);
    step('w', "remove", path);
    return real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat, int, int, const char *, int);
    step('w', "remove", path);
    return real(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir, int, const char *, mode_t);
    step('w', "make-folder", path);
    return real(path, mode);
}

int mkdirat(int folder, const char *path, mode_t mode) {
    REAL(mkdirat, int, int, const char *, mode_t);
    step('w', "make-folder", path);
    return real(folder, path, mode);
}

int stat(const char *path, struct stat *status) {
    REAL(stat, int, const char *, struct stat *);
    step('r', "stat", path);
    return real(path, status);
}

int lstat(const char *path, struct stat *status) {
    REAL(lstat, int, const char *, struct stat *);
    step('r', "stat", path);
    return real(path, status);
}

int fstatat(int folder, const char *path, struct stat *status, int flags) {
    REAL(fstatat, int, int, const char *, struct stat *, int);
    step('r', "stat", path);
    return real(folder, path, status, flags);
}

int fsync(int descriptor) {
    REAL(fsync, int, int);
    if (is_stepping) sync_count++;
    return real(descriptor);
}

int fdatasync(int descriptor) {
    REAL(fdatasync, int, int);
    if (is_stepping) sync_count++;
    return real(descriptor);
}

int usleep(useconds_t time) {
    REAL(usleep, int, useconds_t);
    if (!is_stepping) return real(time);
    wait_for_others();
    return 0;
}

#else

void pushcrypt_steps_begin(void) {}
void pushcrypt_steps_end(void) {}
void pushcrypt_step(const char *label, const char *resource) { (void)label; (void)resource; }
void pushcrypt_report(const char *line) { (void)line; }
int pushcrypt_sync_count(void) { return 0; }

#endif
