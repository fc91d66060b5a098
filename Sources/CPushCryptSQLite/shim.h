#ifndef PUSHCRYPT_SQLITE_SHIM_H
#define PUSHCRYPT_SQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "pushcrypt: SQLite's header is missing. Install libsqlite3-dev and pkg-config (apt)."
#endif

#include <sqlite3.h>

#if defined(__linux__)
// Whether SQLite is in the program's own file, and not in a shared library. The linker defines where the program begins and
// ends. Here and not in Swift, because Swift has no addresses of functions.
static inline int pushcrypt_sqlite_is_built_in(void) {
    extern const char __executable_start __attribute__((visibility("hidden"))), _end __attribute__((visibility("hidden")));
    const char *function = (const char *)sqlite3_libversion;
    return function >= &__executable_start && function < &_end;
}
#endif

#endif
