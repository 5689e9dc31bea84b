#include "isa/machine/call.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"

/* Tests calls. In the program, the functions come after the kernel. Their frames are in local memory. */
static struct asm_program *a;
static struct memory mem;
static uint64_t out;
static opnd_t tid, zero, at;

static opnd_t c32(uint32_t v) { return asm_const(a, 4, v); }

/* Starts a program. If `by_word` is true, local memory is interleaved by words (warp_local()). */
static void setup(bool by_word) {
    a = asm_new();
    a->p.local_by_word = by_word;
    mem_init(&mem, 0);
    out = mem_alloc(&mem, 4096, 0, NULL, false);
    a->p.local_bytes = 64; /* size of the kernel's frame */
    tid = asm_special(a, SPECIAL_TID_X);
    zero = OPND_ZERO;
    at = asm_reg(a, 8);
    asm_op(a, "mul.wide.u32", at, tid, c32(4), zero);
    asm_op(a, "add.u64", at, at, asm_const(a, 8, out), zero);
}

static void teardown(void) {
    mem_free_all(&mem);
    asm_free(a);
}

static uint32_t word(uint32_t i) {
    uint32_t v = 0;
    ck_assert(mem_read(&mem, out + 4ull * i, &v, 4));
    return v;
}

static void put(opnd_t v) { asm_mem(a, "st.global.u32", v, 4, at, 0); }
static void leave(void) { asm_op(a, "exit", OPND_SINK, zero, zero, zero); }

/* Begins the next function, whose frame has 32 bytes. The frame comes after the frames of the other functions, unless
 * the function is recursive. */
static struct program_function *function(const char *name, bool recursive) {
    struct program_function *f = &a->functions[a->p.n_functions];
    f->name = name;
    f->id = 10 + a->p.n_functions++;
    f->entry = asm_pc(a);
    f->reg_begin = a->p.reg_bytes;
    f->frame_bytes = 32;
    f->frame_base = recursive ? 0 : a->p.local_bytes;
    f->recursive = recursive;
    a->p.local_bytes += recursive ? 0 : 32;
    return f;
}

static void function_ends(struct program_function *f) {
    asm_op(a, "ret", OPND_SINK, zero, zero, zero);
    f->end = asm_pc(a);
    for (uint32_t pc = f->entry; pc < f->end; pc++)
        a->info[pc].function = (uint32_t)(f - a->functions);
}

/* Adds a call with one input and one result. `from` and `to` are their offsets in the caller's frame. In the callee's
 * frame, the parameters are at offsets 0 and 8. */
static struct inst *call(uint32_t callee, uint32_t from, uint32_t to) {
    struct inst *in = asm_op(a, "call", OPND_SINK, zero, zero, zero);
    in->rpc = asm_pc(a);
    in->list = asm_list(a, (uint32_t[]){callee, 1, 1, from, 0, 4, to, 8, 4}, 9);
    return in;
}

static void local(const char *opcode, opnd_t reg, uint32_t offset) { asm_mem(a, opcode, reg, 4, zero, offset); }

/* Writes a kernel that computes out[tid] = square(tid + 1) + 1. */
static void kernel_with_square(opnd_t guard, bool indirect) {
    opnd_t v = asm_reg(a, 4);
    asm_op(a, "add.u32", v, tid, c32(1), zero);
    local("st.local.u32", v, 16);
    struct inst *in = call(indirect ? CALL_INDIRECT : 1, 16, 20);
    if (guard)
        asm_guard(a, guard, false);
    local("ld.local.u32", v, 20);
    asm_op(a, "add.u32", v, v, c32(1), zero);
    put(v);
    leave();
    a->functions[0].end = asm_pc(a);
    struct program_function *f = function("square", false);
    opnd_t x = asm_reg(a, 4);
    local("ld.local.u32", x, f->frame_base);
    asm_op(a, "mul.lo.u32", x, x, x, zero);
    local("st.local.u32", x, f->frame_base + 8);
    function_ends(f);
    f->param_offset[1] = 8;
    f->n_params = f->n_results = 1;
    in->target = f->entry;
    if (indirect)
        in->a = asm_const(a, 8, CODE_BASE + 16 * f->id);
    asm_end(a);
}

