#include "kem.h"
#include "must.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>

// draft-connolly-cfrg-xwing-kem over ML-KEM-768, X25519, SHA3-256 and SHAKE256. The headers of OpenSSL 3.0 suffice. A
// message sets no context up again: the contexts of both ML-KEM operations and of SHA3-256 are reused.

enum { CIPHERTEXT_BYTES = 1088, SECRET_BYTES = 32, SEED_BYTES = 64, EXPANDED_BYTES = 96, LABEL_BYTES = 6 };

// The combiner's input: ss_M || ss_X || ct_X || pk_X || XWingLabel
struct combined {
    uint8_t mlkem[SECRET_BYTES], x25519[DH_BYTES], ciphertext[X25519_BYTES], recipient[X25519_BYTES];
    uint8_t label[LABEL_BYTES];
};

struct state {
    EVP_PKEY *mlkem;
    EVP_PKEY_CTX *encapsulator, *decapsulator;
    void *x25519;
    EVP_MD *sha3;
    EVP_MD_CTX *hash;
    struct combined combined;
};

int x_wing_is_available(void)
{
    EVP_KEM *kem = EVP_KEM_fetch(NULL, "ML-KEM-768", NULL);
    ERR_clear_error();
    EVP_KEM_free(kem);
    return kem != NULL;
}

static void expand(const uint8_t secret[SCALAR_BYTES], uint8_t expanded[EXPANDED_BYTES])
{
    EVP_MD_CTX *context = must_have(EVP_MD_CTX_new());
    must(EVP_DigestInit_ex2(context, EVP_shake256(), NULL));
    must(EVP_DigestUpdate(context, secret, SCALAR_BYTES));
    must(EVP_DigestFinalXOF(context, expanded, EXPANDED_BYTES));
    EVP_MD_CTX_free(context);
}

static EVP_PKEY *mlkem_key(uint8_t seed[SEED_BYTES])
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *importer = must_have(EVP_PKEY_CTX_new_from_name(NULL, "ML-KEM-768", NULL));
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_octet_string("seed", seed, SEED_BYTES),
        OSSL_PARAM_construct_end(),
    };
    must(EVP_PKEY_fromdata_init(importer));
    must(EVP_PKEY_fromdata(importer, &key, EVP_PKEY_KEYPAIR, parameters));
    EVP_PKEY_CTX_free(importer);
    return key;
}

static void *make(const struct kem *kem, const uint8_t secret[SCALAR_BYTES])
{
    (void)kem;
    struct state *s = must_have(calloc(1, sizeof *s));
    uint8_t expanded[EXPANDED_BYTES];
    expand(secret, expanded);
    s->mlkem = mlkem_key(expanded);
    s->x25519 = dh_x25519.make(expanded + SEED_BYTES, s->combined.recipient);
    s->encapsulator = must_have(EVP_PKEY_CTX_new_from_pkey(NULL, s->mlkem, NULL));
    s->decapsulator = must_have(EVP_PKEY_CTX_new_from_pkey(NULL, s->mlkem, NULL));
    must(EVP_PKEY_encapsulate_init(s->encapsulator, NULL));
    must(EVP_PKEY_decapsulate_init(s->decapsulator, NULL));
    s->sha3 = must_have(EVP_MD_fetch(NULL, "SHA3-256", NULL));
    s->hash = must_have(EVP_MD_CTX_new());
    memcpy(s->combined.label, "\\.//^\\", LABEL_BYTES);
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    EVP_PKEY_CTX_free(s->encapsulator);
    EVP_PKEY_CTX_free(s->decapsulator);
    EVP_PKEY_free(s->mlkem);
    EVP_MD_CTX_free(s->hash);
    EVP_MD_free(s->sha3);
    dh_x25519.free(s->x25519);
    free(s);
}

static void combine(struct state *s, const uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    memcpy(s->combined.ciphertext, enc + CIPHERTEXT_BYTES, X25519_BYTES);
    must(EVP_DigestInit_ex2(s->hash, s->sha3, NULL));
    must(EVP_DigestUpdate(s->hash, &s->combined, sizeof s->combined));
    must(EVP_DigestFinal_ex(s->hash, shared_secret, NULL));
}

static void encapsulate(void *state, uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    struct state *s = state;
    size_t ciphertext_bytes = CIPHERTEXT_BYTES, secret_bytes = SECRET_BYTES;
    must(EVP_PKEY_encapsulate(s->encapsulator, enc, &ciphertext_bytes, s->combined.mlkem, &secret_bytes));
    dh_x25519.begin(s->x25519, enc + CIPHERTEXT_BYTES, s->combined.x25519);
    combine(s, enc, shared_secret);
}

static int decapsulate(void *state, const uint8_t *enc, uint8_t shared_secret[HASH_BYTES])
{
    struct state *s = state;
    size_t count = SECRET_BYTES;
    must(EVP_PKEY_decapsulate(s->decapsulator, s->combined.mlkem, &count, enc, CIPHERTEXT_BYTES));
    if (!dh_x25519.receive(s->x25519, enc + CIPHERTEXT_BYTES, s->combined.x25519))
        return 0;
    combine(s, enc, shared_secret);
    return 1;
}

const struct kem x_wing = {0x647a, X_WING_BYTES, make, encapsulate, decapsulate, free_state, NULL};
