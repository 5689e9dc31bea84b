/* Tests the results of lowered kernels. One warp of 32 threads runs each kernel, and every thread writes to out[]. */
#include "frontend_help.h"
#include "isa/interp/interp.h"
#include "isa/machine/memory.h"
#include "test/test.h"

enum { OUT_BYTES = 8192 };

/* Assigns addresses to the module's variables as a loader does, and runs `kernel` with one parameter: the address of
 * out[]. */
static void run_text(const char *text, const char *kernel, uint32_t out[OUT_BYTES / 4]) {
    struct diags d;
    struct memory m;
    diags_init(&d, "test.ptx", text, strlen(text));
    struct module *module = ptx_parse(&d);
    struct image *img = d.errors ? NULL : frontend_image(module);
    mem_init(&m, 0);
    for (uint32_t i = 0; img && i < img->n_variables; i++) {
        struct image_variable *v = &img->variables[i];
        v->address = mem_alloc(&m, v->bytes ? v->bytes : 1, 256, v->name, v->space == SPACE_CONST);
        if (v->init)
            ck_assert(mem_write(&m, v->address, v->init, v->bytes));
    }
    for (uint32_t i = 0; img && i < img->n_relocs; i++) {
        const struct image_reloc *r = &img->relocs[i];
        uint64_t a =
            (r->symbol == UINT32_MAX ? CODE_BASE + 16ull * r->function_id : img->variables[r->symbol].address) +
            (uint64_t)r->addend;
        a >>= r->shift;
        ck_assert(mem_write(&m, img->variables[r->var].address + r->offset, &a, r->bytes));
    }
    struct program *p = img ? frontend_lower(img, kernel, NULL) : NULL;
    if (d.errors)
        diags_print(&d, stderr);
    ck_assert_ptr_nonnull(p);
    uint64_t at = mem_alloc(&m, OUT_BYTES, 256, NULL, false);
    unsigned char params[64] = {0};
    memcpy(params, &at, sizeof at);
    struct launch l = {
        .program = p, .memory = &m, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params, .dynamic_shared = 64};
    struct interp_cfg cfg = {.threads = 1};
    struct interp_stats stats = {0};
    struct fault fault = {0};
    bool done = interp_run(&l, &cfg, &stats, &fault);
    if (!done)
        fault_print(&fault, &l, stderr);
    ck_assert(done);
    ck_assert(mem_read(&m, at, out, OUT_BYTES));
    program_free(p);
    frontend_image_free(img);
    ptx_free(module);
    diags_free(&d);
    mem_free_all(&m);
}

#define HEAD ".version 9.0\n.target sm_100\n.address_size 64\n"
/* %out is the address of the thread's word in out[]; %t is %tid.x. */
#define ENTRY                                                                                                          \
    ".visible .entry k(.param .u64 p) { .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; "       \
    ".reg .f32 %f<9>; .reg .b64 %out; .reg .u32 %t; ld.param.u64 %out, [p]; mov.u32 %t, %tid.x; "                      \
    "mad.wide.u32 %out, %t, 4, %out;\n"
#define EXIT "\nst.global.u32 [%out], %r0; ret; }\n"

/* Runs a kernel whose body leaves its result in %r0. Word `lane` of out[] must then be expected(lane). */
static void check_lanes(const char *before, const char *body, uint32_t (*expected)(uint32_t lane)) {
    static char text[16384];
    static uint32_t out[OUT_BYTES / 4];
    snprintf(text, sizeof text, "%s%s%s%s%s", HEAD, before, ENTRY, body, EXIT);
    run_text(text, "k", out);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_msg(out[lane] == expected(lane), "lane %u: %u (0x%x), not %u (0x%x)", lane, out[lane], out[lane],
                      expected(lane), expected(lane));
}

/* Swaps the 16-bit halves of (t << 16 | t + 1). */
static uint32_t halves_swapped(uint32_t t) { return (t + 1) << 16 | t; }
START_TEST(halves) {
    check_lanes("",
                "add.u32 %r1, %t, 1; shl.b32 %r2, %t, 16; or.b32 %r1, %r1, %r2;\n"
                "mov.b32 {%h1, %h2}, %r1; mov.b32 %r0, {%h2, %h1};",
                halves_swapped);
}
END_TEST

