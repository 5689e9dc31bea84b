/* Tests `heddle exec` and libcudart.so on programs compiled by nvcc (test/cuda/README.md), and on a C program that
 * calls the functions of nvcc's stubs itself, for each version of the library. Also tests how runs are stored in a
 * database (host/cuda/core/core_results.c). */
#include "cli_help.h"
#include <libgen.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Skips the test and returns true if this build has no libcudart.so. Builds with a sanitizer have none, because
 * programs could not load it. */
static bool no_library(void) {
    if (has_runtime())
        return false;
    test_skip("this build has no libcudart.so");
    return true;
}

static bool cannot_run(void) {
#ifdef __x86_64__
    return no_library();
#else
    test_skip("the programs are for x86-64");
    return true;
#endif
}

/* The program test/cuda/api.cu checks its own results. In the functional model, CUDA events measure host time. */
START_TEST(the_runtime_does_what_programs_ask) {
    static const char *const how[] = {"", "-m functional", "-m its -s gpu.sms=3 -j 2"};
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing %s %s/test/cuda/api.out a -m", how[_i], cli_root);
    SAYS(out, "0 mistakes, 2 arguments\n");
    SAYS(err, "2 ");
    SAYS(err, "  void scale<int>(int*, int, int)\n");
    ck_assert_ptr_eq(strstr(err, "cudaDeviceGetP2PAttribute"),
                     strstr(err, "cudaDeviceGetP2PAttribute is not supported"));
    ck_assert_ptr_null(strstr(strstr(err, "cudaDeviceGetP2PAttribute") + 1, "cudaDeviceGetP2PAttribute")); /* once */
}
END_TEST

START_TEST(the_result_is_written_as_json) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing --json r.json --json-launches %s/test/cuda/api.out", cli_root);
    ck_assert_ptr_null(strstr(err, "launches"));
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    ck_assert_ptr_nonnull(o);
    /* number of launches of each kernel: scale 2, fill 1, reverse 2, bounded 1, count 1, by_value 3; in all 10 */
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(o, "kernels")), 10);
    SAYS(text, "api.out");
    cJSON_Delete(o);
    free(text);
}
END_TEST

/* The database has one run for each machine and model. A failed run is stored with the reason of the failure. The
 * counts in the row of a run are the counts that --json writes. */
START_TEST(runs_go_into_a_database) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing -m spe --results r.db --json r.json %s/test/cuda/api.out one two", cli_root);
    STATUS(HEDDLE_OK, "exec -q -c turing -m functional --results r.db %s/test/cuda/api.out one two", cli_root);
    ck_assert_ptr_null(strstr(err, "already"));
    STATUS(HEDDLE_OK, "exec -q -c turing -m functional --results r.db %s/test/cuda/api.out one two", cli_root);
    SAYS(err, "r.db has this run of the program already, and keeps it");
    STATUS(HEDDLE_FAULT, "exec -q -c turing -m spe --results r.db %s/test/cuda/programs/errors.out null", cli_root);
    char *text = slurp("r.json"), row[80];
    cJSON *o = cJSON_Parse(text);
    double n = cJSON_GetObjectItem(cJSON_GetObjectItem(o, "stats"), "gpu.thread_instructions")->valuedouble;
    cJSON_Delete(o);
    free(text);
    STATUS(HEDDLE_OK, "results r.db --value program,size,model,preset,check,gpu.thread_instructions --csv -");
    snprintf(row, sizeof row, "api.out,one two,spe,turing,ran,%.0f\n", n);
    SAYS(out, row);
    snprintf(row, sizeof row, "api.out,one two,functional,turing,ran,%.0f\n", n);
    SAYS(out, row);
    SAYS(out, "errors.out,null,spe,turing,fault,");
    int lines = 0;
    for (const char *at = out; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_int_eq(lines, 1 + 3);
    STATUS(HEDDLE_OK, "results r.db --launches --where 'program=api.out and model=spe' --value kernel");
    SAYS(out, "_Z5scaleIiEvPT_S0_i");
}
END_TEST

/* If the program itself reports an error, its run is stored as failed. Here the program fails because its grid needs
 * more than one SM. If the file of --results is not a database of results, or cannot be opened, heddle says so before
 * the program begins. */
