/* The state of the process: the GPU, the lock, and the fault that a kernel left. core.c opens the GPU. */
#include "core_base.h"

struct cuda_core cuda_core = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
__thread struct cuda_wait cuda_waits;
__thread bool cuda_in_job;

void cuda_leave(void) { cuda_unlock(&(pthread_mutex_t *){&cuda_core.lock}); }

enum cuda_error cuda_ready(void) {
    return cuda_core.h && !cuda_core.forked ? CUDA_Success : CUDA_ErrorInitializationError;
}

/* Returns the fault that a kernel left. This function does not take the lock, so that cudaGetLastError() does not wait
 * for the kernels of other threads. */
enum cuda_error cuda_fault(void) { return cuda_core.sticky; }

void cuda_forget_fault(void) {
    CUDA_LOCK;
    cuda_core.sticky = CUDA_Success;
}
