/* Tests options: default values, configuration files, and messages about values that are refused. */
#include "timing/config/config.h"
#include "test/test.h"
#include <stdio.h>
#include <unistd.h>

static char err[512];

/* Writes `text` to a temporary file. Returns the file's path, which is valid until the next call. */
static const char *file_with(const char *text) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/heddle-config-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

/* Loads `text` as a configuration file. The file must be refused. Returns the message without the file's name. */
static const char *refusal(const char *text) {
    struct config c;
    const char *path = file_with(text);
    ck_assert(!config_load(&c, path, err, sizeof err));
    unlink(path);
    ck_assert_msg(strncmp(err, path, strlen(path)) == 0, "%s", err);
    return err + strlen(path);
}

START_TEST(defaults_are_the_fermi_preset) {
    struct config preset, built_in;
    config_default(&built_in);
    ck_assert_msg(config_load(&preset, "fermi", err, sizeof err), "%s", err);
    for (const struct opt *o = config_options(); o->key; o++) {
        char a[64], b[64];
        config_value(&preset, o, a, sizeof a);
        config_value(&built_in, o, b, sizeof b);
        ck_assert_msg(strcmp(a, b) == 0, "%s is %s in the preset and %s built in", o->key, a, b);
    }
}
END_TEST

START_TEST(presets_load) {
    static const char *const names[] = {
        "fermi",  "gt200",     "turing",   "turing-rtx2060", "volta-classic",   "pepsc",         "tiny",
        "gv100",  "rtx2080ti", "rtx3080",  "rtx3090",        "a6000",           "a100",          "h100",
        "ampere", "rtx5070ti", "rtx2070s", "volta",          "turing-gpgpusim", "volta-gpgpusim"};
    struct config c;
    ck_assert_msg(config_load(&c, names[_i], err, sizeof err), "%s", err);
}
END_TEST

/* Runs a copy of the test program as bin/check, in a folder that has no folder configs/. Presets must be found in
 * ../configs, ../../configs and ../share/heddle/configs, relative to the program's folder. */