START_TEST(the_database_knows_how_a_program_ended) {
    if (cannot_run())
        return;
    STATUS(1, "exec -q -c turing -m functional -s gpu.sms=1 --results r.db %s/test/cuda/features.out", cli_root);
    STATUS(HEDDLE_OK, "results r.db --value check,gpu.sms --csv -");
    SAYS(out, "WRONG,1\n");
    STATUS(HEDDLE_USAGE, "exec --results %s/README.md echo begun", cli_root);
    SAYS(err, "README.md: is not a results database");
    ck_assert_str_eq(out, "");
    STATUS(HEDDLE_USAGE, "exec --results no/such/folder/r.db echo begun");
    SAYS(err, "no/such/folder/r.db: cannot be opened");
    ck_assert_str_eq(out, "");
}
END_TEST

/* Compiles sources of test/cuda (paths relative to that folder) with options, and links them to one of the build's
 * libraries. */
static void compile(const char *to, const char *options, const char *sources, const char *library) {
    char command[4 * PATH_MAX], folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", cli_binary);
    strcpy(strrchr(folder, '/'), "/cuda");
    snprintf(command, sizeof command, "cc %s -o %s '%s'/test/cuda/%s '%s/%s' >cc.txt 2>&1", options, to, cli_root,
             sources, folder, library);
    if (system(command) != 0)
        ck_abort_msg("%s: %s", command, slurp("cc.txt"));
}

static void compile_registers(const char *version) {
    char library[40];
    snprintf(library, sizeof library, "libcudart.so.%s", version);
    compile("registers", "", "registers.c", library);
}

static const char *const versions[] = {"11.0", "12", "13"};

/* - saxpy computes y = 2 x + y with x = y = i. After the first launch (63 threads) y is 3 i; after the second launch
 *   (64 threads) y is 5 i. So the last two values are 5 * 62 and 3 * 63 (thread 63 ran only once).
 * - Programs of CUDA 12 call cudaGetDeviceProperties_v2(), so the name without _v2 returns the layout of CUDA 11, which
 *   has 728 bytes. The layout of CUDA 12 has 1032 bytes: 13 new fields and 63 reserved fields of 4 bytes each. In CUDA
 *   13 the name without _v2 returns the layout of CUDA 13, which has 1008 bytes. */
START_TEST(each_version_runs_its_programs) {
    static const char *const says[] = {"version 11080: warps of 32, 7.x, 2 SMs, 728 bytes\n",
                                       "version 12080: warps of 32, 7.x, 2 SMs, 728 bytes\n",
                                       "version 13000: warps of 32, 7.x, 2 SMs, 1008 bytes\n"};
    if (no_library())
        return;
    compile_registers(versions[_i]);
    STATUS(HEDDLE_OK, "exec -c turing ./registers %s/test/cuda/lz4.fatbin", cli_root);
    SAYS(out, says[_i]);
    SAYS(out, "cudaSuccess\n310 189\n");
    SAYS(err, "  saxpy(int, float, float const*, float*)\n");
}
END_TEST

/* If y is NULL, the kernel faults. The program's next CUDA call returns the error. The program itself exits with 0, but
 * heddle's exit status shows the fault. */
START_TEST(a_fault_is_told) {
    if (no_library())
        return;
    compile_registers("13");
    STATUS(HEDDLE_FAULT, "exec ./registers %s/test/cuda/lz4.fatbin fault", cli_root);
    SAYS(out, "cudaErrorIllegalAddress\n");
    SAYS(err, "null pointer");
    SAYS(err, "heddle: saxpy(int, float, float const*, float*): ");
    SAYS(err, "_Z5saxpyifPKfPf");
    STATUS(HEDDLE_DEADLOCK, "exec --cycle-limit 20 ./registers %s/test/cuda/lz4.fatbin", cli_root);
    SAYS(out, "cudaErrorLaunchTimeout\n");
}
END_TEST

/* texture<> is the texture reference of CUDA 11. Each result is 100 times the array's value, plus the normalised value
 * of a byte. */
