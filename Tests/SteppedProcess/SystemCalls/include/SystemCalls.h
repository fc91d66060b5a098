// Steps of a test program that is run in every order with others: see SystemCalls.c.

#ifndef PUSHCRYPT_STEPPED_SYSTEM_CALLS_H
#define PUSHCRYPT_STEPPED_SYSTEM_CALLS_H

// From now on the system calls of this thread are steps.
void pushcrypt_steps_begin(void);
void pushcrypt_steps_end(void);

// A step of its own, for something that no system call shows.
void pushcrypt_step(const char *label, const char *resource);

// How often the program has called fsync(2) or fdatasync(2) since the steps began.
int pushcrypt_sync_count(void);

// Sends a line to the test.
void pushcrypt_report(const char *line);

#endif
