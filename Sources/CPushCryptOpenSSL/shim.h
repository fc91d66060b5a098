#ifndef PUSHCRYPT_OPENSSL_SHIM_H
#define PUSHCRYPT_OPENSSL_SHIM_H

// HMAC runs over a reused SHA-256 state (SHA256_Init and its kin), which 3.0 marks as deprecated and every 3.x has.
#define OPENSSL_SUPPRESS_DEPRECATED

#if !__has_include(<openssl/opensslv.h>)
#error "pushcrypt: OpenSSL's headers are missing. Install libssl-dev and pkg-config (apt), or openssl@3 and pkg-config (brew); then run swift package purge-cache."
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

// Empties the thread's error queue. Returns 1 if an error in it is a lack of memory. Here and not in Swift, because the
// reason is a macro.
static inline int pushcrypt_clear_errors(void) {
    int lacks_memory = 0;
    unsigned long error;
    while ((error = ERR_get_error()) != 0)
        lacks_memory |= ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
    return lacks_memory;
}

#if defined(__linux__)
// Whether OpenSSL is in the program's own file, and not in a shared library. The linker defines where the program begins and
// ends. Here and not in Swift, because Swift has no addresses of functions.
static inline int pushcrypt_openssl_is_built_in(void) {
    extern const char __executable_start __attribute__((visibility("hidden"))), _end __attribute__((visibility("hidden")));
    const char *function = (const char *)OpenSSL_version;
    return function >= &__executable_start && function < &_end;
}
#endif

// An X25519 key object from bytes, with the public key only where there is no private one. Here and not in Swift, because
// an OSSL_PARAM keeps the pointer to its name, and so that no array is made for every message.
static inline int pushcrypt_x25519_fromdata(
    EVP_PKEY_CTX *context, EVP_PKEY **key, const unsigned char *public_key, const unsigned char *private_key)
{
    OSSL_PARAM parameters[3];
    OSSL_PARAM *next = parameters;
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)public_key, 32);
    if (private_key != NULL)
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY, (void *)private_key, 32);
    *next = OSSL_PARAM_construct_end();
    return EVP_PKEY_fromdata(
        context, key, private_key == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, parameters);
}

// An ML-KEM key object from a seed, which is private, or a public key. OpenSSL's headers have the name "seed" from 3.5 on.
static inline int pushcrypt_mlkem_fromdata(
    EVP_PKEY_CTX *context, EVP_PKEY **key, const unsigned char *bytes, size_t count, int is_private)
{
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_octet_string(is_private ? "seed" : OSSL_PKEY_PARAM_PUB_KEY, (void *)bytes, count),
        OSSL_PARAM_construct_end()};
    return EVP_PKEY_fromdata(context, key, is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, parameters);
}

// Begins an encapsulation with given randomness, for tests of published vectors. "ikme" is in OpenSSL's headers from 3.2 on.
static inline int pushcrypt_encapsulate_init(EVP_PKEY_CTX *context, const unsigned char *randomness, size_t count)
{
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_octet_string("ikme", (void *)randomness, count), OSSL_PARAM_construct_end()};
    return EVP_PKEY_encapsulate_init(context, parameters);
}

#endif
