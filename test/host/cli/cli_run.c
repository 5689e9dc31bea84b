/* Tests `heddle run`: arguments, results, messages about user errors, and faults. */
#include "cli_help.h"
#include "test/every_model.h"
#include <stdio.h>
#include <unistd.h>

/* Writes the 100 floats i (from 0) to a.bin, and the 100 floats 2i to b.bin. */
static void write_vectors(void) {
    float a[100], b[100];
    for (int i = 0; i < 100; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    write_file("a.bin", a, sizeof a);
    write_file("b.bin", b, sizeof b);
}

#define VECADD "run $HEDDLE_KERNELS/vecadd.ptx -g 4 -b 32 -a in:a.bin -a in:b.bin -a out:c.bin:400 -a u32:100 "

static void check_sum(void) {
    float c[100];
    FILE *f = fopen("c.bin", "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(c, sizeof *c, 101, f), 100);
    fclose(f);
    for (int i = 0; i < 100; i++)
        ck_assert_float_eq(c[i], (float)(3 * i));
}

START_TEST(run_reads_and_writes_buffers) {
    static const char *const models[] = {"functional", "spe", "dpe"};
    write_vectors();
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        STATUS(HEDDLE_OK, VECADD "-m %s", models[i]);
        check_sum();
        SAYS(out, "vecadd  grid 4x1x1  block 32x1x1");
        SAYS(out, "lane utilisation");
        ck_assert_str_eq(err, "");
        ck_assert(!exists("c.bin.tmp"));
        unlink("c.bin");
    }
}
END_TEST

START_TEST(options_may_stand_anywhere) {
    write_vectors();
    STATUS(HEDDLE_OK,
           "run --block=32 -a in:a.bin --arg in:b.bin -g4 --kernel vecadd -a out:c.bin:400 --model functional "
           "-au32:100 -- $HEDDLE_KERNELS/vecadd.ptx");
    check_sum();
    STATUS(HEDDLE_USAGE, "run -g 1 -b 1 -- -a"); /* -a after -- is the name of a file */
    SAYS(err, "-a: No such file");
}
END_TEST

START_TEST(inout_writes_a_copy) {
    uint32_t v[32];
    for (uint32_t i = 0; i < 32; i++)
        v[i] = i;
    write_file("v.bin", v, sizeof v);
    write_kernel(".param .u64 p",
                 "ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd1,%rd1,%rd2;"
                 "ld.global.u32 %r2,[%rd1]; add.s32 %r2,%r2,7; st.global.u32 [%rd1],%r2;");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 32 -a inout:v.bin:w.bin -m functional");
    uint32_t w[32];
    FILE *f = fopen("w.bin", "rb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fread(w, 4, 32, f), 32);
    fclose(f);
    for (uint32_t i = 0; i < 32; i++)
        ck_assert_uint_eq(w[i], i + 7);
}
END_TEST

START_TEST(structs_are_passed_by_value) {
    uint32_t s[3] = {5, 6, 7};
    write_file("s.bin", s, sizeof s);
    write_kernel(".param .u64 p, .param .align 4 .b8 s[12]",
                 "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[s+8]; st.global.u32 [%rd1],%r1;");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 1 -a out:o.bin:4 -a bytes:s.bin -m functional");
    char *o = slurp("o.bin");
    ck_assert_int_eq(o[0], 7);
    free(o);
    write_file("s.bin", s, 8);
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 1 -a zero:4 -a bytes:s.bin");
    SAYS(err, "the file has 8 bytes, and parameter 's' 12");
}
END_TEST

START_TEST(json_holds_command_configuration_and_statistics) {
    write_vectors();
    STATUS(HEDDLE_OK, VECADD "--json r.json -s l1.latency=40");
    char *text = slurp("r.json");
    cJSON *o = cJSON_Parse(text);
    free(text);
    ck_assert_ptr_nonnull(o);
    const cJSON *config = cJSON_GetObjectItem(o, "config"), *stats = cJSON_GetObjectItem(o, "stats");
    const cJSON *kernel = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "kernels"), 0);
    ck_assert_str_eq(cJSON_GetObjectItem(o, "heddle")->valuestring, HEDDLE_VERSION);
    ck_assert_str_eq(cJSON_GetObjectItem(o, "model")->valuestring, "spe");
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(o, "check")));
    ck_assert_str_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "command"), 1)->valuestring, "run");
    ck_assert_double_eq(number(config, "l1.latency"), 40);
    ck_assert(cJSON_IsBool(cJSON_GetObjectItemCaseSensitive(config, "sm.subcores")));
    ck_assert_str_eq(cJSON_GetObjectItem(kernel, "name")->valuestring, "vecadd");
    ck_assert_int_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(kernel, "grid"), 0)->valueint, 4);
    ck_assert_int_eq(cJSON_GetArrayItem(cJSON_GetObjectItem(kernel, "block"), 0)->valueint, 32);
    static const char *const names[] = {"gpu.cycles",
                                        "gpu.warp_instructions",
                                        "gpu.thread_instructions",
                                        "gpu.ipc",
                                        "gpu.lane_utilization",
                                        "gpu.avg_paths",
                                        "gpu.idle_cycles",
                                        "gpu.max_stack_depth",
                                        "l1.accesses",
                                        "l1.misses",
                                        "l2.accesses",
                                        "l2.misses",
                                        "dram.read_bytes",
                                        "dram.write_bytes",
                                        "energy.total_joules",
                                        "host.seconds",
                                        "host.warp_instructions_per_second",
                                        "host.peak_rss_bytes"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        number(stats, names[i]);
        number(cJSON_GetObjectItem(kernel, "stats"), names[i]);
    }
    ck_assert_double_gt(number(stats, "gpu.cycles"), 0);
    cJSON_Delete(o);
}
END_TEST

