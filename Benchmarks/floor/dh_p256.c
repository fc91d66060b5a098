#include "dh.h"
#include "must.h"

#include <string.h>

// EC_POINT_mul with one scalar: OpenSSL's constant-time path (nistz256, or the Montgomery ladder).

struct state {
    EC_GROUP *group;
    BN_CTX *context;
    const BIGNUM *order;
    BIGNUM *scalar, *ephemeral, *x;
    EC_POINT *recipient, *point, *product;
};

static BIGNUM *secret_number(void)
{
    BIGNUM *number = must_have(BN_new());
    BN_set_flags(number, BN_FLG_CONSTTIME);
    return number;
}

static void *make(const uint8_t scalar[SCALAR_BYTES], uint8_t *public_key)
{
    struct state *s = must_have(calloc(1, sizeof *s));
    s->group = must_have(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
    s->order = EC_GROUP_get0_order(s->group);
    s->context = must_have(BN_CTX_new());
    s->scalar = secret_number();
    s->ephemeral = secret_number();
    s->x = secret_number();
    s->recipient = must_have(EC_POINT_new(s->group));
    s->point = must_have(EC_POINT_new(s->group));
    s->product = must_have(EC_POINT_new(s->group));
    must_have(BN_bin2bn(scalar, SCALAR_BYTES, s->scalar));
    must(EC_POINT_mul(s->group, s->recipient, s->scalar, NULL, NULL, s->context));
    must(EC_POINT_point2oct(
             s->group, s->recipient, POINT_CONVERSION_UNCOMPRESSED, public_key, P256_BYTES, s->context)
         == P256_BYTES);
    // A point read from its bytes, like the library's recipient.
    must(EC_POINT_oct2point(s->group, s->recipient, public_key, P256_BYTES, s->context));
    return s;
}

static void free_state(void *state)
{
    struct state *s = state;
    EC_POINT_free(s->recipient);
    EC_POINT_free(s->point);
    EC_POINT_free(s->product);
    BN_free(s->scalar);
    BN_free(s->ephemeral);
    BN_free(s->x);
    BN_CTX_free(s->context);
    EC_GROUP_free(s->group);
    free(s);
}

// SEC 1 section 3.3.1: the x-coordinate of scalar * point.
static void multiply(struct state *s, const EC_POINT *point, const BIGNUM *scalar, uint8_t dh[DH_BYTES])
{
    must(EC_POINT_mul(s->group, s->product, NULL, point, scalar, s->context));
    must(EC_POINT_get_affine_coordinates(s->group, s->product, s->x, NULL, s->context));
    must(BN_bn2binpad(s->x, dh, DH_BYTES) == DH_BYTES);
}

static void begin(void *state, uint8_t *enc, uint8_t dh[DH_BYTES])
{
    struct state *s = state;
    do
        must(BN_priv_rand_range(s->ephemeral, s->order));
    while (BN_is_zero(s->ephemeral));
    must(EC_POINT_mul(s->group, s->point, s->ephemeral, NULL, NULL, s->context));
    must(EC_POINT_point2oct(s->group, s->point, POINT_CONVERSION_UNCOMPRESSED, enc, P256_BYTES, s->context)
         == P256_BYTES);
    multiply(s, s->recipient, s->ephemeral, dh);
}

static int receive(void *state, const uint8_t *enc, uint8_t dh[DH_BYTES])
{
    struct state *s = state;
    if (enc[0] != 4 || EC_POINT_oct2point(s->group, s->point, enc, P256_BYTES, s->context) != 1)
        return 0;
    multiply(s, s->point, s->scalar, dh);
    return 1;
}

const struct dh dh_p256 = {P256_BYTES, make, begin, receive, free_state};