/* Reverses the bytes of a word in which byte i is i + t. */
static uint32_t bytes_reversed(uint32_t t) { return t * 0x01010101u + 0x00010203u; }
START_TEST(bytes) {
    check_lanes("",
                ".reg .b8 %b<4>; mad.lo.u32 %r1, %t, 0x01010101, 0x03020100; mov.b32 {%b0, %b1, %b2, %b3}, %r1;"
                "mov.b32 %r0, {%b3, %b2, %b1, %b0};",
                bytes_reversed);
}
END_TEST

static uint32_t four_halves(uint32_t t) { return 4 * t + 6; } /* the sum of the halves t, t + 1, t + 2 and t + 3 */
START_TEST(four_parts_of_64_bits) {
    check_lanes("",
                "cvt.u16.u32 %h1, %t; add.u16 %h2, %h1, 1; add.u16 %h3, %h1, 2; add.u16 %h4, %h1, 3;\n"
                "mov.b64 %d1, {%h1, %h2, %h3, %h4}; mov.b64 {%h5, %h6, %h7, %h8}, %d1;\n"
                "add.u16 %h5, %h5, %h6; add.u16 %h5, %h5, %h7; add.u16 %h5, %h5, %h8; cvt.u32.u16 %r0, %h5;",
                four_halves);
}
END_TEST

static uint32_t low_of_pair(uint32_t t) { return t + 100; }
START_TEST(sinks_in_vectors) {
    check_lanes("", "add.u32 %r1, %t, 100; mov.b64 %d1, {%r1, %t}; mov.b64 {%r0, _}, %d1;", low_of_pair);
}
END_TEST

static uint32_t swapped(uint32_t t) { return 2 * t + 3 - t; } /* swaps x = t and y = 2t + 3, then computes x - y */
START_TEST(a_vector_move_swaps) {
    check_lanes("",
                ".reg .v2 .u32 %v; mov.u32 %v.x, %t; mad.lo.u32 %v.y, %t, 2, 3; mov.v2.u32 %v, {%v.y, %v.x};\n"
                "sub.u32 %r0, %v.x, %v.y;",
                swapped);
}
END_TEST

/* Returns the high word of the sum: 0xffffffff + t carries if t > 0, so the high word is 5 plus the carry. */
static uint32_t high_word(uint32_t t) { return 5 + (t > 0); }
START_TEST(carry_goes_from_add_to_addc) {
    check_lanes("", "add.cc.u32 %r1, %t, 0xffffffff; addc.u32 %r0, 5, 0;", high_word);
}
END_TEST

/* An addition and a subtraction share the carry, which is 1 if the subtraction does not borrow. t - 9 borrows if t < 9:
 * addc returns 5 + (t >= 9). The carry of 0xffffffff + t is t > 0: subc returns 50 - 1 + (t > 0). */
static uint32_t mixed_carries(uint32_t t) { return 1000 * (5 + (t >= 9)) + 49 + (t > 0); }
START_TEST(carry_goes_from_sub_to_addc_and_from_add_to_subc) {
    check_lanes("",
                "sub.cc.u32 %r1, %t, 9; addc.u32 %r0, 5, 0; add.cc.u32 %r1, %t, 0xffffffff; subc.u32 %r1, 50, 0;\n"
                "mad.lo.u32 %r0, %r0, 1000, %r1;",
                mixed_carries);
}
END_TEST

static uint32_t guarded(uint32_t t) { return t < 10 ? 1 : t < 20 ? 2 : 7; }
START_TEST(guards_choose_lanes) {
    check_lanes("",
                "mov.u32 %r0, 7; setp.lt.u32 %p1, %t, 10; setp.lt.u32 %p2, %t, 20;\n"
                "@%p2 mov.u32 %r0, 2; @%p1 mov.u32 %r0, 1;",
                guarded);
}
END_TEST

