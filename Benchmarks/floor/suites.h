#ifndef FLOOR_SUITES_H
#define FLOOR_SUITES_H

#include <stddef.h>
#include <stdint.h>

// The primitives of pushcrypt's suites in the base profile, for one recipient key. `make` makes every object that can
// be made once.

enum { SECRET_BYTES = 32, SALT_BYTES = 16, ID_BYTES = 16, LONGEST_INFO = 197, LONGEST_OVERHEAD = 1120 + 16 };

struct suite {
    size_t header_bytes;
    void *(*make)(const struct suite *suite, const uint8_t secret[SECRET_BYTES], const uint8_t *info, size_t count);
    // `id` is NULL, or receives the random bytes of a payload's id: from the same draw, if the suite draws bytes.
    void (*seal)(void *state, const uint8_t *plaintext, size_t count, uint8_t *sealed, uint8_t *id);
    // Returns 1, or 0 if the message doesn't open.
    int (*open)(void *state, const uint8_t *sealed, size_t count, uint8_t *plaintext);
    void (*free)(void *state);
    const struct hpke *hpke;
};

// The suite whose name is "1", "2", "3", "4", or "1evp" for P-256 by the EVP layer; NULL for others, and for "3" if this
// OpenSSL has no ML-KEM.
const struct suite *suite_named(const char *name);
size_t suite_overhead(const struct suite *suite);

// info of PROTOCOL section 4, base profile: writes at most LONGEST_INFO bytes and returns the count.
size_t context_info(uint8_t *info, uint8_t suite, const char *kid, const char *topic);

extern const struct suite suite_1, suite_1_evp, suite_2, suite_3, suite_4;

#endif
