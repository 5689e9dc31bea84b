/* Tests the bytes of vector instructions in both encodings. The expected bytes come from the GNU assembler, for the
 * text in the comment beside them. */
#include "isa/jit/compile.h"
#include "test/test.h"

enum form { REGISTERS, MEMORY, INDEX };

struct expected {
    const char *text;
    bool vex;
    enum form form;
    uint32_t op;
    unsigned reg, second, third; /* third: a register; in form INDEX, the register with the byte offsets */
    struct place place;
    unsigned imm, n; /* immediate byte; 0: none */
    unsigned char bytes[12];
};

static const struct expected all[] = {
    {"vpaddd 0x40(%rbx),%ymm5,%ymm7", true, MEMORY, V_ADD32, 7, 5, 0, {RBX, 64}, 0, 5, {0xc5, 0xd5, 0xfe, 0x7b, 0x40}},
    {"vpaddd %ymm14,%ymm9,%ymm8", true, REGISTERS, V_ADD32, 8, 9, 14, {0}, 0, 5, {0xc4, 0x41, 0x35, 0xfe, 0xc6}},
    {"vpaddq %ymm3,%ymm9,%ymm12", true, REGISTERS, V_ADD64, 12, 9, 3, {0}, 0, 4, {0xc5, 0x35, 0xd4, 0xe3}},
    {"vmovups 0x12345(%r12),%ymm15",
     true,
     MEMORY,
     V_LOAD,
     15,
     0,
     0,
     {R12, 0x12345},
     0,
     10,
     {0xc4, 0x41, 0x7c, 0x10, 0xbc, 0x24, 0x45, 0x23, 0x01, 0x00}},
    {"vmovups %ymm6,-0x20(%r13)",
     true,
     MEMORY,
     V_STORE,
     6,
     0,
     0,
     {R13, -32},
     0,
     6,
     {0xc4, 0xc1, 0x7c, 0x11, 0x75, 0xe0}},
    {"vbroadcastss 0x10(%r9),%ymm11",
     true,
     MEMORY,
     V_LOAD_SAME32,
     11,
     0,
     0,
     {R9, 16},
     0,
     6,
     {0xc4, 0x42, 0x7d, 0x18, 0x59, 0x10}},
    {"vbroadcastsd 0x10(%rsp),%ymm4",
     true,
     MEMORY,
     V_LOAD_SAME64,
     4,
     0,
     0,
     {RSP, 16},
     0,
     7,
     {0xc4, 0xe2, 0x7d, 0x19, 0x64, 0x24, 0x10}},
    {"vpbroadcastq %xmm2,%ymm13", true, REGISTERS, V_BROADCAST64, 13, 0, 2, {0}, 0, 5, {0xc4, 0x62, 0x7d, 0x59, 0xea}},
    {"vpmuldq %ymm8,%ymm1,%ymm2", true, REGISTERS, V_WIDE_S32, 2, 1, 8, {0}, 0, 5, {0xc4, 0xc2, 0x75, 0x28, 0xd0}},
    {"vpsrlvq %ymm10,%ymm5,%ymm6", true, REGISTERS, V_SHR64, 6, 5, 10, {0}, 0, 5, {0xc4, 0xc2, 0xd5, 0x45, 0xf2}},
    {"vfmadd231pd %ymm5,%ymm6,%ymm7",
     true,
     REGISTERS,
     V_FMA231 | 0x100,
     7,
     6,
     5,
     {0},
     0,
     5,
     {0xc4, 0xe2, 0xcd, 0xb8, 0xfd}},
    {"vfmadd231ps %ymm5,%ymm6,%ymm7", true, REGISTERS, V_FMA231, 7, 6, 5, {0}, 0, 5, {0xc4, 0xe2, 0x4d, 0xb8, 0xfd}},
    {"vcvtdq2ps %ymm12,%ymm3", true, REGISTERS, V_F32_S32, 3, 0, 12, {0}, 0, 5, {0xc4, 0xc1, 0x7c, 0x5b, 0xdc}},
    {"vpsrlq $0x20,%ymm9,%ymm12",
     true,
     REGISTERS,
     V_SHIFT64,
     SHIFT_RIGHT,
     12,
     9,
     {0},
     32,
     6,
     {0xc4, 0xc1, 0x1d, 0x73, 0xd1, 0x20}},
    {"vmovq %xmm5,%rcx", true, REGISTERS, V_TO_GPR64, 5, 0, RCX, {0}, 0, 5, {0xc4, 0xe1, 0xf9, 0x7e, 0xe9}},
    {"vpgatherdd %ymm4,0x10(%rdx,%ymm2,1),%ymm1",
     true,
     INDEX,
     V_GATHER32,
     1,
     4,
     2,
     {RDX, 16},
     0,
     10,
     {0xc4, 0xe2, 0x5d, 0x90, 0x8c, 0x12, 0x10}},
    {"vpgatherqq %ymm4,0x10(%r10,%ymm12,1),%ymm9",
     true,
     INDEX,
     V_GATHER64,
     9,
     4,
     12,
     {R10, 16},
     0,
     10,
     {0xc4, 0x02, 0xdd, 0x91, 0x8c, 0x22, 0x10}},
    {"vpaddd 0x40(%rbx),%zmm5,%zmm7",
     false,
     MEMORY,
     V_ADD32,
     7,
     5,
     0,
     {RBX, 64},
     0,
     7,
     {0x62, 0xf1, 0x55, 0x48, 0xfe, 0x7b, 0x01}},
    {"vpaddq %zmm30,%zmm9,%zmm17",
     false,
     REGISTERS,
     V_ADD64,
     17,
     9,
     30,
     {0},
     0,
     6,
     {0x62, 0x81, 0xb5, 0x48, 0xd4, 0xce}},
    {"vbroadcastsd 0x10(%rsp),%zmm4",
     false,
     MEMORY,
     V_LOAD_SAME64,
     4,
     0,
     0,
     {RSP, 16},
     0,
     8,
     {0x62, 0xf2, 0xfd, 0x48, 0x19, 0x64, 0x24, 0x02}},
};

