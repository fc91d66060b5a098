#ifndef PUSHCRYPT_PROCESS_SHIM_H
#define PUSHCRYPT_PROCESS_SHIM_H

// What Swift can't call: functions of Linux that Swift's module of the C library leaves out, and one with variable
// arguments. Includes no header of that module, whose types would then belong to this one.

#if defined(__linux__)
#include <sys/prctl.h>

// Without the dumpable attribute the kernel writes no core file, also where core_pattern pipes it to a program, which
// RLIMIT_CORE doesn't prevent. Returns 0, or -1 with errno.
static inline int pushcrypt_process_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// As pipe(2), with the flag O_CLOEXEC.
extern int pipe2(int ends[2], int flags);

// Closes in the child all descriptors from the first one on. The actions are a posix_spawn_file_actions_t. Returns 0 or an
// error number.
#if defined(__GLIBC__)
extern int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);

static inline int pushcrypt_process_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
#else
extern int posix_spawn_file_actions_addclose(void *actions, int descriptor);

static inline int pushcrypt_process_close_from(void *actions, int first) {
    // 1,024 is the usual limit of open files. A descriptor that isn't open is no error.
    for (int descriptor = first; descriptor < 1024; descriptor++) {
        int error = posix_spawn_file_actions_addclose(actions, descriptor);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}
#endif
#endif

#endif
