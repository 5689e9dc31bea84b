/* Tests printf, malloc, free and assert in kernels. */
#include "isa/exec/syscall.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

static struct asm_program *a;
static struct memory mem;
static opnd_t tid, zero;

static void setup(void) {
    a = asm_new();
    mem_init(&mem, 0);
    tid = asm_special(a, SPECIAL_TID_X);
    zero = OPND_ZERO;
}

static void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

static uint64_t bytes_in_memory(const void *from, size_t n) {
    uint64_t at = mem_alloc(&mem, n, 0, NULL, false);
    ck_assert(mem_write(&mem, at, from, n));
    return at;
}
static uint64_t string(const char *s) { return bytes_in_memory(s, strlen(s) + 1); }
static opnd_t c64(uint64_t v) { return asm_const(a, 8, v); }
static void leave(void) { asm_op(a, "exit", OPND_SINK, zero, zero, zero); }

/* Checks the text that one thread prints with a format and packed arguments. */
static void check_printed(const char *format, const void *args, size_t n, const char *want) {
    char *text = NULL;
    size_t size;
    setup();
    asm_op(a, "#vprintf", OPND_SINK, c64(string(format)), c64(bytes_in_memory(args, n)), zero);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 1);
    l.device_stdout = open_memstream(&text, &size);
    asm_run(&l);
    fclose(l.device_stdout);
    ck_assert_str_eq(text, want);
    free(text);
    teardown();
}

START_TEST(integers) {
    struct {
        int32_t a;
        uint32_t b, c, d;
        int64_t e;
        uint64_t f;
    } args = {-5, 0xdeadbeef, 8, 4000000000u, -6000000000, 0xffffffffffffffff};
    check_printed("%d|%x|%#o|%u|%lld|%llX|", &args, sizeof args,
                  "-5|deadbeef|010|4000000000|-6000000000|FFFFFFFFFFFFFFFF|");
    struct {
        int32_t a, b, width, c, precision, d;
    } more = {300, 70000, 6, 42, 4, 7};
    check_printed("%hhd|%hd|%*d|%.*d|100%%", &more, sizeof more, "44|4464|    42|0007|100%");
}
END_TEST

START_TEST(negative_width_is_left) {
    int32_t args[] = {-4, 9};
    check_printed("[%*d]", args, sizeof args, "[9   ]");
}
END_TEST

START_TEST(floats) {
    double args[] = {1.5, -0.25, 1e10, 3.0, 2.0};
    check_printed("%f|%8.3f|%e|%g|%a", args, sizeof args, "1.500000|  -0.250|1.000000e+10|3|0x1p+1");
}
END_TEST

/* Each argument is aligned to its size: the double is at offset 8, the 32-bit argument at offset 16. */
START_TEST(packed_by_size) {
    unsigned char args[20] = {0};
    int32_t x = 1, z = 3;
    double y = 2;
    memcpy(args, &x, 4);
    memcpy(args + 8, &y, 8);
    memcpy(args + 16, &z, 4);
    check_printed("%d %.1f %d\n", args, sizeof args, "1 2.0 3\n");
}
END_TEST

START_TEST(characters_and_pointers) {
    struct {
        int32_t c, pad;
        uint64_t p;
        int32_t d, pad2;
    } args = {'x', 0, 0x1234, 'y', 0};
    check_printed("%c %p|%-3c|", &args, sizeof args, "x 0x1234|y  |");
}
END_TEST

START_TEST(strings_of_all_lanes) {
    char *text = NULL;
    size_t size;
    setup();
    opnd_t buffer = asm_reg(a, 8), n = asm_reg(a, 4);
    a->p.local_bytes = 16;
    uint64_t name = string("lane");
    asm_mem(a, "st.local.u64", c64(name), 8, zero, 0);
    asm_mem(a, "st.local.u32", tid, 4, zero, 8);
    asm_op(a, "cvta.local.u64", buffer, zero, zero, zero);
    struct inst *in = asm_op(a, "#vprintf", n, c64(string("%s %d;")), buffer, zero);
    in->dsize = 4;
    uint64_t out = mem_alloc(&mem, 4, 0, NULL, false);
    asm_mem(a, "st.global.u32", n, 4, c64(out), 0);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 3);
    l.device_stdout = open_memstream(&text, &size);
    asm_run(&l);
    fclose(l.device_stdout);
    ck_assert_str_eq(text, "lane 0;lane 1;lane 2;");
    uint32_t converted;
    ck_assert(mem_read(&mem, out, &converted, 4));
    ck_assert_uint_eq(converted, 2);
    free(text);
    teardown();
}
END_TEST

