/* Tests both layouts of local memory (warp_local()). Loads and stores of all widths are compared with a model that
 * keeps the bytes of each lane. */
#include "test/isa/isa_asm.h"
#include "test/test.h"

enum { LOCAL = 256, CASES = 2000, WIDEST = 16, MOST = 4 };
static struct asm_program *a;
static struct memory mem;
static struct launch launch;
static struct cta *cta;
static struct warp *w;
static struct effects fx;
static opnd_t base, reg[MOST];
static uint64_t buffer;

static const struct width {
    const char *type;
    unsigned msize, rsize;
} widths[] = {{"u8", 1, 2},  {"u8", 1, 4},  {"u8", 1, 8},  {"s8", 1, 2},  {"s8", 1, 4},
              {"u16", 2, 2}, {"u16", 2, 4}, {"s16", 2, 4}, {"u32", 4, 4}, {"u32", 4, 8},
              {"s32", 4, 8}, {"f32", 4, 4}, {"b64", 8, 8}, {"f64", 8, 8}, {"b128", 16, 16}};

/* An access of `n` elements at offset `at` of each lane's local memory. The lanes in `device` access device memory
 * instead. */
struct access {
    const struct width *k;
    unsigned n;
    bool store, generic;
    rowmask_t lanes, device;
    uint64_t at[WARP_LANES];
};

static struct access random_access(uint64_t *s) {
    struct access x = {.k = &widths[test_random_below(s, sizeof widths / sizeof widths[0])],
                       .generic = test_random_below(s, 2),
                       .lanes = test_random_below(s, 2) ? LANES_ALL : (rowmask_t)test_random(s) | 1};
    x.n = x.k->msize > 4 ? 1 : 1u << test_random_below(s, 3);
    x.store = test_random_below(s, 2) && x.k->type[0] != 's';
    x.device = x.generic && !test_random_below(s, 3) ? (rowmask_t)test_random(s) : 0;
    const unsigned bytes = x.n * x.k->msize, places = LOCAL / bytes, kind = test_random_below(s, 3);
    const uint64_t first = test_random_below(s, places);
    for (unsigned l = 0; l < WARP_LANES; l++)
        x.at[l] = bytes * (kind == 0 ? first : kind == 1 ? l % places : test_random_below(s, places));
    return x;
}

/* Starts a program of one instruction, which takes its addresses from `base`. */
static struct inst *begin(const struct access *x, bool by_word) {
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    char opcode[64];
    a = asm_new();
    a->p.local_bytes = LOCAL;
    a->p.local_by_word = by_word;
    mem_init(&mem, 0);
    buffer = mem_alloc(&mem, LOCAL * WARP_LANES, 0, NULL, false);
    base = asm_reg(a, 8);
    for (unsigned e = 0; e < MOST; e++)
        reg[e] = asm_reg(a, x->k->rsize);
    snprintf(opcode, sizeof opcode, "%s%s%s.%s", x->store ? "st" : "ld", x->generic ? "" : ".local", vectors[x->n],
             x->k->type);
    struct inst *in = asm_mem(a, opcode, reg[0], x->k->rsize, base, 0);
    in->list = x->n > 1 ? asm_list(a, reg, x->n) : 0;
    in->n_list = x->n > 1 ? (uint8_t)x->n : 0;
    asm_end(a);
    launch = asm_launch(a, &mem, 1, 32);
    cta = cta_new(&launch);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = cta->warps;
    for (unsigned l = 0; l < WARP_LANES; l++)
        ((uint64_t *)reg_ptr(w, base))[l] = x->at[l] + (x->device >> l & 1 ? buffer + LOCAL * l
                                                        : x->generic       ? LOCAL_WINDOW
                                                                           : 0);
    return in;
}

static void end(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}

/* Returns byte i of the memory that a lane accesses: its part of device memory, or its local memory in the layout that
 * is tested. */
static unsigned char *byte_of(const struct access *x, unsigned l, unsigned i) {
    return x->device >> l & 1 ? mem.list[0].host + LOCAL * l + i : warp_local(w, l, i);
}

/* Copies an element in the model. A store copies the low bytes of the register; a load extends the value. */
static void move(const struct access *x, unsigned char *of_register, unsigned char *of_memory) {
    uint64_t v = 0;
    if (x->store || x->k->msize == WIDEST) {
        memcpy(x->store ? of_memory : of_register, x->store ? of_register : of_memory, x->k->msize);
        return;
    }
    memcpy(&v, of_memory, x->k->msize);
    if (x->k->type[0] == 's' && of_memory[x->k->msize - 1] >> 7)
        v |= ~0ull << (8 * x->k->msize);
    memcpy(of_register, &v, x->k->rsize);
}

START_TEST(loads_and_stores) {
    static unsigned char memory[WARP_LANES][LOCAL], value[MOST][WARP_LANES * WIDEST];
    uint64_t s = 3;
    for (int n = 0; n < CASES; n++) {
        const struct access x = random_access(&s);
        struct inst *in = begin(&x, _i);
        for (unsigned l = 0; l < WARP_LANES; l++)
            for (unsigned i = 0; i < LOCAL; i++)
                *byte_of(&x, l, i) = memory[l][i] = (unsigned char)test_random(&s);
        for (unsigned e = 0; e < MOST; e++) {
            for (unsigned i = 0; i < sizeof value[e]; i++)
                value[e][i] = (unsigned char)test_random(&s);
            memcpy(reg_ptr(w, reg[e]), value[e], WARP_LANES * x.k->rsize);
        }
        exec_inst(w, in, x.lanes, &fx);
        ck_assert_int_eq(fx.fault, FAULT_NONE);
        for (unsigned l = 0; l < WARP_LANES; l++)
            for (unsigned e = 0; e < x.n && x.lanes >> l & 1; e++)
                move(&x, value[e] + l * x.k->rsize, memory[l] + x.at[l] + e * x.k->msize);
        for (unsigned e = 0; e < MOST; e++)
            EXPECT(!memcmp(reg_ptr(w, reg[e]), value[e], WARP_LANES * x.k->rsize), "case %d, %s: register %u", n,
                   x.k->type, e);
        for (unsigned l = 0; l < WARP_LANES; l++)
            for (unsigned i = 0; i < LOCAL; i++)
                EXPECT(*byte_of(&x, l, i) == memory[l][i], "case %d, %s: byte %u of lane %u", n, x.k->type, i, l);
        end();
    }
}
END_TEST

/* Accesses beyond the end of a thread's local memory fault, in both layouts. */
START_TEST(bounds) {
    struct access x = {.k = &widths[8], .n = 1, .lanes = LANES_ALL};
    for (unsigned l = 0; l < WARP_LANES; l++)
        x.at[l] = l == 9 ? LOCAL : LOCAL - 4;
    struct inst *in = begin(&x, _i);
    exec_inst(w, in, LANES_ALL, &fx);
    ck_assert_int_eq(fx.fault, FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(fx.fault_lane, 9);
    end();
}
END_TEST

SUITE(isa_local) {
    TEST_LOOP(loads_and_stores, 0, 2);
    TEST_LOOP(bounds, 0, 2);
}