START_TEST(json_on_stdout_stands_alone) {
    write_vectors();
    STATUS(HEDDLE_OK, VECADD "--json - -m functional");
    cJSON *o = cJSON_ParseWithOpts(out, NULL, true);
    ck_assert_ptr_nonnull(o);
    cJSON_Delete(o);
}
END_TEST

START_TEST(files_that_are_no_ptx_are_named) {
    STATUS(HEDDLE_USAGE, "run -g 1 -b 1");
    SAYS(err, "which file?");
    STATUS(HEDDLE_USAGE, "run none.ptx -g 1 -b 1");
    SAYS(err, "none.ptx: No such file or directory");
    STATUS(HEDDLE_USAGE, "run lud -m dpe"); /* the missing file is reported before missing options */
    SAYS(err, "lud: No such file or directory; the built-in program of this name is run by 'heddle bench'");
    STATUS(HEDDLE_USAGE, "inspect $HEDDLE_KERNELS/vecadd.ptx --pass regallok");
    SAYS(err, "no pass is called 'regallok'; did you mean 'regalloc'? In order they are lower, frames,");
    ck_assert_str_eq(out, "");
    STATUS(HEDDLE_USAGE, "run . -g 1 -b 1");
    SAYS(err, "is a directory");
    write_file("e.ptx", "", 0);
    STATUS(HEDDLE_USAGE, "run e.ptx -g 1 -b 1");
    SAYS(err, "the file is empty");
    write_file("x.ptx", "\177ELF\0\0", 6);
    STATUS(HEDDLE_USAGE, "run x.ptx -g 1 -b 1");
    SAYS(err, "ELF");
    write_file("t.ptx", "hello, world\n", 13);
    STATUS(HEDDLE_USAGE, "run t.ptx -g 1 -b 1");
    SAYS(err, "t.ptx:1:1: error:");
    STATUS(HEDDLE_USAGE, "run a.ptx b.ptx -g 1 -b 1");
    SAYS(err, "one file at a time");
}
END_TEST