START_TEST(texture_references_are_bound) {
    if (no_library())
        return;
    compile_registers("11.0");
    STATUS(HEDDLE_OK, "exec -c turing ./registers %s/test/cuda/lz4.fatbin texture", cli_root);
    SAYS(out, "textures 1000 1050.2 1150.4 1251\n");
}
END_TEST

/* A kernel waits for kernels that it launched, which CUDA 12 forbids. A note says which functions kernels have. */
START_TEST(the_device_runtime_has_limits) {
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".extern .func cudaDeviceSynchronize();\n.visible .entry k()\n{\n  call cudaDeviceSynchronize;\n  ret;\n}\n";
    write_file("launches.ptx", text, sizeof text - 1);
    STATUS(HEDDLE_USAGE, "run launches.ptx -g 1 -b 1");
    SAYS(err, "launches.ptx:7:8: error: function 'cudaDeviceSynchronize' has no body");
    SAYS(err, "Heddle has launches, streams, events");
}
END_TEST

/* test/cuda/clang.cu uses clang's stubs. Its kernel reverses the numbers x from 0 to 99 and computes 2 x + 5 + 4. So
 * the first result is 207 (x = 99), and the last is 9 (x = 0). */
START_TEST(programs_of_clang_run) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing -m %s %s/test/cuda/clang.out", _i ? "spe" : "functional", cli_root);
    ck_assert_str_eq(out, "0: 207 9 11\n");
    SAYS(err, "  void reversed<float>(float*, int)\n");
}
END_TEST

/* After dlclose() of a shared object, the kernels that it registered must not be found any more. */
START_TEST(kernels_may_be_closed) {
    if (no_library())
        return;
    compile_registers("13");
    STATUS(HEDDLE_OK, "exec -c turing -m functional ./registers %s/test/cuda/lz4.fatbin closed", cli_root);
    SAYS(out, "closed: cudaErrorInvalidSymbol, cudaErrorInvalidDeviceFunction\n");
    SAYS(out, "310 189\n"); /* the kernels in the program itself still work */
}
END_TEST

/* Heddle reports at the end of the process, also if the program has unloaded libcuda.so.1 by then. */
START_TEST(the_driver_may_be_unloaded) {
    char command[3 * PATH_MAX];
    if (no_library())
        return;
    snprintf(command, sizeof command, "cc -o unload '%s/test/cuda/unload.c' -ldl", cli_root);
    ck_assert_int_eq(system(command), 0);
    STATUS(HEDDLE_OK, "exec -c turing -m functional ./unload");
    SAYS(out, "unloaded: 0\n");
    SAYS(err, "the program has ended without a launch of a kernel");
}
END_TEST

/* Checks the overhead of small launches and of the program's start against the limits in docs/performance.md. The
 * measured processor time is usually far below these limits. */
START_TEST(launches_and_starts_are_cheap) {
    double each = 0, best = 1e9;
    if (no_library())
        return;
    compile_registers("13");
    STATUS(HEDDLE_OK, "exec -c turing -m functional ./registers %s/test/cuda/lz4.fatbin many", cli_root);
    const char *says = strstr(out, "a launch takes ");
    ck_assert_ptr_nonnull(says);
    ck_assert_int_eq(sscanf(says, "a launch takes %lf us", &each), 1);
    ck_assert_msg(each > 0 && each < 20, "%g us a launch", each);
    for (int i = 0; i < 10; i++) {
        struct rusage before, after;
        getrusage(RUSAGE_CHILDREN, &before);
        STATUS(HEDDLE_OK, "exec -c turing -m functional ./registers %s/test/cuda/lz4.fatbin", cli_root);
        getrusage(RUSAGE_CHILDREN, &after);
        double took =
            (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
            1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
                            before.ru_stime.tv_usec);
        best = took < best ? took : best;
    }
    ck_assert_msg(best < 0.05, "%g s from the start to the end", best);
}
END_TEST

