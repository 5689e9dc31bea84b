#ifndef CUDA_CORE_BASE_H
#define CUDA_CORE_BASE_H
/* State that all operations of CUDA (the "verbs" of core.h) share: the process, its lock, the error status, and
 * messages. CUDA's functions take no handle of a machine, so a process has one simulated GPU. Every call does its work
 * before it returns, except launches whose kernels wait for the host or for other kernels (core_runner.h). Types and
 * layouts follow the binary interface of CUDA 11 to 13 on 64-bit Linux. */
#include "host/heddle.h"
#include "host/live/live.h"
#include <pthread.h>
#include <stdint.h>

/* Marks a function that programs call. */
#define CUDA_API __attribute__((visibility("default")))

enum cuda_error {
#define CUDA_ERROR(name, number, text) CUDA_##name = number,
#include "errors.def"
#undef CUDA_ERROR
};

struct cuda_dim {
    unsigned x, y, z;
};

struct cuda_module;
struct cuda_kernel;
struct cuda_variable;
enum { CUDA_CHAINS = 1024 };
struct cuda_core {
    pthread_mutex_t lock;
    int depth; /* how often the owner of the lock has taken it */
    /* While work runs beside the program (core_runner.h): `begin` waits for the work that a call must follow, and stops
     * the rest until `end`. NULL: there is no such work. */
    void (*begin)(void), (*end)(void);
    bool shares;                    /* true if the program has had memory that the host and kernels share */
    struct heddle *h;               /* NULL: not yet opened */
    struct live *live;              /* NULL if there is no live page */
    uint64_t range, range_bytes;    /* the device's address range in this process; range_bytes 0: not reserved */
    bool broken;                    /* true if the GPU could not be opened */
    bool forked;                    /* true in a forked child process: the parent opened the GPU and has its threads */
    _Atomic enum cuda_error sticky; /* the error that a faulting kernel left */
    bool functional, check;         /* functional: true if the model has no time; check: true if the checker is on */
    struct cuda_module *modules;
    struct cuda_kernel *kernels[CUDA_CHAINS];
    struct cuda_variable *variables[CUDA_CHAINS];
    enum heddle_status worst;      /* the worst exit status among the launches */
    char *why;                     /* the message of the first failed launch, or NULL */
    struct heddle_options options; /* the options of the context; their texts live as long as the process */
    struct heddle_plan *plan;      /* plan of a sampled simulation (core_plan.c); NULL: none */
    double started;                /* the host's seconds when the context was opened */
    int cache;                     /* a cudaFuncCache that the program prefers: a hint without effect */
};
extern struct cuda_core cuda_core;
struct cuda_context;
/* The current context of this thread; NULL if there is none. */
extern __thread struct cuda_context *cuda_current_context;
extern struct cuda_context cuda_primary_context;

/* What a call of this thread follows: all work, that of a stream, or none. */
struct cuda_wait {
    enum { WAIT_ALL, WAIT_STREAM, WAIT_NOTHING } kind;
    const struct cuda_stream *stream;
};
extern __thread struct cuda_wait cuda_waits;
/* True on a thread that runs a job of the runner. No other thread is inside of core then, so it takes no lock. */
extern __thread bool cuda_in_job;

/* Holds the lock to the end of the block. The lock is recursive, since a function of the core may call others that
 * take the lock. The first that takes it waits for work that runs beside the program, as cuda_waits says. */
static inline pthread_mutex_t *cuda_lock(void) {
    if (cuda_in_job)
        return &cuda_core.lock;
    pthread_mutex_lock(&cuda_core.lock);
    if (cuda_core.depth++ == 0) {
        if (cuda_core.begin)
            cuda_core.begin();
        cuda_waits.kind = WAIT_ALL;
    }
    return &cuda_core.lock;
}
static inline void cuda_unlock(pthread_mutex_t **lock) {
    if (cuda_in_job)
        return;
    if (--cuda_core.depth == 0 && cuda_core.end)
        cuda_core.end();
    pthread_mutex_unlock(*lock);
}
#define CUDA_LOCK __attribute__((cleanup(cuda_unlock), unused)) pthread_mutex_t *lock_ = cuda_lock()

/* Stores a value through the caller's pointer; returns CUDA_ErrorInvalidValue if the pointer is NULL. */
static inline enum cuda_error cuda_put(int *out, int value) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = value;
    return CUDA_Success;
}

/* Takes the lock and checks that the GPU can be used. Returns the error if it cannot be used, or the fault that a
 * kernel left. The lock is held in either case. A function that needs the GPU runs between cuda_enter() and
 * cuda_leave(), so that no other thread runs between its checks and its work. The first call opens the GPU and makes
 * the primary context current. */
enum cuda_error cuda_enter(void);
/* Works like cuda_enter(), but the GPU must already be open, and the thread must have a current context. */
enum cuda_error cuda_enter_current(void);
void cuda_leave(void);
/* Opens the GPU without making a context current. Returns CUDA_ErrorNoDevice if the GPU cannot be opened. */
enum cuda_error cuda_open(void);
/* Returns CUDA_ErrorInitializationError if the GPU is not open in this process. */
enum cuda_error cuda_ready(void);
/* Returns the fault that a kernel left. All calls return this error until it is cleared. */
enum cuda_error cuda_fault(void);
void cuda_forget_fault(void);
/* Prints why the last call of the simulator library failed, after the name of the caller. Returns `e`. */
enum cuda_error cuda_complain(const char *who, enum cuda_error e);
/* Works like cuda_complain(), and sets the exit status to `status`. */
enum cuda_error cuda_failed(const char *who, enum heddle_status status, enum cuda_error e);
/* Refuses a launch that Heddle does not simulate. Prints `why`, which ends with a newline, after the name of the
 * caller. The exit status becomes 2, unless a fault or the program itself sets another one. Returns `e`. */
enum cuda_error cuda_refuse(const char *who, const char *why, enum cuda_error e);
/* Returns the CUDA version of the program: 11, 12 or 13. */
int cuda_major(void);
/* Returns simulated seconds since the start, or seconds of the host in the functional model. */
double cuda_clock(void);

/* Return the runtime's name of an error, and its text (NULL if the error has no text). */
const char *cuda_error_name(enum cuda_error e);
const char *cuda_error_text(enum cuda_error e);
/* Refuses a function: prints its name and the error that it returns, unless *printed is set already. */
enum cuda_error cuda_missing(const char *name, bool *printed, const char *error);
/* Reports that the program cannot run correctly: its exit status becomes 2. */
void cuda_program_wrong(void);
/* Finds the address of the driver function that the headers of a CUDA version mean by a name. With `own`, it
 * is the function with a default stream for each thread. Returns CUDA_ErrorSymbolNotFound if there is none. *status
 * becomes 0 if found, 1 if not found; `status` may be NULL. */
enum cuda_error cuda_entry_point(const char *name, void **out, int version, bool own, int *status);
#endif
