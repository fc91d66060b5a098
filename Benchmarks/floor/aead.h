#ifndef FLOOR_AEAD_H
#define FLOOR_AEAD_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

enum { TAG_BYTES = 16, NONCE_BYTES = 12 };

// One cipher in both directions with reused contexts: a message sets only key and nonce.
struct aead {
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *seal, *open;
};

void aead_make(struct aead *aead, const char *name);
void aead_free(struct aead *aead);

// Writes count + 16 bytes.
void aead_seal(
    struct aead *aead, const uint8_t *key, const uint8_t *nonce, const uint8_t *plaintext, size_t count,
    uint8_t *ciphertext);

// Writes count - 16 bytes; returns 0 if the tag is wrong.
int aead_open(
    struct aead *aead, const uint8_t *key, const uint8_t *nonce, const uint8_t *ciphertext, size_t count,
    uint8_t *plaintext);

#endif