static uint32_t table(uint32_t t) { return 10 + t % 3; }
START_TEST(branches_by_table) {
    check_lanes("",
                "rem.u32 %r1, %t, 3; tab: .branchtargets A, B, C; brx.idx %r1, tab;\n"
                "A: mov.u32 %r0, 10; bra.uni END; B: mov.u32 %r0, 11; bra END; C: mov.u32 %r0, 12; END:",
                table);
}
END_TEST

static uint32_t sum_of_squares(uint32_t t) { return t * t + 81; }
START_TEST(call_with_parameters_in_memory) {
    check_lanes(".func (.param .b32 res) f(.param .b32 a, .param .b32 b) { .reg .u32 %x<4>;\n"
                "ld.param.u32 %x0, [a]; ld.param.u32 %x1, [b]; mul.lo.u32 %x0, %x0, %x0; mad.lo.u32 %x0, %x1, %x1, %x0;"
                "st.param.b32 [res+0], %x0; ret; }\n",
                "{ .param .b32 a; .param .b32 b; .param .b32 res; st.param.b32 [a+0], %t; st.param.b32 [b], 9;\n"
                "call.uni (res), f, (a, b); ld.param.b32 %r0, [res+0]; }",
                sum_of_squares);
}
END_TEST

/* Returns the expected result of a function whose parameters are declared with .reg. The arguments of the call are a
 * constant, a register and a predicate. */
static uint32_t chosen(uint32_t t) { return t > 15 ? 1000 : t; }
START_TEST(call_with_registers) {
    check_lanes(".func (.reg .u32 res) f(.reg .u32 a, .reg .u32 b, .reg .pred q) { selp.u32 res, a, b, q; ret; }\n",
                "setp.gt.u32 %p1, %t, 15; call (%r0), f, (1000, %t, %p1);", chosen);
}
END_TEST

/* Returns the expected result when lanes return at different ret instructions. Each lane must get its own result. */
static uint32_t early(uint32_t t) { return t < 8 ? 1 : t < 16 ? 2 : 3; }
START_TEST(returns_in_the_middle) {
    check_lanes(".func (.reg .u32 res) f(.reg .u32 a) { .reg .pred q; mov.u32 res, 1; setp.lt.u32 q, a, 8; @q ret;\n"
                "mov.u32 res, 2; setp.lt.u32 q, a, 16; @!q bra LAST; ret; LAST: mov.u32 res, 3; }\n",
                "call (%r0), f, (%t);", early);
}
END_TEST

static uint32_t only_some_called(uint32_t t) { return t & 1 ? t + 50 : 7; }
START_TEST(guarded_call) {
    check_lanes(".func (.reg .u32 res) f(.reg .u32 a) { add.u32 res, a, 50; ret; }\n",
                "mov.u32 %r0, 7; and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; @%p1 call (%r0), f, (%t);",
                only_some_called);
}
END_TEST

/* Returns the expected result of values that are live across nested calls. t, 2t and 3t must keep their values although
 * the functions g and h write registers of their own. h returns (t + 1) * (t + 2); g returns the value of h plus t +
 * t. */
static uint32_t kept(uint32_t t) { return t + 2 * t + 3 * t + (t + 1) * (t + 2) + 2 * t; }
START_TEST(registers_survive_calls) {
    check_lanes(
        ".func (.reg .u32 r) h(.reg .u32 a) { .reg .u32 %x<3>; add.u32 %x1, a, 1; add.u32 %x2, a, 2;\n"
        "mul.lo.u32 r, %x1, %x2; ret; }\n"
        ".func (.reg .u32 r) g(.reg .u32 a) { .reg .u32 %x<3>; mov.u32 %x1, a; mov.u32 %x2, a; call (r), h, (a);\n"
        "add.u32 r, r, %x1; add.u32 r, r, %x2; ret; }\n",
        "mov.u32 %r1, %t; mul.lo.u32 %r2, %t, 2; mul.lo.u32 %r3, %t, 3; call (%r0), g, (%t);\n"
        "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3;",
        kept);
}
END_TEST

