#ifndef CUDA_ALSO_H
#define CUDA_ALSO_H
/* Exports functions under additional names. An additional name is a single jump to the function, whatever its
 * arguments are. */
#if defined(__x86_64__)
#define JUMP(function) "jmp " #function "@PLT\n"
#elif defined(__aarch64__)
#define JUMP(function) "b " #function "\n"
#else
#error "the jump of this processor is not known"
#endif
#define ALSO(name, function)                                                                                           \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" JUMP(function) ".size " #name          \
                                                                                               ", . - " #name "\n");
#define PER_THREAD(function) ALSO(function##_ptsz, function)
#define OWN_STREAM(function)
#define PER_THREAD_BLOCKING(function) ALSO(function##_ptds, function)
#endif
