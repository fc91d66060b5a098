#ifndef PUSHCRYPT_PROCESS_SHIM_H
#define PUSHCRYPT_PROCESS_SHIM_H

#if defined(__linux__)
#include <sys/prctl.h>

// Here and not in Swift, because prctl(2) takes variable arguments, which don't reach Swift.
//
// Without the dumpable attribute the kernel writes no core file, also where core_pattern pipes it to a program, which
// RLIMIT_CORE doesn't prevent. Returns 0, or -1 with errno.
static inline int pushcrypt_process_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
#endif

#endif
