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
struct cuda_context;
extern __thread struct cuda_context *cuda_current_context; /* of this thread; NULL: none */
extern struct cuda_context cuda_primary_context;

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

/* Each function of an interface that needs the GPU runs between cuda_enter() and cuda_leave(), with the lock held: so
 * a check and what depends on it are one step. The first one opens the GPU and makes the primary context current. Both
 * it and cuda_enter_current() return the error of a GPU that cannot be used, or of a fault, and hold the lock in any case. */
enum cuda_error cuda_enter(void);
/* The same for a thread that must have a current context, on a GPU that must be open. */
enum cuda_error cuda_enter_current(void);
void cuda_leave(void);
/* Opens the GPU, without a context; CUDA_ErrorNoDevice. */
enum cuda_error cuda_open(void);
/* CUDA_ErrorInitializationError: the GPU is not open, or not in this process. */
enum cuda_error cuda_ready(void);
/* The fault that a kernel left, which all calls return from then on. */
enum cuda_error cuda_fault(void);
void cuda_forget_fault(void);
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

/* The name of an error in the runtime; its text, or NULL: it has none. */
const char *cuda_error_name(enum cuda_error e);
const char *cuda_error_text(enum cuda_error e);
/* A function that is not there: prints its name and the error that it returns, once for each `said`. */
enum cuda_error cuda_missing(const char *name, bool *said, const char *error);
/* From now on the exit status tells that the program could not run as it should (2). */
void cuda_program_wrong(void);
/* The address of a function of the driver by name, as the header of a CUDA version means it, or CUDA_ErrorSymbolNotFound.
 * *status: 0 found, 1 not found; may be NULL. */
enum cuda_error cuda_entry_point(const char *name, void **out, int version, int *status);
#endif