static void check_fault(enum fault_kind kind, const char *text) {
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    l.device_stdout = fopen("/dev/null", "w");
    struct fault f = asm_run_fault(&l);
    fclose(l.device_stdout);
    ck_assert_int_eq(f.kind, kind);
    if (text)
        ck_assert_str_eq(f.text, text);
    fault_free(&f);
    teardown();
}

START_TEST(format_nowhere) {
    setup();
    asm_op(a, "#vprintf", OPND_SINK, c64(64), zero, zero);
    check_fault(FAULT_OUT_OF_BOUNDS, NULL);
}
END_TEST

START_TEST(too_few_arguments) {
    setup();
    uint32_t one = 1;
    asm_op(a, "#vprintf", OPND_SINK, c64(string("%d %d")), c64(bytes_in_memory(&one, 4)), zero);
    check_fault(FAULT_OUT_OF_BOUNDS, NULL);
}
END_TEST

START_TEST(failed_assertion) {
    setup();
    asm_op(a, "#assertfail", OPND_SINK, c64(string("x > 0")), c64(string("kernel.cu")), asm_const(a, 4, 17))->e =
        c64(string("main_kernel"));
    check_fault(FAULT_ASSERT, "kernel.cu:17: main_kernel: assertion `x > 0` failed");
}
END_TEST

/* Each thread allocates 24 bytes, writes to the first and last of them, reads them, and frees the memory. Afterwards
 * the heap is empty. */
START_TEST(allocate_and_release) {
    setup();
    opnd_t p = asm_reg(a, 8);
    asm_op(a, "#malloc", p, c64(24), zero, zero);
    asm_mem(a, "st.global.u64", p, 8, p, 0);
    asm_mem(a, "st.u64", p, 8, p, 16);
    asm_op(a, "#free", OPND_SINK, p, zero, zero);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 4, 64);
    asm_run(&l);
    uint64_t all = device_heap_alloc(mem.heap, DEVICE_HEAP_BYTES);
    ck_assert_uint_ne(all, 0);
    ck_assert_uint_eq(device_heap_alloc(mem.heap, 1), 0);
    ck_assert(device_heap_release(mem.heap, all));
    teardown();
}
END_TEST

START_TEST(heap_reuses_gaps) {
    setup();
    asm_op(a, "#malloc", asm_reg(a, 8), c64(0), zero, zero);
    leave();
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 1);
    ck_assert(device_heap_prepare(&l));
    uint64_t half = DEVICE_HEAP_BYTES / 2, p = device_heap_alloc(mem.heap, half), q = device_heap_alloc(mem.heap, half);
    ck_assert_uint_eq(q, p + half);
    ck_assert(device_heap_release(mem.heap, p));
    ck_assert(!device_heap_release(mem.heap, p));
    ck_assert_uint_eq(device_heap_alloc(mem.heap, half), p); /* fits the gap exactly */
    ck_assert(device_heap_release(mem.heap, p));
    ck_assert_uint_eq(device_heap_alloc(mem.heap, 40), p);
    /* the previous allocation of 40 bytes takes 48 bytes, since sizes are multiples of 16 */
    ck_assert_uint_eq(device_heap_alloc(mem.heap, 1), p + 48);
    teardown();
}
END_TEST

START_TEST(free_of_anything_else) {
    setup();
    asm_op(a, "#malloc", asm_reg(a, 8), c64(8), zero, zero);
    asm_op(a, "#free", OPND_SINK, zero, zero, zero); /* free(NULL) is allowed */
    asm_op(a, "#free", OPND_SINK, c64(0x4000), zero, zero);
    check_fault(FAULT_BAD_CALL, "free() of 0x4000, which malloc() did not return or which is freed");
}
END_TEST

SUITE(isa_syscall) {
    TEST(integers);
    TEST(negative_width_is_left);
    TEST(floats);
    TEST(packed_by_size);
    TEST(characters_and_pointers);
    TEST(strings_of_all_lanes);
    TEST(format_nowhere);
    TEST(too_few_arguments);
    TEST(failed_assertion);
    TEST(allocate_and_release);
    TEST(heap_reuses_gaps);
    TEST(free_of_anything_else);
}
