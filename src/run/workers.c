/* SPDX-License-Identifier: MIT */
/* workers.c - a small pool behind the public executor interface. Workers sleep on a condition
 * variable and never spin; one run at a time, a second caller's run goes serially on its own
 * thread. A fork leaves the child without workers: it notices (the process id differs) and makes
 * new ones at first use.
 *
 * Only creation, first use after a fork, and destruction make or end threads or allocate.
 */
#define _GNU_SOURCE
#include "run/workers.h"
#include "base/arena.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = QKVI_POOL_MAX, MAX_PATH = 4096 };

struct qkv_pool {
    qkv_threads threads; /* what the caller hands to qkv_run */
    qkv_allocator alloc;
    int32_t alloc_given;
    int32_t nworkers;  /* running; the caller is one more */
    int32_t wanted;    /* threads asked for, the caller's included */
    pid_t owner;       /* the process whose threads they are */
    cpu_set_t allowed; /* the CPUs that the workers were made for */
    int32_t avoided;   /* the one that they keep off; -1: none */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    /* the present run, under lock */
    int32_t busy; /* somebody's run is on */
    int32_t quit;
    int32_t ntasks, next, open; /* open: tasks not finished */
    void (*task)(void *arg, int32_t i);
    void *arg;
    pthread_t worker[MAX_THREADS];
};

/* Takes tasks until none is left. Called with the lock, returns with it. */
static void help(qkv_pool *p)
{
    while (p->next < p->ntasks) {
        const int32_t i = p->next++;
        void (*const task)(void *, int32_t) = p->task;
        void *const arg = p->arg;
        pthread_mutex_unlock(&p->lock);
        task(arg, i);
        pthread_mutex_lock(&p->lock);
        if (--p->open == 0) pthread_cond_signal(&p->done);
    }
}

