#include "test/isa/exec/tcgen05_kernel.h"

void tcgen05_list(struct text *t, int n) {
    for (int i = 0; i < n; i++)
        add(t, "%s%%r%d", i ? "," : "{", i);
    add(t, "}");
}

void tcgen05_begin(struct text *t) {
    t->n = 0;
    add(t,
        ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 in, "
        ".param .u64 out, .param .u64 da, .param .u64 db, .param .u32 what) {\n.shared .align 1024 .b8 s[%d];\n"
        ".reg .b64 %%d<12>; .reg .b32 %%r<160>, %%t<12>; .reg .pred %%p, %%q, %%one;\n"
        "ld.param.u64 %%d0, [image]; ld.param.u64 %%d1, [in]; ld.param.u64 %%d5, [out]; ld.param.u64 %%d2, [da]; "
        "ld.param.u64 %%d3, [db]; ld.param.u32 %%t6, [what];\nmov.u32 %%t0, %%tid.x; setp.eq.u32 %%one, %%t0, 0;\n"
        "mul.wide.u32 %%d6, %%t0, 256; add.u64 %%d1, %%d1, %%d6; add.u64 %%d5, %%d5, %%d6; shl.b32 %%t0, %%t0, 2; "
        "cvt.u64.u32 %%d4, %%t0;\nmov.u32 %%t2, s; add.u32 %%t2, %%t2, %%t0; add.u64 %%d0, %%d0, %%d4;\n"
        "L: ld.global.u32 %%t3, [%%d0]; st.shared.u32 [%%t2+1024], %%t3; add.u64 %%d0, %%d0, 512; add.u32 %%t2, %%t2, "
        "512; add.u32 %%t0, %%t0, 512; setp.lt.u32 %%q, %%t0, %d; @%%q bra L;\n"
        "mov.u32 %%t0, %%tid.x; shr.u32 %%t4, %%t0, 5; setp.ne.u32 %%q, %%t4, 0; @%%q bra M;\n"
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 128;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n@!%%one bra M; mbarrier.init.shared.b64 [s+8], "
        "1;\n"
        "M: bar.sync 0; ld.shared.u32 %%t5, [s]; shl.b32 %%t4, %%t4, 21; add.u32 %%t5, %%t5, %%t4;\n",
        IMAGE + 1024, IMAGE);
    for (int i = 0; i < COLUMNS; i++)
        add(t, "ld.global.u32 %%r%d, [%%d1+%d];\n", i, 4 * i);
    add(t, "tcgen05.st.sync.aligned.32x32b.x64.b32 [%%t5], ");
    tcgen05_list(t, COLUMNS);
    add(t, ";\ntcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
           "tcgen05.fence::after_thread_sync;\n");
}

void tcgen05_end(struct text *t, int n) {
    add(t, "tcgen05.wait::ld.sync.aligned;\n");
    for (int i = 0; i < n; i++)
        add(t, "st.global.u32 [%%d5+%d], %%r%d;\n", 4 * i, i);
    add(t, "bar.sync 0; mov.u32 %%t0, %%tid.x; setp.ge.u32 %%q, %%t0, 32; @%%q bra E; ld.shared.u32 %%t5, [s];\n"
           "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%t5, 128;\nE: ret;\n}\n");
}

struct heddle *tcgen05_open(const char *model) {
    char err[512];
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .cycle_limit = 1000000}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    return h;
}

void tcgen05_run(struct heddle *h, const struct text *t, const unsigned char *image, uint32_t words[LANES][COLUMNS],
                 uint64_t da, uint64_t db, uint32_t what) {
    uint64_t from = heddle_alloc(h, IMAGE), in = heddle_alloc(h, sizeof(uint32_t) * LANES * COLUMNS),
             out = heddle_alloc(h, sizeof(uint32_t) * LANES * COLUMNS);
    struct heddle_arg args[] = {{&from, 8}, {&in, 8}, {&out, 8}, {&da, 8}, {&db, 8}, {&what, 4}};
    heddle_write(h, from, image, IMAGE);
    heddle_write(h, in, words, sizeof(uint32_t) * LANES * COLUMNS);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", t->at, t->n);
    EXPECT(m != NULL, "%s\n%s", heddle_error(h), t->at);
    struct heddle_dim one = {1, 1, 1}, group = {THREADS, 1, 1};
    EXPECT(heddle_launch(h, m, "k", one, group, 0, args, 6) == HEDDLE_OK, "%s\n%s", heddle_error(h), t->at);
    heddle_read(h, out, words, sizeof(uint32_t) * LANES * COLUMNS);
    heddle_free(h, from);
    heddle_free(h, in);
    heddle_free(h, out);
}

const struct tcgen05_shape tcgen05_shapes[SHAPES] = {
    {"32x32b", 64, 1}, {"16x64b", 32, 1}, {"16x128b", 16, 2}, {"16x256b", 8, 4}, {"16x32bx2", 32, 1}};

void tcgen05_cell(int shape, int thread, int r, int *lane, int *column) {
    const int g = thread % 32 / 4, t = thread % 4;
    *lane = shape == 0 ? thread % 32 : g;
    *column = r;
    /* threads 0 and 2 of a quad have row g, threads 1 and 3 have row g + 8; each register has two columns */
    if (shape == 1) {
        *lane = g + (t & 1) * 8;
        *column = 2 * r + (t >> 1);
    } else if (shape == 2) { /* each quad has rows g and g + 8; each thread of it has one column */
        *lane = g + (r & 1) * 8;
        *column = 4 * (r >> 1) + t;
    } else if (shape == 3) { /* the layout of the accumulators of mma.m16n8k16 */
        *lane = g + (r >> 1 & 1) * 8;
        *column = 8 * (r >> 2) + 2 * t + (r & 1);
    } else if (shape == 4) { /* the second 16 threads have the columns that are 32 further on */
        *lane = thread % 16;
        *column = r + (thread % 32 >= 16 ? 32 : 0);
    }
}
