#ifndef FLOOR_HMAC_H
#define FLOOR_HMAC_H

#include <stddef.h>
#include <stdint.h>

// HMAC-SHA256 (RFC 2104) by compressions. A key's blocks are hashed once per key. A message is laid out and padded
// once; only the changing bytes are copied into it.

enum { HASH_BYTES = 32, BLOCK_BYTES = 64 };

// The states after the blocks K ^ ipad and K ^ opad.
struct hmac_key {
    uint32_t inner[8], outer[8];
};

// A message of HMAC with its SHA-256 padding; `hole` is the place of the changing bytes.
struct message {
    uint8_t bytes[5 * BLOCK_BYTES];
    size_t count, blocks;
    uint8_t *hole;
};

// `count` is at most 64 bytes.
void hmac_set_key(struct hmac_key *key, const uint8_t *bytes, size_t count);
void hmac(const struct hmac_key *key, const struct message *message, uint8_t code[HASH_BYTES]);

void message_begin(struct message *message);
void message_add(struct message *message, const void *bytes, size_t count);
void message_add_hole(struct message *message, size_t count);
void message_end(struct message *message);

#endif
