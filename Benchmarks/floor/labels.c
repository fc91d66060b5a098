#include "labels.h"

#include <string.h>

static void add_number(struct suite_id *id, uint16_t number)
{
    id->bytes[id->count++] = (uint8_t)(number >> 8);
    id->bytes[id->count++] = (uint8_t)number;
}

// concat("KEM", I2OSP(kem_id, 2))
struct suite_id kem_suite_id(uint16_t kem)
{
    struct suite_id id = {.bytes = "KEM", .count = 3};
    add_number(&id, kem);
    return id;
}

// concat("HPKE", I2OSP(kem_id, 2), I2OSP(kdf_id, 2), I2OSP(aead_id, 2))
struct suite_id hpke_suite_id(uint16_t kem, uint16_t kdf, uint16_t aead)
{
    struct suite_id id = {.bytes = "HPKE", .count = 4};
    add_number(&id, kem);
    add_number(&id, kdf);
    add_number(&id, aead);
    return id;
}

static void add_label(struct message *message, const struct suite_id *id, const char *label)
{
    message_add(message, "HPKE-v1", 7);
    message_add(message, id->bytes, id->count);
    message_add(message, label, strlen(label));
}

void begin_extract(struct message *message, const struct suite_id *id, const char *label, size_t hole)
{
    message_begin(message);
    add_label(message, id, label);
    message_add_hole(message, hole);
    message_end(message);
}

void begin_expand(
    struct message *message, const struct suite_id *id, const char *label, size_t length, const uint8_t *prefix,
    size_t prefix_count, size_t hole)
{
    const uint8_t l[2] = {(uint8_t)(length >> 8), (uint8_t)length};
    message_begin(message);
    message_add(message, l, sizeof l);
    add_label(message, id, label);
    message_add(message, prefix, prefix_count);
    message_add_hole(message, hole);
    message_add(message, "\x01", 1);
    message_end(message);
}