static uint32_t factorial(uint32_t t) {
    uint32_t f = 1;
    for (uint32_t i = 2; i <= t % 7; i++)
        f *= i;
    return f;
}
#define FACTORIAL                                                                                                      \
    ".func (.param .b32 res) fact(.param .b32 n) { .reg .u32 %x<4>; .reg .pred q; ld.param.u32 %x0, [n];\n"            \
    "setp.gt.u32 q, %x0, 1; @q bra MORE; st.param.b32 [res], 1; ret;\n"                                                \
    "MORE: sub.u32 %x1, %x0, 1; { .param .b32 a; .param .b32 r; st.param.b32 [a], %x1; call (r), fact, (a);\n"         \
    "ld.param.u32 %x2, [r]; } mul.lo.u32 %x2, %x2, %x0; st.param.b32 [res], %x2; ret; }\n"
START_TEST(recursion) {
    check_lanes(FACTORIAL,
                "rem.u32 %r1, %t, 7; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), fact, (a);"
                "ld.param.u32 %r0, [r]; }",
                factorial);
}
END_TEST

/* Returns the expected result of even(n): n + (n - 1) + ... + 1, plus 100 if n is even. even() and odd() call each
 * other with n - 1. Each keeps n in a local variable during the call, takes the variable's address, and adds n to the
 * result of the call. */
static uint32_t parity(uint32_t t) { return t * (t + 1) / 2 + (t % 2 ? 0 : 100); }
START_TEST(mutual_recursion_with_local_variables) {
    check_lanes(
        ".func (.reg .u32 res) odd(.reg .u32 n);\n"
        ".func (.reg .u32 res) even(.reg .u32 n) { .local .u32 v[2]; .reg .pred q; .reg .u32 %x<3>; .reg .u64 %a<3>;\n"
        "mov.u64 %a1, v; cvta.local.u64 %a2, %a1; st.u32 [%a2+4], n; mov.u32 res, 100; setp.eq.u32 q, n, 0; @q ret;\n"
        "sub.u32 %x1, n, 1; call (%x2), odd, (%x1); ld.local.u32 %x1, [v+4]; add.u32 res, %x2, %x1; ret; }\n"
        ".func (.reg .u32 res) odd(.reg .u32 n) { .local .u32 v[2]; .reg .pred q; .reg .u32 %x<3>;\n"
        "st.local.u32 [v], n; mov.u32 res, 0; setp.eq.u32 q, n, 0; @q ret;\n"
        "sub.u32 %x1, n, 1; call (%x2), even, (%x1); ld.local.u32 %x1, [v]; add.u32 res, %x2, %x1; ret; }\n",
        "call (%r0), even, (%t);", parity);
}
END_TEST

/* Returns the expected result of calls through a table. An initialiser holds this table of function addresses. */
static uint32_t by_pointer(uint32_t t) { return t % 2 ? t * 3 : t + 5; }
START_TEST(calls_through_a_table) {
    check_lanes(
        ".func (.param .b32 r) plus(.param .b32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; add.u32 %x, %x, 5;\n"
        "st.param.b32 [r], %x; ret; }\n"
        ".func (.param .b32 r) times(.param .b32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, 3;\n"
        "st.param.b32 [r], %x; ret; }\n"
        ".global .align 8 .u64 both[2] = {plus, times};\n",
        "and.b32 %r1, %t, 1; mov.u64 %d1, both; mad.wide.u32 %d1, %r1, 8, %d1; ld.global.u64 %d2, [%d1];\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %t; call (r), %d2, (a), proto; ld.param.u32 %r0, [r]; }",
        by_pointer);
}
END_TEST

/* Returns the expected result when the kernel moves the address of a function to a register and calls it. */
static uint32_t plus_five(uint32_t t) { return t + 5; }
START_TEST(call_of_an_address_taken_in_code) {
    check_lanes(".func (.reg .u32 r) plus(.reg .u32 a) { add.u32 r, a, 5; ret; }\n",
                "mov.u64 %d1, plus; proto: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
                "call (%r0), %d1, (%t), proto;",
                plus_five);
}
END_TEST

/* Returns the expected result of nested scopes. A declaration in an inner block hides an outer declaration of the same
 * name until the inner block ends. This also holds for ranges of registers. */
