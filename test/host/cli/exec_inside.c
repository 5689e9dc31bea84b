/* Tests `heddle exec` on programs that link the CUDA runtime statically, as nvcc does by default. When such a program
 * is loaded, its calls are redirected to Heddle's runtime (host/cuda/redirect). Also tests the default machine without
 * -c. */
#include "cli_help.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool skip_without_runtime(void) {
    if (has_runtime())
        return false;
    test_skip("this build has no libcudart.so"); /* a build with a sanitizer has no library */
    return true;
}

static bool skip_without_nvcc(void) {
    if (system("PATH=$PATH:/usr/local/cuda/bin; command -v nvcc >/dev/null 2>&1") == 0)
        return false;
    test_skip("there is no nvcc");
    return true;
}

__attribute__((format(printf, 1, 2))) static void shell(const char *fmt, ...) {
    char command[8 * PATH_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(command, sizeof command, fmt, args);
    va_end(args);
    if (system(command) != 0)
        ck_abort_msg("%s", command);
}

/* Unpacks the program that nvcc 13 compiled from test/cuda/plain.cu without options. If this machine cannot run it,
 * skips the test and returns false. */
static bool unpack_plain(void) {
#ifdef __x86_64__
    if (skip_without_runtime())
        return false;
    shell("gzip -dc '%s/test/cuda/plain.out.gz' >plain && chmod +x plain", cli_root);
    return true;
#else
    test_skip("the program is for x86-64");
    return false;
#endif
}

START_TEST(a_statically_linked_program_runs) {
    static const char *const how[] = {"-m functional", "", "-m its -j 2", "-q -m functional -c fermi"};
    if (!unpack_plain())
        return;
    STATUS(HEDDLE_OK, "exec %s ./plain", how[_i]);
    SAYS(out, "0 mistakes, capability ");
    SAYS(out, _i < 3 ? "7.5, 65536 bytes" : "2.0, 49152 bytes");
    if (_i < 3)
        SAYS(err, "scale(int*, int)\n");
}
END_TEST

/* heddle runs from a folder whose name contains a blank. In a folder whose name contains a colon, heddle exec refuses
 * to run, because a colon separates names in the dynamic linker's lists. */
START_TEST(it_runs_from_folders_of_any_name) {
    if (!unpack_plain())
        return;
    shell("b='%s'; for d in 'a b' 'a:b'; do mkdir \"$d\" && cp \"$b\" \"$d/heddle\" && cp -R \"${b%%/*}/cuda\" \"$d\"; "
          "done; 'a b/heddle' exec -q -m functional ./plain >out 2>err; test $? = 0 && test ! -s err && "
          "grep -q '0 mistakes' out",
          cli_binary);
    shell("'a:b/heddle' exec -q -m functional ./plain >out 2>err; test $? = 2 && "
          "grep -q \"takes ':' and ';' as the end of a folder\" err");
}
END_TEST

/* `heddle exec` runs a script. The environment variables that heddle sets must reach every program that the
 * script starts. */
START_TEST(a_script_can_run_programs) {
    if (!unpack_plain())
        return;
    STATUS(HEDDLE_OK, "exec -m functional -- sh -c './plain && ./plain >/dev/null && echo both'");
    SAYS(out, "0 mistakes, capability 7.5");
    SAYS(out, "both\n");
}
END_TEST

START_TEST(programs_without_redirection_are_refused) {
    if (!unpack_plain())
        return;
    STATUS(HEDDLE_USAGE, "exec --no-redirect ./plain");
    SAYS(err, "./plain: CUDA's runtime is linked into it, and --no-redirect leaves it there");
    STATUS(HEDDLE_USAGE, "exec --no-redirect -- sh -c ./plain");
    SAYS(err, "plain: CUDA's runtime is linked into it, and could not be replaced");
    ck_assert_str_eq(out, "");
    shell("strip -o stripped plain");
    STATUS(HEDDLE_USAGE, "exec ./stripped");
    SAYS(err, "its table of symbols, by which Heddle would find the runtime, is stripped: do not strip it, or link it "
              "again with 'nvcc -cudart shared'");
    STATUS(HEDDLE_USAGE, "exec -- sh -c ./stripped");
    SAYS(err, "stripped: CUDA's runtime is linked into it, and could not be replaced");
    ck_assert_str_eq(out, "");
}
END_TEST

static const struct {
    int version;
    const char *options, *says;
} linked[] = {{11, "", "version 11080: warps of 32, 7.x, 2 SMs, 728 bytes\n"},
              {12, "-no-pie", "version 12080: warps of 32, 7.x, 2 SMs, 728 bytes\n"},
              {13, "-pie -fPIE", "version 13000: warps of 32, 7.x, 2 SMs, 1008 bytes\n"},
              {13, "-static-libgcc -Wl,-z,now", "version 13000: warps of 32, 7.x, 2 SMs, 1008 bytes\n"}};

/* Links test/cuda/registers.c with CUDA functions of its own. Each of these functions ends the program, so none of them
 * may run. A comment in exec.c derives the values 310 and 189. */
START_TEST(each_linked_function_is_redirected) {
    if (skip_without_runtime())
        return;
    shell("cc %s%s -DRUNTIME=%d -o inside '%s/test/cuda/registers.c' '%s/test/cuda/inside.c'", linked[_i].options,
          linked[_i].version == 11 ? "" : " -DcudaBindTexture=cudaOld", linked[_i].version, cli_root, cli_root);
    STATUS(HEDDLE_OK, "exec -c turing ./inside %s/test/cuda/lz4.fatbin", cli_root);
    SAYS(out, linked[_i].says);
    SAYS(out, "cudaSuccess\n310 189\n");
    STATUS(99, "exec -c turing --no-redirect ./inside %s/test/cuda/lz4.fatbin", cli_root);
    SAYS(out, "__cudaRegisterFatBinary of the program's own runtime was called\n");
}
END_TEST

/* The plugin's constructor runs during dlopen(). A CUDA function that Heddle lacks returns 801 (cudaErrorNotSupported),
 * and the message names it. A function that the user defined keeps its code. */
START_TEST(objects_opened_by_dlopen_are_redirected) {
    if (skip_without_runtime())
        return;
    shell("cd . && cc -shared -fPIC -O1 -DOBJECT -DRUNTIME=13 -o plugin.so '%s/test/cuda/plugin.c' "
          "'%s/test/cuda/inside.c' && cc -o plugin '%s/test/cuda/plugin.c' -ldl",
          cli_root, cli_root, cli_root);
    STATUS(HEDDLE_OK, "exec -c turing ./plugin ./plugin.so");
    ck_assert_str_eq(out, "7070707 801 42\n");
    SAYS(err, "heddle: cudaOfTheFuture is not supported: it returns cudaErrorNotSupported\n");
}
END_TEST

/* Where a program asks NVIDIA's run-time compiler for machine code, the compiler returns PTX. */
START_TEST(the_compiler_returns_ptx) {
    if (skip_without_runtime())
        return;
    shell("cc -shared -fPIC -O1 -DOBJECT -o libcompiler.so '%s/test/cuda/compiler.c' && "
          "cc -o compiler '%s/test/cuda/compiler.c' ./libcompiler.so",
          cli_root, cli_root);
    STATUS(HEDDLE_OK, "exec ./compiler");
    ck_assert_str_eq(out, "0 0 13 .version 7.0\n");
    STATUS(HEDDLE_OK, "exec --no-redirect ./compiler");
    ck_assert_str_eq(out, "0 0 4 ELF\n");
}
END_TEST

/* nvcc puts an empty fat binary into every program. Such a fat binary does not mean that the program contains a CUDA
 * runtime. */
START_TEST(programs_with_the_driver_only_run) {
    char text[] = "#include <cuda.h>\n#include <stdio.h>\n"
                  "int main() { int n = 0, e = cuInit(0); e += cuDeviceGetCount(&n); printf(\"%d %d\\n\", e, n); }\n";
    if (skip_without_runtime() || skip_without_nvcc())
        return;
    write_file("driver.cpp", text, strlen(text));
    shell("PATH=$PATH:/usr/local/cuda/bin; nvcc driver.cpp -o driver -lcuda && strip -o driver_s driver && "
          "nvcc -cudart none driver.cpp -o driver_n -lcuda");
    STATUS(HEDDLE_OK, "exec ./driver");
    ck_assert_str_eq(out, "0 1\n");
    STATUS(HEDDLE_OK, "exec ./driver_s");
    ck_assert_str_eq(out, "0 1\n");
    STATUS(HEDDLE_OK, "exec --no-redirect ./driver");
    ck_assert_str_eq(out, "0 1\n");
    STATUS(HEDDLE_OK, "exec ./driver_n");
    ck_assert_str_eq(out, "0 1\n");
    SAYS(err, "heddle: no PTX is loaded yet: machine 'turing' with gpu.sms=30 sm.shared_bytes=232448");
}
END_TEST

START_TEST(libraries_of_machine_code_are_reported) {
    static const char object[] = "int curandCreateGenerator(void) { return 0; }\n";
    static const char opens[] = "#include <dlfcn.h>\nint main(int n, char **v) { return !dlopen(v[1], 2); }\n";
    if (skip_without_runtime())
        return;
    write_file("object.c", object, sizeof object - 1);
    write_file("opens.c", opens, sizeof opens - 1);
    shell("cc -shared -fPIC -o libcurand.so.10 object.c && cc -shared -fPIC -o libcublas.so.13 object.c && "
          "cc -shared -fPIC -o libcublasLt.so.13 object.c && cc -o opens opens.c -ldl && "
          "cc -o linked opens.c -Wl,--no-as-needed ./libcublas.so.13 ./libcublasLt.so.13 -ldl");
    STATUS(HEDDLE_OK, "exec -q ./opens ./libcurand.so.10");
    ck_assert_str_eq(err, "heddle: libcurand.so.10 (cuRAND) is machine code, which cannot be simulated: its functions "
                          "that use the GPU will fail; Heddle runs kernels that have PTX\n");
    STATUS(HEDDLE_OK, "exec ./linked ./libcublas.so.13");
    SAYS(err, "heddle: libcublas.so.13 (cuBLAS) is machine code");
    ck_assert_ptr_null(strstr(err, "libcublasLt"));
}
END_TEST

/* Tests NVIDIA's own libraries if they are installed. They contain a CUDA runtime, which needs driver functions that
 * Heddle lacks. */
START_TEST(the_report_precedes_the_librarys_failure) {
    static const char text[] = "#include <cublas_v2.h>\nint main() { cublasHandle_t h; return !cublasCreate(&h); }\n";
    if (skip_without_runtime() || skip_without_nvcc())
        return;
    if (access("/usr/local/cuda/lib64/libcublas.so", R_OK) != 0) {
        test_skip("there is no libcublas.so");
        return;
    }
    write_file("blas.cu", text, sizeof text - 1);
    shell("PATH=$PATH:/usr/local/cuda/bin; nvcc blas.cu -o blas -lcublas");
    setenv("LD_LIBRARY_PATH", "/usr/local/cuda/lib64", 1);
    STATUS(HEDDLE_USAGE, "exec ./blas");
    unsetenv("LD_LIBRARY_PATH");
    SAYS(err, "(cuBLAS) is machine code");
    ck_assert_ptr_null(strstr(err, "cuGetExportTable"));
}
END_TEST

static const char small[] = "#include <cstdio>\n__global__ void one(int *p) { *p = 1; }\n"
                            "int main() {\n cudaDeviceProp about;\n cudaGetDeviceProperties(&about, 0);\n"
                            " std::printf(\"%d.%d\\n\", about.major, about.minor);\n int *p;\n cudaMalloc(&p, 4);\n"
                            " one<<<1, 1>>>(p);\n return cudaDeviceSynchronize();\n}\n";

/* Without -c, heddle adapts a preset to the newest PTX in the program (compute_XX). A program of CUDA 13 reads this
 * compute capability, and the maximum shared memory of a CTA (in KiB: 64, 163, 99 or 227, by the technical
 * specifications in the CUDA C Programming Guide). By default only two capabilities are tested: the first, whose preset
 * is used unchanged, and 9.0. With HEDDLE_EVERY all are tested. */
START_TEST(the_machine_follows_the_newest_ptx) {
    static const struct {
        int arch, shared;
        const char *says;
    } newest[] = {
        {75, 64, "compute_75: machine 'turing' with gpu.sms=30 ('heddle exec -c' takes another)"},
        {80, 163, "compute_80: machine 'turing' with gpu.sms=30 gpu.capability=8.0 sm.shared_bytes=166912"},
        {86, 99, "compute_86: machine 'turing' with gpu.sms=30 gpu.capability=8.6 sm.shared_bytes=101376"},
        {90, 227, "compute_90: machine 'turing' with gpu.sms=30 gpu.capability=9.0 sm.shared_bytes=232448"},
        {120, 99, "compute_120: machine 'turing' with gpu.sms=30 gpu.capability=12.0 sm.shared_bytes=101376"}};
    if ((_i % 3 && !test_every()) || skip_without_runtime() || skip_without_nvcc())
        return;
    shell("PATH=$PATH:/usr/local/cuda/bin; nvcc -gencode arch=compute_75,code=compute_75 "
          "-gencode arch=compute_%d,code=compute_%d '%s/test/cuda/plain.cu' -o newest",
          newest[_i].arch, newest[_i].arch, cli_root);
    char says[80];
    snprintf(says, sizeof says, "0 mistakes, capability %d.%d, %d bytes", newest[_i].arch / 10, newest[_i].arch % 10,
             newest[_i].shared << 10);
    STATUS(HEDDLE_OK, "exec -m functional ./newest");
    SAYS(out, says);
    SAYS(err, newest[_i].says);
    STATUS(HEDDLE_OK, "exec -q -m functional -s sm.shared_bytes=70000 ./newest"); /* the user's setting wins */
    SAYS(out, "70000 bytes");
    ck_assert_str_eq(err, "");
}
END_TEST

/* With '-arch=compute_80', the linker adds the newest PTX of CUDA's device library, such as compute_121. The program's
 * own PTX selects the machine. */
START_TEST(the_device_library_does_not_select_the_machine) {
    if (skip_without_runtime() || skip_without_nvcc())
        return;
    write_file("small.cu", small, sizeof small - 1);
    shell("PATH=$PATH:/usr/local/cuda/bin; nvcc -arch=compute_80 -rdc=true small.cu -o small -lcudadevrt");
    STATUS(HEDDLE_OK, "exec -m functional ./small");
    ck_assert_str_eq(out, "8.0\n");
    SAYS(err, "newest PTX is compute_80: machine 'turing' with gpu.sms=30 gpu.capability=8.0");
}
END_TEST

/* Memory of malloc(), the stack, and a __device__ variable without cudaGetSymbolAddress() are no memory of the device.
 * The second access is just beyond a buffer, so it gets no help. */
START_TEST(addresses_of_the_host_are_named) {
    static const char source[] =
        "#include <cstdlib>\n__device__ int counter;\n__global__ void one(int *p) { *p = 1; }\n"
        "int main(int n, char **) {\n int *p, *host = (int *)malloc(4096);\n cudaMalloc(&p, 4);\n"
        " switch (n) {\n case 1: one<<<1, 1>>>(host); break;\n case 2: one<<<1, 1>>>(p + 1); break;\n"
        " case 3: one<<<1, 1>>>(&n); break;\n case 4: cudaMemset(&counter, 0, 4); break;\n"
        " default: cudaMemcpy(host, host + 8, 4, cudaMemcpyDeviceToHost);\n }\n"
        " return cudaDeviceSynchronize() && n == 4;\n}\n";
    static const char *const help[] = {"help: it is an address of the host; cudaMalloc()", NULL,
                                       "help: it is an address of the host; cudaMalloc()",
                                       "help: it is the host's address of variable 'counter'; cudaGetSymbolAddress()",
                                       "help: it is an address of the host; cudaMalloc()"};
    if (skip_without_runtime() || skip_without_nvcc())
        return;
    write_file("hosts.cu", source, sizeof source - 1);
    shell("PATH=$PATH:/usr/local/cuda/bin; nvcc -arch=compute_75 hosts.cu -o hosts");
    for (int i = 0; i < 5; i++) {
        STATUS(i < 3 ? HEDDLE_FAULT : 0, "exec -q -m functional ./hosts %.*s", 2 * i, "a b c d");
        if (help[i])
            SAYS(err, help[i]);
        else
            ck_assert_msg(!strstr(err, "address of the host"), "%s", err);
    }
}
END_TEST

/* In a program that is not position-independent, a __device__ variable's host address is far below the device's. */
START_TEST(low_addresses_of_the_host_are_named) {
    static const char source[] = "__device__ int counter;\n__global__ void one(int *p) { *p = 1; }\n"
                                 "int main() { one<<<1, 1>>>(&counter); }\n";
    if (skip_without_runtime() || skip_without_nvcc())
        return;
    write_file("low.cu", source, sizeof source - 1);
    shell("PATH=$PATH:/usr/local/cuda/bin; nvcc -arch=compute_75 -Xcompiler -no-pie low.cu -o low");
    STATUS(HEDDLE_FAULT, "exec -q -m functional ./low");
    SAYS(err, "help: it is the host's address of variable 'counter'; cudaGetSymbolAddress()");
}
END_TEST

/* Options after the program are the program's. A note names words that look like Heddle's options. */
START_TEST(options_after_the_program_are_noted) {
    static const struct {
        const char *words;
        bool noted;
    } cases[] = {{"/bin/true --json x", true},  {"/bin/true a --results=x", true}, {"/bin/true -m spe+dac", true},
                 {"/bin/true -m 3", false},     {"/bin/true -s --jsonx", false},   {"-- /bin/true --json", false},
                 {"-q /bin/true --json", false}};
    if (skip_without_runtime())
        return;
    STATUS(HEDDLE_OK, "exec -m functional %s", cases[_i].words);
    ck_assert_msg((strstr(err, "; Heddle's options come before the program") != NULL) == cases[_i].noted, "%s", err);
}
END_TEST

SUITE(cli_exec_inside) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(a_statically_linked_program_runs, 0, 4);
    TEST(it_runs_from_folders_of_any_name);
    TEST(a_script_can_run_programs);
    TEST(programs_without_redirection_are_refused);
    TEST_LOOP(each_linked_function_is_redirected, 0, 4);
    TEST(the_compiler_returns_ptx);
    TEST(objects_opened_by_dlopen_are_redirected);
    TEST(programs_with_the_driver_only_run);
    TEST(libraries_of_machine_code_are_reported);
    TEST(the_report_precedes_the_librarys_failure);
    TEST_LOOP(the_machine_follows_the_newest_ptx, 0, 5);
    TEST(the_device_library_does_not_select_the_machine);
    TEST(addresses_of_the_host_are_named);
    TEST(low_addresses_of_the_host_are_named);
    TEST_LOOP(options_after_the_program_are_noted, 0, 7);
}
