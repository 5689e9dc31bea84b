/* Tests each row of the semantics table that has a PTX instruction: it runs once in a kernel under every timing
 * model. Memory and status are compared with the interpreter. A row without a fixed space is tested in each space
 * that accepts it. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/opcode_text.h"
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 4096, REGS = 9, THREADS = 32, CTAS = 2, STEP = 64, DATA = STEP * THREADS * CTAS, TEXELS = 8 * 8 * 8 };
enum { BATCH = 128, NAME = 128 };
static struct heddle *h[1 + MAX_MODELS];
/* Returns the number of models: the interpreter and all timing models. */
static int n_models(void) { return 1 + timed_models()->n; }
static const char *model(int m) { return m ? timed_models()->name[m - 1] : "functional"; }

/* A kernel under construction. */
static struct {
    char text[TEXT * BATCH];
    size_t at;
    struct decoded first;
} k;

static __attribute__((format(printf, 1, 2))) void put(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    k.at += (size_t)vsnprintf(k.text + k.at, sizeof k.text - k.at, fmt, args);
    va_end(args);
    ck_assert_uint_lt(k.at, sizeof k.text);
}

struct outcome {
    enum heddle_status status;
    char error[512];
    uint64_t out[THREADS * CTAS];
    unsigned char data[DATA];
};
static struct outcome want, got;

static void setup(void) {
    char err[512] = "";
    const char *const set[] = {"sm.registers=32768", NULL};
    for (int m = 0; m < n_models(); m++) {
        h[m] = heddle_open(
            &(struct heddle_options){.model = model(m), .config = "tiny", .set = set, .cycle_limit = 2000000}, err,
            sizeof err);
        ck_assert_msg(h[m] != NULL, "%s", err);
    }
}

static void teardown(void) {
    for (int m = 0; m < n_models(); m++)
        heddle_close(h[m]);
}

/* Writes PTX that adds register `reg` to the sum in %o3. */
static void fold(const char *reg) {
    switch (reg[1]) {
    case 'p':
        put(" selp.u64 %%o1,1,0,%s;", reg);
        break;
    case 'b':
        put(" cvt.u64.u8 %%o1,%s;", reg);
        break;
    case 'h':
        put(" cvt.u64.u16 %%o1,%s;", reg);
        break;
    case 'r':
        put(" cvt.u64.u32 %%o1,%s;", reg);
        break;
    case 'f':
        put(" mov.b32 %%t3,%s; cvt.u64.u32 %%o1,%%t3;", reg);
        break;
    case 'q':
        put(" mov.b128 {%%o1,%%o2},%s; xor.b64 %%o1,%%o1,%%o2;", reg);
        break;
    default:
        put(" mov.b64 %%o1,%s;", reg);
    }
    put(" mad.lo.u64 %%o3,%%o3,31,%%o1;\n");
}

static void fold_type(enum type t, int i) {
    char name[16];
    if (t != T_NONE)
        fold(opcode_register(t, i, name));
}

/* Writes the begin of the kernel, which sets registers to small numbers that differ by thread and register. %d8 gets an
 * address in the state space of the opcode. If possible, each thread has a different address. */