static uint32_t scopes(uint32_t t) { return t + 1000; }
START_TEST(inner_scopes_hide_outer_ones) {
    check_lanes(
        "",
        "add.u32 %r3, %t, 1000; mov.u32 %r4, 1; { .reg .u32 %r<5>; .reg .u32 x; mov.u32 %r3, 5; mov.u32 x, %r3;\n"
        "{ .reg .u32 %r3; mov.u32 %r3, 6; } mov.u32 %r4, 7; } mov.u32 %r0, %r3;",
        scopes);
}
END_TEST

/* Returns the expected sum of addresses. Shared variables are laid out in order of first use, each at a multiple of its
 * alignment. Dynamic shared memory follows at a multiple of 16. So `a` (6 bytes) is at 0, b at 8, c at 12, and dynamic
 * shared memory at 16. */
static uint32_t addresses(uint32_t t) { return (void)t, 0 + 8 * 100 + 16 * 10000; }
START_TEST(shared_layout) {
    check_lanes(".extern .shared .align 16 .b8 dyn[];\n.shared .b8 a[6];\n",
                "mov.u32 %r1, a; .shared .align 8 .b32 b; .shared .b8 c; mov.u32 %r2, b; mov.u32 %r3, dyn;\n"
                "st.shared.u32 [dyn+4], 1; mad.lo.u32 %r0, %r2, 100, %r1; mad.lo.u32 %r0, %r3, 10000, %r0;",
                addresses);
}
END_TEST

/* Returns the value that thread t reads from its neighbour. The kernel accesses shared memory through a generic
 * address. */
static uint32_t neighbour(uint32_t t) { return (t + 1) % 32 * 3; }
/* Returns the expected sum of addresses. The array `b` is at the next multiple of 16 KiB after `a`, and dynamic shared
 * memory at the next multiple of 1 KiB after the 32 bytes of `b`. */
static uint32_t far_addresses(uint32_t t) { return (void)t, 0 + 16384 + (16384 + 1024); }
START_TEST(shared_alignment) {
    check_lanes(".extern .shared .align 1024 .b8 dyn[];\n.shared .b8 a[6];\n.shared .align 16384 .b8 b[32];\n",
                "mov.u32 %r1, a; mov.u32 %r2, b; mov.u32 %r3, dyn; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;",
                far_addresses);
}
END_TEST

START_TEST(generic_shared_address) {
    check_lanes(".shared .u32 s[32];\n",
                "mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; mad.wide.u32 %d3, %t, 4, %d2; mul.lo.u32 %r1, %t, 3;\n"
                "st.u32 [%d3], %r1; bar.sync 0; add.u32 %r2, %t, 1; and.b32 %r2, %r2, 31;\n"
                "mad.wide.u32 %d3, %r2, 4, %d1; ld.shared.u32 %r0, [%d3];",
                neighbour);
}
END_TEST

/* Returns the expected value of a .local variable at module scope: the kernel and the functions that it calls use the
 * same variable. */
static uint32_t through_local(uint32_t t) { return t + 11; }
START_TEST(local_variable_of_the_module) {
    check_lanes(
        ".local .u32 shared_by_both;\n"
        ".func f() { .local .u32 other; .reg .u32 x; st.local.u32 [other], 99; ld.local.u32 x, [shared_by_both];\n"
        "add.u32 x, x, 11; st.local.u32 [shared_by_both], x; ret; }\n",
        ".local .u32 mine; st.local.u32 [mine], 5; st.local.u32 [shared_by_both], %t; call f;\n"
        "ld.local.u32 %r0, [shared_by_both];",
        through_local);
}
END_TEST

/* Returns the sum of two initialised variables. The initialisers contain numbers and the address of an array
 * element. */
static uint32_t from_constants(uint32_t t) { return 10 * (t % 4) + 7; }
START_TEST(initialised_variables) {
    check_lanes(".const .align 4 .u32 tens[4] = {0, 10, 20, 30};\n.global .u32 seven[2] = {0, 7};\n"
                ".global .u64 where[2] = {0, seven+4};\n",
                "and.b32 %r1, %t, 3; mov.u64 %d1, tens; mad.wide.u32 %d1, %r1, 4, %d1; ld.const.u32 %r2, [%d1];\n"
                "ld.global.u64 %d2, [where+8]; ld.global.u32 %r3, [%d2]; add.u32 %r0, %r2, %r3;",
                from_constants);
}
END_TEST

