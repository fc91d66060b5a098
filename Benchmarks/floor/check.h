#ifndef FLOOR_CHECK_H
#define FLOOR_CHECK_H

// Reads lines `SUITE SECRET KID MESSAGE SEALED` (bytes in hex) from standard input, opens each and compares, seals the
// message to the same key and writes a line of the same form. Returns the process's exit code: 1 when one didn't open.
int check(void);

#endif
