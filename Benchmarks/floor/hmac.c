#include "hmac.h"

#include <string.h>

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

static void store(uint8_t *bytes, const uint32_t state[8])
{
    for (size_t i = 0; i < 8; i++) {
        uint32_t word = __builtin_bswap32(state[i]);
        memcpy(bytes + 4 * i, &word, 4);
    }
}

static void first_state(uint32_t state[8], const uint8_t block[BLOCK_BYTES])
{
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Transform(&context, block);
    memcpy(state, context.h, sizeof context.h);
}

void hmac_set_key(struct hmac_key *key, const uint8_t *bytes, size_t count)
{
    uint8_t block[BLOCK_BYTES];
    memset(block, 0x36, sizeof block);
    for (size_t i = 0; i < count; i++)
        block[i] ^= bytes[i];
    first_state(key->inner, block);
    for (size_t i = 0; i < sizeof block; i++)
        block[i] ^= 0x36 ^ 0x5c;
    first_state(key->outer, block);
}

void hmac(const struct hmac_key *key, const struct message *message, uint8_t code[HASH_BYTES])
{
    SHA256_CTX context;
    memcpy(context.h, key->inner, sizeof context.h);
    for (size_t i = 0; i < message->blocks; i++)
        SHA256_Transform(&context, message->bytes + i * BLOCK_BYTES);

    // The outer message is a digest after the key's block: 96 bytes, 768 bits.
    uint8_t block[BLOCK_BYTES] = {[HASH_BYTES] = 0x80, [BLOCK_BYTES - 2] = 0x03};
    store(block, context.h);
    memcpy(context.h, key->outer, sizeof context.h);
    SHA256_Transform(&context, block);
    store(code, context.h);
}

void message_begin(struct message *message)
{
    memset(message, 0, sizeof *message);
}

void message_add(struct message *message, const void *bytes, size_t count)
{
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

void message_add_hole(struct message *message, size_t count)
{
    message->hole = message->bytes + message->count;
    message->count += count;
}

// FIPS 180-4 section 5.1.1: a one bit, zeros, the length in bits; the length includes the key's block.
void message_end(struct message *message)
{
    uint64_t bits = (BLOCK_BYTES + message->count) * 8;
    message->bytes[message->count] = 0x80;
    message->blocks = (message->count + 1 + 8 + BLOCK_BYTES - 1) / BLOCK_BYTES;
    for (size_t i = 0; i < 8; i++)
        message->bytes[message->blocks * BLOCK_BYTES - 1 - i] = (uint8_t)(bits >> 8 * i);
}
