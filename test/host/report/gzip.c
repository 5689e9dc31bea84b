/* Tests the compressor of traces: gzip, an independent reader, must give the content back. */
#include "host/report/gzip.h"
#include "test/host/cli/cli_help.h"
#include <stdio.h>

/* Returns true if gzip restores the content. Sets *size to the compressed size. */
static bool restored(const char *data, size_t n, long *size) {
    FILE *to = fopen("x.gz", "wb"), *f = gzip_stream(to);
    ck_assert(to && f);
    ck_assert_uint_eq(fwrite(data, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
    *size = ftell(to);
    fclose(to);
    write_file("want", data, n);
    return system("gzip -dc x.gz >got && cmp -s want got") == 0;
}

static bool no_gzip(void) {
    if (system("gzip --version >/dev/null 2>&1") == 0)
        return false;
    test_skip("there is no gzip");
    return true;
}

/* Random bytes with random repetitions near and far, of lengths at the limits of the codes. Cases: no content, one
 * byte, a block of 256 KiB and one byte less or more, matches of 258 bytes and of the largest distance. */
START_TEST(the_content_comes_back) {
    enum { MOST = 3 << 18 };
    static const size_t sizes[] = {0, 1, 5, 1000, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, MOST};
    long size;
    if (no_gzip())
        return;
    cli_setup();
    char *data = malloc(MOST);
    uint64_t r = 7;
    for (size_t i = 0; i < MOST;) {
        size_t n = 1 + test_random_below(&r, 600), back = 1 + test_random_below(&r, 40000);
        bool repeat = test_random_below(&r, 2) && back <= i;
        for (; n-- && i < MOST; i++)
            data[i] = repeat ? data[i - back] : (char)test_random_below(&r, 256);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        test_case("%zu bytes", sizes[i]);
        ck_assert(restored(data, sizes[i], &size));
    }
    memset(data, 'x', MOST); /* a run of equal bytes: one match of 258 bytes in about 13 bits */
    ck_assert(restored(data, MOST, &size));
    ck_assert_int_lt(size, MOST / 100);
    free(data);
    cli_teardown();
}
END_TEST

/* A compressed trace of 1,000 busy cycles of bfs has less than 200 KB; 100,000 such cycles then take at most 20 MB. */
START_TEST(a_compressed_trace_is_small) {
    if (no_gzip())
        return;
    cli_setup();
    STATUS(HEDDLE_OK, "run %s/benchmarks/bfs.heddle --trace t.json --trace-cycles 20000:21000", cli_root);
    STATUS(HEDDLE_OK, "run %s/benchmarks/bfs.heddle --trace t.json.gz --trace-cycles 20000:21000", cli_root);
    ck_assert_int_eq(system("gzip -dc t.json.gz | cmp - t.json"), 0);
    ck_assert_int_eq(system("test $(wc -c <t.json.gz) -lt 200000 && test $(wc -c <t.json) -gt 200000"), 0);
    /* --trace-sms 1 keeps the events of SM 0 and no others. Fermi has 15 SMs. */
    STATUS(HEDDLE_OK, "run %s/benchmarks/bfs.heddle --trace one.json --trace-sms 1 --trace-cycles 20000:21000",
           cli_root);
    ck_assert_int_eq(system("grep -o '.*\"pid\":0,.*}' t.json >all0 && grep -o '.*\"pid\":.*}' one.json | cmp - all0"),
                     0);
    ck_assert_int_eq(system("test $(wc -l <all0) -gt 100 && grep -q '\"pid\":14,' t.json"), 0);
    STATUS(HEDDLE_USAGE, "run %s/benchmarks/bfs.heddle --trace full.gz --trace-cycles 20000:21000 --json none/x",
           cli_root);
    ck_assert(!exists("full.gz"));
    cli_teardown();
}
END_TEST

SUITE(host_report_gzip) {
    TEST(the_content_comes_back);
    TEST(a_compressed_trace_is_small);
}
