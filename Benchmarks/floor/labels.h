#ifndef FLOOR_LABELS_H
#define FLOOR_LABELS_H

#include "hmac.h"

#include <stddef.h>
#include <stdint.h>

// The messages of RFC 9180's LabeledExtract and LabeledExpand (section 4), laid out once.

struct suite_id {
    uint8_t bytes[10];
    size_t count;
};

struct suite_id kem_suite_id(uint16_t kem);
struct suite_id hpke_suite_id(uint16_t kem, uint16_t kdf, uint16_t aead);

// labeled_ikm = concat("HPKE-v1", suite_id, label, ikm), `ikm` left open
void begin_extract(struct message *message, const struct suite_id *id, const char *label, size_t hole);

// labeled_info = concat(I2OSP(L, 2), "HPKE-v1", suite_id, label, info), then 0x01 for T(1); `info` left open after
// `prefix`
void begin_expand(
    struct message *message, const struct suite_id *id, const char *label, size_t length, const uint8_t *prefix,
    size_t prefix_count, size_t hole);

#endif
