#ifndef FLOOR_KEM_H
#define FLOOR_KEM_H

#include "dh.h"
#include "hmac.h"

#include <stddef.h>
#include <stdint.h>

enum { X_WING_BYTES = 1120 };

// A key encapsulation mechanism for one key pair. The objects of the recipient's key are made once.
//
// encapsulate: a fresh ephemeral key; writes `enc` and the shared secret
// decapsulate: writes the shared secret; 0 if `enc` is refused
struct kem {
    uint16_t id;
    size_t enc_bytes;
    void *(*make)(const struct kem *kem, const uint8_t secret[SCALAR_BYTES]);
    void (*encapsulate)(void *state, uint8_t *enc, uint8_t shared_secret[HASH_BYTES]);
    int (*decapsulate)(void *state, const uint8_t *enc, uint8_t shared_secret[HASH_BYTES]);
    void (*free)(void *state);
    const struct dh *dh;
};

extern const struct kem dhkem_p256, dhkem_p256_evp, dhkem_x25519, x_wing;

// Whether this OpenSSL has ML-KEM-768: 3.5 or later.
int x_wing_is_available(void);

#endif