START_TEST(mistakes_in_ptx_come_with_place_and_caret) {
    write_kernel("", "mov.u32 %r1 %r2;");
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 1");
    SAYS(err, "k.ptx:7:13: error:"); /* line 7: after 5 header lines and 1 line of registers; column 13: %r2 */
    SAYS(err, "^");
    write_kernel("", "mvo.u32 %r1, %r2;");
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 1");
    SAYS(err, "k.ptx:7:1: error:");
    SAYS(err, "mvo");
    write_kernel("", "mov.u32 %r1, %x;");
    STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 1");
    SAYS(err, "k.ptx:7:14: error:");
    STATUS(HEDDLE_USAGE, "inspect k.ptx");
    SAYS(err, "k.ptx:7:14: error:");
}
END_TEST

START_TEST(wrong_arguments_list_the_parameters) {
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a zero:4 -a zero:4 -a zero:4");
    SAYS(err, "kernel 'vecadd' takes 4 arguments, and 3 were given");
    SAYS(err, ".u32  vecadd_n  <-  (missing)");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a zero:4 -a zero:4 -a zero:4 -a zero:4");
    SAYS(err, "a buffer's address needs an integer parameter of 64 bits");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a zero:4 -a zero:4 -a zero:4 -a f32:1");
    SAYS(err, "f32 is floating point, the parameter is an integer");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a u8:300");
    SAYS(err, "'300' is no u8 value (0 to 255)");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a in:nothing.bin -a zero:4 -a zero:4 -a u32:1");
    SAYS(err, "nothing.bin");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a out:no/where/c.bin:4");
    SAYS(err, "no/where/c.bin");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/vecadd.ptx -g 1 -b 32 -a out:c.bin:4 -a out:c.bin:4");
    SAYS(err, "both write c.bin");
}
END_TEST

START_TEST(the_kernel_is_chosen_or_asked_for) {
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/lud.ptx -g 1 -b 16");
    SAYS(err, "lud_diagonal");
    SAYS(err, "lud_internal");
    STATUS(HEDDLE_USAGE, "run $HEDDLE_KERNELS/lud.ptx -k lud -g 1 -b 16");
    SAYS(err, "no kernel is called 'lud'");
    SAYS(err, "lud_perimeter");
    write_file("f.ptx", ".version 6.0\n.target sm_50\n.address_size 64\n", 43);
    STATUS(HEDDLE_USAGE, "run f.ptx -g 1 -b 16");
    SAYS(err, "has no kernel");
}
END_TEST

