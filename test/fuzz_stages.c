/* Runs the stages of the fuzz targets on one input (fuzz_stages.h): parse, lower, execute, and execute with timing. */
#include "fuzz_stages.h"
#include "frontend/frontend.h"
#include "fuzz_time.h"
#include "isa/interp/interp.h"
#include "isa/machine/texture.h"
#include "isa/paths/reconv.h"
#include "mechanisms/all.h"
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 48,              /* one and a half warps */
    BUFFER = 4096,             /* bytes of a buffer; every 64-bit parameter is the address of a buffer */
    FUEL = 4000,               /* maximum warp instructions of a launch */
    MEMORY = 32 << 20,         /* bytes of device memory */
    MAX_WARP_BYTES = 16 << 20, /* maximum bytes of a warp's registers and local memory */
    MAX_KERNELS = 16,
    MAX_TEXTURES = 16,
};

static void *must(void *p) {
    if (!p)
        abort();
    return p;
}

/* Prints messages to memory. Printing must not crash. */
static void show(const struct diags *d) {
    char *text;
    size_t len;
    FILE *out = must(open_memstream(&text, &len));
    diags_print(d, out);
    fclose(out);
    free(text);
}

struct text {
    char *bytes;
    size_t len;
};

static struct text print(const struct module *m) {
    struct text t;
    FILE *out = must(open_memstream(&t.bytes, &t.len));
    ptx_print(m, out);
    fclose(out);
    return t;
}

static void reprint(const struct module *m) {
    struct text first = print(m);
    struct diags d;
    diags_init(&d, "printed", first.bytes, first.len);
    struct module *again = ptx_parse(&d);
    if (d.errors || !again || !ptx_equal(m, again)) {
        diags_print(&d, stderr);
        abort();
    }
    struct text second = print(again);
    if (first.len != second.len || memcmp(first.bytes, second.bytes, first.len) != 0)
        abort();
    free(second.bytes);
    free(first.bytes);
    ptx_free(again);
    diags_free(&d);
}

static char *shown(const struct diags *d) {
    char *text;
    size_t len;
    FILE *out = must(open_memstream(&text, &len));
    diags_print(d, out);
    fclose(out);
    return text;
}

/* Parses the text again, and skips bodies at first. Messages and tree must be equal to those of `m`. */
static void parse_later(const struct module *m) {
    struct diags d;
    diags_init(&d, m->diags->file, m->diags->text, m->diags->len);
    struct module *heads = must(ptx_parse_heads(&d));
    char *expected = shown(m->diags), *have = shown(&d);
    if (strcmp(expected, have) != 0)
        abort();
    for (struct statement *s = heads->statements; s && !d.errors; s = s->next)
        if (s->kind == ST_FUNCTION && !ptx_need_body(heads, s->function))
            abort();
    if (!m->diags->errors && (d.errors || !ptx_equal(m, heads)))
        abort();
    free(expected);
    free(have);
    ptx_free(heads);
    diags_free(&d);
}

struct textures {
    struct texture object[MAX_TEXTURES];
    uint32_t n;
};

/* Binds a texture or surface reference to a new object of 8 x 8 texels with one float each. The object keeps the filter
 * that the reference's initialiser sets. Returns false if there are too many objects, or no memory for it. */
static bool bind(struct image_variable *v, struct memory *m, struct textures *all) {
    struct texture t = v->reference;
    if (all->n == MAX_TEXTURES || !(t.data = mem_alloc(m, BUFFER, 256, v->name, false)))
        return false;
    t.width = t.height = 8;
    t.pitch = 8 * sizeof(float);
    t.slice = 8 * t.pitch;
    t.channels = 1;
    t.format = TEX_F32;
    t.levels = t.kind == TEXTURE_TEXTURE ? 3 : 1;
    t.name = v->name;
    v->address = TEXTURE_HANDLE + all->n;
    all->object[all->n++] = t;
    return true;
}

/* Allocates the module's variables in device memory, as host/module.c does. Returns false if they do not fit. */
static bool place(struct image *img, struct memory *m, struct textures *all) {
    for (uint32_t i = 0; i < img->n_variables; i++) {
        struct image_variable *v = &img->variables[i];
        if (v->is_extern)
            continue;
        if (v->space == SPACE_TEX) {
            if (!bind(v, m, all))
                return false;
            continue;
        }
        v->address =
            mem_alloc(m, v->bytes ? v->bytes : 1, v->align > 256 ? v->align : 256, v->name, v->space == SPACE_CONST);
        if (!v->address || (v->init && !mem_write(m, v->address, v->init, v->bytes)))
            return false;
    }
    for (uint32_t i = 0; i < img->n_relocs; i++) {
        const struct image_reloc *r = &img->relocs[i];
        uint64_t address =
            r->symbol == UINT32_MAX ? CODE_BASE + 16ull * r->function_id : img->variables[r->symbol].address;
        address += (uint64_t)r->addend;
        if (!mem_write(m, img->variables[r->var].address + r->offset, &address, r->bytes < 8 ? r->bytes : 8))
            return false;
    }
    return true;
}