START_TEST(presets_beside_the_program) {
    static const char *const at[] = {
        "install/configs/one.cfg",  "configs/two.cfg",      "install/share/heddle/configs/three.cfg",
        "install/configs/.hid.cfg", "install/configs/.cfg", "configs/notes.txt"};
    char dir[] = "/tmp/heddle-config-XXXXXX", command[1024];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(command, sizeof command,
             "cd %s && mkdir -p install/bin install/configs configs install/share/heddle/configs && "
             "cp /proc/%d/exe install/bin/check",
             dir, (int)getpid());
    ck_assert_int_eq(system(command), 0);
    for (int i = 0; i < 6; i++) { /* the last three files are no presets */
        snprintf(command, sizeof command, "%s/%s", dir, at[i]);
        FILE *f = fopen(command, "w");
        ck_assert_ptr_nonnull(f);
        fprintf(f, "gpu = { sms = %d; };\n", i + 1);
        ck_assert_int_eq(fclose(f), 0);
    }
    snprintf(command, sizeof command,
             "cd %s && unset HEDDLE_CONFIGS && CK_RUN_SUITE=timing_config HEDDLE_TEST_BESIDE=yes install/bin/check -x "
             "timing_config >out 2>&1 || { cat out; false; }",
             dir);
    int status = system(command);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(presets_in_a_copy) {
    static const char *const names[] = {"one", "two", "three"};
    for (uint32_t i = 0; i < 3; i++) {
        struct config c;
        ck_assert_msg(config_load(&c, names[i], err, sizeof err), "%s", err);
        ck_assert_uint_eq(c.gpu.sms, i + 1);
    }
    struct config c;
    ck_assert(!config_load(&c, "four", err, sizeof err));
    /* the list is sorted and also contains the presets that are compiled into the library */
    ck_assert_msg(strstr(err, "there is no preset \"four\"; known are: a100 a6000 ampere fermi ") == err, "%s", err);
    ck_assert_msg(strstr(err, " one pepsc ") &&
                      strstr(err, " three tiny turing turing-gpgpusim turing-rtx2060 two volta volta-classic "),
                  "%s", err);
}
END_TEST

START_TEST(presets_are_listed) {
    char **names = config_presets();
    bool fermi = false, tiny = false;
    ck_assert_ptr_nonnull(names);
    for (int i = 0; names[i]; i++) {
        fermi |= strcmp(names[i], "fermi") == 0;
        tiny |= strcmp(names[i], "tiny") == 0;
        ck_assert(i == 0 || strcmp(names[i - 1], names[i]) < 0);
    }
    free(names);
    ck_assert(fermi && tiny);
}
END_TEST

/* Writes a configuration with changed options as text, and reads it again. */
START_TEST(dump_reads_back_equal) {
    struct config c, back;
    ck_assert(config_load(&c, "turing-rtx2060", err, sizeof err));
    ck_assert(config_set(&c, "clock.core_mhz=1234.56789012345678", err, sizeof err));
    ck_assert(config_set(&c, "gpu.name=a name, with = and ;", err, sizeof err));
    ck_assert(config_set(&c, "energy.int_op=3", err, sizeof err));
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    config_dump(&c, out);
    fclose(out);
    const char *path = file_with(text);
    free(text);
    ck_assert_msg(config_load(&back, path, err, sizeof err), "%s", err);
    unlink(path);
    for (const struct opt *o = config_options(); o->key; o++) {
        char a[64], b[64];
        config_value(&c, o, a, sizeof a);
        config_value(&back, o, b, sizeof b);
        ck_assert_msg(strcmp(a, b) == 0, "%s was %s and came back as %s", o->key, a, b);
    }
}
END_TEST

START_TEST(set_takes_every_kind) {
    struct config c;
    config_default(&c);
    ck_assert(config_set(&c, "l1.size=32K", err, sizeof err));
    ck_assert_uint_eq(c.l1.size, 32768);
    ck_assert(config_set(&c, "sm.warps=0x10", err, sizeof err));
    ck_assert_uint_eq(c.sm.warps, 16);
    ck_assert(config_set(&c, "sm.subcores=on", err, sizeof err));
    ck_assert(c.sm.subcores);
    ck_assert(config_set(&c, "sched.policy=gto", err, sizeof err));
    ck_assert_uint_eq(c.sm.policy, 1); /* the index of gto among the choices of the option */
    ck_assert(config_set(&c, "clock.core_mhz=1e3", err, sizeof err));
    ck_assert_double_eq(c.gpu.core_mhz, 1000);
    ck_assert(config_set(&c, "gpu.name=of mine", err, sizeof err));
    ck_assert_str_eq(c.gpu.name, "of mine");
    ck_assert(config_set(&c, "dws.threshold=10", err, sizeof err));
    ck_assert_uint_eq(c.reconv.dws_threshold, 10);
}
END_TEST

static const struct {
    const char *set, *says;
} refused[] = {
    {"l1.sise=4", "unknown option \"l1.sise\"; did you mean \"l1.size\"?"},
    {"shed.policy=gto", "unknown option \"shed.policy\"; did you mean \"sched.policy\"?"},
    {"quite.another.thing.altogether=1",
     "unknown option \"quite.another.thing.altogether\"; `heddle list options` shows them all"},
    {"l1.size", "\"l1.size\" is not KEY=VALUE"},
    {"fetch.ibuffer=2",
     "there is no option \"fetch.ibuffer\" any more; a path's buffer holds what one fetch brings: say "
     "fetch.width"},
    {"pipe.mem.units=1", "there is no option \"pipe.mem.units\" any more; an SM has one load/store unit: say "
                         "pipe.mem.in_ports, or l1.ports"},
    {"sm.warps=129", "sm.warps: 129 is out of range (1 to 128 warps)"},
    {"sm.warps=0", "sm.warps: 0 is out of range (1 to 128 warps)"},
    {"sm.warps=-1", "sm.warps takes a whole number, not \"-1\""},
    {"sm.warps=4.5", "sm.warps takes a whole number, not \"4.5\""},
    {"sm.warps=8,sm.ctas=2",
     "sm.warps takes a whole number, not \"8,sm.ctas=2\"; each option needs its own assignment: "
     "'sm.warps=8' and 'sm.ctas=2'"},
    {"sm.warps=8,9", "sm.warps takes a whole number, not \"8,9\""},
    {"sm.warps=", "sm.warps takes a whole number, not \"\""},
    {"l1.size=8KiB", "l1.size takes a whole number, not \"8KiB\"; K, M or G alone may be at its end (powers of 1024)"},
    {"l1.size=8k", "l1.size takes a whole number, not \"8k\"; K, M or G alone may be at its end (powers of 1024)"},
    {"sm.warps=4K", "sm.warps: 4K is out of range (1 to 128 warps)"},
    {"sm.subcores=maybe", "sm.subcores is on or off, not \"maybe\""},
    {"sched.policy=fifo", "sched.policy is one of: lrr gto two_level oldest youngest cggty baws cta_groups "
                          "cta_locality cta_banks prefetch_aware gcaws; not \"fifo\""},
    {"clock.core_mhz=fast", "clock.core_mhz takes a number, not \"fast\""},
    {"clock.core_mhz=nan", "clock.core_mhz takes a number, not \"nan\""},
    {"gpu.name=\"", "gpu.name cannot hold quotes, backslashes or control characters"},
};
START_TEST(set_refuses) {
    struct config c;
    config_default(&c);
    ck_assert(!config_set(&c, refused[_i].set, err, sizeof err));
    ck_assert_str_eq(err, refused[_i].says);
}
END_TEST

/* Option names of the previous version. Each is the old name of one option, and must not be the name of another
 * option. */
START_TEST(renamed_options) {
    static const char *const renamed[][2] = {
#define RENAMED(old, key) {old, key},
#include "timing/config/renamed.def"
#undef RENAMED
    };
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++) {
        bool old = false, now = false;
        for (const struct opt *o = config_options(); o->key; o++) {
            old = old || strcmp(o->key, renamed[i][0]) == 0;
            now = now || strcmp(o->key, renamed[i][1]) == 0;
        }
        ck_assert_msg(!old && now, "%s, %s", renamed[i][0], renamed[i][1]);
        ck_assert_str_eq(config_renamed(renamed[i][0]), renamed[i][1]);
    }
    ck_assert_ptr_null(config_renamed("sm.warps"));
}
END_TEST

