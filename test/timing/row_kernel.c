#include "test/timing/row_kernel.h"
#include "test/opcode_text.h"
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

enum { REGS = 9, TEXELS = 8 * 8 * 8 };

const char *const row_place_names[N_ROW_PLACES] = {
    "alone",
    "first",
    "last",
    "twice",
    "in a loop",
    "for one lane",
    "for no lane",
    "alone, no lane",
    "first, for no lane",
    "in a loop, for no lane",
    "for one warp",
    "on one side",
    "on both sides",
};

bool row_spell(const struct isa_row *row, const char *space, char out[ROW_NAME], struct decoded *d) {
    char name[ROW_NAME];
    struct decode_error why;
    isa_row_name(row, name, sizeof name);
    size_t mnemonic = strlen(isa_ops[row->op].mnemonic);
    if (row->op == OP_TEX || row->op == OP_TLD4) {
        mnemonic = strlen(name) - strlen(type_name(row->types[0])) - strlen(type_name(row->types[1]));
        space = row->types[0] == T_F16X2 ? ".v2" : ".v4";
    }
    snprintf(out, ROW_NAME, "%.*s%s%s", (int)mnemonic, name, space, name + mnemonic);
    return isa_decode(out, (uint32_t)strlen(out), d, &why);
}

bool row_left_out(const struct isa_row *row) {
    bool matrix_access = isa_ops[row->op].takes & TAKES_MATRIX && row->kind == K_NOP;
    return isa_ops[row->op].mnemonic[0] == '#' || row->last_version || matrix_access;
}

bool row_meets_others(const struct isa_row *row) {
    return row->kind == K_BARRIER || row->kind == K_WARPSYNC || row->kind == K_WARP || row->kind == K_COMPOUND ||
           row->op == OP_MBARRIER || isa_ops[row->op].takes & TAKES_MATRIX;
}

struct text {
    char *at;
    size_t n;
};
static __attribute__((format(printf, 2, 3))) void put(struct text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    t->n += (size_t)vsnprintf(t->at + t->n, ROW_TEXT - t->n, fmt, args);
    va_end(args);
    ck_assert_uint_lt(t->n, ROW_TEXT);
}

static void put_head(struct text *t, const char *opcode) {
    put(t,
        ".version 8.8\n.target sm_90, texmode_unified\n.address_size 64\n.global %s image;\n%s"
        ".visible .entry k(.param .align 64 .b8 p[64]) {\n%s"
        " .local .align 64 .b8 own[64]; .reg .b64 %%o<4>; .reg .b32 %%t<5>; .reg .pred %%y, %%n;\n",
        opcode_image(opcode), opcode_module, opcode_registers);
}

/* Sets registers to small numbers that differ by thread and register. %d8 is an address in the state space. If
 * possible, each thread has a different address. */
static void put_registers(struct text *t, const struct decoded *d) {
    put(t, " mov.u32 %%t1,%%tid.x; mov.u32 %%t2,%%ctaid.x; mad.lo.u32 %%t2,%%t2,%d,%%t1;\n", ROW_THREADS);
    for (int i = 0; i < REGS; i++) {
        put(t, " add.u32 %%r%d,%%t1,%d; cvt.u64.u32 %%d%d,%%r%d; cvt.u16.u32 %%h%d,%%r%d; cvt.u8.u32 %%b%d,%%r%d;", i,
            i, i, i, i, i, i, i);
        put(t, " cvt.rn.f32.u32 %%f%d,%%r%d; cvt.rn.f64.u32 %%g%d,%%r%d; mov.b128 %%q%d,{%%d%d,%%d%d};\n", i, i, i, i,
            i, i, i);
        put(t, " and.b32 %%t3,%%r%d,%d; setp.ne.u32 %%p%d,%%t3,0;\n", i, 1 + i % 3, i);
    }
    if (d->row->kind == K_WARP)
        put(t, " mov.u32 %%r6,-1;\n"); /* the member mask */
    if (d->row->kind == K_BRX)
        put(t, " mov.u32 %%r1,0;\n"); /* there is one target */
    put(t, " mul.wide.u32 %%o1,%%t2,%d; ld.param.u64 %%o2,[p+56]; add.s64 %%d8,%%o1,%%o2;\n", ROW_STEP);
    if (d->space == SPACE_LOCAL || d->space == SPACE_CONST)
        put(t, " mov.u64 %%d8,%s;\n", d->space == SPACE_LOCAL ? "own" : "constants");
    if (d->op == &isa_ops[OP_MBARRIER])
        put(t, " mbarrier.init.shared.b64 [s],%d;\n mbarrier.arrive.shared.b64 %%d1,[s];\n", ROW_THREADS);
}