static void write_prologue(const char *opcode, const struct decoded *d) {
    k.at = 0;
    k.first = *d;
    /* No target has both mov.b128, which the prologue uses, and vote and shfl without .sync. A module without a target
     * has all instructions. */
    const bool old = (strncmp(opcode, "vote.", 5) == 0 || strncmp(opcode, "shfl.", 5) == 0) && !strstr(opcode, ".sync");
    put(".version 8.8\n.target %stexmode_unified\n.address_size 64\n.global %s image;\n%s"
        ".visible .entry k(.param .align 64 .b8 p[64]) {\n%s",
        old ? "" : "sm_100a, ", opcode_image(opcode), opcode_module, opcode_registers);
    put(" .local .align 64 .b8 own[64]; .reg .b64 %%o<4>; .reg .b32 %%t<4>;\n mov.u32 %%t1,%%tid.x;"
        " mov.u32 %%t2,%%ctaid.x; mad.lo.u32 %%t2,%%t2,%d,%%t1; mov.u64 %%o3,0;\n",
        THREADS);
    for (int i = 0; i < REGS; i++) {
        put(" add.u32 %%r%d,%%t1,%d; cvt.u64.u32 %%d%d,%%r%d; cvt.u16.u32 %%h%d,%%r%d; cvt.u8.u32 %%b%d,%%r%d;", i, i,
            i, i, i, i, i, i);
        put(" cvt.rn.f32.u32 %%f%d,%%r%d; cvt.rn.f64.u32 %%g%d,%%r%d; mov.b128 %%q%d,{%%d%d,%%d%d};", i, i, i, i, i, i,
            i);
        put(" and.b32 %%t3,%%r%d,%d; setp.ne.u32 %%p%d,%%t3,0;\n", i, 1 + i % 3, i);
    }
    if (d->row->kind == K_WARP)
        put(" mov.u32 %%r6,-1;\n"); /* the member mask */
    if (d->row->kind == K_BRX)
        put(" mov.u32 %%r1,0;\n"); /* there is one target */
    put(" mul.wide.u32 %%o1,%%t2,%d; ld.param.u64 %%o2,[p+56]; add.s64 %%d8,%%o1,%%o2;\n", STEP);
    put(" st.shared.u64 [s],%%d1; st.local.u64 [own],%%d2; st.shared.u64 [s+8],%%d2;\n");
    if (d->space == SPACE_LOCAL || d->space == SPACE_CONST)
        put(" mov.u64 %%d8,%s;\n", d->space == SPACE_LOCAL ? "own" : "constants");
    if (d->op == &isa_ops[OP_MBARRIER])
        put(" mbarrier.init.shared.b64 [s],%d;\n mbarrier.arrive.shared.b64 %%d1,[s];\n", THREADS);
}

static const char *write_statement(const char *opcode, const struct decoded *d) {
    static char statement[TEXT];
    opcode_statement(opcode, d, statement, sizeof statement);
    put(" %s;\n", statement);
    if (d->row->kind == K_COPY) /* until a wait, PTX does not define what the copy's destination contains */
        put(" cp.async.wait_all;\n");
    return statement;
}

static void write_epilogue(void) {
    static const char families[] = "prdfghq";
    put("END:\n");
    for (int i = 1; i < REGS - 1; i++)
        for (const char *f = families; *f; f++) {
            char name[16];
            snprintf(name, sizeof name, "%%%c%d", *f, i);
            fold(name);
        }
    put(" ld.shared.u64 %%d1,[s]; ld.local.u64 %%d2,[own];\n");
    fold("%d1");
    fold("%d2");
    put(" ld.param.u64 %%o2,[p+48]; mul.wide.u32 %%o1,%%t2,8; add.s64 %%o2,%%o1,%%o2; st.global.u64 [%%o2],%%o3; "
        "ret;\n}\n");
}

/* Binds texels of the shape that the opcode needs. */
static bool bind_image(struct heddle *c, struct heddle_module *m, uint64_t texels) {
    const struct decoded *d = &k.first;
    unsigned geom = form_get(d->form, CAT_GEOM);
    bool flat = geom == GEOM_1D || geom == GEOM_A1D, cube = geom == GEOM_CUBE || geom == GEOM_ACUBE;
    bool array = geom == GEOM_A1D || geom == GEOM_A2D || geom == GEOM_ACUBE;
    return heddle_bind_texture(c, m, "image",
                               &(struct heddle_texture){.data = texels,
                                                        .width = cube ? 4 : 8,
                                                        .height = flat   ? 0
                                                                  : cube ? 4
                                                                         : 8,
                                                        .depth = geom == GEOM_3D ? 4 : 0,
                                                        .layers = array ? 2 : 0,
                                                        .cube = cube,
                                                        .channels = d->vec == 4 ? 4 : 1,
                                                        .format = HEDDLE_U32}) == HEDDLE_OK;
}

