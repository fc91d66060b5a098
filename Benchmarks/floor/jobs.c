#include "jobs.h"

#include "must.h"
#include "suites.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include <openssl/rand.h>

// Lengths in bytes of the raw jobs' message and of the payload jobs' padded JSON.
enum { MESSAGE_BYTES = 256, PAYLOAD_BYTES = 512, WARM_UP = 16 };

struct job {
    const struct suite *suite;
    uint8_t number;
    int opens, has_id;
    size_t message_bytes;
};

// Aligned so that no two threads write to one cache line (or pair of lines, if the processor fetches pairs).
struct worker {
    _Alignas(128) const struct job *job;
    long count;
    pthread_barrier_t *barrier;
    void *state;
    uint8_t message[PAYLOAD_BYTES], sealed[PAYLOAD_BYTES + LONGEST_OVERHEAD], id[ID_BYTES];
};

// seal4, open4, seal1evp; payload4seal, payload4open
static int parse(const char *text, struct job *job)
{
    char suite[8], verb[8];
    memset(job, 0, sizeof *job);
    if (sscanf(text, "payload%1[0-9]%7[a-z]", suite, verb) == 2) {
        job->message_bytes = PAYLOAD_BYTES;
        job->has_id = 1;
    } else if (sscanf(text, "%4[a-z]%7[0-9a-z]", verb, suite) == 2) {
        job->message_bytes = MESSAGE_BYTES;
    } else {
        return 0;
    }
    job->suite = suite_named(suite);
    job->number = (uint8_t)(suite[0] - '0');
    job->opens = strcmp(verb, "open") == 0;
    return job->suite != NULL && (job->opens || strcmp(verb, "seal") == 0);
}

static void set_up(struct worker *worker)
{
    const struct suite *suite = worker->job->suite;
    uint8_t secret[SECRET_BYTES], info[LONGEST_INFO];
    must(RAND_priv_bytes(secret, sizeof secret));
    // Below the order of P-256.
    secret[0] &= 0x7f;
    size_t count = context_info(info, worker->job->number, "AAAAAAAAAAA", "com.example.app");
    worker->state = suite->make(suite, secret, info, count);
    memset(worker->message, 'x', worker->job->message_bytes);
    suite->seal(worker->state, worker->message, worker->job->message_bytes, worker->sealed, NULL);
}

static void run(struct worker *worker, long count)
{
    const struct job *job = worker->job;
    uint8_t *id = job->has_id ? worker->id : NULL;
    size_t sealed_bytes = job->message_bytes + suite_overhead(job->suite);
    if (job->opens) {
        while (count-- > 0)
            must(job->suite->open(worker->state, worker->sealed, sealed_bytes, worker->message));
    } else {
        while (count-- > 0)
            job->suite->seal(worker->state, worker->message, job->message_bytes, worker->sealed, id);
    }
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void *run_between_barriers(void *argument)
{
    struct worker *worker = argument;
    set_up(worker);
    run(worker, WARM_UP);
    pthread_barrier_wait(worker->barrier);
    pthread_barrier_wait(worker->barrier);
    run(worker, worker->count);
    pthread_barrier_wait(worker->barrier);
    worker->job->suite->free(worker->state);
    return NULL;
}

static int64_t run_threads(const struct job *job, long count, int threads)
{
    struct worker *workers = must_have(aligned_alloc(_Alignof(struct worker), (size_t)threads * sizeof *workers));
    pthread_t *handles = must_have(calloc((size_t)threads, sizeof *handles));
    pthread_barrier_t barrier;
    must(pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1) == 0);
    for (int i = 0; i < threads; i++) {
        workers[i] = (struct worker){.job = job, .count = count, .barrier = &barrier};
        must(pthread_create(&handles[i], NULL, run_between_barriers, &workers[i]) == 0);
    }
    pthread_barrier_wait(&barrier);
    int64_t start = now();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    int64_t end = now();
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    pthread_barrier_destroy(&barrier);
    free(handles);
    free(workers);
    return end - start;
}

static int64_t run_here(const struct job *job, long count)
{
    struct worker worker = {.job = job};
    set_up(&worker);
    run(&worker, WARM_UP);
    int64_t start = now();
    run(&worker, count);
    int64_t end = now();
    job->suite->free(worker.state);
    return end - start;
}

int64_t run_job(const char *text, long count, int threads)
{
    struct job job;
    if (!parse(text, &job))
        return -1;
    return threads <= 1 ? run_here(&job, count) : run_threads(&job, count, threads);
}

int run_once(const char *text)
{
    struct job job;
    if (!parse(text, &job))
        return 0;
    struct worker worker = {.job = &job};
    set_up(&worker);
    return 1;
}
