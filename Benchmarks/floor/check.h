#ifndef FLOOR_CHECK_H
#define FLOOR_CHECK_H

// Reads lines `SUITE SECRET KID MESSAGE SEALED` (bytes in hex) from standard input. Opens each message and compares it,
// seals it to the same key and writes a line of the same form. Returns the process's exit code: 1 if one didn't open.
int check(void);

#endif
