#include "aead.h"

#include "must.h"

void aead_make(struct aead *aead, const char *name)
{
    aead->cipher = must_have(EVP_CIPHER_fetch(NULL, name, NULL));
    aead->seal = must_have(EVP_CIPHER_CTX_new());
    aead->open = must_have(EVP_CIPHER_CTX_new());
    must(EVP_EncryptInit_ex2(aead->seal, aead->cipher, NULL, NULL, NULL));
    must(EVP_DecryptInit_ex2(aead->open, aead->cipher, NULL, NULL, NULL));
}

void aead_free(struct aead *aead)
{
    EVP_CIPHER_CTX_free(aead->seal);
    EVP_CIPHER_CTX_free(aead->open);
    EVP_CIPHER_free(aead->cipher);
}

void aead_seal(
    struct aead *aead, const uint8_t *key, const uint8_t *nonce, const uint8_t *plaintext, size_t count,
    uint8_t *ciphertext)
{
    int unused;
    must(EVP_EncryptInit_ex2(aead->seal, NULL, key, nonce, NULL));
    must(EVP_EncryptUpdate(aead->seal, ciphertext, &unused, plaintext, (int)count));
    must(EVP_EncryptFinal_ex(aead->seal, ciphertext + count, &unused));
    must(EVP_CIPHER_CTX_ctrl(aead->seal, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, ciphertext + count));
}

int aead_open(
    struct aead *aead, const uint8_t *key, const uint8_t *nonce, const uint8_t *ciphertext, size_t count,
    uint8_t *plaintext)
{
    int unused;
    count -= TAG_BYTES;
    must(EVP_DecryptInit_ex2(aead->open, NULL, key, nonce, NULL));
    must(EVP_DecryptUpdate(aead->open, plaintext, &unused, ciphertext, (int)count));
    must(EVP_CIPHER_CTX_ctrl(aead->open, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, (void *)(ciphertext + count)));
    return EVP_DecryptFinal_ex(aead->open, plaintext + count, &unused) == 1;
}
