#ifndef PUSHCRYPT_SQLITE_SHIM_H
#define PUSHCRYPT_SQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "pushcrypt: SQLite's header is missing. Install libsqlite3-dev and pkg-config (apt)."
#endif

#include <sqlite3.h>

#endif
