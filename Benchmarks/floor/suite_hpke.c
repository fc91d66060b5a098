#include "aead.h"
#include "dh.h"
#include "hmac.h"
#include "must.h"
#include "suites.h"

#include <string.h>

#include <openssl/rand.h>

// RFC 9180, mode base, single shot: section 4 (labels), 4.1 (DHKEM), 5.1 (key schedule) and 6.1, without the exporter
// secret, which no job needs. The hashing of a message, in compressions, for P-256 and X25519:
//
//   eae_prk = LabeledExtract("", "eae_prk", dh)                                2, the key is constant
//   shared_secret = LabeledExpand(eae_prk, "shared_secret", enc || pkR, 32)    6 and 5
//   info_hash = LabeledExtract("", "info_hash", info)                          3, the key is constant
//   secret = LabeledExtract(shared_secret, "secret", "")                       4
//   key = LabeledExpand(secret, "key", context, Nk)                            5, of which 2 are for the key
//   base_nonce = LabeledExpand(secret, "base_nonce", context, 12)              3
//
// psk_id_hash is a constant of the mode. info_hash isn't: info names the recipient, and each gets one message.

struct hpke {
    const struct dh *dh;
    uint16_t kem_id, aead_id;
    const char *cipher;
    size_t key_bytes;
};

struct state {
    const struct hpke *hpke;
    void *dh;
    struct aead aead;
    uint8_t recipient[LONGEST_PUBLIC_KEY];
    uint8_t info[LONGEST_INFO];
    size_t info_count;
    struct hmac_key empty_salt;
    struct message eae_prk, shared_secret, info_hash, secret, key, base_nonce;
};

struct schedule {
    uint8_t key[HASH_BYTES], base_nonce[HASH_BYTES];
};

static void add_number(struct message *message, size_t number)
{
    uint8_t bytes[2] = {(uint8_t)(number >> 8), (uint8_t)number};
    message_add(message, bytes, 2);
}

static void add_kem_id(struct message *message, const struct hpke *hpke)
{
    message_add(message, "KEM", 3);
    add_number(message, hpke->kem_id);
}

static void add_suite_id(struct message *message, const struct hpke *hpke)
{
    const uint16_t hkdf_sha256 = 1;
    message_add(message, "HPKE", 4);
    add_number(message, hpke->kem_id);
    add_number(message, hkdf_sha256);
    add_number(message, hpke->aead_id);
}

typedef void add_id(struct message *message, const struct hpke *hpke);

// labeled_ikm = concat("HPKE-v1", suite_id, label, ikm), `ikm` left open
static void begin_extract(
    struct message *message, const struct hpke *hpke, add_id *id, const char *label, size_t hole)
{
    message_begin(message);
    message_add(message, "HPKE-v1", 7);
    id(message, hpke);
    message_add(message, label, strlen(label));
    message_add_hole(message, hole);
    message_end(message);
}

// labeled_info = concat(I2OSP(L, 2), "HPKE-v1", suite_id, label, info), then 0x01 for T(1); `info` left open after
// `prefix`
static void begin_expand(
    struct message *message, const struct hpke *hpke, add_id *id, const char *label, size_t length,
    const uint8_t *prefix, size_t prefix_count, size_t hole)
{
    message_begin(message);
    add_number(message, length);
    message_add(message, "HPKE-v1", 7);
    id(message, hpke);
    message_add(message, label, strlen(label));
    message_add(message, prefix, prefix_count);
    message_add_hole(message, hole);
    message_add(message, "\x01", 1);
    message_end(message);
}