/* Stores to the thread's own address. Needs no register that was written before. */
static void put_store(struct text *t) {
    put(t,
        " mov.u32 %%t1,%%tid.x; mov.u32 %%t2,%%ctaid.x; mad.lo.u32 %%t2,%%t2,%d,%%t1;"
        " mul.wide.u32 %%o1,%%t2,%d; ld.param.u64 %%o2,[p+56]; add.s64 %%o1,%%o1,%%o2; st.global.u32 [%%o1+60],7;\n",
        ROW_THREADS, ROW_STEP);
}

static void put_loop(struct text *t, const char *guard, const char *row) {
    put(t, " mov.u32 %%t4,0;\nL: add.u32 %%t4,%%t4,1; setp.lt.u32 %%y,%%t4,3; %s%s @%%y bra L;\n", guard, row);
}

static void put_placed(struct text *t, const char *row, enum row_place place) {
    static const char *const guards[N_ROW_PLACES] = {
        [ROW_ONE_LANE] = "@%n ",      [ROW_NO_LANE] = "@%n ",      [ROW_NO_LANE_ALONE] = "@%n ",
        [ROW_NO_LANE_FIRST] = "@%n ", [ROW_NO_LANE_LOOP] = "@%n ", [ROW_ONE_WARP] = "@%n "};
    const char *guard = guards[place] ? guards[place] : "";
    if (place == ROW_ONE_LANE)
        put(t, " and.b32 %%t3,%%t1,31; setp.eq.u32 %%n,%%t3,5;\n");
    else if (place == ROW_ONE_WARP)
        put(t, " setp.ge.u32 %%n,%%t1,32;\n");
    else if (place == ROW_NO_LANE || place == ROW_NO_LANE_LOOP)
        /* at the other NO_LANE places, %n is false because no instruction has written it */
        put(t, " setp.gt.u32 %%n,%%t1,100000;\n");
    if (place == ROW_LOOP || place == ROW_NO_LANE_LOOP)
        put_loop(t, guard, row);
    else if (place == ROW_ONE_SIDE || place == ROW_BOTH_SIDES)
        put(t, " and.b32 %%t3,%%t1,1; setp.eq.u32 %%n,%%t3,0; @%%n bra M;\n %s ret;\nM: %s", row,
            place == ROW_BOTH_SIDES ? row : "");
    else
        put(t, " %s%s%s%s\n", guard, row, place == ROW_TWICE ? "\n " : "", place == ROW_TWICE ? row : "");
}

void row_kernel(char out[ROW_TEXT], const char *opcode, const struct decoded *d, enum row_place place) {
    static const bool bare[N_ROW_PLACES] = {
        [ROW_ALONE] = true, [ROW_FIRST] = true, [ROW_NO_LANE_ALONE] = true, [ROW_NO_LANE_FIRST] = true};
    struct text t = {.at = out};
    char row[1024];
    opcode_statement(opcode, d, row, sizeof row - 1);
    strcat(row, ";");
    put_head(&t, opcode);
    if (!bare[place])
        put_registers(&t, d);
    put_placed(&t, row, place);
    if (place == ROW_FIRST || place == ROW_NO_LANE_FIRST)
        put_store(&t);
    put(&t, "END:\n}\n");
}

/* Binds texels of the shape that the opcode needs. */
static bool bind_image(struct heddle *h, struct heddle_module *m, const struct decoded *d, uint64_t texels) {
    unsigned geom = form_get(d->form, CAT_GEOM);
    bool flat = geom == GEOM_1D || geom == GEOM_A1D, cube = geom == GEOM_CUBE || geom == GEOM_ACUBE;
    bool array = geom == GEOM_A1D || geom == GEOM_A2D || geom == GEOM_ACUBE;
    return heddle_bind_texture(h, m, "image",
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

void row_run(struct heddle *h, const char *text, const struct decoded *d, int launches, struct row_end *o) {
    memset(o, 0, sizeof *o);
    struct heddle_module *m = heddle_module_text(h, "row.ptx", text, strlen(text));
    uint64_t data = heddle_alloc(h, ROW_BYTES), texels = heddle_alloc(h, 16 * TEXELS);
    uint64_t p[8] = {1, 2, 3, 4, 5, 6, data, data};
    const struct heddle_arg arg = {p, sizeof p};
    heddle_clear(h, data, ROW_BYTES);
    o->status = m && bind_image(h, m, d, texels) ? HEDDLE_OK : heddle_status(h);
    for (int i = 0; i < launches && o->status == HEDDLE_OK; i++)
        o->status = heddle_launch(h, m, "k", (struct heddle_dim){ROW_CTAS, 1, 1},
                                  (struct heddle_dim){ROW_THREADS, 1, 1}, 0, &arg, 1);
    if (o->status != HEDDLE_OK)
        snprintf(o->error, sizeof o->error, "%s", heddle_error(h));
    heddle_read(h, data, o->data, ROW_BYTES);
    heddle_free(h, data);
    heddle_free(h, texels);
}