static uint32_t two_dimensions(uint32_t t) { return t < 6 ? t + 1 : 0; }
START_TEST(initialised_arrays_of_arrays) {
    check_lanes(".global .u32 m[4][3] = {{1, 2, 3}, {4, 5, 6}};\n",
                "min.u32 %r1, %t, 11; mov.u64 %d1, m; mad.wide.u32 %d1, %r1, 4, %d1; ld.global.u32 %r0, [%d1];",
                two_dimensions);
}
END_TEST

/* Returns the expected value. An initialiser contains each byte of an address separately, selected by a mask. Compilers
 * emit packed structures in this form. */
static uint32_t found_by_bytes(uint32_t t) { return (void)t, 77; }
START_TEST(addresses_in_bytes) {
    check_lanes(
        ".global .u32 it = 77;\n.global .align 8 .b8 bytes[8] = {0xFF(it), 0xFF00(it), 0xFF0000(it), 0xFF000000(it),"
        " 0xFF00000000(it), 0xFF0000000000(it), 0xFF000000000000(it), 0xFF00000000000000(it)};\n",
        "ld.global.u64 %d1, [bytes]; ld.global.u32 %r0, [%d1];", found_by_bytes);
}
END_TEST

/* Special registers are read into a register of 16 bits, into one of 64 bits, and by a conversion. Each of the three
 * values is t. The kernel adds them and WARP_SZ, which is 32. */
static uint32_t specials(uint32_t t) { return 3 * t + 32; }
START_TEST(special_registers_of_all_widths) {
    check_lanes("",
                "mov.u16 %h1, %tid.x; mov.u64 %d1, %laneid; cvt.u64.u32 %d2, %tid.x; cvt.u32.u16 %r1, %h1;\n"
                "cvt.u32.u64 %r2, %d1; cvt.u32.u64 %r3, %d2; add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;\n"
                "add.u32 %r0, %r0, WARP_SZ;",
                specials);
}
END_TEST

/* Returns the sign-extended byte 0x80 + t plus twice the zero-extended byte; both are loaded into wider registers. */
static uint32_t extended(uint32_t t) { return (uint32_t)(int8_t)(0x80 + t) + (0x80 + t) * 2; }
START_TEST(narrow_loads_extend) {
    check_lanes(".shared .b8 s[32];\n",
                "add.u32 %r1, %t, 0x80; mov.u32 %r2, s; add.u32 %r2, %r2, %t; st.shared.u8 [%r2], %r1;\n"
                "ld.shared.s8 %r3, [%r2]; ld.shared.u8 %h1, [%r2]; cvt.u32.u16 %r4, %h1; mad.lo.u32 %r0, %r4, 2, %r3;",
                extended);
}
END_TEST

/* Returns the word that a vector store of constants and registers writes. The elements are narrower than the
 * registers. */
static uint32_t vector_store(uint32_t t) { return t | 3u << 8 | (t + 1) << 16 | 255u << 24; }
START_TEST(vector_store_of_constants) {
    check_lanes(".shared .align 4 .b8 s[128];\n",
                "cvt.u16.u32 %h1, %t; add.u16 %h2, %h1, 1; mov.u32 %r2, s; mad.lo.u32 %r2, %t, 4, %r2;\n"
                "st.shared.v4.u8 [%r2], {%h1, 3, %h2, 255}; ld.shared.u32 %r0, [%r2];",
                vector_store);
}
END_TEST

/* Returns the sum of the numbers that the predicates select. The first setp writes two predicates: the comparison and
 * its negation. The third setp combines its comparison with %p3. */
