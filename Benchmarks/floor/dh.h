#ifndef FLOOR_DH_H
#define FLOOR_DH_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

enum { DH_BYTES = 32, SCALAR_BYTES = 32, P256_BYTES = 65, X25519_BYTES = 32, LONGEST_PUBLIC_KEY = 65 };

// Each curve by the library's key path, with every object reused where possible, and P-256 also by the EVP layer.
// Imports the recipient's keys once, and `enc` for each message to open.
//
// begin:   a fresh ephemeral key; writes its public key, and DH(ephemeral, recipient)
// receive: imports `enc` and writes DH(recipient, enc); 0 if enc is not a public key
struct dh {
    size_t public_key_bytes;
    void *(*make)(const uint8_t scalar[SCALAR_BYTES], uint8_t *public_key);
    void (*begin)(void *state, uint8_t *enc, uint8_t dh[DH_BYTES]);
    int (*receive)(void *state, const uint8_t *enc, uint8_t dh[DH_BYTES]);
    void (*free)(void *state);
};

extern const struct dh dh_p256, dh_p256_evp, dh_x25519;

#endif