/* Instructions with a mask register. An instruction of form INDEX sets its mask register itself. */
static const struct {
    unsigned mask;
    struct expected is;
} masked[] = {
    {0,
     {"vpscatterdd %zmm20,0x10(%rdx,%zmm2,1){%k1}",
      false,
      INDEX,
      V_GATHER32 + V_TO_SCATTER,
      20,
      1,
      2,
      {RDX, 16},
      0,
      11,
      {0x62, 0xe2, 0x7d, 0x49, 0xa0, 0xa4, 0x12, 0x10, 0x00, 0x00, 0x00}}},
    {0,
     {"vpscatterqd %ymm9,0x10(%rdx,%zmm2,1){%k1}",
      false,
      INDEX,
      V_GATHERQ32 + V_TO_SCATTER,
      9,
      1,
      2,
      {RDX, 16},
      0,
      11,
      {0x62, 0x72, 0x7d, 0x49, 0xa1, 0x8c, 0x12, 0x10, 0x00, 0x00, 0x00}}},
    {0,
     {"vpscatterqq %zmm31,0x10(%r10,%zmm12,1){%k1}",
      false,
      INDEX,
      V_GATHER64 + V_TO_SCATTER,
      31,
      1,
      12,
      {R10, 16},
      0,
      11,
      {0x62, 0x02, 0xfd, 0x49, 0xa1, 0xbc, 0x22, 0x10, 0x00, 0x00, 0x00}}},
    {6,
     {"vmovups %zmm17,0x840(%rbx){%k6}",
      false,
      MEMORY,
      V_STORE,
      17,
      0,
      0,
      {RBX, 0x840},
      0,
      7,
      {0x62, 0xe1, 0x7c, 0x4e, 0x11, 0x4b, 0x21}}},
    {6,
     {"vmovupd 0x840(%rbx),%zmm17{%k6}",
      false,
      MEMORY,
      V_LOAD64,
      17,
      0,
      0,
      {RBX, 0x840},
      0,
      7,
      {0x62, 0xe1, 0xfd, 0x4e, 0x10, 0x4b, 0x21}}},
    {1,
     {"vporq %zmm2,%zmm3,%zmm3{%k1}",
      false,
      REGISTERS,
      V_OR64,
      3,
      3,
      2,
      {0},
      0,
      6,
      {0x62, 0xf1, 0xe5, 0x49, 0xeb, 0xda}}},
    {2,
     {"vcmpunordpd %zmm9,%zmm25,%k2{%k2}",
      false,
      REGISTERS,
      V_CMP_F64,
      2,
      25,
      9,
      {0},
      3,
      7,
      {0x62, 0xd1, 0xb5, 0x42, 0xc2, 0xd1, 0x03}}},
};

static void check(const struct expected *x, struct lanes l) {
    struct emit e = {.vex = x->vex};
    if (x->form == REGISTERS)
        emit_vector(&e, x->op, x->reg, x->second, x->third, l);
    else if (x->form == MEMORY)
        emit_vector_mem(&e, x->op, x->reg, x->second, x->place, l);
    else
        emit_vector_index(&e, x->op, x->reg, x->place, x->third, x->second);
    if (x->imm)
        emit_byte(&e, x->imm);
    ck_assert_msg(e.n == x->n && memcmp(e.code, x->bytes, x->n) == 0, "%s: %zu bytes: %02x %02x %02x %02x %02x %02x",
                  x->text, e.n, e.code[0], e.code[1], e.code[2], e.code[3], e.code[4], e.code[5]);
    emit_free(&e);
}

START_TEST(bytes_are_as_the_assembler_makes_them) { check(&all[_i], WHOLE); }
END_TEST

START_TEST(masked_bytes_are_as_the_assembler_makes_them) {
    check(&masked[_i].is, (struct lanes){masked[_i].mask, false});
}
END_TEST