static uint32_t pair(uint32_t t) { return (t < 9 ? 1 : 0) + (t < 9 ? 0 : 2) + (t < 9 && t > 3 ? 0 : 4); }
START_TEST(setp_with_two_results) {
    check_lanes(
        "",
        "setp.lt.u32 %p1|%p2, %t, 9; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; setp.gt.u32 %p3, %t, 3;\n"
        "and.pred %p4, %p1, %p3; mov.u32 %r3, 4; setp.lt.and.u32 %p5, %t, 9, %p3; @%p5 mov.u32 %r3, 0;\n"
        "add.u32 %r0, %r1, %r2; add.u32 %r0, %r0, %r3;",
        pair);
}
END_TEST

static uint32_t atomics(uint32_t t) { return (void)t, 31 * 32 / 2; }
START_TEST(atomics_add_up) {
    check_lanes(".shared .u32 s;\n",
                "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 _, [s], %t;\n"
                "red.shared.add.u32 [s], 0; bar.sync 0; ld.shared.u32 %r0, [s];",
                atomics);
}
END_TEST

static uint32_t video(uint32_t t) { return t + 3; } /* byte 0 of t, plus the upper half of 0x30000 */
START_TEST(video_selectors) { check_lanes("", "mov.u32 %r1, 0x30000; vadd.u32.u32.u32 %r0, %t.b0, %r1.h1;", video); }
END_TEST

/* The last statement of the kernel is not ret. */
START_TEST(falling_off_the_end) {
    static uint32_t out[OUT_BYTES / 4];
    run_text(HEAD ENTRY "st.global.u32 [%out], 3; }", "k", out);
    ck_assert_uint_eq(out[31], 3);
}
END_TEST

/* With .address_size 32, addresses are in 32-bit registers. */
START_TEST(addresses_of_32_bits) {
    static uint32_t out[OUT_BYTES / 4];
    run_text(".version 4.0\n.target sm_20\n.address_size 32\n.global .u32 g = 8;\n"
             ".entry k(.param .u32 p) { .reg .u32 %r<5>; ld.param.u32 %r1, [p]; mov.u32 %r2, %tid.x;\n"
             "mad.lo.u32 %r1, %r2, 4, %r1; mov.u32 %r3, g; ld.global.u32 %r4, [%r3]; add.u32 %r4, %r4, %r2;\n"
             "st.global.u32 [%r1], %r4; exit; }",
             "k", out);
    ck_assert_uint_eq(out[0], 8);
    ck_assert_uint_eq(out[31], 39);
}
END_TEST

/* Returns the expected value of %r0. The truth table 0x80 computes a & b & c: t & 12 & 5 = t & 4. lop3 writes this
 * result to %r0. It sets %p2 if the result is not 0 and t < 16; the kernel then adds 100. */
static uint32_t lop3_with_predicate(uint32_t t) { return ((t & 4) && t < 16 ? 100 : 0) + (t & 4); }
START_TEST(lop3_and_a_predicate) {
    check_lanes(
        "",
        "setp.ge.u32 %p1, %t, 16; mov.u32 %r1, 12; mov.u32 %r0, 99; lop3.and.b32 %r0|%p2, %t, %r1, 5, 0x80, !%p1;"
        "@%p2 add.u32 %r0, %r0, 100;",
        lop3_with_predicate);
}
END_TEST

/* Returns 1 if %p2 is true after lop3. The truth table 0xfe computes a | b | c: t | 0 | 0. lop3 sets %p2 if the result
 * is not 0, or if t < 1. One of the two holds in every thread, so %p2 is true in every lane that executes lop3 (t <
 * 20). */
static uint32_t lop3_under_guard(uint32_t t) { return t < 20 ? 1 : 0; }
START_TEST(lop3_or_under_a_guard) {
    check_lanes("",
                "setp.lt.u32 %p1, %t, 1; setp.lt.u32 %p3, %t, 20; mov.pred %p2, 0;"
                "@%p3 lop3.or.b32 _|%p2, %t, 0, 0, 0xFE, %p1; selp.u32 %r0, 1, 0, %p2;",
                lop3_under_guard);
}
END_TEST