START_TEST(shapes_beyond_the_limits_name_them) {
    write_kernel("", "");
    static const struct {
        const char *shape, *part;
    } cases[] = {{"-g 0 -b 1", "X is 0, and must be from 1 to 2147483647"},
                 {"-g 1 -b 0", "X is 0, and must be from 1 to 1024"},
                 {"-g 1,65536 -b 1", "Y is 65536, and must be from 1 to 65535"},
                 {"-g 1 -b 1,1,65", "Z is 65, and must be from 1 to 64"},
                 {"-g 1 -b 1025", "must be from 1 to 1024"},
                 {"-g 1 -b 64,32", "2048 threads, and a block has at most 1024"},
                 {"-g 1,2,3,4 -b 1", "not of the form"},
                 {"-g -1 -b 1", "not of the form"},
                 {"-g x -b 1", "not of the form"},
                 {"-b 1", "--grid is missing"},
                 {"-g 1", "--block is missing"},
                 {"-g 1 -b 1 --shared 1G", "--shared takes 0 to"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        STATUS(HEDDLE_USAGE, "run k.ptx %s", cases[i].shape);
        SAYS(err, cases[i].part);
    }
}
END_TEST

/* Checks the JSON and the trace of a run that did not end normally. Both files must be complete, and must contain the
 * reason `why`. */
static void check_records(const char *why, bool timed) {
    for (int i = 0; i < 1 + timed; i++) {
        char *text = slurp(i ? "t.json" : "r.json");
        cJSON *o = cJSON_ParseWithOpts(text, NULL, true);
        ck_assert_msg(o != NULL, "%s is not whole", i ? "t.json" : "r.json");
        const cJSON *last = i ? cJSON_GetArrayItem(o, cJSON_GetArraySize(o) - 1) : o;
        const cJSON *word = cJSON_GetObjectItem(last, i ? "name" : "incomplete");
        ck_assert_str_eq(cJSON_GetStringValue(word), why);
        if (!i)
            ck_assert_double_ge(number(cJSON_GetObjectItem(o, "stats"), "gpu.warp_instructions"), 1);
        cJSON_Delete(o);
        free(text);
        unlink(i ? "t.json" : "r.json");
    }
}

/* Runs the faulting kernel k.ptx with one buffer, with the functional model and with a timing model. Checks the exit
 * status and the message. The buffer must not be written to its file, but the statistics must be. */
static void check_fault(int status, const char *more, const char *const *parts) {
    static const char *const models[] = {"functional", "spe"};
    for (int i = 0; i < 2; i++) {
        STATUS(status, "run k.ptx -g 2 -b 64 -a out:o.bin:64 --json r.json -m %s %s %s", models[i],
               i ? "--trace t.json" : "", more);
        for (const char *const *p = parts; *p; p++)
            SAYS(err, *p);
        ck_assert_str_eq(out, "");
        ck_assert(!exists("o.bin") && !exists("o.bin.tmp") && !exists("r.json.tmp"));
        check_records(status == HEDDLE_FAULT ? "fault" : "deadlock", i);
    }
}

START_TEST(out_of_bounds_is_a_fault) {
    /* thread 16 is the first thread that writes beyond the buffer of 64 bytes */
    write_kernel(".param .u64 p",
                 "ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd1,%rd1,%rd2;\n"
                 "st.global.u32 [%rd1],%r1;");
    check_fault(HEDDLE_FAULT, "", (const char *const[]){"k.ptx:8", "lane 16", "write of 4 bytes", "64 bytes", NULL});
}
END_TEST

START_TEST(misalignment_is_a_fault) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1,[p];\nld.global.u32 %r1,[%rd1+2];");
    check_fault(HEDDLE_FAULT, "", (const char *const[]){"misaligned", "k.ptx:8", NULL});
}
END_TEST

START_TEST(trap_is_a_fault) {
    write_kernel(".param .u64 p", "trap;");
    check_fault(HEDDLE_FAULT, "", (const char *const[]){"trap", NULL});
}
END_TEST

START_TEST(a_barrier_that_nobody_opens_is_a_deadlock) {
    write_kernel(".param .u64 p", "bar.sync 1, 96;"); /* the barrier waits for 96 threads, but a block has only 64 */
    check_fault(HEDDLE_DEADLOCK, "", (const char *const[]){"barrier", NULL});
}
END_TEST

START_TEST(an_endless_loop_meets_the_limit) {
    write_kernel(".param .u64 p", "L: bra L;");
    STATUS(HEDDLE_DEADLOCK, "run k.ptx -g 2 -b 64 -a out:o.bin:64 -m functional --cycle-limit 20000");
    SAYS(err, "limit");
    SAYS(err, "k.ptx:7");
    ck_assert(!exists("o.bin"));
}
END_TEST

START_TEST(checking) {
    write_kernel(".param .u64 p", "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;");
    STATUS(HEDDLE_FAULT, "run k.ptx -g 1 -b 1 -a out:o.bin:8 --check");
    SAYS(err, "uninitialised read of 4 bytes at 0x10000000");
    SAYS(err, "k.ptx:");
    ck_assert(!exists("o.bin"));
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 1 -a out:o.bin:8 -m functional");
    ck_assert(exists("o.bin"));
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 1 -a zero:8 --check -m functional -j 2");
    ck_assert_str_eq(err, "heddle run: check: no mistake was found\n");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 1 -a inout:o.bin:p.bin --check");
    ck_assert(exists("p.bin"));
}
END_TEST

