#ifndef PUSHCRYPT_OPENSSL_SHIM_H
#define PUSHCRYPT_OPENSSL_SHIM_H

// HMAC runs over a reused SHA-256 state (SHA256_Init and its kin), which 3.0 marks as deprecated and every 3.x has.
#define OPENSSL_SUPPRESS_DEPRECATED

#if !__has_include(<openssl/opensslv.h>)
#error "pushcrypt: OpenSSL's headers are missing. Install libssl-dev and pkg-config (apt) or openssl@3 (brew)."
#endif

#include <openssl/opensslv.h>

#if defined(LIBRESSL_VERSION_NUMBER) || defined(OPENSSL_IS_BORINGSSL)
#error "pushcrypt: needs OpenSSL itself; LibreSSL and BoringSSL lack the provider interface of OpenSSL 3."
#elif OPENSSL_VERSION_NUMBER < 0x30000000L
#error "pushcrypt: needs OpenSSL 3.0 or later; the headers found here are older."
#endif

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

// Macros of more than a literal don't reach Swift.
static const int pushcrypt_pkey_public_key = EVP_PKEY_PUBLIC_KEY;
static const int pushcrypt_pkey_keypair = EVP_PKEY_KEYPAIR;

// An OSSL_PARAM keeps the pointer to its name: a Swift String passed for it would be gone when the parameter is read.
static inline OSSL_PARAM pushcrypt_param_public_key(const unsigned char *bytes, size_t count)
{
    return OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)bytes, count);
}

static inline OSSL_PARAM pushcrypt_param_private_key(const unsigned char *bytes, size_t count)
{
    return OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, (void *)bytes, count);
}

#endif