/* Returns max(t, 15, 31 - t). */
static uint32_t largest_of_three(uint32_t t) { return t > 15 ? t : 31 - t > 15 ? 31 - t : 15; }
START_TEST(max_of_three) {
    check_lanes("",
                "cvt.rn.f32.u32 %f1, %t; sub.f32 %f2, 0f41F80000, %f1; max.f32 %f3, %f1, 15.0, %f2;"
                "max.ftz.NaN.abs.f32 %f3, %f3, 0f80000000, 0f00000000; cvt.rzi.u32.f32 %r0, %f3;",
                largest_of_three);
}
END_TEST

/* Returns 2 * 0.5 + t, computed with bf16 factors and an f32 sum, plus 1, which the kernel adds as an f16. */
static uint32_t two_more(uint32_t t) { return t + 2; }
START_TEST(sums_of_mixed_precision) {
    check_lanes("",
                "mov.b16 %h1, 0x4000; mov.b16 %h2, 0x3F00; mov.b16 %h3, 0x3C00; cvt.rn.f32.u32 %f1, %t;\n"
                "fma.rn.f32.bf16 %f2, %h1, %h2, %f1; add.f32.f16 %f2, %h3, %f2; cvt.rzi.u32.f32 %r0, %f2;",
                two_more);
}
END_TEST

/* Returns the value that a lane of the other half of the warp stored. The lanes below 16 and the other lanes arrive at
 * one mbarrier object by different instructions. When the phase is complete, each half reads the values that the other
 * half stored. */
static uint32_t from_the_other_half(uint32_t t) { return t ^ 16; }
START_TEST(mbarrier_orders_two_halves) {
    check_lanes(
        "",
        ".shared .align 8 .b64 bar; .shared .b32 v[32]; mov.u32 %r1, v; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2;"
        "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [bar], 32; bar.warp.sync 0xffffffff;\n"
        "setp.lt.u32 %p2, %t, 16; @%p2 bra LOW;\n"
        "st.shared.u32 [%r3], %t; mbarrier.arrive.release.cta.shared::cta.b64 %d1, [bar], 1; bra WAIT;\n"
        "LOW: st.shared.u32 [%r3], %t; mbarrier.arrive.shared::cta.b64 _, [bar];\n"
        "WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [bar], 0, 100; @!%p3 bra WAIT;\n"
        "xor.b32 %r4, %r2, 64; add.u32 %r4, %r4, %r1; ld.shared.u32 %r0, [%r4];\n"
        "mbarrier.pending_count.b64 %r5, %d1; @%p1 mbarrier.inval.shared::cta.b64 [bar];",
        from_the_other_half);
}
END_TEST

SUITE(frontend_run) {
    TEST(halves);
    TEST(bytes);
    TEST(four_parts_of_64_bits);
    TEST(sinks_in_vectors);
    TEST(a_vector_move_swaps);
    TEST(carry_goes_from_add_to_addc);
    TEST(carry_goes_from_sub_to_addc_and_from_add_to_subc);
    TEST(guards_choose_lanes);
    TEST(branches_by_table);
    TEST(call_with_parameters_in_memory);
    TEST(call_with_registers);
    TEST(returns_in_the_middle);
    TEST(guarded_call);
    TEST(registers_survive_calls);
    TEST(recursion);
    TEST(mutual_recursion_with_local_variables);
    TEST(calls_through_a_table);
    TEST(call_of_an_address_taken_in_code);
    TEST(inner_scopes_hide_outer_ones);
    TEST(shared_layout);
    TEST(shared_alignment);
    TEST(generic_shared_address);
    TEST(local_variable_of_the_module);
    TEST(initialised_variables);
    TEST(initialised_arrays_of_arrays);
    TEST(addresses_in_bytes);
    TEST(special_registers_of_all_widths);
    TEST(narrow_loads_extend);
    TEST(vector_store_of_constants);
    TEST(setp_with_two_results);
    TEST(atomics_add_up);
    TEST(mbarrier_orders_two_halves);
    TEST(lop3_and_a_predicate);
    TEST(lop3_or_under_a_guard);
    TEST(max_of_three);
    TEST(sums_of_mixed_precision);
    TEST(video_selectors);
    TEST(falling_off_the_end);
    TEST(addresses_of_32_bits);
}
