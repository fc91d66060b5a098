#include "suites.h"

#include "aead.h"
#include "kem.h"

#include <string.h>

const struct suite *suite_named(const char *name)
{
    if (strcmp(name, "1") == 0)
        return &suite_1;
    if (strcmp(name, "1evp") == 0)
        return &suite_1_evp;
    if (strcmp(name, "2") == 0)
        return &suite_2;
    if (strcmp(name, "3") == 0)
        return x_wing_is_available() ? &suite_3 : NULL;
    return strcmp(name, "4") == 0 ? &suite_4 : NULL;
}

size_t suite_overhead(const struct suite *suite)
{
    return suite->header_bytes + TAG_BYTES;
}

static size_t add_length_prefixed(uint8_t *bytes, const char *text)
{
    size_t count = strlen(text);
    bytes[0] = (uint8_t)(count >> 8);
    bytes[1] = (uint8_t)count;
    memcpy(bytes + 2, text, count);
    return 2 + count;
}

// info = "pushcrypt/1" || 0x00 || u8(suite) || u8(profile) || lp16(kid) || lp16(skid or empty) || lp16(topic)
size_t context_info(uint8_t *info, uint8_t suite, const char *kid, const char *topic)
{
    const uint8_t profile = 0;
    memcpy(info, "pushcrypt/1", 12);
    info[12] = suite;
    info[13] = profile;
    size_t count = 14;
    count += add_length_prefixed(info + count, kid);
    count += add_length_prefixed(info + count, "");
    count += add_length_prefixed(info + count, topic);
    return count;
}
