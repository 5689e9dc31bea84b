#ifndef CUDA_ALSO_H
#define CUDA_ALSO_H
/* Exports functions under additional names. An additional name is a jump to the function, whatever its arguments are.
 * OWN_n: the default stream of the calling thread (cudaStreamPerThread, 2) replaces stream 0 in parameter n, counted
 * from 1. OWN_0: there is no such parameter. */
#define OWN_0 ""
#if defined(__x86_64__)
#define JUMP(function)    "jmp " #function "@PLT\n"
#define OWN_REGISTER(r)   "test %" #r ", %" #r "\njnz 1f\nmov $2, %" #r "\n1:\n"
#define OWN_STACK(offset) "cmpq $0, " #offset "(%rsp)\njne 1f\nmovq $2, " #offset "(%rsp)\n1:\n"
#define OWN_1             OWN_REGISTER(rdi)
#define OWN_2             OWN_REGISTER(rsi)
#define OWN_3             OWN_REGISTER(rdx)
#define OWN_4             OWN_REGISTER(rcx)
#define OWN_5             OWN_REGISTER(r8)
#define OWN_6             OWN_REGISTER(r9)
#define OWN_7             OWN_STACK(8)
#define OWN_8             OWN_STACK(16)
#define OWN_9             OWN_STACK(24)
#elif defined(__aarch64__)
#define JUMP(function)  "b " #function "\n"
#define OWN_REGISTER(r) "cbnz " #r ", 1f\nmov " #r ", #2\n1:\n"
#define OWN_1           OWN_REGISTER(x0)
#define OWN_2           OWN_REGISTER(x1)
#define OWN_3           OWN_REGISTER(x2)
#define OWN_4           OWN_REGISTER(x3)
#define OWN_5           OWN_REGISTER(x4)
#define OWN_6           OWN_REGISTER(x5)
#define OWN_7           OWN_REGISTER(x6)
#define OWN_8           OWN_REGISTER(x7)
#define OWN_9           "ldr x16, [sp]\ncbnz x16, 1f\nmov x16, #2\nstr x16, [sp]\n1:\n"
#else
#error "the jump of this processor is not known"
#endif
#define ALSO_OWN(name, function, own)                                                                                  \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name                                              \
            ":\n" own JUMP(function) ".size " #name ", . - " #name "\n");
#define ALSO(name, function)    ALSO_OWN(name, function, OWN_0)
#define PER_THREAD(function, n) ALSO_OWN(function##_ptsz, function, OWN_##n)
#define OWN_STREAM(function)
#define PER_THREAD_BLOCKING(function) ALSO(function##_ptds, function)
#define OWN_STREAM_BLOCKING(function)
#endif