static char noted[256];
static void note_name(void *ctx, const char *old, const char *key) {
    size_t n = strlen(noted);
    ++*(int *)ctx;
    snprintf(noted + n, sizeof noted - n, "%s>%s ", old, key);
}

/* Options with their old names, on the command line and in files, must have the same effect as with their new names.
 * Each old name must be reported. */
START_TEST(renamed_options_are_set_and_told) {
    struct config c;
    int n = 0;
    const struct config_notes notes = {note_name, &n};
    config_default(&c);
    ck_assert(config_set_noting(&c, "lsu.atomic_lanes=true", &notes, err, sizeof err));
    ck_assert(c.lsu.atomic_lanes);
    /* with NULL for the notes, old names are not reported */
    ck_assert(config_set(&c, "lsu.atomic_lanes=false", err, sizeof err));
    ck_assert(!c.lsu.atomic_lanes);
    ck_assert(config_set_noting(&c, "sm.warps=4", &notes, err, sizeof err));
    const char *path = file_with("lsu = { atomic_lanes = true; queue = 2; };\n");
    ck_assert_msg(config_load_noting(&c, path, &notes, err, sizeof err), "%s", err);
    unlink(path);
    ck_assert(c.lsu.atomic_lanes && c.lsu.queue == 2);
    ck_assert_str_eq(noted, "lsu.atomic_lanes>peer.lsu_atomic_lanes lsu.atomic_lanes>peer.lsu_atomic_lanes ");
    ck_assert_int_eq(n, 2);
}
END_TEST

