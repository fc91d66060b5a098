#include "aead.h"
#include "hmac.h"
#include "must.h"
#include "suites.h"

#include <string.h>

#include <openssl/rand.h>

// Suite 4 (PROTOCOL section 3): HKDF-SHA256 (RFC 5869) with a random salt, AES-256-GCM. In compressions:
//
//   prk  = HMAC(salt, K)                 4
//   T(1) = HMAC(prk, info || 1)          4, of which 2 are for the key
//   T(2) = HMAC(prk, T(1) || info || 2)  3
//   key = T(1), nonce = the first 12 bytes of T(2)

struct state {
    struct aead aead;
    uint8_t info[LONGEST_INFO];
    size_t info_count;
    struct message secret, first, second;
};

struct schedule {
    uint8_t key[HASH_BYTES], nonce[HASH_BYTES];
};

static void *make(const struct suite *suite, const uint8_t secret[SECRET_BYTES], const uint8_t *info, size_t count)
{
    (void)suite;
    struct state *s = must_have(calloc(1, sizeof *s));
    aead_make(&s->aead, "AES-256-GCM");
    memcpy(s->info, info, count);
    s->info_count = count;
    message_begin(&s->secret);
    message_add(&s->secret, secret, SECRET_BYTES);
    message_end(&s->secret);
    message_begin(&s->first);
    message_add_hole(&s->first, count);
    message_add(&s->first, "\x01", 1);
    message_end(&s->first);
    message_begin(&s->second);
    message_add_hole(&s->second, HASH_BYTES + count);
    message_add(&s->second, "\x02", 1);
    message_end(&s->second);
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    aead_free(&s->aead);
    free(s);
}

static void expand(struct state *s, const uint8_t salt[SALT_BYTES], struct schedule *schedule)
{
    uint8_t prk[HASH_BYTES];
    struct hmac_key key;
    hmac_set_key(&key, salt, SALT_BYTES);
    hmac(&key, &s->secret, prk);
    hmac_set_key(&key, prk, sizeof prk);
    memcpy(s->first.hole, s->info, s->info_count);
    hmac(&key, &s->first, schedule->key);
    memcpy(s->second.hole, schedule->key, HASH_BYTES);
    memcpy(s->second.hole + HASH_BYTES, s->info, s->info_count);
    hmac(&key, &s->second, schedule->nonce);
}

static void seal(void *state, const uint8_t *plaintext, size_t count, uint8_t *sealed, uint8_t *id)
{
    struct state *s = state;
    struct schedule schedule;
    uint8_t random[SALT_BYTES + ID_BYTES];
    must(RAND_bytes(random, id == NULL ? SALT_BYTES : sizeof random));
    if (id != NULL)
        memcpy(id, random + SALT_BYTES, ID_BYTES);
    memcpy(sealed, random, SALT_BYTES);
    expand(s, sealed, &schedule);
    aead_seal(&s->aead, schedule.key, schedule.nonce, plaintext, count, sealed + SALT_BYTES);
}

static int open(void *state, const uint8_t *sealed, size_t count, uint8_t *plaintext)
{
    struct state *s = state;
    struct schedule schedule;
    if (count < SALT_BYTES + TAG_BYTES)
        return 0;
    expand(s, sealed, &schedule);
    return aead_open(&s->aead, schedule.key, schedule.nonce, sealed + SALT_BYTES, count - SALT_BYTES, plaintext);
}

const struct suite suite_4 = {SALT_BYTES, make, seal, open, free_state, NULL};
