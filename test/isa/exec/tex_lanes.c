/* Tests texture and surface instructions that execute a whole warp at once. Registers, memory, addresses and faults
 * must equal those of the same instruction executed for one lane after another. A single lane uses tex_sample.c, which
 * isa_exec_tex tests with numbers derived by hand. */
#include "isa/exec/exec_tex.h"
#include "isa/machine/texture.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"
#include <math.h>

enum { BYTES = 1 << 14, REGISTERS = 4, SOURCES = 14, CASES = 4000 };

struct scene {
    struct asm_program *a;
    struct memory mem;
    struct launch launch;
    struct cta *cta;
    struct warp *w;
    struct inst *in;
    opnd_t out[REGISTERS], source[SOURCES], pred;
    struct texture objects[3];
    unsigned char texels[BYTES];
    uint32_t sources[SOURCES][WARP_LANES];
};

static bool chance(uint64_t *s, uint32_t of) { return test_random_below(s, of) == 0; }

static struct texture random_texture(uint64_t *s, uint64_t data, uint8_t kind, bool array) {
    static const unsigned bytes[] = {1, 1, 2, 2, 4, 4, 2, 4};
    static const uint8_t channels[] = {1, 2, 4};
    struct texture t = {.data = data + 256,
                        .width = 1 + test_random_below(s, 9),
                        .height = test_random_below(s, 9),
                        .depth = test_random_below(s, 5),
                        .layers = array ? test_random_below(s, 5) : 0,
                        .kind = kind,
                        .channels = channels[test_random_below(s, 3)],
                        .format = (uint8_t)test_random_below(s, 8),
                        .levels = (uint8_t)test_random_below(s, 2),
                        .normalized_read = chance(s, 2),
                        .linear = chance(s, 2),
                        .normalized_coords = chance(s, 2)};
    for (int d = 0; d < 3; d++)
        t.address[d] = (uint8_t)test_random_below(s, 4);
    for (int c = 0; c < 4; c++)
        t.border[c] = (float)test_random_below(s, 100) / 8.0f - 3.0f;
    t.pitch = (uint64_t)t.width * bytes[t.format] * t.channels + 16 * test_random_below(s, 3);
    t.slice = t.pitch * (t.height ? t.height : 1);
    return t;
}