START_TEST(files_are_refused_with_their_line) {
    ck_assert_str_eq(refusal("l1 = {\n  size = 4096;\n  sise = 1;\n};\n"),
                     ":3: unknown option \"l1.sise\"; did you mean \"l1.size\"?");
    ck_assert_str_eq(refusal("sm = { warps = 200; };"), ":1: sm.warps: 200 is out of range (1 to 128 warps)");
    ck_assert_str_eq(refusal("\n\nsm = { warps = \"many\"; };"), ":3: sm.warps takes a whole number, not \"many\"");
    ck_assert_str_eq(refusal("sm = { warps = [1, 2]; };"), ":1: sm.warps takes one value, not a list");
    ck_assert_str_eq(refusal("sm = { warps = 4 "), ":1: syntax error");
    ck_assert_str_eq(refusal("fetch = {\n ibuffer = 2; };"),
                     ":2: there is no option \"fetch.ibuffer\" any more; a path's "
                     "buffer holds what one fetch brings: say fetch.width");
}
END_TEST

/* libconfig keeps only the low 32 bits of a number, so 4294967311 would become 15. heddle must refuse such a number. */
START_TEST(large_numbers_are_refused) {
    static const char *const large[] = {"4294967311",  "4294967311L", "0x10000000F",          "0X10000000FL",
                                        "-4294967281", "2147483648",  "99999999999999999999", "0xfffffffffffffffff"};
    char text[128];
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        snprintf(text, sizeof text, "# 99999999999\n/* 99999999999\n*/ gpu = { name = \"99999999999\"; sms = %s; };\n",
                 large[i]);
        const char *why = refusal(text);
        ck_assert_msg(strncmp(why, ":3: ", 4) == 0 && strstr(why, "out of range: no option takes more than 2147483647"),
                      "%s: %s", large[i], why);
    }
    ck_assert(strstr(refusal("clock = { core_mhz = 4294967996; };\n"), ":1: 4294967996 is out of range"));
    ck_assert(strstr(refusal("gpu = { sms = 15.0; };\n"), ":1: gpu.sms takes a whole number, not one with a point"));
    ck_assert(strstr(refusal("gpu = { sms = 2e0; };\n"), ":1: gpu.sms takes a whole number, not one with a point"));
    ck_assert(strstr(refusal("gpu = { sms = -1; };\n"), ":1: gpu.sms takes a whole number, not \"-1\""));
}
END_TEST

START_TEST(numbers_that_fit_are_taken) {
    static const struct {
        const char *text;
        uint32_t sms, cycles;
    } fine[] = {{"0xF", 15, 2147483647}, {"15L", 15, 0x7fffffff}, {"256", 256, 10000}};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        struct config c;
        char text[128];
        snprintf(text, sizeof text, "gpu = { sms = %s; };\ndeadlock = { cycles = %u; };\n", fine[i].text,
                 fine[i].cycles);
        const char *path = file_with(text);
        ck_assert_msg(config_load(&c, path, err, sizeof err), "%s", err);
        unlink(path);
        ck_assert_uint_eq(c.gpu.sms, fine[i].sms);
        ck_assert_uint_eq(c.deadlock.cycles, fine[i].cycles);
    }
}
END_TEST

/* If an @include comes after the first setting, libconfig itself reads the included file. A number above 32 bits in
 * this file must be refused, too. */
START_TEST(large_numbers_of_an_included_file) {
    char text[128], name[64];
    snprintf(name, sizeof name, "%s", file_with("\nsms = 4294967311;\n"));
    snprintf(text, sizeof text, "gpu = {\n@include \"%s\"\n};\n", name);
    struct config c;
    const char *path = file_with(text);
    ck_assert(!config_load(&c, path, err, sizeof err));
    unlink(path);
    unlink(name);
    ck_assert_msg(strncmp(err, name, strlen(name)) == 0 && strstr(err, ":2: 4294967311 is out of range"), "%s", err);
}
END_TEST

/* The default values are: lsu.line and l2.line 128; 6 channels with 16 banks and 2 slices each; bursts of 8 x 8 bytes.
 * If a message names a limit, the value that equals the limit must be accepted. */