static void copy_program(const char *from, const char *to) {
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, "cp '%s/test/cuda/%s' %s && chmod +x %s", cli_root, from, to, to);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(programs_that_cannot_run_are_told_why) {
    copy_program("saxpy.obj", "object.out");
    copy_program("machine.out", "machine.out");
    STATUS(HEDDLE_USAGE, "exec ./object.out");
    SAYS(err, "./object.out: it is an object file, not a program: link it with 'nvcc'");
    ck_assert_int_eq(chmod("object.out", 0644), 0);
    STATUS(HEDDLE_USAGE, "exec ./object.out");
    SAYS(err, "./object.out: it is an object file, not a program: link it with 'nvcc'");
    STATUS(HEDDLE_USAGE, "exec ./machine.out");
    SAYS(err, "machine code for sm_75 only");
    STATUS(HEDDLE_USAGE, "exec ./nothing.out");
    SAYS(err, "No such file");
    STATUS(HEDDLE_USAGE, "exec no-such-program-of-mine");
    SAYS(err, "no-such-program-of-mine: neither this folder nor a folder of PATH has this program");
    STATUS(HEDDLE_USAGE, "exec machine.out");
    SAYS(err, "no folder of PATH has this program; for the file in this folder, write './machine.out'");
    STATUS(HEDDLE_USAGE, "exec");
    SAYS(err, "which program?");
    STATUS(HEDDLE_USAGE, "exec .");
    SAYS(err, "it is a folder, not a program");
    STATUS(HEDDLE_USAGE, "exec ./");
    SAYS(err, "it is no file to execute");
    write_file("text.ptx", ".version 7.0", 12);
    write_file("text.cu", "int main", 8);
    write_file("text.md", "# text", 6);
    STATUS(HEDDLE_USAGE, "exec text.ptx");
    SAYS(err, "text.ptx: it is PTX, not a program: 'heddle run' runs a kernel of PTX");
    STATUS(HEDDLE_USAGE, "exec ./text.cu");
    SAYS(err, "./text.cu: it is source code, not a program: compile it with 'nvcc'");
    STATUS(HEDDLE_USAGE, "exec text.md");
    SAYS(err, "text.md: the file is not executable; if it is a program, 'chmod +x' makes it executable");
    STATUS(HEDDLE_USAGE, "exec -m nonsense /bin/true");
    SAYS(err, "nonsense");
    STATUS(HEDDLE_USAGE, "exec -s gpu.smss=3 /bin/true");
    SAYS(err, "gpu.sms");
}
END_TEST

/* A file that cannot be written is reported before the program starts. */
START_TEST(files_that_cannot_be_written_are_told_before_the_run) {
    STATUS(HEDDLE_USAGE, "exec --json /no/folder/x.json sh -c 'echo started'");
    SAYS(err, "/no/folder/x.json: No such file or directory");
    ck_assert_str_eq(out, "");
    STATUS(HEDDLE_USAGE, "exec --checkpoint /no/folder/x sh -c 'echo started'");
    SAYS(err, "/no/folder/x: No such file or directory");
    ck_assert_str_eq(out, "");
    STATUS(HEDDLE_USAGE, "record -o /no/folder/x sh -c 'echo started'");
    SAYS(err, "/no/folder/x: No such file or directory");
    ck_assert_str_eq(out, "");
}
END_TEST

/* A disk that is full at the end of the run is told, and changes the exit status 0 of the program. */
START_TEST(results_that_cannot_be_written_change_the_status) {
    if (cannot_run())
        return;
    STATUS(HEDDLE_USAGE, "exec -c turing -m functional --json /dev/full %s/test/cuda/api.out", cli_root);
    SAYS(err, "/dev/full: the result cannot be written: No space left on device");
}
END_TEST

/* Options after the program's name belong to the program, and heddle exits with the program's status. */
START_TEST(other_programs_just_run) {
    if (no_library())
        return;
    STATUS(5, "exec sh -c 'echo \"$HEDDLE_MODEL|$HEDDLE_SET|$0\"; exit 5' -m");
    ck_assert_str_eq(out, "||-m\n");
    STATUS(0, "exec -m dpe -s gpu.sms=2 -s sm.warps=8 -- sh -c 'echo \"$HEDDLE_MODEL|\"$HEDDLE_SET\"|$0\"' x");
    ck_assert_str_eq(out, "dpe|gpu.sms=2 sm.warps=8 |x\n");
}
END_TEST