/* Returns coordinates that are mostly near the edges of small textures, and sometimes arbitrary. */
static uint32_t random_coordinate(uint64_t *s, bool is_real, bool normalized) {
    static const float special[] = {INFINITY, -INFINITY, NAN, -0.0f, 1.0f, 0x1p30f, -0x1p31f, 1e-30f, -1e-12f, 3e38f};
    float x = ((float)test_random_below(s, 4000) - 1500.0f) / (normalized ? 700.0f : 100.0f);
    uint32_t bits;
    if (!is_real)
        return chance(s, 20) ? (uint32_t)test_random(s) : test_random_below(s, 16) - 3;
    if (chance(s, 12))
        x = special[test_random_below(s, sizeof special / sizeof special[0])];
    if (chance(s, 4))
        x = floorf(x * 2.0f) / 2.0f;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void scene_begin(struct scene *c) {
    memset(c, 0, sizeof *c);
    c->a = asm_new();
    mem_init(&c->mem, 0);
    for (int i = 0; i < REGISTERS; i++)
        c->out[i] = asm_reg(c->a, 4);
    for (int i = 0; i < SOURCES; i++)
        c->source[i] = asm_reg(c->a, 4);
    c->pred = asm_reg(c->a, 4);
    mem_alloc(&c->mem, BYTES, 0, NULL, false);
}

static void scene_end(struct scene *c) {
    cta_free(c->cta);
    mem_free_all(&c->mem);
    asm_free(c->a);
}

/* Creates the scene's instruction and starts a CTA that executes it. Its results are the first n_out registers of
 * c->out, its sources the first n_sources registers of c->source. */
static void scene_inst(struct scene *c, const char *opcode, unsigned n_out, unsigned n_sources) {
    uint32_t list[REGISTERS + SOURCES], k = 0;
    c->in = asm_op(c->a, opcode, OPND_SINK, asm_const(c->a, 8, TEXTURE_HANDLE), OPND_ZERO, OPND_ZERO);
    c->in->b = asm_const(c->a, 8, TEXTURE_HANDLE + 1);
    for (unsigned i = 0; i < n_out; i++)
        list[k++] = c->out[i];
    for (unsigned i = 0; i < n_sources; i++)
        list[k++] = c->source[i];
    c->in->list = asm_list(c->a, list, k);
    c->in->n_list = (uint8_t)k;
    c->in->msize = (uint8_t)n_out;
    c->in->rsize = 4;
    c->launch = asm_launch(c->a, &c->mem, 1, 32);
    c->launch.textures = c->objects;
    c->launch.n_textures = 3;
    c->cta = cta_new(&c->launch);
    cta_start(c->cta, (struct dim3){0, 0, 0}, 0);
    c->w = c->cta->warps;
}

/* The state of the warp and memory after an execution. */
struct outcome {
    uint32_t out[REGISTERS][WARP_LANES], pred;
    unsigned char texels[BYTES];
    struct effects fx;
    char fault[200];
};

static void start(struct scene *c) {
    memcpy(c->mem.list[0].host, c->texels, BYTES);
    for (int i = 0; i < REGISTERS; i++)
        memset(reg_ptr(c->w, c->out[i]), 0x5a, sizeof(uint32_t) * WARP_LANES);
    for (int i = 0; i < SOURCES; i++)
        memcpy(reg_ptr(c->w, c->source[i]), c->sources[i], sizeof c->sources[i]);
    memset(reg_ptr(c->w, c->pred), 0, 4);
}

static void keep(struct scene *c, struct outcome *o) {
    for (int i = 0; i < REGISTERS; i++)
        memcpy(o->out[i], reg_ptr(c->w, c->out[i]), sizeof o->out[i]);
    memcpy(&o->pred, reg_ptr(c->w, c->pred), sizeof o->pred);
    memcpy(o->texels, c->mem.list[0].host, BYTES);
    snprintf(o->fault, sizeof o->fault, "%s", o->fx.fault_text ? o->fx.fault_text : "");
    free(o->fx.fault_text);
    o->fx.fault_text = NULL;
}

static void together(struct scene *c, rowmask_t m, struct outcome *o) {
    memset(&o->fx, 0, sizeof o->fx);
    start(c);
    exec_inst(c->w, c->in, m, &o->fx);
    keep(c, o);
}

static void one_by_one(struct scene *c, rowmask_t m, struct outcome *o) {
    memset(&o->fx, 0, sizeof o->fx);
    start(c);
    for (; m && !o->fx.fault; m &= m - 1)
        exec_inst(c->w, c->in, m & -m, &o->fx);
    keep(c, o);
}

static void compare(struct scene *c, uint64_t *s, const char *opcode, int number) {
    static struct outcome all, single;
    rowmask_t m = chance(s, 3) ? (rowmask_t)test_random(s) | 7u << test_random_below(s, 28) : LANES_ALL;
    together(c, m, &all);
    one_by_one(c, m, &single);
    for (int i = 0; i < REGISTERS; i++)
        for (int l = 0; l < WARP_LANES; l++)
            EXPECT(all.fx.fault || all.out[i][l] == single.out[i][l],
                   "case %d, %s: register %d, lane %d: %08x, not %08x", number, opcode, i, l, all.out[i][l],
                   single.out[i][l]);
    for (int l = 0; l < WARP_LANES; l++)
        EXPECT(all.fx.fault || all.fx.addr[l] == single.fx.addr[l], "case %d, %s: address of lane %d: %llx, not %llx",
               number, opcode, l, (unsigned long long)all.fx.addr[l], (unsigned long long)single.fx.addr[l]);
    EXPECT(all.fx.fault || all.pred == single.pred, "case %d, %s: predicate", number, opcode);
    EXPECT(!memcmp(all.texels, single.texels, BYTES), "case %d, %s: memory", number, opcode);
    EXPECT(all.fx.fault == single.fx.fault && all.fx.fault_lane == single.fx.fault_lane &&
               strcmp(all.fault, single.fault) == 0,
           "case %d, %s: fault '%s', not '%s'", number, opcode, all.fault, single.fault);
    EXPECT(all.fx.fault || (all.fx.space == single.fx.space && all.fx.msize == single.fx.msize), "case %d: effects",
           number);
}

static const char *const geometries[] = {"1d", "2d", "3d", "a1d", "a2d"};

START_TEST(fetches) {
    static const char *const levels[] = {"", ".level", ".grad"};
    static const char *const results[] = {"f32", "s32", "f16x2"};
    uint64_t s = 27 + (uint64_t)_i;
    for (int n = 0; n < CASES; n++) {
        struct scene c;
        char opcode[64];
        scene_begin(&c);
        const bool is_real = !chance(&s, 4);
        const char *geometry = geometries[test_random_below(&s, 5)],
                   *level = levels[is_real ? test_random_below(&s, 3) : 0], *result = results[test_random_below(&s, 3)];
        for (int i = 0; i < 3; i++)
            c.objects[i] = random_texture(&s, c.mem.list[0].begin, TEXTURE_TEXTURE, true);
        c.objects[1].kind = chance(&s, 2) ? TEXTURE_SAMPLER : TEXTURE_TEXTURE;
        for (int i = 0; i < BYTES; i++)
            c.texels[i] = (unsigned char)(test_random(&s) >> 13);
        /* f32 texels are numbers: if two NaNs are added, the result would depend on the host processor */
        if (c.objects[0].format == TEX_F32)
            for (int i = 0; i < BYTES; i += 4)
                memcpy(&c.texels[i], &(float){(float)test_random_below(&s, 1000) / 7.0f}, 4);
        for (int i = 0; i < SOURCES; i++)
            for (int l = 0; l < WARP_LANES; l++)
                c.sources[i][l] = random_coordinate(&s, is_real, c.objects[0].normalized_coords);
        if (geometry[0] == 'a')
            for (int l = 0; l < WARP_LANES; l++)
                c.sources[0][l] = test_random_below(&s, 6);
        snprintf(opcode, sizeof opcode, "tex%s.%s.%s.%s.%s", level, geometry, result[3] ? "v2" : "v4", result,
                 is_real ? "f32" : "s32");
        scene_inst(&c, opcode, result[3] ? 2 : 4, SOURCES);
        c.in->imm = test_random_below(&s, 8);
        c.in->d2 = chance(&s, 2) ? c.pred : OPND_SINK;
        compare(&c, &s, opcode, n);
        scene_end(&c);
    }
}
END_TEST

START_TEST(surface_accesses) {
    static const char *const clamps[] = {"trap", "clamp", "zero"};
    static const char *const vectors[] = {"", ".v2", ".v4"};
    static const char *const names[] = {"suld.b", "sust.b", "suld.p", "sust.p", "sured.b.add"};
    uint64_t s = 270;
    for (int n = 0; n < CASES; n++) {
        struct scene c;
        char opcode[64];
        scene_begin(&c);
        const unsigned what = test_random_below(&s, 5), vector = what == 4 ? 0 : test_random_below(&s, 3),
                       geometry = test_random_below(&s, what == 4 ? 3 : 5),
                       coordinates = (unsigned[]){1, 2, 3, 2, 3}[geometry], values = 1u << vector,
                       size = (unsigned[]){8, 16, 32}[test_random_below(&s, 3)];
        for (int i = 0; i < 3; i++)
            c.objects[i] = random_texture(&s, c.mem.list[0].begin, TEXTURE_SURFACE, geometry > 2);
        for (int i = 0; i < BYTES; i++)
            c.texels[i] = (unsigned char)(test_random(&s) >> 13);
        const bool tame = chance(&s, 2);
        const unsigned step = what < 2 || what == 4 ? (what == 4 ? 4 : size / 8 * values) : 1;
        for (int i = 0; i < SOURCES; i++)
            for (int l = 0; l < WARP_LANES; l++)
                c.sources[i][l] = tame ? 0 : test_random_below(&s, 40) - 2;
        for (int l = 0; l < WARP_LANES; l++)
            c.sources[geometry > 2][l] = (chance(&s, 100) ? 1 : step) * test_random_below(&s, tame ? 2 : 6);
        snprintf(opcode, sizeof opcode, "%s.%s%s.%s%u.%s", names[what], geometries[geometry], vectors[vector],
                 what == 4 ? "u" : "b", what < 2 ? size : 32, clamps[test_random_below(&s, 3)]);
        if (what == 0 || what == 2)
            scene_inst(&c, opcode, values, coordinates);
        else
            scene_inst(&c, opcode, 0, coordinates + values);
        compare(&c, &s, opcode, n);
        scene_end(&c);
    }
}
END_TEST

/* Lanes alternate between the handles of two textures. */
START_TEST(several_objects) {
    uint64_t s = 5;
    struct scene c;
    scene_begin(&c);
    for (int i = 0; i < 3; i++)
        c.objects[i] = random_texture(&s, c.mem.list[0].begin, TEXTURE_TEXTURE, false);
    for (int i = 0; i < BYTES; i++)
        c.texels[i] = (unsigned char)test_random(&s);
    opnd_t handles = asm_reg(c.a, 8);
    scene_inst(&c, "tex.2d.v4.u32.s32", 4, 2);
    c.in->a = handles;
    for (int l = 0; l < WARP_LANES; l++)
        ((uint64_t *)reg_ptr(c.w, handles))[l] = TEXTURE_HANDLE + (uint64_t)(l & 1);
    compare(&c, &s, "tex of two textures", 0);
    scene_end(&c);
}
END_TEST

SUITE(isa_exec_tex_lanes) {
    TEST_LOOP(fetches, 0, 4);
    TEST(surface_accesses);
    TEST(several_objects);
}