/* Fills in the kernel's first 16 parameters: one of at least 64 bits gets the address of a new buffer, one of 32 bits
 * gets THREADS, and the others are 0. Returns NULL if device memory is full. */
static unsigned char *arguments(const struct program *p, struct memory *m) {
    unsigned char *block = must(calloc(1, p->param_bytes + 8));
    for (uint32_t i = 0; i < p->n_params && i < 16; i++) {
        const struct program_param *q = &p->params[i];
        uint64_t address = 0;
        uint32_t n = THREADS;
        if (q->bytes >= 8 && !(address = mem_alloc(m, BUFFER, 256, NULL, false))) {
            free(block);
            return NULL;
        }
        if (q->bytes >= 8)
            memcpy(block + q->offset, &address, sizeof address);
        else if (q->bytes == 4)
            memcpy(block + q->offset, &n, sizeof n);
    }
    return block;
}

static bool interpret(const struct launch *l, FILE *quiet) {
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    struct interp_cfg how = {.model = &reconv_spe, .reconv = &cfg, .threads = 1};
    struct interp_stats stats = {0};
    struct fault fault = {0};
    bool ended = interp_run(l, &how, &stats, &fault);
    if (!ended) {
        fault_print(&fault, l, quiet);
        fault_free(&fault);
    }
    return ended;
}

/* Runs a kernel. A `seed` other than 0 selects a machine with timing; seed 0 selects the functional model. Returns true
 * if the kernel ended without a fault. */
static bool run(const struct program *p, struct memory *m, const struct textures *bound, uint64_t seed, FILE *quiet) {
    if ((uint64_t)p->reg_bytes + (uint64_t)p->local_bytes * WARP_LANES > MAX_WARP_BYTES)
        return false;
    struct launch l = {.program = p,
                       .memory = m,
                       .grid = {1, 1, 1},
                       .block = p->reqntid.x ? p->reqntid : (struct dim3){THREADS, 1, 1},
                       .cycle_limit = FUEL,
                       .textures = bound->object,
                       .n_textures = bound->n,
                       .device_stdout = quiet};
    char text[512];
    unsigned char *params;
    if (dim3_count(l.block) > 2 * THREADS || launch_check(&l, MAX_SHARED_BYTES, text, sizeof text) ||
        !(params = arguments(p, m)))
        return false;
    l.params = params;
    bool ended = seed ? fuzz_time(&l, seed, quiet) : interpret(&l, quiet);
    free(params);
    return ended;
}

static uint64_t hash(const uint8_t *data, size_t size) {
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 0x100000001b3;
    return h ^ h >> 29;
}

static struct fuzz_counts kernels(const struct module *m, const struct image *img, struct memory *memory,
                                  const struct textures *bound, enum fuzz_stage last, uint64_t seed) {
    struct fuzz_counts n = {0};
    struct lower_options timed = {.context = {.barriers = fuzz_model(seed)->flags & RECONV_BARRIERS},
                                  .passes = mechanism_passes()};
    FILE *quiet = must(fopen("/dev/null", "w"));
    const struct function *f;
    for (int i = 0; i < MAX_KERNELS && (f = ptx_entry(m, i)); i++) {
        n.kernels++;
        struct lower_options plain = {.passes = mechanism_passes()};
        struct lower_options barriers = {.context = {.barriers = true}, .passes = mechanism_passes()};
        struct program *p = frontend_lower(img, f->name->text, &barriers);
        program_free(p);
        if (!p || !(p = frontend_lower(img, f->name->text, last == FUZZ_TIME ? &timed : &plain)))
            continue;
        n.lowered++;
        n.ended += last >= FUZZ_EXECUTE && run(p, memory, bound, last == FUZZ_TIME ? seed | 1ull << 63 : 0, quiet);
        program_free(p);
    }
    fclose(quiet);
    return n;
}

struct fuzz_counts fuzz_stages(const uint8_t *data, size_t size, enum fuzz_stage last) {
    /* the copy has exactly the input's size, so that a sanitizer detects reads past its end */
    char *text = must(malloc(size ? size : 1));
    memcpy(text, data, size);
    struct fuzz_counts n = {0};
    struct diags d;
    diags_init(&d, "fuzz", text, size);
    struct module *m = ptx_parse(&d);
    if (m && last == FUZZ_PARSE)
        parse_later(m);
    if (m && d.errors == 0 && last == FUZZ_PARSE) {
        reprint(m);
    } else if (m && d.errors == 0) {
        struct image *img = frontend_image(m);
        struct memory memory;
        mem_init(&memory, MEMORY);
        struct textures bound = {.n = 0};
        if (img && place(img, &memory, &bound))
            n = kernels(m, img, &memory, &bound, last, hash(data, size));
        mem_free_all(&memory);
        frontend_image_free(img);
    }
    show(&d);
    ptx_free(m);
    diags_free(&d);
    free(text);
    return n;
}