/* test/cuda/features.cu tests graphs, memory pools, textures and cooperative grids. Its 128 blocks are resident on 8
 * SMs, with 16 blocks on each. */
START_TEST(features_do_what_programs_ask) {
    static const char *const how[] = {"", "-m functional", "-m functional -j 2", "-m its"};
    if (cannot_run())
        return;
    STATUS(HEDDLE_OK, "exec -c turing -s gpu.sms=8 %s %s/test/cuda/features.out", how[_i], cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "a cooperative grid of 1048576 blocks, but the machine holds 128 at once, 16 on each of its 8 SMs");
    SAYS(err, "  sum(int*, int*, int)\n");
}
END_TEST

/* Runs the program test/cuda/driver twice: compiled with its own declarations, and with the toolkit's cuda.h. */
START_TEST(the_driver_does_what_programs_ask) {
    if (no_library())
        return;
    if (_i && access("/usr/local/cuda/include/cuda.h", R_OK) != 0) {
        test_skip("there is no cuda.h");
        return;
    }
    compile("driver", _i ? "-Wno-deprecated-declarations -DWITH_HEADER -I/usr/local/cuda/include" : "", "driver/*.c",
            "libcuda.so.1");
    STATUS(HEDDLE_OK, "exec -c turing ./driver %s/test/cuda", cli_root);
    SAYS(out, "0 mistakes\n");
    ck_assert_ptr_nonnull(strstr(err, "cuDeviceGetP2PAttribute is not supported"));
    ck_assert_ptr_null(strstr(strstr(err, "cuDeviceGetP2PAttribute") + 1, "cuDeviceGetP2PAttribute")); /* one message */
    STATUS(HEDDLE_OK, "exec -c turing -m functional ./driver %s/test/cuda", cli_root);
    SAYS(out, "0 mistakes\n");
    STATUS(HEDDLE_FAULT, "exec -c turing ./driver %s/test/cuda fault", cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "null pointer");
    STATUS(HEDDLE_FAULT, "exec -c turing -m functional ./driver %s/test/cuda fault", cli_root);
    SAYS(out, "0 mistakes\n");
    SAYS(err, "null pointer");
}
END_TEST

/* A launch that Heddle cannot simulate returns CUDA_ERROR_NOT_SUPPORTED (801) and the program continues. heddle's exit
 * status shows the failure even if the program ignores the error. A launch that a real GPU would refuse as well does
 * not change the exit status. */
START_TEST(a_refused_launch_shows) {
    static const char *const how[] = {"", "attribute"};
    if (no_library())
        return;
    compile("refused", "", "refused.c", "libcuda.so.1");
    for (int i = 0; i < 2; i++) {
        STATUS(HEDDLE_USAGE, "exec -c turing -m spe -s gpu.cta_policy=lcs ./refused %s", how[i]);
        ck_assert_str_eq(out, "801 0 0 7 1\n");
        SAYS(err, "clusters of 2 CTAs");
        SAYS(err, "not simulated with gpu.cta_policy=lcs");
    }
}
END_TEST

/* Clusters by the attributes of launches: test/cuda/clusters.c says what each number is. */
START_TEST(clusters_of_launches) {
    static const char *const models[] = {"functional", "spe"};
    if (no_library())
        return;
    compile("clusters", "", "clusters.c", "libcuda.so.1");
    for (int i = 0; i < 2; i++) {
        STATUS(HEDDLE_OK, "exec -q -c h100 -m %s ./clusters", models[i]);
        ck_assert_str_eq(out, "0 4 0 912 912 0 16 0 2 0 8 16 0 132\n");
    }
}
END_TEST

/* If a program opens the GPU but launches no kernel, `exec` prints one line instead of a table, except with -q. If a
 * program does not call CUDA, `exec` also prints one line. It prints none about a process with children, because this
 * may be a script whose children call CUDA. */
