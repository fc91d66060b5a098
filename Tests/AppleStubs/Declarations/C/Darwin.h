// The part of Apple's C library that pushcrypt uses, with the documented availability. Only .ci/apple reads it. Values and
// layouts matter to no check.
#pragma once

#include "Availability.h"

typedef unsigned long size_t;
typedef long ssize_t;
typedef long long off_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef int dev_t;
typedef unsigned short mode_t;
typedef unsigned long long ino_t;
typedef long time_t;
typedef int errno_t;
typedef unsigned int useconds_t;
typedef unsigned int sigset_t;
typedef unsigned long tcflag_t;
typedef unsigned int nfds_t;
typedef unsigned long long rlim_t;

// errno.h
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EBADF 9
#define ENOMEM 12
#define EACCES 13
#define EEXIST 17
#define ENOTDIR 20
#define EINVAL 22
#define ENOSPC 28
#define EROFS 30
#define EWOULDBLOCK 35
#define ENOTSUP 45
#define ELOOP 62
#define ENAMETOOLONG 63
#define ENOTEMPTY 66
#define EDQUOT 69
#define ENOLCK 77
#define ENOSYS 78
#define EOPNOTSUPP 102

// time.h
struct timespec {
    time_t tv_sec;
    long tv_nsec;
};
typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC_RAW = 4, CLOCK_MONOTONIC = 6 } clockid_t INTRODUCED(10.12, 10.0, 10.0, 3.0);
int clock_gettime(clockid_t, struct timespec *) INTRODUCED(10.12, 10.0, 10.0, 3.0);

// string.h, stdlib.h
void *memcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);
int strncmp(const char *, const char *, size_t);
char *strerror(int);
char *strdup(const char *);
// Newer than the oldest supported systems, for the self-test.
char *strchrnul(const char *, int) __attribute__((availability(macos, introduced = 15.4)))
__attribute__((availability(ios, introduced = 18.4))) __attribute__((availability(tvos, introduced = 18.4)))
__attribute__((availability(watchos, introduced = 11.4))) __attribute__((availability(visionos, introduced = 2.4)));
errno_t memset_s(void *, size_t, int, size_t) INTRODUCED(10.9, 7.0, 9.0, 2.0);
char *getenv(const char *);
char *realpath(const char *, char *);
void free(void *);

// fcntl.h, sys/stat.h, sys/file.h, dirent.h, unistd.h
#define STDERR_FILENO 2
#define X_OK 1
#define W_OK 2
int access(const char *, int);
#define O_RDONLY 0x0
#define O_WRONLY 0x1
#define O_RDWR 0x2
#define O_NONBLOCK 0x4
#define O_APPEND 0x8
#define O_NOFOLLOW 0x100
#define O_CREAT 0x200
#define O_EXCL 0x800
#define O_NOCTTY 0x20000
#define O_DIRECTORY 0x100000
#define O_CLOEXEC 0x1000000
#define AT_FDCWD -2
#define AT_SYMLINK_NOFOLLOW 0x20
#define AT_REMOVEDIR 0x80
#define F_GETFD 1
#define F_SETFD 2
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define FD_CLOEXEC 1
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    ino_t st_ino;
    uid_t st_uid;
    struct timespec st_mtimespec;
    struct timespec st_ctimespec;
    off_t st_size;
};
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int fstat(int, struct stat *);
int fstatat(int, const char *, struct stat *, int) INTRODUCED(10.10, 8.0, 9.0, 2.0);
int mkdir(const char *, mode_t);
int mkdirat(int, const char *, mode_t) INTRODUCED(10.10, 8.0, 9.0, 2.0);
int chmod(const char *, mode_t);
int fchmod(int, mode_t);
int ftruncate(int, off_t);
int fsync(int);
int flock(int, int);
int close(int);
int unlink(const char *);
int unlinkat(int, const char *, int) INTRODUCED(10.10, 8.0, 9.0, 2.0);
int linkat(int, const char *, int, const char *, int) INTRODUCED(10.10, 8.0, 9.0, 2.0);
int renameat(int, const char *, int, const char *) INTRODUCED(10.10, 8.0, 9.0, 2.0);
#define PATH_MAX 1024
ssize_t readlink(const char *, char *, size_t);
ssize_t read(int, void *, size_t);
ssize_t pread(int, void *, size_t, off_t);
ssize_t write(int, const void *, size_t);
int pipe(int *);
int usleep(useconds_t);
int gethostname(char *, size_t);
pid_t getpid(void);
uid_t getuid(void);
uid_t geteuid(void);
struct dirent {
    ino_t d_ino;
    char d_name[1024];
};
typedef struct { int __dd_fd; } DIR;
DIR *fdopendir(int) INTRODUCED(10.10, 8.0, 9.0, 2.0);
struct dirent *readdir(DIR *);
int closedir(DIR *);

// pwd.h
struct passwd {
    char *pw_name;
    char *pw_dir;
};
struct passwd *getpwuid(uid_t);

// signal.h, poll.h, sys/resource.h, sys/wait.h
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGTERM 15
#define SIG_UNBLOCK 2
int kill(pid_t, int);
int raise(int);
void (*signal(int, void (*)(int)))(int);
int sigemptyset(sigset_t *);
int sigaddset(sigset_t *, int);
#define POLLIN 0x1
#define POLLOUT 0x4
struct pollfd {
    int fd;
    short events;
    short revents;
};
int poll(struct pollfd *, nfds_t, int);
#define RLIMIT_CORE 4
struct rlimit {
    rlim_t rlim_cur;
    rlim_t rlim_max;
};
int getrlimit(int, struct rlimit *);
int setrlimit(int, const struct rlimit *);
#define WNOHANG 1
pid_t waitpid(pid_t, int *, int);

// spawn.h, crt_externs.h
typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
#define POSIX_SPAWN_SETPGROUP 0x2
#define POSIX_SPAWN_SETSIGDEF 0x4
#define POSIX_SPAWN_SETSIGMASK 0x8
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
int posix_spawn(
    pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *)
    INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *, int, int)
    INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawn_file_actions_addinherit_np(posix_spawn_file_actions_t *, int)
    INTRODUCED(10.7, 4.3, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_init(posix_spawnattr_t *) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_destroy(posix_spawnattr_t *) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_setsigmask(posix_spawnattr_t *, const sigset_t *) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_setsigdefault(posix_spawnattr_t *, const sigset_t *)
    INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_setpgroup(posix_spawnattr_t *, pid_t) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
int posix_spawnattr_setflags(posix_spawnattr_t *, short) INTRODUCED(10.5, 2.0, 9.0, 2.0) NOT_ON_TV_AND_WATCH;
char ***_NSGetEnviron(void);

// termios.h, sys/ioctl.h
#define ECHO 0x8
#define ISIG 0x80
#define ICANON 0x100
#define TCSAFLUSH 2
struct termios {
    tcflag_t c_lflag;
};
struct winsize {
    unsigned short ws_row;
    unsigned short ws_col;
};
int tcgetattr(int, struct termios *);
int tcsetattr(int, int, const struct termios *);

// pthread.h
struct _opaque_pthread_t;
struct _opaque_pthread_attr_t;
typedef struct _opaque_pthread_t *pthread_t;
typedef struct { long __sig; } pthread_attr_t;
int pthread_create(
    pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *_Nonnull),
    void *_Nullable);
int pthread_detach(pthread_t _Nonnull);
int pthread_sigmask(int, const sigset_t *, sigset_t *);

// sys/sysctl.h
int sysctlbyname(const char *, void *, size_t *, void *, size_t);
