#include "dh.h"
#include "must.h"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>

// A key object with u = 9 in place of its public key still derives. It derives its public key with u = 9 as its peer
// (RFC 7748 section 6.1). OpenSSL's own generation and raw import compute the public key more slowly.

static const uint8_t base_point[X25519_BYTES] = {9};

struct state {
    EVP_PKEY_CTX *importer;
    EVP_PKEY *base, *recipient;
    EVP_PKEY_CTX *receiver;
};

static EVP_PKEY *import(EVP_PKEY_CTX *importer, const uint8_t *public_key, const uint8_t *scalar)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM parameters[3] = {
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)public_key, X25519_BYTES),
        scalar == NULL
            ? OSSL_PARAM_construct_end()
            : OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, (void *)scalar, SCALAR_BYTES),
        OSSL_PARAM_construct_end(),
    };
    int selection = scalar == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
    must(EVP_PKEY_fromdata(importer, &key, selection, parameters));
    return key;
}

// Fails on the all-zero result, which RFC 9180 section 7.1.4 requires to refuse.
static int derive(EVP_PKEY_CTX *context, EVP_PKEY *peer, uint8_t *secret)
{
    size_t count = DH_BYTES;
    must(EVP_PKEY_derive_set_peer_ex(context, peer, 0));
    return EVP_PKEY_derive(context, secret, &count) == 1;
}

static EVP_PKEY_CTX *deriver(EVP_PKEY *key)
{
    EVP_PKEY_CTX *context = must_have(EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL));
    must(EVP_PKEY_derive_init(context));
    return context;
}

static void *make(const uint8_t scalar[SCALAR_BYTES], uint8_t *public_key)
{
    struct state *s = must_have(calloc(1, sizeof *s));
    s->importer = must_have(EVP_PKEY_CTX_new_from_name(NULL, "X25519", NULL));
    must(EVP_PKEY_fromdata_init(s->importer));
    s->base = import(s->importer, base_point, NULL);
    EVP_PKEY *key = import(s->importer, base_point, scalar);
    s->receiver = deriver(key);
    EVP_PKEY_free(key);
    must(derive(s->receiver, s->base, public_key));
    s->recipient = import(s->importer, public_key, NULL);
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    EVP_PKEY_CTX_free(s->receiver);
    EVP_PKEY_CTX_free(s->importer);
    EVP_PKEY_free(s->base);
    EVP_PKEY_free(s->recipient);
    free(s);
}

static void begin(void *state, uint8_t *enc, uint8_t dh[DH_BYTES])
{
    struct state *s = state;
    uint8_t scalar[SCALAR_BYTES];
    must(RAND_priv_bytes(scalar, sizeof scalar));
    EVP_PKEY *ephemeral = import(s->importer, base_point, scalar);
    EVP_PKEY_CTX *context = deriver(ephemeral);
    must(derive(context, s->base, enc));
    must(derive(context, s->recipient, dh));
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(ephemeral);
}

static int receive(void *state, const uint8_t *enc, uint8_t dh[DH_BYTES])
{
    struct state *s = state;
    EVP_PKEY *peer = import(s->importer, enc, NULL);
    int result = derive(s->receiver, peer, dh);
    EVP_PKEY_free(peer);
    return result;
}

const struct dh dh_x25519 = {X25519_BYTES, make, begin, receive, free_state};
