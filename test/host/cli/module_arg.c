/* Tests how the command line selects a kernel: the only kernel of a file, or the kernel that --kernel names. */
#include "cli_help.h"

/* Writes names.ptx with these kernels. */
static void write_kernels(const char *const *names) {
    char text[2048];
    int at = snprintf(text, sizeof text, ".version 7.0\n.target sm_70\n.address_size 64\n");
    for (; *names; names++)
        at += snprintf(text + at, sizeof text - (size_t)at, ".visible .entry %s()\n{\nret;\n}\n", *names);
    write_file("names.ptx", text, (size_t)at);
}

START_TEST(the_only_kernel) {
    write_kernels((const char *const[]){"_Z1fi", NULL});
    STATUS(HEDDLE_OK, "run names.ptx -g 1 -b 32 -m functional");
    write_kernels((const char *const[]){NULL});
    STATUS(HEDDLE_USAGE, "run names.ptx -g 1 -b 32");
    ck_assert_str_eq(err, "heddle run: names.ptx has no kernel (.entry)\n");
    write_kernels((const char *const[]){"_Z1fi", "plain", NULL});
    STATUS(HEDDLE_USAGE, "run names.ptx -g 1 -b 32");
    ck_assert_str_eq(err, "heddle run: names.ptx has several kernels; choose one with -k:\n    _Z1fi    f(int)\n"
                          "    plain\n");
}
END_TEST

START_TEST(a_kernel_by_name) {
    write_kernels((const char *const[]){"_Z1fi", "_Z1ff", "plain", NULL});
    STATUS(HEDDLE_OK, "run names.ptx -k plain -g 1 -b 32 -m functional");
    STATUS(HEDDLE_OK, "run names.ptx -k 'f(float)' -g 1 -b 32 -m functional");
    SAYS(out, "_Z1ff");
    STATUS(HEDDLE_USAGE, "run names.ptx -k f -g 1 -b 32");
    SAYS(err, "names.ptx: 'f' may be several:\n    _Z1fi, f(int)\n    _Z1ff, f(float)\n");
    STATUS(HEDDLE_USAGE, "run names.ptx -k plane -g 1 -b 32");
    SAYS(err, "plain"); /* suggests a similar name */
    STATUS(HEDDLE_USAGE, "run nowhere.ptx -g 1 -b 32");
    SAYS(err, "nowhere.ptx");
}
END_TEST

SUITE(host_module_arg) {
    tcase_add_checked_fixture(tc, cli_setup, cli_teardown);
    TEST(the_only_kernel);
    TEST(a_kernel_by_name);
}
