#ifndef CUDA_PER_THREAD_H
#define CUDA_PER_THREAD_H
/* Defines a blocking function of programs with a default stream for each thread, whose name ends with _ptds. It submits
 * its work to the default stream of the calling thread by `submit`, and waits for this stream by `wait`. */
#include "core_stream.h"

#define BLOCKING(wait, name, submit, parameters, ...)                                                                  \
    enum cuda_error submit(parameters, struct cuda_stream *s);                                                         \
    CUDA_API enum cuda_error name##_ptds(parameters);                                                                  \
    CUDA_API enum cuda_error name##_ptds(parameters) {                                                                 \
        const enum cuda_error e = submit(__VA_ARGS__, CUDA_OWN_STREAM);                                                \
        return e ? e : wait(CUDA_OWN_STREAM);                                                                          \
    }
#endif