START_TEST(models_configurations_and_options_are_checked) {
    static const struct {
        const char *args, *part;
    } cases[] = {{"-m dpf", "did you mean 'dpe'?"},
                 {"-m spe+dax", "unknown extension 'dax'"},
                 {"-m spe+dpe", "'spe' and 'dpe' are two bases"},
                 {"-c nothing", "nothing"},
                 {"-s l1.latancy=3", "l1.latency"},
                 {"-s l1.latency=0", "l1.latency"},
                 {"-s l1.latency=x", "l1.latency"},
                 {"-s l1.latency", "l1.latency"},
                 {"-s reconv=dpe", "only the functional model"},
                 {"-m functional -s reconv=zzz", "zzz"},
                 {"--trace t.json --trace-cycles 9:3", "A below B"},
                 {"--trace-cycles 3:9", "--trace-cycles does nothing without --trace"},
                 {"--trace-sms 1", "--trace-sms does nothing without --trace"},
                 {"--trace t.json --trace-sms 0", "--trace-sms"},
                 {"--trace-waits 1", "--trace-waits does nothing without --trace"},
                 {"--trace t.json --trace-waits 0", "--trace-waits"},
                 {"--samples s.csv", "--samples does nothing without --sample"},
                 {"-k k -k k", "--kernel is given twice"},
                 {"--grid 1", "--grid is given twice"},
                 {"-m spe -m dpe", "--model is given twice"},
                 {"--check --check", "--check is given twice"},
                 {"-s dpe.forwarding=on", "dpe.forwarding is an option of model 'dpe', which does not run"},
                 {"-m spe+reduce -s chain.dual=off", "model 'chain', which does not run"},
                 {"-m spe+ddp -s chain.ieee=off", "model 'chain', which does not run"},
                 {"-m dpe -s si.yield=on", "model 'si', which does not run"},
                 {"-m spe+mta -s dac.atq=8", "model 'dac', which does not run"},
                 {"-m dws100+mta -s si.yield=on", "model 'si', which does not run"},
                 {"-m functional+dac -s dac=on", "dac is no option"},
                 {"-m minpc -s mta.ways=4", "model 'mta', which does not run"},
                 {"-m functional -s dws.threshold=3", "model 'dws'"},
                 {"-m functional -s l1.size=0", "has no time, and l1.size changes nothing"},
                 {"--check -s gpu.sms=2", "has no time, and gpu.sms changes nothing"},
                 {"--check -m dpe", "functional model"}};
    write_kernel("", "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        STATUS(HEDDLE_USAGE, "run k.ptx -g 1 -b 32 %s", cases[i].args);
        SAYS(err, cases[i].part);
    }
}
END_TEST

/* A kernel needs more tuple registers than the machine has. It must still run, and a note must tell the user. */
START_TEST(notes_are_no_errors) {
    STATUS(HEDDLE_OK, "bench vecadd -m functional+dac -s dac.tuples=1");
    SAYS(err, "heddle bench: note: vecadd in functional+dac: kernel 'vecadd': its affine stream needs ");
    SAYS(err, "the affine warp has 1 (dac.tuples), so it is left whole; raise dac.tuples to ");
    STATUS(HEDDLE_OK, "bench vecadd -m functional+dac");
    ck_assert_ptr_null(strstr(err, "note"));
}
END_TEST

/* heddle accepts options of the chosen model (also if the model's name ends in a number), of the functional model's
 * reconvergence model, and of extensions. */
START_TEST(options_of_what_runs) {
    static const char *const right[] = {"-m dws100 -s dws.wst_entries=4",
                                        "-m si -s its.switch_latency=3",
                                        "-m functional -s reconv=dws -s dws.threshold=3",
                                        "-m its+mta -s mta.ways=4 -s its.switch_latency=3",
                                        "-m spe+dac -s dac.atq=8",
                                        "-m spe+cae -s cae.banks=8"};
    write_kernel("", "");
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 32 %s", right[i]);
}
END_TEST

/* The machine uses one of two memory models for L1 misses. If an option belongs to the other memory model, every
 * command prints a note and continues. By default `heddle run` is tested with every row of the table, and each other
 * command with a third of the rows; with HEDDLE_EVERY, all pairs are tested. */
