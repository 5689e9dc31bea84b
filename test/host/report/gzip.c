/* Tests the compressor of traces: gzip, an independent reader, must give the content back. */
#include "host/report/gzip.h"
#include "host/report/huffman.h"
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
 * byte, a block of 1 MiB and one byte less or more, matches of 258 bytes and of the largest distance. */
START_TEST(the_content_comes_back) {
    enum { MOST = 3 << 20 };
    static const size_t sizes[] = {0, 1, 5, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, MOST};
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
    /* The file has the waits of at least 3 cycles, and with --trace-waits 1 all waits. */
    STATUS(HEDDLE_OK, "run %s/benchmarks/bfs.heddle --trace all.json --trace-waits 1 --trace-cycles 20000:21000",
           cli_root);
    ck_assert_int_eq(system("grep -q '\"cat\":\"wait\",\"ph\":\"X\",\"dur\":[12],' all.json"), 0);
    ck_assert_int_ne(system("grep -q '\"cat\":\"wait\",\"ph\":\"X\",\"dur\":[12],' t.json"), 0);
    ck_assert_int_eq(system("grep -v '\"cat\":\"wait\",\"ph\":\"X\",\"dur\":[12],' all.json | sort >long && "
                            "sort t.json | diff - long | grep '\"cat\"'"),
                     256); /* grep finds no event in one of the files only */
    cli_teardown();
}
END_TEST

/* sgemm keeps the 15 SMs of Fermi busy: about 29 bars a cycle. 100,000 such cycles must take less than 20 MB, which is
 * 200 bytes a cycle. The cycle limit ends the run after the traced cycles. */
START_TEST(a_compressed_trace_of_a_dense_kernel_is_small) {
    if (no_gzip())
        return;
    cli_setup();
    STATUS(HEDDLE_DEADLOCK,
           "run %s/kernels/sgemm.ptx -g 16,16 -b 16,16 -a zero:256K -a zero:256K -a zero:256K -a u32:256 --cycle-limit "
           "30000 --trace t.json.gz --trace-cycles 20000:24000",
           cli_root);
    ck_assert_int_eq(system("test $(wc -c <t.json.gz) -lt 800000 || ! wc -c t.json.gz"), 0);
    ck_assert_int_eq(system("test $(gzip -dc t.json.gz | grep -c '\"cat\":\"instruction\"') -gt 40000"), 0);
    cli_teardown();
}
END_TEST

/* Byte i appears twice as often as byte i + 1: Huffman codes without a limit would give byte 19 a code of 19 bits. */
START_TEST(no_code_is_longer_than_the_format_allows) {
    enum { N = 1 << 20 };
    struct huffman h;
    uint32_t often[HUFFMAN_MOST] = {0};
    double kraft = 0;
    for (int i = 0; i < 20; i++)
        often[i] = N >> i;
    huffman_make(&h, often, HUFFMAN_MOST);
    for (int i = 0; i < HUFFMAN_MOST; i++) {
        ck_assert_msg(h.bits[i] <= HUFFMAN_LONGEST && (h.bits[i] > 0) == (often[i] > 0), "%d: %d bits", i, h.bits[i]);
        kraft += h.bits[i] ? 1.0 / (1 << h.bits[i]) : 0;
    }
    ck_assert_double_eq_tol(kraft, 1, 1e-9); /* the codes fill the space of codes, as RFC 1951 demands */
    ck_assert_uint_eq(h.bits[0], 1);         /* half of all bytes */
    /* Frequencies 1 1 2: codes of 2, 2 and 1 bits. In order of length and symbol they are 0, 10 and 11, stored with the
     * first bit lowest: 0, 01 and 11. */
    huffman_make(&h, (const uint32_t[]){1, 1, 2}, 3);
    ck_assert(h.bits[0] == 2 && h.bits[1] == 2 && h.bits[2] == 1);
    ck_assert(h.code[2] == 0 && h.code[0] == 1 && h.code[1] == 3);
}
END_TEST

SUITE(host_report_gzip) {
    TEST(the_content_comes_back);
    TEST(no_code_is_longer_than_the_format_allows);
    TEST(a_compressed_trace_is_small);
    TEST_SPEED(a_compressed_trace_of_a_dense_kernel_is_small);
}