START_TEST(inconsistent_memory_is_refused) {
    static const char *const rows[][2] = {
        {"lsu = { line = 96; };", ": lsu.line and shared.bank_bytes must be powers of two"},
        {"shared = { bank_bytes = 6; };", ": lsu.line and shared.bank_bytes must be powers of two"},
        {"l1 = { line = 64; };", ": l1.line: 64 is smaller than lsu.line of 128"},
        {"dram = { interleave = 384; };", ": dram.interleave: 384 is not a power of two of at least l2.line (128)"},
        {"dram = { interleave = 64; };", ": dram.interleave: 64 is not a power of two of at least l2.line (128)"},
        {"dram = { atom = 48; };",
         ": dram.atom: 48 is not a power of two of at most a burst of 64 bytes (dram.bus_bytes x dram.burst)"},
        {"dram = { atom = 128; };",
         ": dram.atom: 128 is not a power of two of at most a burst of 64 bytes (dram.bus_bytes x dram.burst)"},
        {"dram = { groups = 3; };", ": dram.banks: 16 cannot be divided into 3 dram.groups"},
        {"lsu = { line = 256; }; l1 = { line = 256; }; dram = { interleave = 256; };",
         ": lsu.line: 256 is longer than l2.line of 128"},
        {"l1 = { line = 256; };", ": l1.line: 256 is longer than l2.line of 128"},
        {"l2 = { slices = 102; size = 104448; }; dram = { banks = 34; groups = 1; };",
         ": l2.slices: more than 16 slices for each of 6 dram.channels"},
        {"l2 = { line = 135; };", ": l2.line: 135 is not a power of two"},
        {"l2 = { size = 0; line = 135; };", ": l2.line: 135 is not a power of two"},
        {"tlb = { page = 5000; };", ": tlb.page and tlb.l2_page must be powers of two"},
        {"l2 = { request_sectors = 3; };", ": l2.request_sectors: 3 is not a power of two"},
        {"l2 = { port_bytes = 48; };", ": l2.port_bytes: 48 is not a power of two"}};
    static const char *const taken[] = {"dram.interleave=128", "dram.atom=64", "dram.groups=16", "l2.slices=96"};
    struct config c;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(refusal(rows[i][0]), rows[i][1]);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        config_default(&c);
        ck_assert_msg(config_set(&c, taken[i], err, sizeof err) && config_check(&c, err, sizeof err), "%s", err);
    }
}
END_TEST

/* A number is written in the shortest form from which the same number is read. For 0.1, 15 digits suffice; for the sum
 * of 0.1 and 0.2, they do not. */
START_TEST(values_are_as_short_as_they_can_be) {
    static const char *const forms[] = {"0.1", "0.30000000000000004", "1000000", "0.333333333333333"};
    const struct opt *o = config_options();
    struct config c;
    config_default(&c);
    while (strcmp(o->key, "energy.mta_lookup") != 0)
        o++;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char value[64];
        snprintf(value, sizeof value, "energy.mta_lookup=%s", forms[i]);
        ck_assert_msg(config_set(&c, value, err, sizeof err), "%s", err);
        config_value(&c, o, value, sizeof value);
        ck_assert_str_eq(value, forms[i]);
    }
}
END_TEST

START_TEST(inconsistent_values_are_refused) {
    ck_assert_str_eq(refusal("l1 = { size = 10000; };"),
                     ": l1.size: 10000 bytes cannot be divided into sets of 4 ways of 128 bytes");
    ck_assert_str_eq(refusal("sm = { schedulers = 5; };"),
                     ": sm.warps: 48 warps cannot be divided among 5 schedulers (sm.schedulers)");
    ck_assert_str_eq(refusal("l2 = { slices = 8; };"), ": l2.slices: 8 cannot be divided among 6 dram.channels");
    ck_assert_str_eq(refusal("dram = { banks = 1; groups = 1; };"),
                     ": dram.banks: 1 banks are not one for each of the 2 slices of a channel (l2.slices)");
    ck_assert_str_eq(refusal("pipe = { sp = { units = 0; }; };"), ": pipe.sp.units: an SM needs at least one");
}
END_TEST

/* A setting after an @include overrides only its own value, not the whole group of the included file. */
START_TEST(include_is_overridden_by_value) {
    char text[256];
    struct config c;
    char base[64];
    snprintf(base, sizeof base, "%s", file_with("/* base */ l1 = { size = 32768; ways = 8; };"));
    snprintf(text, sizeof text, "# comment\n\n // another\n/* a\nthird */ @include \"%s\"\nl1 = { size = 65536; };\n",
             base);
    const char *path = file_with(text);
    ck_assert_msg(config_load(&c, path, err, sizeof err), "%s", err);
    unlink(base);
    unlink(path);
    ck_assert_uint_eq(c.l1.size, 65536);
    ck_assert_uint_eq(c.l1.ways, 8);
}
END_TEST

