#include "dh.h"
#include "must.h"

#include <openssl/core_names.h>
#include <openssl/params.h>

// P-256 by the EVP layer, to measure its cost: key generation with a reused context, and a derivation that doesn't
// repeat the check of a public key that was checked at its import.

struct state {
    EVP_PKEY_CTX *generator;
    EVP_PKEY *recipient, *template;
    EVP_PKEY_CTX *receiver;
};

static EVP_PKEY *import(const uint8_t public_key[P256_BYTES], const BIGNUM *scalar)
{
    uint8_t native[SCALAR_BYTES];
    OSSL_PARAM parameters[4], *next = parameters;
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)public_key, P256_BYTES);
    if (scalar != NULL) {
        must(BN_bn2nativepad(scalar, native, SCALAR_BYTES) == SCALAR_BYTES);
        *next++ = OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, native, SCALAR_BYTES);
    }
    *next = OSSL_PARAM_construct_end();
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = must_have(EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL));
    must(EVP_PKEY_fromdata_init(context));
    must(EVP_PKEY_fromdata(
        context, &key, scalar == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, parameters));
    EVP_PKEY_CTX_free(context);
    return key;
}

static void *make(const uint8_t bytes[SCALAR_BYTES], uint8_t *public_key)
{
    // The public key comes from the other path: OpenSSL 3.0 doesn't derive it from a scalar here.
    dh_p256.free(dh_p256.make(bytes, public_key));
    struct state *s = must_have(calloc(1, sizeof *s));
    BIGNUM *scalar = must_have(BN_bin2bn(bytes, SCALAR_BYTES, NULL));
    EVP_PKEY *private_key = import(public_key, scalar);
    BN_clear_free(scalar);
    s->receiver = must_have(EVP_PKEY_CTX_new_from_pkey(NULL, private_key, NULL));
    must(EVP_PKEY_derive_init(s->receiver));
    EVP_PKEY_free(private_key);
    s->recipient = import(public_key, NULL);
    s->template = import(public_key, NULL);
    s->generator = must_have(EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL));
    must(EVP_PKEY_keygen_init(s->generator));
    must(EVP_PKEY_CTX_set_group_name(s->generator, "P-256"));
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    EVP_PKEY_CTX_free(s->generator);
    EVP_PKEY_CTX_free(s->receiver);
    EVP_PKEY_free(s->recipient);
    EVP_PKEY_free(s->template);
    free(s);
}

static void derive(EVP_PKEY_CTX *context, EVP_PKEY *peer, uint8_t dh[DH_BYTES])
{
    size_t count = DH_BYTES;
    must(EVP_PKEY_derive_set_peer_ex(context, peer, 0));
    must(EVP_PKEY_derive(context, dh, &count));
}

static void begin(void *state, uint8_t *enc, uint8_t dh[DH_BYTES])
{
    struct state *s = state;
    EVP_PKEY *ephemeral = NULL;
    size_t count = 0;
    must(EVP_PKEY_generate(s->generator, &ephemeral));
    must(EVP_PKEY_get_octet_string_param(ephemeral, OSSL_PKEY_PARAM_PUB_KEY, enc, P256_BYTES, &count));
    EVP_PKEY_CTX *context = must_have(EVP_PKEY_CTX_new_from_pkey(NULL, ephemeral, NULL));
    must(EVP_PKEY_derive_init(context));
    derive(context, s->recipient, dh);
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(ephemeral);
}

// The cheapest import of the EVP layer: setting the encoded public key of a key that already has the group.
static int receive(void *state, const uint8_t *enc, uint8_t dh[DH_BYTES])
{
    struct state *s = state;
    if (EVP_PKEY_set1_encoded_public_key(s->template, enc, P256_BYTES) != 1)
        return 0;
    derive(s->receiver, s->template, dh);
    return 1;
}

const struct dh dh_p256_evp = {P256_BYTES, make, begin, receive, free_state};
