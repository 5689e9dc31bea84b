#ifndef CUDA_CORE_BASE_H
#define CUDA_CORE_BASE_H
/* What all verbs share: the state of the process, its lock, the status, messages. CUDA's interfaces have no handle of
 * the machine, so a process has one simulated GPU. Every call does its work before it returns, so streams are in order.
 * Types and layouts follow the binary interface of CUDA 11 to 13 on 64-bit Linux. */
#include "host/heddle.h"
#include "host/live/live.h"
#include <pthread.h>
#include <stdint.h>

/* A function that programs call. */
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
    struct heddle *h;  /* NULL: not yet opened */
    struct live *live; /* NULL: nobody looks on */
    bool broken;       /* it could not be opened */
    bool forked;       /* this process is a copy of the one that opened it: without its threads it is of no use */
    enum cuda_error sticky;
    bool functional, check; /* the model has no time; kernels are checked */
    struct cuda_module *modules;
    struct cuda_kernel *kernels[CUDA_CHAINS];
    struct cuda_variable *variables[CUDA_CHAINS];
    enum heddle_status worst;      /* of the launches */
    char *why;                     /* what was told of the first that failed, or NULL */
    struct heddle_options options; /* of the context; its texts live as long as the process */
    double started;                /* the host's seconds when the context was opened */
};
extern struct cuda_core cuda_core;
/* The error that cudaGetLastError() will tell this thread. */
extern __thread enum cuda_error cuda_last_error;
/* The driver's current context of this thread; the runtime takes the primary one when there is none. */
enum { CONTEXT_MAGIC = 0x48435458 };
struct cuda_context {
    unsigned magic, flags;
    int uses; /* of the primary one: retained; of others: attached */
    bool destroyed;
};
extern struct cuda_context cuda_primary_context;
extern __thread struct cuda_context *cuda_current_context;

/* Holds the lock to the end of the block. It is recursive: a verb may call verbs. */
static inline pthread_mutex_t *cuda_lock(void) {
    pthread_mutex_lock(&cuda_core.lock);
    return &cuda_core.lock;
}
static inline void cuda_unlock(pthread_mutex_t **lock) { pthread_mutex_unlock(*lock); }
#define CUDA_LOCK __attribute__((cleanup(cuda_unlock), unused)) pthread_mutex_t *lock_ = cuda_lock()

/* Stores a value where the caller wants it; CUDA_ErrorInvalidValue for NULL. */
static inline enum cuda_error cuda_put(int *out, int value) {
    if (!out)
        return CUDA_ErrorInvalidValue;
    *out = value;
    return CUDA_Success;
}

/* The beginning and the end of every function that needs the GPU: the lock, the context, and the error that a kernel
 * left. cuda_leave() unlocks, keeps the error for cudaGetLastError() and returns it. */
enum cuda_error cuda_enter(void);
enum cuda_error cuda_leave(enum cuda_error e);
/* For functions that need no context: keeps the error. */
enum cuda_error cuda_note(enum cuda_error e);
/* The last call of the library failed: prints why, after the name of the caller; returns `e`. */
enum cuda_error cuda_complain(const char *who, enum cuda_error e);
/* The same for what the exit status shall tell, too. */
enum cuda_error cuda_failed(const char *who, enum heddle_status status, enum cuda_error e);
/* From now on the exit status tells what went wrong (cuda_core.worst). Opening the context does so, too. */
void cuda_tell_at_exit(void);
/* In cuda_enter(): a launch that is not simulated. Prints `why`, which ends with a newline, after the name of the
 * caller; the exit status is 2 unless the program's own, or a fault, says otherwise. Returns `e`. */
enum cuda_error cuda_refuse(const char *who, const char *why, enum cuda_error e);
/* Of the program that runs: 11, 12 or 13. */
int cuda_major(void);
/* Simulated seconds so far; the host's in the functional model. */
double cuda_clock(void);

/* The error in words, as CUDA's manual has it. */
const char *cudaGetErrorString(enum cuda_error e);

#define GUARD(...)                                                                                                     \
    do {                                                                                                               \
        enum cuda_error error_ = cuda_enter();                                                                         \
        return cuda_leave(error_ ? error_ : (__VA_ARGS__));                                                            \
    } while (0)
#endif
