#ifndef FLOOR_JOBS_H
#define FLOOR_JOBS_H

#include <stdint.h>

// Runs a job (seal1, open4, payload2seal, ...) `count` times on each of `threads` threads. Returns the time in
// nanoseconds of the monotonic clock, or -1 for a job that the floor doesn't have.
int64_t run_job(const char *job, long count, int threads);

// Makes a key and seals once with it. Returns 0 for a job that the floor doesn't have.
int run_once(const char *job);

#endif
