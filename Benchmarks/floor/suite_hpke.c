#include "aead.h"
#include "hmac.h"
#include "kem.h"
#include "labels.h"
#include "must.h"
#include "suites.h"

#include <string.h>

#include <openssl/rand.h>

// RFC 9180, mode base, single shot: section 5.1 (key schedule) and 6.1, without the exporter secret, which no job needs.
// The hashing of a message after the KEM's, in compressions:
//
//   info_hash = LabeledExtract("", "info_hash", info)                          3, the key is constant
//   secret = LabeledExtract(shared_secret, "secret", "")                       4
//   key = LabeledExpand(secret, "key", context, Nk)                            5, of which 2 are for the key
//   base_nonce = LabeledExpand(secret, "base_nonce", context, 12)              3
//
// psk_id_hash is a constant of the mode. info_hash isn't: info names the recipient, and each gets one message.

struct hpke {
    const struct kem *kem;
    uint16_t aead_id;
    const char *cipher;
    size_t key_bytes;
};

struct state {
    const struct kem *kem;
    void *keys;
    struct aead aead;
    uint8_t info[LONGEST_INFO];
    size_t info_count;
    struct hmac_key empty_salt;
    struct message info_hash, secret, key, base_nonce;
};

struct schedule {
    uint8_t key[HASH_BYTES], base_nonce[HASH_BYTES];
};

// key_schedule_context = concat(mode, psk_id_hash, info_hash); the first two are constant.
static void lay_out_schedule(struct state *s, const struct hpke *hpke)
{
    const uint16_t hkdf_sha256 = 1;
    struct suite_id id = hpke_suite_id(hpke->kem->id, hkdf_sha256, hpke->aead_id);
    uint8_t mode_and_psk_id_hash[1 + HASH_BYTES] = {0x00};
    struct message psk_id_hash;
    begin_extract(&psk_id_hash, &id, "psk_id_hash", 0);
    hmac(&s->empty_salt, &psk_id_hash, mode_and_psk_id_hash + 1);

    begin_extract(&s->info_hash, &id, "info_hash", s->info_count);
    begin_extract(&s->secret, &id, "secret", 0);
    begin_expand(
        &s->key, &id, "key", hpke->key_bytes, mode_and_psk_id_hash, sizeof mode_and_psk_id_hash, HASH_BYTES);
    begin_expand(
        &s->base_nonce, &id, "base_nonce", NONCE_BYTES, mode_and_psk_id_hash, sizeof mode_and_psk_id_hash,
        HASH_BYTES);
}

static void *make(const struct suite *suite, const uint8_t secret[SECRET_BYTES], const uint8_t *info, size_t count)
{
    struct state *s = must_have(calloc(1, sizeof *s));
    s->kem = suite->hpke->kem;
    s->keys = s->kem->make(s->kem, secret);
    aead_make(&s->aead, suite->hpke->cipher);
    memcpy(s->info, info, count);
    s->info_count = count;
    hmac_set_key(&s->empty_salt, NULL, 0);
    lay_out_schedule(s, suite->hpke);
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    s->kem->free(s->keys);
    aead_free(&s->aead);
    free(s);
}

// Section 5.1: KeySchedule(mode_base, shared_secret, info, "", "").
static void key_schedule(struct state *s, const uint8_t shared_secret[HASH_BYTES], struct schedule *schedule)
{
    uint8_t bytes[HASH_BYTES];
    struct hmac_key key;
    hmac_set_key(&key, shared_secret, HASH_BYTES);
    hmac(&key, &s->secret, bytes);
    hmac_set_key(&key, bytes, sizeof bytes);

    memcpy(s->info_hash.hole, s->info, s->info_count);
    hmac(&s->empty_salt, &s->info_hash, bytes);
    memcpy(s->key.hole, bytes, sizeof bytes);
    memcpy(s->base_nonce.hole, bytes, sizeof bytes);
    hmac(&key, &s->key, schedule->key);
    hmac(&key, &s->base_nonce, schedule->base_nonce);
}

static void seal(void *state, const uint8_t *plaintext, size_t count, uint8_t *sealed, uint8_t *id)
{
    struct state *s = state;
    uint8_t shared_secret[HASH_BYTES];
    struct schedule schedule;
    if (id != NULL)
        must(RAND_bytes(id, ID_BYTES));
    s->kem->encapsulate(s->keys, sealed, shared_secret);
    key_schedule(s, shared_secret, &schedule);
    aead_seal(&s->aead, schedule.key, schedule.base_nonce, plaintext, count, sealed + s->kem->enc_bytes);
}

static int open(void *state, const uint8_t *sealed, size_t count, uint8_t *plaintext)
{
    struct state *s = state;
    size_t enc = s->kem->enc_bytes;
    uint8_t shared_secret[HASH_BYTES];
    struct schedule schedule;
    if (count < enc + TAG_BYTES || !s->kem->decapsulate(s->keys, sealed, shared_secret))
        return 0;
    key_schedule(s, shared_secret, &schedule);
    return aead_open(&s->aead, schedule.key, schedule.base_nonce, sealed + enc, count - enc, plaintext);
}

static const struct hpke p256 = {&dhkem_p256, 0x0002, "AES-256-GCM", 32};
static const struct hpke p256_evp = {&dhkem_p256_evp, 0x0002, "AES-256-GCM", 32};
static const struct hpke x25519 = {&dhkem_x25519, 0x0001, "AES-128-GCM", 16};
static const struct hpke hybrid = {&x_wing, 0x0002, "AES-256-GCM", 32};

const struct suite suite_1 = {P256_BYTES, make, seal, open, free_state, &p256};
const struct suite suite_1_evp = {P256_BYTES, make, seal, open, free_state, &p256_evp};
const struct suite suite_2 = {X25519_BYTES, make, seal, open, free_state, &x25519};
const struct suite suite_3 = {X_WING_BYTES, make, seal, open, free_state, &hybrid};