static void run(struct heddle *c, struct outcome *o) {
    memset(o, 0, sizeof *o);
    struct heddle_module *m = heddle_module_text(c, "row.ptx", k.text, k.at);
    uint64_t out = heddle_alloc(c, sizeof o->out), data = heddle_alloc(c, DATA), texels = heddle_alloc(c, 16 * TEXELS);
    uint64_t p[8] = {1, 2, 3, 4, 5, 6, out, data};
    struct heddle_arg arg = {p, sizeof p};
    struct heddle_dim grid = {CTAS, 1, 1}, block = {THREADS, 1, 1};
    bool ready = m && bind_image(c, m, texels);
    o->status = ready ? heddle_launch(c, m, "k", grid, block, 0, &arg, 1) : heddle_status(c);
    if (o->status != HEDDLE_OK)
        snprintf(o->error, sizeof o->error, "%s", heddle_error(c));
    heddle_read(c, out, o->out, sizeof o->out);
    heddle_read(c, data, o->data, DATA);
    heddle_free(c, out);
    heddle_free(c, data);
    heddle_free(c, texels);
}

/* Compares the kinds of two faults. The rest of a message depends on what the context loaded before. */
static bool same_fault(const char *a, const char *b) {
    size_t n = strcspn(a, ":\n");
    return n == strcspn(b, ":\n") && memcmp(a, b, n) == 0;
}

static int turn;        /* position in the sample */
static bool all_models; /* true if dissenter() must run all models, to find the row in which a model differs */

/* Returns the name of a model whose outcome differs from the interpreter's, or NULL if none differs. Each call runs an
 * eighth of the models, and the next call runs another eighth. With HEDDLE_EVERY or all_models, all models run. */
static const char *dissenter(void) {
    turn++;
    for (int m = 1; m < n_models(); m++) {
        if ((m + turn) % 8 && !test_every() && !all_models)
            continue;
        run(h[m], &got);
        if (got.status != want.status || !same_fault(got.error, want.error))
            return model(m);
        /* after a fault the progress of other CTAs is not defined */
        if (want.status == HEDDLE_OK &&
            (memcmp(got.out, want.out, sizeof want.out) != 0 || memcmp(got.data, want.data, DATA) != 0))
            return model(m);
    }
    return NULL;
}

/* Tests one row alone. Returns false if the row does not accept the space. */
static bool try_alone(const char *opcode, const struct decoded *d) {
    write_prologue(opcode, d);
    const char *statement = write_statement(opcode, d);
    write_epilogue();
    run(h[0], &want);
    if (want.status == HEDDLE_USAGE) {
        EXPECT(strstr(want.error, "error:"), "%s: %s", statement, want.error);
        return false;
    }
    const char *model = dissenter();
    EXPECT(!model, "%s in %s: %d %s; in the interpreter: %d %s", statement, model, got.status, got.error, want.status,
           want.error);
    return true;
}

/* Writes the opcode of a row with a state space: "ld.u32" as "ld.shared.u32". In texture fetches, the vector
 * qualifier comes before the types. */
static bool spell(const struct isa_row *row, const char *space, char out[NAME], struct decoded *d) {
    char name[NAME];
    struct decode_error why;
    isa_row_name(row, name, sizeof name);
    size_t mnemonic = strlen(isa_ops[row->op].mnemonic);
    if (row->op == OP_TEX || row->op == OP_TLD4) {
        mnemonic = strlen(name) - strlen(type_name(row->types[0])) - strlen(type_name(row->types[1]));
        space = row->types[0] == T_F16X2 ? ".v2" : ".v4";
    }
    snprintf(out, NAME, "%.*s%s%s", (int)mnemonic, name, space, name + mnemonic);
    return isa_decode(out, (uint32_t)strlen(out), d, &why);
}