START_TEST(arguments_and_results) {
    setup(_i);
    kernel_with_square(0, false);
    struct launch l = asm_launch(a, &mem, 1, 64);
    struct interp_stats s = asm_run(&l);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(word(t), (t + 1) * (t + 1) + 1);
    /* each warp executes 2 + 7 instructions in the kernel and 4 in the function */
    ck_assert_uint_eq(s.warp_instructions, 2 * 13);
    teardown();
}
END_TEST

START_TEST(guarded_call) {
    setup(_i);
    opnd_t p = asm_reg(a, 0);
    asm_op(a, "setp.lt.u32", p, tid, c32(4), zero);
    kernel_with_square(p, false);
    struct launch l = asm_launch(a, &mem, 1, 32);
    asm_run(&l);
    ck_assert_uint_eq(word(3), 17);
    ck_assert_uint_eq(word(4), 1); /* the result variable of a lane that does not call is zero */
    teardown();
}
END_TEST

START_TEST(through_a_pointer) {
    setup(_i);
    kernel_with_square(0, true);
    struct launch l = asm_launch(a, &mem, 1, 32);
    asm_run(&l);
    ck_assert_uint_eq(word(31), 32 * 32 + 1);
    teardown();
}
END_TEST

/* Even lanes call `double` and odd lanes call `triple` through a table of pointers. They reconverge after the call. */
START_TEST(divergent_pointers) {
    setup(_i);
    opnd_t v = asm_reg(a, 4), f64 = asm_reg(a, 8), odd = asm_reg(a, 0), mask = asm_reg(a, 4);
    asm_op(a, "and.b32", mask, tid, c32(1), zero);
    asm_op(a, "setp.ne.u32", odd, mask, zero, zero);
    asm_op(a, "selp.b64", f64, asm_const(a, 8, CODE_BASE + 16 * 12), asm_const(a, 8, CODE_BASE + 16 * 11), odd);
    local("st.local.u32", tid, 0);
    struct inst *in = call(CALL_INDIRECT, 0, 4);
    in->a = f64;
    local("ld.local.u32", v, 4);
    asm_op(a, "activemask.b32", mask, zero, zero, zero);
    asm_op(a, "add.u32", v, v, mask, zero);
    put(v);
    leave();
    for (uint32_t k = 2; k <= 3; k++) {
        struct program_function *f = function(k == 2 ? "double" : "triple", false);
        opnd_t x = asm_reg(a, 4);
        local("ld.local.u32", x, f->frame_base);
        asm_op(a, "mul.lo.u32", x, x, c32(k), zero);
        local("st.local.u32", x, f->frame_base + 8);
        function_ends(f);
        f->param_offset[1] = 8;
        f->n_params = f->n_results = 1;
    }
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    asm_run(&l);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(word(t), t * (t & 1 ? 3 : 2) + LANES_ALL);
    teardown();
}
END_TEST

static void check_fault(enum fault_kind kind, const char *text) {
    struct launch l = asm_launch(a, &mem, 1, 32);
    struct fault f = asm_run_fault(&l);
    ck_assert_int_eq(f.kind, kind);
    ck_assert_ptr_nonnull(strstr(f.text, text));
    fault_free(&f);
    teardown();
}

START_TEST(pointer_to_nothing) {
    setup(_i);
    struct inst *in = call(CALL_INDIRECT, 0, 4);
    in->a = asm_const(a, 8, 0x1230);
    leave();
    asm_end(a);
    check_fault(FAULT_BAD_CALL, "call of address 0x1230, which is not a function");
}
END_TEST

START_TEST(pointer_to_other_arguments) {
    setup(_i);
    kernel_with_square(0, true);
    a->functions[1].n_params = 2;
    check_fault(FAULT_BAD_CALL, "call of 'square' with 1 arguments and 1 results, but it has 2 and 1");
}
END_TEST

/* Writes a kernel that calls the recursive function f(n) = n < 2 ? 1 : n * f(n - 1). The register with n must be saved
 * across the recursive call. The recursion depth differs between lanes. If `endless` is true, the test is n < 0, which
 * no lane passes. */
