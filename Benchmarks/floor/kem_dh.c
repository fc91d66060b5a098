#include "kem.h"
#include "labels.h"
#include "must.h"

#include <string.h>

// RFC 9180 section 4.1: DHKEM with HKDF-SHA256. The hashing of a message, in compressions, for P-256 and X25519:
//
//   eae_prk = LabeledExtract("", "eae_prk", dh)                                2, the key is constant
//   shared_secret = LabeledExpand(eae_prk, "shared_secret", enc || pkR, 32)    6 and 5

struct state {
    const struct dh *dh;
    void *keys;
    uint8_t recipient[LONGEST_PUBLIC_KEY];
    struct hmac_key empty_salt;
    struct message eae_prk, shared_secret;
};

static void *make(const struct kem *kem, const uint8_t secret[SCALAR_BYTES])
{
    struct state *s = must_have(calloc(1, sizeof *s));
    struct suite_id id = kem_suite_id(kem->id);
    s->dh = kem->dh;
    s->keys = s->dh->make(secret, s->recipient);
    hmac_set_key(&s->empty_salt, NULL, 0);
    begin_extract(&s->eae_prk, &id, "eae_prk", DH_BYTES);
    begin_expand(&s->shared_secret, &id, "shared_secret", HASH_BYTES, NULL, 0, 2 * s->dh->public_key_bytes);
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    s->dh->free(s->keys);
    free(s);
}

// ExtractAndExpand(dh, concat(enc, pkRm)); dh is in the hole of eae_prk.
static void extract_and_expand(struct state *s, const uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    size_t count = s->dh->public_key_bytes;
    uint8_t prk[HASH_BYTES];
    struct hmac_key key;
    hmac(&s->empty_salt, &s->eae_prk, prk);
    hmac_set_key(&key, prk, sizeof prk);
    memcpy(s->shared_secret.hole, enc, count);
    memcpy(s->shared_secret.hole + count, s->recipient, count);
    hmac(&key, &s->shared_secret, shared_secret);
}

static void encapsulate(void *state, uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    struct state *s = state;
    s->dh->begin(s->keys, enc, s->eae_prk.hole);
    extract_and_expand(s, enc, shared_secret);
}

static int decapsulate(void *state, const uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    struct state *s = state;
    if (!s->dh->receive(s->keys, enc, s->eae_prk.hole))
        return 0;
    extract_and_expand(s, enc, shared_secret);
    return 1;
}

const struct kem dhkem_p256 = {0x0010, P256_BYTES, make, encapsulate, decapsulate, free_state, &dh_p256};
const struct kem dhkem_p256_evp = {0x0010, P256_BYTES, make, encapsulate, decapsulate, free_state, &dh_p256_evp};
const struct kem dhkem_x25519 = {0x0020, X25519_BYTES, make, encapsulate, decapsulate, free_state, &dh_x25519};