/* Returns true for rows that only lowering creates, and for rows of removed PTX instructions that equal another row. */
static bool left_out(const struct isa_row *row) {
    /* Loads and stores of matrices need one address for all lanes; here each lane has its own
     * (isa/exec/exec_matrix.c). */
    bool matrix_access = isa_ops[row->op].takes & TAKES_MATRIX && row->kind == K_NOP;
    /* One function executes all mma with small types, scales or sparse matrices, and exec_mma.c tests them. */
    bool tested = row->op == OP_MMA && (form_get(row->form, CAT_KIND) || form_get(row->form, CAT_SPARSE) ||
                                        row->types[1] == T_S4 || row->types[1] == T_U4);
    /* Instructions of warp groups and of tensor memory, and those below, need operands of their own.
     * groups.c and stealing.c in test/host, and test/isa/exec/aligned.c, test them. */
    return isa_ops[row->op].mnemonic[0] == '#' || row->last_version || matrix_access || tested ||
           row->op == OP_CREATEPOLICY || row->op == OP_WGMMA || row->op == OP_TCGEN05 || row->op == OP_SETMAXNREG ||
           row->op == OP_CLUSTERLAUNCHCONTROL;
}
static bool plain(const struct isa_row *row) { return row->kind == K_LANE || row->kind == K_CVT; }

/* Since arithmetic cannot fault, many rows share one kernel, and each result is added to the sum. */
START_TEST(arithmetic_is_the_same_in_every_model) {
    uint32_t n, rows = 0;
    const struct isa_row *all = isa_all_rows(&n);
    struct decoded d;
    char opcode[NAME];
    for (uint32_t i = (uint32_t)_i * BATCH; i < n && i < ((uint32_t)_i + 1) * BATCH; i++) {
        if (!plain(&all[i]) || left_out(&all[i]))
            continue;
        EXPECT(spell(&all[i], "", opcode, &d), "%s", opcode);
        if (!rows++)
            write_prologue(opcode, &d);
        write_statement(opcode, &d);
        fold_type(all[i].d, 1);
        fold_type(form_get(all[i].form, CAT_CC) ? T_NONE : (enum type)all[i].d2, 2);
    }
    if (!rows)
        return;
    write_epilogue();
    run(h[0], &want);
    EXPECT(want.status == HEDDLE_OK, "%s", want.error);
    turn = _i;
    if (!dissenter())
        return;
    all_models = true;
    for (uint32_t i = (uint32_t)_i * BATCH; i < n && i < ((uint32_t)_i + 1) * BATCH; i++)
        if (plain(&all[i]) && !left_out(&all[i]) && spell(&all[i], "", opcode, &d))
            try_alone(opcode, &d);
    ck_abort_msg("rows %d to %d differ together, and not one of them alone", _i * BATCH, (_i + 1) * BATCH);
}
END_TEST

/* Each row that may fault, wait or exit has its own kernel, whose status is compared, too. These rows are divided into
 * PARTS parts, one for each run of the test. */
enum { PARTS = 8 };
START_TEST(the_rest_is_the_same_in_every_model) {
    static const char *const spaces[] = {"", ".global", ".shared", ".local", ".const", ".param"};
    uint32_t n, rows = 0, index = 0;
    const struct isa_row *all = isa_all_rows(&n);
    turn = _i;
    for (uint32_t i = 0; i < n; i++) {
        bool memory =
            all[i].kind == K_LOAD || all[i].kind == K_STORE || all[i].kind == K_ATOM || all[i].kind == K_PREFETCH;
        if (plain(&all[i]) || left_out(&all[i]) || index++ % PARTS != (uint32_t)_i)
            continue;
        bool any = false;
        for (int s = 0; s < (memory ? 6 : 1); s++) {
            struct decoded d;
            char opcode[NAME];
            if ((all[i].kind == K_STORE && s == 4) || (all[i].kind == K_ATOM && s >= 4))
                continue; /* kernels cannot write .const, and no atomic accesses .const or .param */
            any = (spell(&all[i], spaces[s], opcode, &d) && try_alone(opcode, &d)) || any;
        }
        char name[NAME];
        isa_row_name(&all[i], name, sizeof name);
        EXPECT(any, "%s goes with no space: %s", name, want.error);
        rows++;
    }
    ck_assert_uint_gt(rows, 10);
}
END_TEST

SUITE(timing_opcodes) {
    uint32_t n;
    isa_rows(&n);
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST_LOOP(arithmetic_is_the_same_in_every_model, 0, (int)(n / BATCH + 1));
    TEST_LOOP(the_rest_is_the_same_in_every_model, 0, PARTS);
}