START_TEST(options_of_the_other_memory_model_are_noted) {
    const char *const commands[] = {"run k.ptx -g 1 -b 32", "bench mriq", "compare mriq -m spe,dpe",
                                    "sweep mriq --dry-run -o n.db", has_runtime() ? "exec -q true" : NULL};
    static const struct {
        const char *options, *note;
    } rows[] = {{"-s memory.latency=600", "-s memory.latency=600: memory.latency changes nothing without -s "},
                {"-s memory.requests=2", "memory.requests changes nothing without -s memory.model=fixed\n"},
                {"-s memory.model=fixed -s dram.cl=9", "dram.cl changes nothing with memory.model=fixed\n"},
                {"-c fixed.cfg -s l2.rop_latency=9", "l2.rop_latency changes nothing with memory.model=fixed\n"},
                {"-c fixed.cfg -s icnt.latency=9", "icnt.latency changes nothing with memory.model=fixed\n"},
                {"-c turing -s memory.latency=600", NULL},
                {"-s memory.model=fixed -s memory.latency=600", NULL},
                {"-c fixed.cfg -s memory.model=full -s l2.size=49152 -s dram.cl=9", NULL},
                {"-s l2.rop_latency=9", NULL},
                {"-s memory.perfect_l1=on", NULL}};
    static const char fixed[] = "memory = { model = \"fixed\"; };\n";
    write_kernel("", "");
    write_file("fixed.cfg", fixed, sizeof fixed - 1);
    for (size_t k = 0; k < sizeof commands / sizeof commands[0] && commands[k]; k++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            char name[16], want[256];
            const char *rest = strchr(commands[k], ' ');
            if (k && (k + i) % 3 && !test_every())
                continue;
            snprintf(name, sizeof name, "%.*s", (int)(rest - commands[k]), commands[k]);
            STATUS(HEDDLE_OK, "%s %s %s", name, rows[i].options, rest);
            snprintf(want, sizeof want, "heddle %s: note: ", name);
            if (!rows[i].note)
                ck_assert_str_eq(err, "");
            else
                ck_assert_msg(strncmp(err, want, strlen(want)) == 0 && strstr(err, rows[i].note), "%s: %s", want, err);
        }
}
END_TEST

/* Options of the memory model that is not used have no effect. */
START_TEST(the_other_memory_models_options_change_nothing) {
    static const char *const rows[][3] = {
        {"", "-s memory.latency=9", "-s memory.requests=1"},
        {"-s memory.model=fixed", "-s dram.cl=99 -s l2.rop_latency=999", "-s icnt.latency=99"}};
    char first[64];
    for (int r = 0; r < 2; r++)
        for (int i = -1; i < 2; i++) {
            STATUS(HEDDLE_OK, "compare spmv -m spe,dpe --columns gpu.cycles %s %s", rows[r][0],
                   i < 0 ? "" : rows[r][1 + i]);
            char *at = strstr(out, "pass");
            ck_assert_ptr_nonnull(at);
            if (i < 0)
                snprintf(first, sizeof first, "%.30s", at);
            ck_assert_int_eq(strncmp(first, at, 30), 0);
        }
}
END_TEST

/* The JSON result contains the complete configuration. heddle accepts this configuration with any model. */
START_TEST(a_whole_configuration_runs_again) {
    FILE *script = fopen("all", "w");
    ck_assert_ptr_nonnull(script);
    write_kernel("", "");
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 32 -m si -s si.yield=on --json r.json");
    char *text = slurp("r.json");
    cJSON *all = cJSON_Parse(text), *v;
    cJSON_ArrayForEach(v, cJSON_GetObjectItem(all, "config")) {
        char *value = cJSON_PrintUnformatted(v);
        if (strcmp(value, "\"\"") != 0)
            fprintf(script, " -s %s=%s", v->string, value);
        free(value);
    }
    fclose(script);
    STATUS(HEDDLE_OK, "run k.ptx -g 1 -b 32 -m spe $(tr -d '\"' < all | sed 's/gpu.name=[^-]*/gpu.name=x /')");
    cJSON_Delete(all);
    free(text);
}
END_TEST

START_TEST(the_functional_model_takes_other_paths) {
    write_vectors();
    for (int m = 0; m < timed_models()->n; m++) {
        STATUS(HEDDLE_OK, VECADD "-m functional -s reconv=%s", timed_models()->name[m]);
        check_sum();
    }
}
END_TEST

