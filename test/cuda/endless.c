/* Launches a kernel that never ends. With an argument, the program handles SIGINT itself: it ends with status 9. */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry endless()\n{\n.reg .b32 %r<2>;\n"
                          "mov.u32 %r1,0;\nL: add.u32 %r1,%r1,1;\nbra L;\n}\n";

static void on_signal(int number) {
    (void)number;
    _exit(9);
}

int main(int argc, char **argv) {
    (void)argv;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *function;
    if (!library)
        return 10;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
    int (*retain)(void **, int) = (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain");
    int (*use)(void *) = (int (*)(void *))dlsym(library, "cuCtxSetCurrent");
    int (*load)(void **, const void *) = (int (*)(void **, const void *))dlsym(library, "cuModuleLoadData");
    int (*find)(void **, void *, const char *) =
        (int (*)(void **, void *, const char *))dlsym(library, "cuModuleGetFunction");
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **) = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                      void *, void **, void **))dlsym(library, "cuLaunchKernel");
    int (*wait)(void) = (int (*)(void))dlsym(library, "cuCtxSynchronize");
    if (!init || !retain || !use || !load || !find || !launch || !wait)
        return 11;
    if (argc > 1)
        signal(SIGINT, on_signal);
    if (init(0) || retain(&context, 0) || use(context) || load(&module, ptx) || find(&function, module, "endless"))
        return 12;
    if (launch(function, 40, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL) || wait())
        return 13;
    return 0;
}