static void *worker_main(void *arg)
{
    qkv_pool *const p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        help(p);
        if (!p->quit) pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* As many workers as the system gives, with all signals blocked: they belong to the host's threads.
 */
static void start_workers(qkv_pool *p)
{
    sigset_t all, before;
    p->nworkers = 0;
    p->avoided = -1;
    if (sched_getaffinity(0, sizeof p->allowed, &p->allowed) != 0) CPU_ZERO(&p->allowed);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (p->nworkers + 1 < p->wanted &&
           pthread_create(&p->worker[p->nworkers], NULL, worker_main, p) == 0)
        p->nworkers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    __atomic_store_n(&p->owner, getpid(), __ATOMIC_RELEASE);
}

static void init_locks(qkv_pool *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->busy = p->quit = 0;
    p->ntasks = p->next = p->open = 0;
}

static void run_serially(int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    for (int32_t i = 0; i < ntasks; i++) task(arg, i);
}

/* 1 when the workers are this process's. A forked child has none (locks and threads stayed with the
 * parent): the first of its threads to come here makes new ones, the others go on without. */
static int mine(qkv_pool *p)
{
    pid_t owner = __atomic_load_n(&p->owner, __ATOMIC_ACQUIRE);
    if (owner == getpid()) return 1;
    if (owner == 0 ||
        !__atomic_compare_exchange_n(&p->owner, &owner, 0, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    init_locks(p);
    start_workers(p);
    return 1;
}

/* The workers leave the caller's CPU to the caller: on some machines a thread that is woken is queued there,
 * behind the one that wakes it, and stays for milliseconds while another CPU idles. Called with the
 * lock, by a caller whose workers find a CPU each. */
static void leave_cpu(qkv_pool *p)
{
    const int cpu = sched_getcpu();
    if (cpu == p->avoided || cpu < 0 || cpu >= CPU_SETSIZE ||
        CPU_COUNT(&p->allowed) <= p->nworkers || !CPU_ISSET(cpu, &p->allowed))
        return;
    cpu_set_t others = p->allowed;
    CPU_CLR(cpu, &others);
    for (int32_t i = 0; i < p->nworkers; i++)
        (void)pthread_setaffinity_np(p->worker[i], sizeof others, &others);
    p->avoided = cpu;
}

static void parallel_for(void *ctx, int32_t ntasks, void (*task)(void *arg, int32_t i), void *arg)
{
    qkv_pool *const p = ctx;
    if (!mine(p)) { /* another thread of a forked child is still making the workers */
        run_serially(ntasks, task, arg);
        return;
    }
    pthread_mutex_lock(&p->lock);
    if (p->busy || p->nworkers == 0) {
        pthread_mutex_unlock(&p->lock);
        run_serially(ntasks, task, arg);
        return;
    }
    p->busy = 1;
    p->task = task;
    p->arg = arg;
    p->ntasks = p->open = ntasks;
    p->next = 0;
    leave_cpu(p);
    pthread_cond_broadcast(&p->work);
    help(p);
    while (p->open > 0) pthread_cond_wait(&p->done, &p->lock);
    p->ntasks = p->next = 0;
    p->busy = 0;
    pthread_mutex_unlock(&p->lock);
}

/* ---- how many CPUs --------------------------------------------------------------------------- */

static int64_t parse_number(const char **at)
{
    int64_t n = 0;
    const char *s = *at;
    if (*s < '0' || *s > '9') return -1; /* "max", "-1" */
    while (*s >= '0' && *s <= '9' && n < INT64_MAX / 10 - 9) n = n * 10 + (*s++ - '0');
    while (*s == ' ') s++;
    *at = s;
    return n;
}

static int read_line(const char *path, char *line, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t n = read(fd, line, size - 1);
    close(fd);
    if (n <= 0) return 0;
    line[n] = 0;
    return 1;
}

/* quota / period, rounded up; no limit: INT64_MAX */
static int64_t share_of(int64_t quota, int64_t period)
{
    return quota > 0 && period > 0 ? (quota + period - 1) / period : INT64_MAX;
}

/* The quota of one control group of version 2, "quota period" in <mount><group>/cpu.max */
static int64_t group_cpus(const char *group, size_t length)
{
    static const char mount[] = "/sys/fs/cgroup", file[] = "/cpu.max";
    char path[MAX_PATH + sizeof mount + sizeof file], line[64];
    memcpy(path, mount, sizeof mount - 1);
    memcpy(path + sizeof mount - 1, group, length);
    memcpy(path + sizeof mount - 1 + length, file, sizeof file);
    if (!read_line(path, line, sizeof line)) return INT64_MAX;
    const char *at = line;
    const int64_t quota = parse_number(&at);
    return share_of(quota, parse_number(&at));
}

/* CPUs that the quotas of this process's control group and of those above it allow */
static int64_t quota_cpus(void)
{
    char line[MAX_PATH], period[64];
    int64_t least = INT64_MAX;
    if (read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof line) && /* version 1 */
        read_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period)) {
        const char *at = line, *at_period = period;
        const int64_t quota = parse_number(&at);
        least = share_of(quota, parse_number(&at_period));
    }
    if (!read_line("/proc/self/cgroup", line, sizeof line)) return least;
    const char *const own = strncmp(line, "0::", 3) == 0 ? line : strstr(line, "\n0::");
    const char *const group = own ? strchr(own, '/') : NULL;
    size_t length = group ? strcspn(group, "\n") : 0;
    for (;;) { /* from the own group up to the root, whose name is empty here */
        const int64_t n = group_cpus(group ? group : "", length);
        if (n < least) least = n;
        if (length == 0) return least;
        do length--;
        while (length > 0 && group[length] != '/');
    }
}

int32_t qkvi_pool_cpus(void)
{
    cpu_set_t set;
    int64_t n = 1;
    if (sched_getaffinity(0, sizeof set, &set) == 0) n = CPU_COUNT(&set);
    const int64_t quota = quota_cpus();
    if (quota < n) n = quota;
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (int32_t)n;
}

/* ---- create, destroy ------------------------------------------------------------------------- */

qkv_pool *qkvi_pool_create(int32_t nthreads, const qkv_allocator *alloc)
{
    qkv_pool *const p = qkvi_alloc(alloc, sizeof *p);
    if (p == NULL) return NULL;
    memset(p, 0, sizeof *p);
    if (alloc) p->alloc = *alloc;
    p->alloc_given = alloc != NULL;
    p->threads = qkv_threads_init();
    p->wanted = nthreads;
    p->threads.parallel_for = parallel_for;
    p->threads.ctx = p;
    init_locks(p);
    start_workers(p);
    p->threads.nthreads = p->nworkers + 1; /* a forked child keeps it, with the workers it gets */
    return p;
}

void qkvi_pool_destroy(qkv_pool *p)
{
    if (p->owner == getpid()) { /* in a forked child the workers are not ours to end */
        pthread_mutex_lock(&p->lock);
        p->quit = 1;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        for (int32_t i = 0; i < p->nworkers; i++) pthread_join(p->worker[i], NULL);
        pthread_mutex_destroy(&p->lock);
        pthread_cond_destroy(&p->work);
        pthread_cond_destroy(&p->done);
    }
    const qkv_allocator a = p->alloc;
    qkvi_release(p->alloc_given ? &a : NULL, p, sizeof *p);
}

const qkv_threads *qkvi_pool_threads(const qkv_pool *p)
{
    return &p->threads;
}
