#include "check.h"

#include "must.h"
#include "suites.h"

#include <string.h>

enum { LONGEST = 4096 };

struct line {
    char suite[8], kid[16], secret[2 * SECRET_BYTES + 1], message[2 * LONGEST + 1], sealed[2 * LONGEST + 1];
};

static size_t from_hex(const char *text, uint8_t *bytes)
{
    size_t count = strlen(text) / 2;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        must(sscanf(text + 2 * i, "%2x", &value));
        bytes[i] = (uint8_t)value;
    }
    return count;
}

static void print_hex(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%02x", bytes[i]);
}

static int check_line(const struct line *line, const struct suite *suite)
{
    static uint8_t message[LONGEST], sealed[LONGEST], opened[LONGEST];
    uint8_t secret[SECRET_BYTES], info[LONGEST_INFO];
    must(from_hex(line->secret, secret) == SECRET_BYTES);
    size_t count = from_hex(line->message, message), sealed_count = from_hex(line->sealed, sealed);
    uint8_t number = (uint8_t)(line->suite[0] - '0');
    void *state = suite->make(suite, secret, info, context_info(info, number, line->kid, "com.example.app"));
    int is_equal = sealed_count == count + suite_overhead(suite)
        && suite->open(state, sealed, sealed_count, opened) && memcmp(opened, message, count) == 0;
    // A message with one changed bit must not open.
    sealed[sealed_count - 1] ^= 1;
    int is_strict = !suite->open(state, sealed, sealed_count, opened);

    suite->seal(state, message, count, sealed, NULL);
    printf("%s %s %s %s ", line->suite, line->secret, line->kid, line->message);
    print_hex(sealed, count + suite_overhead(suite));
    printf("\n");
    suite->free(state);
    return is_equal && is_strict;
}

int check(void)
{
    static struct line line;
    int checked = 0, failed = 0;
    while (scanf("%7s %64s %15s %8192s %8192s", line.suite, line.secret, line.kid, line.message, line.sealed) == 5) {
        const struct suite *suite = suite_named(line.suite);
        int is_right = suite != NULL && check_line(&line, suite);
        // The same with the other key path.
        if (is_right && suite == &suite_1)
            is_right = check_line(&line, &suite_1_evp);
        checked++;
        failed += !is_right;
    }
    fprintf(stderr, "floor: %d of %d opened\n", checked - failed, checked);
    return checked == 0 || failed > 0;
}
