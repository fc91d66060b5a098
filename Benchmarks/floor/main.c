#include "check.h"
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

// floor            a runner (Benchmarks/README.md): lines `JOB COUNT [THREADS]` in, nanoseconds out
// floor check      verifies the floor with another implementation's messages (check.h)
// floor first JOB  runs a job once in a new process, including all set-up

static void answer(const char *line)
{
    char job[32];
    long count;
    int threads = 1;
    if (sscanf(line, "%31s %ld %d", job, &count, &threads) < 2 || count < 1 || threads < 1) {
        printf("unsupported\n");
        return;
    }
    int64_t nanoseconds = run_job(job, count, threads);
    if (nanoseconds < 0)
        printf("unsupported\n");
    else
        printf("%lld\n", (long long)nanoseconds);
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "check") == 0)
        return check();
    if (count == 3 && strcmp(arguments[1], "first") == 0)
        return run_once(arguments[2]) ? EXIT_SUCCESS : 64;
    if (count != 1) {
        fprintf(stderr, "usage: floor [check | first JOB]\n");
        return 64;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("floor %s\n", OpenSSL_version(OPENSSL_VERSION));
    char line[128];
    while (fgets(line, sizeof line, stdin) != NULL)
        answer(line);
    return EXIT_SUCCESS;
}