/* A file in any folder may include a preset by its name. If the folder of the including file has a file with this name,
 * that file is included instead. */
START_TEST(include_finds_presets) {
    struct config c, pure;
    const char *path = file_with("@include \"tiny.cfg\"\nl1 = { latency = 77; };\n");
    ck_assert_msg(config_load(&c, path, err, sizeof err), "%s", err);
    unlink(path);
    ck_assert(config_load(&pure, "tiny", err, sizeof err));
    ck_assert_uint_eq(c.l1.latency, 77);
    ck_assert_uint_eq(c.gpu.sms, pure.gpu.sms);
    path = file_with("@include \"tinny.cfg\"\n");
    ck_assert(!config_load(&c, path, err, sizeof err));
    unlink(path);
    ck_assert_ptr_nonnull(strstr(err, "tinny.cfg: cannot read this configuration"));
}
END_TEST

START_TEST(lines_count_after_an_include) {
    char text[256], base[64];
    snprintf(base, sizeof base, "%s", file_with("l1 = { ways = 8; };"));
    snprintf(text, sizeof text, "@include \"%s\"\n\nl1 = { siz = 65536; };\n", base);
    ck_assert_str_eq(refusal(text), ":3: unknown option \"l1.siz\"; did you mean \"l1.size\"?");
    unlink(base);
}
END_TEST

START_TEST(include_of_itself_ends) {
    struct config c;
    const char *path = file_with("");
    FILE *f = fopen(path, "w");
    fprintf(f, "@include \"%s\"\n", path);
    fclose(f);
    ck_assert(!config_load(&c, path, err, sizeof err));
    unlink(path);
    ck_assert_msg(strstr(err, "more than 8 files include each other"), "%s", err);
}
END_TEST

START_TEST(unknown_preset_names_the_known) {
    struct config c;
    ck_assert(!config_load(&c, "fermy", err, sizeof err));
    ck_assert_msg(strstr(err, "there is no preset \"fermy\"; did you mean \"fermi\"? Known are: a100 ") == err, "%s",
                  err);
    ck_assert_ptr_nonnull(strstr(err, " fermi"));
}
END_TEST

START_TEST(every_option_is_described) {
    for (const struct opt *o = config_options(); o->key; o++) {
        ck_assert_msg(o->help && *o->help, "%s", o->key);
        for (const struct opt *p = config_options(); p != o; p++)
            ck_assert_str_ne(p->key, o->key);
        if (o->kind == OPT_KIND_U32 || o->kind == OPT_KIND_DOUBLE)
            ck_assert_msg(o->def >= o->min && o->def <= o->max && *o->unit, "%s", o->key);
    }
}
END_TEST

SUITE(timing_config) {
    if (getenv("HEDDLE_TEST_BESIDE")) {
        TEST(presets_in_a_copy);
        return;
    }
    TEST(presets_beside_the_program);
    TEST(large_numbers_are_refused);
    TEST(numbers_that_fit_are_taken);
    TEST(large_numbers_of_an_included_file);
    TEST(defaults_are_the_fermi_preset);
    TEST_LOOP(presets_load, 0, 20);
    TEST(presets_are_listed);
    TEST(dump_reads_back_equal);
    TEST(set_takes_every_kind);
    TEST_LOOP(set_refuses, 0, (int)(sizeof refused / sizeof refused[0]));
    TEST(renamed_options);
    TEST(renamed_options_are_set_and_told);
    TEST(files_are_refused_with_their_line);
    TEST(inconsistent_values_are_refused);
    TEST(inconsistent_memory_is_refused);
    TEST(values_are_as_short_as_they_can_be);
    TEST(include_is_overridden_by_value);
    TEST(include_finds_presets);
    TEST(lines_count_after_an_include);
    TEST(include_of_itself_ends);
    TEST(unknown_preset_names_the_known);
    TEST(every_option_is_described);
}
