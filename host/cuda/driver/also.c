/* Functions under other names: one jump each, whatever their arguments are. */
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
#include "also.def"