START_TEST(general_registers) {
    static const unsigned char popcounts[] = {0xf3, 0x0f, 0xb8, 0xc0, 0xf3, 0x41, 0x0f, 0xb8, 0xc9};
    struct emit e = {0};
    emit_popcount_of(&e, RAX, RAX); /* popcnt %eax,%eax */
    emit_popcount_of(&e, RCX, R9);  /* popcnt %r9d,%ecx */
    ck_assert_uint_eq(e.n, sizeof popcounts);
    ck_assert_mem_eq(e.code, popcounts, sizeof popcounts);
    emit_free(&e);
}
END_TEST

START_TEST(prefetches) {
    static const unsigned char bytes[] = {0x0f, 0x18, 0x49, 0x40, 0x41, 0x0f, 0x18, 0x89, 0x45, 0x23, 0x01, 0x00};
    struct emit e = {0};
    emit_prefetch(&e, at(RCX, 0x40));   /* prefetcht0 0x40(%rcx) */
    emit_prefetch(&e, at(R9, 0x12345)); /* prefetcht0 0x12345(%r9) */
    ck_assert_uint_eq(e.n, sizeof bytes);
    ck_assert_mem_eq(e.code, bytes, sizeof bytes);
    emit_free(&e);
}
END_TEST

/* The displacement has 32 bits, and a REX prefix is always present. */
START_TEST(indexed_operands) {
    struct emit e = {0};
    static const unsigned char bytes[] = {
        0x40, 0x0f, 0xb6, 0x84, 0x02, 0x00, 0x00, 0x00, 0x00, /* movzbl 0x0(%rdx,%rax,1),%eax */
        0x48, 0x0f, 0xbe, 0x84, 0x0b, 0x10, 0x00, 0x00, 0x00, /* movsbq 0x10(%rbx,%rcx,1),%rax */
        0x40, 0x0f, 0xb7, 0xbc, 0x4b, 0x10, 0x00, 0x00, 0x00, /* movzwl 0x10(%rbx,%rcx,2),%edi */
        0x4b, 0x0f, 0xbf, 0x84, 0x4c, 0x00, 0x00, 0x00, 0x00, /* movswq 0x0(%r12,%r9,2),%rax */
        0x40, 0x8b, 0x84, 0x8d, 0x00, 0x01, 0x00, 0x00,       /* mov 0x100(%rbp,%rcx,4),%eax */
        0x48, 0x63, 0x84, 0x8d, 0x00, 0x01, 0x00, 0x00,       /* movslq 0x100(%rbp,%rcx,4),%rax */
        0x48, 0x8b, 0x84, 0xcd, 0x00, 0x01, 0x00, 0x00,       /* mov 0x100(%rbp,%rcx,8),%rax */
        0x40, 0x88, 0xbc, 0x02, 0x00, 0x00, 0x00, 0x00,       /* mov %dil,0x0(%rdx,%rax,1) */
        0x66, 0x40, 0x89, 0xbc, 0x02, 0x00, 0x00, 0x00, 0x00, /* mov %di,0x0(%rdx,%rax,1) */
        0x40, 0x89, 0x84, 0x8b, 0x20, 0x00, 0x00, 0x00,       /* mov %eax,0x20(%rbx,%rcx,4) */
        0x48, 0x89, 0x84, 0xcb, 0x20, 0x00, 0x00, 0x00,       /* mov %rax,0x20(%rbx,%rcx,8) */
        0xf3, 0x0f, 0xbc, 0xce,                               /* tzcnt %esi,%ecx */
    };
    emit_load_indexed(&e, 1, false, RAX, (struct indexed){RDX, RAX, 1, 0});
    emit_load_indexed(&e, 1, true, RAX, (struct indexed){RBX, RCX, 1, 16});
    emit_load_indexed(&e, 2, false, RDI, (struct indexed){RBX, RCX, 2, 16});
    emit_load_indexed(&e, 2, true, RAX, (struct indexed){R12, R9, 2, 0});
    emit_load_indexed(&e, 4, false, RAX, (struct indexed){RBP, RCX, 4, 256});
    emit_load_indexed(&e, 4, true, RAX, (struct indexed){RBP, RCX, 4, 256});
    emit_load_indexed(&e, 8, false, RAX, (struct indexed){RBP, RCX, 8, 256});
    emit_store_indexed(&e, 1, (struct indexed){RDX, RAX, 1, 0}, RDI);
    emit_store_indexed(&e, 2, (struct indexed){RDX, RAX, 1, 0}, RDI);
    emit_store_indexed(&e, 4, (struct indexed){RBX, RCX, 4, 32}, RAX);
    emit_store_indexed(&e, 8, (struct indexed){RBX, RCX, 8, 32}, RAX);
    emit_first_bit(&e, RCX, RSI);
    ck_assert_uint_eq(e.n, sizeof bytes);
    ck_assert_mem_eq(e.code, bytes, sizeof bytes);
    emit_free(&e);
}
END_TEST

SUITE(isa_jit_emit) {
    TEST(indexed_operands);
    TEST(prefetches);
    TEST(general_registers);
    TEST_LOOP(bytes_are_as_the_assembler_makes_them, 0, sizeof all / sizeof all[0]);
    TEST_LOOP(masked_bytes_are_as_the_assembler_makes_them, 0, sizeof masked / sizeof masked[0]);
}