/* Texel (x, y) of `image` has the value x + 10 y. At (2, 1.5), halfway between texels (1, 1) and (2, 1), the filtered
 * value is 11.5. The second kernel reads 2 3 4 5 through a texture object, doubles these values and stores them to a
 * surface. */
START_TEST(textures_are_files) {
    float image[16], coordinates[4] = {2, 1.5f, 0, 0}, result[4];
    const uint32_t line[] = {2, 3, 4, 5}, doubled[] = {4, 6, 8, 10};
    for (int i = 0; i < 16; i++)
        image[i] = (float)(i % 4 + 10 * (i / 4));
    write_file("i.bin", image, sizeof image);
    write_file("c.bin", coordinates, sizeof coordinates);
    write_file("l.bin", line, sizeof line);
    STATUS(HEDDLE_OK,
           "run '%s/test/compiled/textures.ptx' -k fetch_2d -g 1 -b 1 -m functional "
           "--texture image=in:i.bin,size=4x4,format=f32,filter=linear -a out:o.bin:16 -a in:c.bin",
           cli_root);
    char *text = slurp("o.bin");
    memcpy(result, text, sizeof result);
    free(text);
    ck_assert_float_eq(result[0], 11.5f);
    STATUS(HEDDLE_OK,
           "run '%s/test/compiled/textures.ptx' -k double -g 1 -b 4 -a zero:64 -a tex:in:l.bin,size=4,format=u32 "
           "-a surf:out:s.bin:16,size=4,format=u32",
           cli_root);
    text = slurp("s.bin");
    ck_assert_mem_eq(text, doubled, sizeof doubled);
    free(text);
    STATUS(HEDDLE_USAGE,
           "run '%s/test/compiled/textures.ptx' -k double -g 1 -b 4 -a zero:64 -a tex:in:l.bin,size=5,format=u32 "
           "-a surf:out:t.bin:16,size=4,format=u32",
           cli_root);
    SAYS(err, "20 bytes at");
    ck_assert_int_ne(access("t.bin", F_OK), 0);
    STATUS(HEDDLE_USAGE,
           "run '%s/test/compiled/samplers.ptx' -k ask -g 1 -b 1 -a zero:64 --sampler smooth=filter=sharp", cli_root);
    SAYS(err, "'filter' takes nearest or linear");
    STATUS(HEDDLE_OK,
           "run '%s/test/compiled/samplers.ptx' -k ask -g 1 -b 1 -a out:o.bin:16 "
           "--sampler smooth=filter=nearest,address=wrap",
           cli_root);
    text = slurp("o.bin");
    ck_assert_int_eq(text[0], 0); /* no longer linear */
    free(text);
}
END_TEST

SUITE(cli_run) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(notes_are_no_errors);
    TEST(options_of_what_runs);
    TEST(options_of_the_other_memory_model_are_noted);
    TEST(the_other_memory_models_options_change_nothing);
    TEST(a_whole_configuration_runs_again);
    TEST(run_reads_and_writes_buffers);
    TEST(options_may_stand_anywhere);
    TEST(inout_writes_a_copy);
    TEST(structs_are_passed_by_value);
    TEST(json_holds_command_configuration_and_statistics);
    TEST(json_on_stdout_stands_alone);
    TEST(files_that_are_no_ptx_are_named);
    TEST(mistakes_in_ptx_come_with_place_and_caret);
    TEST(wrong_arguments_list_the_parameters);
    TEST(the_kernel_is_chosen_or_asked_for);
    TEST(shapes_beyond_the_limits_name_them);
    TEST(out_of_bounds_is_a_fault);
    TEST(misalignment_is_a_fault);
    TEST(trap_is_a_fault);
    TEST(a_barrier_that_nobody_opens_is_a_deadlock);
    TEST(an_endless_loop_meets_the_limit);
    TEST(models_configurations_and_options_are_checked);
    TEST(checking);
    TEST(the_functional_model_takes_other_paths);
    TEST(textures_are_files);
}
