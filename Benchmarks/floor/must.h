#ifndef FLOOR_MUST_H
#define FLOOR_MUST_H

#include <stdio.h>
#include <stdlib.h>

// If a call fails, the measurement is invalid: stops and prints the place.
#define must(call) ((call) == 1 ? (void)0 : must_fail(#call))
#define must_have(call) must_not_be_null((call), #call)

static inline _Noreturn void must_fail(const char *what)
{
    fprintf(stderr, "floor: failed: %s\n", what);
    exit(70);
}

static inline void *must_not_be_null(void *pointer, const char *what)
{
    if (pointer == NULL)
        must_fail(what);
    return pointer;
}

#endif