START_TEST(a_program_without_launches_is_told) {
    static const char source[] =
        "int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);\n"
        "int main(void) {\n    void *c;\n    return cuInit(0) || cuCtxCreate_v2(&c, 0, 0);\n}\n";
    char command[2 * PATH_MAX];
    if (no_library())
        return;
    write_file("opens.c", source, sizeof source - 1);
    snprintf(command, sizeof command, "cc opens.c -o opens '%.*s/cuda/libcuda.so.1'",
             (int)(strrchr(cli_binary, '/') - cli_binary), cli_binary);
    ck_assert_int_eq(system(command), 0);
    STATUS(HEDDLE_OK, "exec -c turing ./opens");
    ck_assert_str_eq(err, "heddle: the program has ended without a launch of a kernel\n");
    STATUS(HEDDLE_OK, "exec -q -c turing ./opens");
    ck_assert_str_eq(err, "");
    STATUS(HEDDLE_OK, "exec true");
    ck_assert_str_eq(err, "heddle: the program has ended without a call of CUDA, so no kernel ran\n");
    STATUS(HEDDLE_OK, "exec -q true");
    ck_assert_str_eq(err, "");
    STATUS(HEDDLE_OK, "exec sh -c 'true & wait; exit 0'");
    ck_assert_str_eq(err, "");
    ck_assert_int_eq(symlink("/dev/null", "null"), 0);
    STATUS(HEDDLE_OK, "exec -c turing --json null ./opens"); /* a device is not replaced by a file */
    ck_assert_int_eq(system("test -L null"), 0);
}
END_TEST

/* The JSON lists either one sum for all launches of a kernel, or each launch. The totals are equal in both cases. */
START_TEST(the_json_sums_by_kernel) {
    double all[2], totals[2], launches[2] = {0, 0};
    if (cannot_run())
        return;
    for (int i = 0; i < 2; i++) {
        STATUS(HEDDLE_OK, "exec -c turing -s gpu.sms=8 --json r.json %s %s/test/cuda/features.out",
               i ? "--json-launches" : "", cli_root);
        char *text = slurp("r.json");
        cJSON *o = cJSON_ParseWithOpts(text, NULL, true);
        const cJSON *k, *kernels = cJSON_GetObjectItem(o, "kernels");
        free(text);
        ck_assert(cJSON_IsArray(kernels));
        all[i] = 0;
        totals[i] = number(cJSON_GetObjectItem(o, "stats"), "gpu.warp_instructions");
        cJSON_ArrayForEach(k, kernels) {
            all[i] += number(cJSON_GetObjectItem(k, "stats"), "gpu.warp_instructions");
            launches[i] += i ? 1 : number(k, "launches");
            ck_assert(!i || !cJSON_GetObjectItem(k, "launches"));
            for (const cJSON *other = k->next; other && !i; other = other->next)
                ck_assert_str_ne(cJSON_GetObjectItem(k, "name")->valuestring,
                                 cJSON_GetObjectItem(other, "name")->valuestring);
        }
        cJSON_Delete(o);
    }
    ck_assert_double_eq(all[0], all[1]);
    ck_assert_double_eq(all[0], totals[0]);
    ck_assert_double_eq(totals[0], totals[1]);
    ck_assert_double_eq(launches[0], launches[1]);
    STATUS(HEDDLE_USAGE, "exec --json-launches /bin/true");
    SAYS(err, "does nothing without --json");
}
END_TEST

/* Heddle's stub of NVRTC, the CUDA C++ compiler library, prints once where to get the real NVRTC. */
START_TEST(compiling_needs_the_toolkit) {
    if (no_library())
        return;
    char options[2 * PATH_MAX]; /* the rpath makes the loader find the stub even if the toolkit is installed */
    snprintf(options, sizeof options, "-Wl,-rpath,'%s/cuda/nvrtc'", dirname(strdupa(cli_binary)));
    compile("nvrtc", options, "nvrtc.c", "nvrtc/libnvrtc.so.13");
    STATUS(HEDDLE_OK, "exec ./nvrtc");
    ck_assert_str_eq(out, "11 11 11\nNVRTC_ERROR_INTERNAL_ERROR: Heddle has no compiler of CUDA C++\n");
    SAYS(err, "compiling CUDA C++ needs NVIDIA's toolkit");
    SAYS(err, "'nvcc -ptx'");
    ck_assert_ptr_null(strstr(strstr(err, "toolkit") + 1, "toolkit")); /* once */
}
END_TEST

