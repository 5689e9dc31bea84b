#ifndef CUDA_CORE_BASE_H
#define CUDA_CORE_BASE_H
/* What all verbs share: the state of the process, its lock, the status, messages. CUDA's functions take no handle of a
 * machine, so a process has one simulated GPU. Every call does its work before it returns. Types and layouts follow the
 * binary interface of CUDA 11 to 13 on 64-bit Linux. */
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
    struct heddle *h;               /* NULL: not yet opened */
    struct live *live;              /* NULL: there is no live page */
    bool broken;                    /* the GPU could not be opened */
    bool forked;                    /* this process is a forked child: the parent opened the GPU and has its threads */
    _Atomic enum cuda_error sticky; /* the fault that a kernel left */
    bool functional, check;         /* the model has no time; the checker is on */
    struct cuda_module *modules;
    struct cuda_kernel *kernels[CUDA_CHAINS];
    struct cuda_variable *variables[CUDA_CHAINS];
    enum heddle_status worst;      /* the worst status of the launches */
    char *why;                     /* the message of the first failed launch, or NULL */
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

/* A function that needs the GPU runs between cuda_enter() and cuda_leave(), which hold the lock, so that no other
 * thread comes between its checks and its work. The first cuda_enter() opens the GPU and makes the primary context
 * current. Returns the error of a GPU that cannot be used, or the fault that a kernel left; the lock is held in either
 * case. */
enum cuda_error cuda_enter(void);
/* As cuda_enter(), but the GPU must be open, and the thread must have a current context. */
enum cuda_error cuda_enter_current(void);
void cuda_leave(void);
/* Opens the GPU without making a context current. Returns CUDA_ErrorNoDevice if the GPU cannot be opened. */
enum cuda_error cuda_open(void);
/* CUDA_ErrorInitializationError if the GPU is not open in this process. */
enum cuda_error cuda_ready(void);
/* The fault that a kernel left. All calls return it until it is forgotten. */
enum cuda_error cuda_fault(void);
void cuda_forget_fault(void);
/* Prints why the last call of the library failed, after the name of the caller; returns `e`. */
enum cuda_error cuda_complain(const char *who, enum cuda_error e);
/* The same for an error that the exit status shows, too. */
enum cuda_error cuda_failed(const char *who, enum heddle_status status, enum cuda_error e);
/* Refuses a launch that Heddle does not simulate. Prints `why`, which ends with a newline, after the name of the
 * caller. The exit status becomes 2, unless a fault or the program itself sets another one. Returns `e`. */
enum cuda_error cuda_refuse(const char *who, const char *why, enum cuda_error e);
/* The CUDA version of the program: 11, 12 or 13. */
int cuda_major(void);
/* Simulated seconds since the start; seconds of the host in the functional model. */
double cuda_clock(void);

/* The name of an error in the runtime; its text, or NULL if it has none. */
const char *cuda_error_name(enum cuda_error e);
const char *cuda_error_text(enum cuda_error e);
/* Refuses a function: prints its name and the error that it returns, unless *printed is set already. */
enum cuda_error cuda_missing(const char *name, bool *printed, const char *error);
/* The program cannot run correctly: its exit status becomes 2. */
void cuda_program_wrong(void);
/* The address of the driver's function that the headers of a CUDA version mean by a name; CUDA_ErrorSymbolNotFound.
 * *status: 0 found, 1 not found; may be NULL. */
enum cuda_error cuda_entry_point(const char *name, void **out, int version, int *status);
#endif