static void kernel_with_factorial(bool endless) {
    opnd_t v = asm_reg(a, 4), n = asm_reg(a, 4);
    a->p.frame_pointer = asm_reg(a, 8);
    asm_op(a, "and.b32", n, tid, c32(7), zero);
    local("st.local.u32", n, 16);
    struct inst *in = call(1, 16, 20);
    local("ld.local.u32", v, 20);
    put(v);
    leave();
    struct program_function *f = function("factorial", true);
    opnd_t x = asm_reg(a, 4), y = asm_reg(a, 4), p = asm_reg(a, 0), small = asm_reg(a, 0), fp = a->p.frame_pointer;
    asm_mem(a, "ld.local.u32", x, 4, fp, 0);
    asm_op(a, "setp.lt.u32", p, x, c32(endless ? 0 : 2), zero);
    asm_op(a, "setp.lt.u32", small, x, c32(4), zero); /* a predicate whose value must also survive the call */
    asm_op(a, "add.u32", y, c32(1), zero, zero);
    struct inst *skip = asm_bra(a, p, false, 0, 0);
    asm_op(a, "sub.u32", y, x, c32(1), zero);
    asm_mem(a, "st.local.u32", y, 4, fp, 16);
    call(1, 16, 20)->target = f->entry;
    asm_mem(a, "ld.local.u32", y, 4, fp, 20);
    asm_op(a, "mul.lo.u32", y, y, x, zero);
    asm_op(a, "add.u32", y, y, c32(100000), zero);
    asm_guard(a, small, true); /* f adds 100000 if x >= 4 */
    skip->target = skip->rpc = asm_pc(a);
    asm_mem(a, "st.local.u32", y, 4, fp, 8);
    function_ends(f);
    f->saves = asm_list(a, (uint32_t[]){x >> 1, 4, y >> 1, 4, p >> 1, 0, small >> 1, 0}, 8);
    f->n_saves = 4;
    in->target = f->entry;
    asm_end(a);
}

static uint32_t factorial(uint32_t n) { return n < 2 ? 1 : n * factorial(n - 1) + (n >= 4 ? 100000 : 0); }

START_TEST(recursion) {
    setup(_i);
    kernel_with_factorial(false);
    struct launch l = asm_launch(a, &mem, 1, 32);
    asm_run(&l);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(word(t), factorial(t & 7));
    teardown();
}
END_TEST

/* The kernel executes 3,000 calls one after another. 64 KB have room for only 2,048 frames of 32 bytes, so every return
 * must free its frame. */
START_TEST(returns_free_their_frames) {
    setup(_i);
    kernel_with_factorial(false);
    opnd_t i = asm_reg(a, 4), p = asm_reg(a, 0);
    uint32_t entry = asm_pc(a); /* another kernel that calls the same function */
    uint32_t top = asm_pc(a);
    local("st.local.u32", c32(5), 16);
    call(1, 16, 20)->target = a->functions[1].entry;
    asm_op(a, "add.u32", i, i, c32(1), zero);
    asm_op(a, "setp.lt.u32", p, i, c32(3000), zero);
    asm_bra(a, p, false, top, asm_pc(a) + 1);
    leave();
    a->functions[0].entry = entry;
    asm_end(a);
    struct launch l = asm_launch(a, &mem, 1, 32);
    asm_run(&l);
    teardown();
}
END_TEST

/* 64 KB have room for 2,048 frames of 32 bytes, but the call depth is limited to 1,024, and this limit is reached
 * first. The kernel counts as the first call. */
START_TEST(endless_recursion) {
    setup(_i);
    kernel_with_factorial(true);
    check_fault(FAULT_STACK, "call of 'factorial' at depth 1024, with 32768 bytes of stack in use");
}
END_TEST

SUITE(isa_call) {
    TEST_LOOP(arguments_and_results, 0, 2);
    TEST_LOOP(guarded_call, 0, 2);
    TEST_LOOP(through_a_pointer, 0, 2);
    TEST_LOOP(divergent_pointers, 0, 2);
    TEST_LOOP(pointer_to_nothing, 0, 2);
    TEST_LOOP(pointer_to_other_arguments, 0, 2);
    TEST_LOOP(recursion, 0, 2);
    TEST_LOOP(returns_free_their_frames, 0, 2);
    TEST_LOOP(endless_recursion, 0, 2);
}