/* test/cuda/client.py calls the CUDA driver in the same way as Python packages for CUDA do. */
START_TEST(a_client_in_python_runs) {
    static const char *const how[] = {"-m functional", "-m spe"};
    if (no_library())
        return;
    if (system("command -v python3 >/dev/null 2>&1") != 0) {
        test_skip("there is no python3");
        return;
    }
    STATUS(HEDDLE_OK, "exec -c turing %s -- python3 %s/test/cuda/client.py", how[_i], cli_root);
    ck_assert_str_eq(out, "0 mistakes\n");
    SAYS(err, "  by_reference\n");
}
END_TEST

/* Compiles programs with this machine's nvcc, if it has one, and runs them. The last two programs (empty.cu with the
 * shared runtime, and kernels_launch.cu) are tested only with HEDDLE_EVERY. */
START_TEST(programs_of_this_machines_nvcc_run) {
    if (cannot_run())
        return;
    if (system("PATH=$PATH:/usr/local/cuda/bin; command -v nvcc >/dev/null 2>&1") != 0) {
        test_skip("there is no nvcc");
        return;
    }
    char command[6 * PATH_MAX + 1000];
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/local/cuda/bin; nvcc -arch=sm_75 -cudart shared '%s/test/cuda/api.cu' -o api && "
             "nvcc -arch=sm_75 -cudart shared -rdc=true '%s/test/cuda/two_a.cu' '%s/test/cuda/two_b.cu' -o linked && "
             "nvcc -arch=sm_75 '%s/test/cuda/empty.cu' -o static",
             cli_root, cli_root, cli_root, cli_root);
    ck_assert_int_eq(system(command), 0);
    STATUS(HEDDLE_OK, "exec -c turing ./api");
    SAYS(out, "0 mistakes, 0 arguments\n");
    STATUS(HEDDLE_OK, "exec ./linked");
    SAYS(out, "12 24 36 48, 11\n");
    STATUS(HEDDLE_OK, "exec ./static");
    SAYS(err, "  k()\n");
    if (!test_every())
        return;
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/local/cuda/bin; nvcc -arch=sm_75 -cudart shared '%s/test/cuda/empty.cu' -o empty && "
             "nvcc -arch=sm_75 -cudart shared -rdc=true '%s/test/cuda/kernels_launch.cu' -o launches -lcudadevrt",
             cli_root, cli_root);
    ck_assert_int_eq(system(command), 0);
    STATUS(HEDDLE_OK, "exec ./empty");
    SAYS(err, "  k()\n");
    STATUS(HEDDLE_OK, "exec -c turing ./launches");
    SAYS(out, "0 mistakes\n");
}
END_TEST

SUITE(cli_exec) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST_LOOP(the_runtime_does_what_programs_ask, 0, 3);
    TEST_LOOP(features_do_what_programs_ask, 0, 4);
    TEST_LOOP(the_driver_does_what_programs_ask, 0, 2);
    TEST(a_refused_launch_shows);
    TEST(clusters_of_launches);
    TEST(a_program_without_launches_is_told);
    TEST(the_json_sums_by_kernel);
    TEST(compiling_needs_the_toolkit);
    TEST_LOOP(a_client_in_python_runs, 0, 2);
    TEST(the_result_is_written_as_json);
    TEST(runs_go_into_a_database);
    TEST(the_database_knows_how_a_program_ended);
    TEST_LOOP(each_version_runs_its_programs, 0, 3);
    TEST(texture_references_are_bound);
    TEST(the_device_runtime_has_limits);
    TEST_LOOP(programs_of_clang_run, 0, 2);
    TEST(kernels_may_be_closed);
    TEST(the_driver_may_be_unloaded);
    TEST(launches_and_starts_are_cheap);
    TEST(a_fault_is_told);
    TEST(programs_that_cannot_run_are_told_why);
    TEST(files_that_cannot_be_written_are_told_before_the_run);
    TEST(results_that_cannot_be_written_change_the_status);
    TEST(other_programs_just_run);
    TEST(programs_of_this_machines_nvcc_run);
}