// key_schedule_context = concat(mode, psk_id_hash, info_hash); the first two are constant.
static void lay_out_schedule(struct state *s)
{
    const struct hpke *hpke = s->hpke;
    uint8_t mode_and_psk_id_hash[1 + HASH_BYTES] = {0x00};
    struct message psk_id_hash;
    begin_extract(&psk_id_hash, hpke, add_suite_id, "psk_id_hash", 0);
    hmac(&s->empty_salt, &psk_id_hash, mode_and_psk_id_hash + 1);

    begin_extract(&s->info_hash, hpke, add_suite_id, "info_hash", s->info_count);
    begin_extract(&s->secret, hpke, add_suite_id, "secret", 0);
    begin_expand(
        &s->key, hpke, add_suite_id, "key", hpke->key_bytes, mode_and_psk_id_hash, sizeof mode_and_psk_id_hash,
        HASH_BYTES);
    begin_expand(
        &s->base_nonce, hpke, add_suite_id, "base_nonce", NONCE_BYTES, mode_and_psk_id_hash,
        sizeof mode_and_psk_id_hash, HASH_BYTES);
}

static void *make(const struct suite *suite, const uint8_t secret[SECRET_BYTES], const uint8_t *info, size_t count)
{
    struct state *s = must_have(calloc(1, sizeof *s));
    const struct hpke *hpke = suite->hpke;
    s->hpke = hpke;
    s->dh = hpke->dh->make(secret, s->recipient);
    aead_make(&s->aead, hpke->cipher);
    memcpy(s->info, info, count);
    s->info_count = count;
    hmac_set_key(&s->empty_salt, NULL, 0);
    begin_extract(&s->eae_prk, hpke, add_kem_id, "eae_prk", DH_BYTES);
    begin_expand(
        &s->shared_secret, hpke, add_kem_id, "shared_secret", HASH_BYTES, NULL, 0, 2 * hpke->dh->public_key_bytes);
    lay_out_schedule(s);
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    s->hpke->dh->free(s->dh);
    aead_free(&s->aead);
    free(s);
}

// Section 4.1: ExtractAndExpand(dh, concat(enc, pkRm)); dh is in the hole of eae_prk.
static void extract_and_expand(struct state *s, const uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    size_t count = s->hpke->dh->public_key_bytes;
    uint8_t prk[HASH_BYTES];
    struct hmac_key key;
    hmac(&s->empty_salt, &s->eae_prk, prk);
    hmac_set_key(&key, prk, sizeof prk);
    memcpy(s->shared_secret.hole, enc, count);
    memcpy(s->shared_secret.hole + count, s->recipient, count);
    hmac(&key, &s->shared_secret, shared_secret);
}

// Section 5.1: KeySchedule(mode_base, shared_secret, info, "", "").
static void key_schedule(struct state *s, const uint8_t *enc, struct schedule *schedule)
{
    uint8_t bytes[HASH_BYTES];
    struct hmac_key key;
    extract_and_expand(s, enc, bytes);
    hmac_set_key(&key, bytes, sizeof bytes);
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
    struct schedule schedule;
    if (id != NULL)
        must(RAND_bytes(id, ID_BYTES));
    s->hpke->dh->begin(s->dh, sealed, s->eae_prk.hole);
    key_schedule(s, sealed, &schedule);
    aead_seal(
        &s->aead, schedule.key, schedule.base_nonce, plaintext, count, sealed + s->hpke->dh->public_key_bytes);
}

static int open(void *state, const uint8_t *sealed, size_t count, uint8_t *plaintext)
{
    struct state *s = state;
    size_t enc = s->hpke->dh->public_key_bytes;
    struct schedule schedule;
    if (count < enc + TAG_BYTES || !s->hpke->dh->receive(s->dh, sealed, s->eae_prk.hole))
        return 0;
    key_schedule(s, sealed, &schedule);
    return aead_open(&s->aead, schedule.key, schedule.base_nonce, sealed + enc, count - enc, plaintext);
}

static const struct hpke p256 = {&dh_p256, 0x0010, 0x0002, "AES-256-GCM", 32};
static const struct hpke p256_evp = {&dh_p256_evp, 0x0010, 0x0002, "AES-256-GCM", 32};
static const struct hpke x25519 = {&dh_x25519, 0x0020, 0x0001, "AES-128-GCM", 16};

const struct suite suite_1 = {P256_BYTES, make, seal, open, free_state, &p256};
const struct suite suite_1_evp = {P256_BYTES, make, seal, open, free_state, &p256_evp};
const struct suite suite_2 = {X25519_BYTES, make, seal, open, free_state, &x25519};
