/* Parses modules of PTX, places their variables in device memory, and compiles their kernels to programs. */
#include "context.h"
#include "handles.h"
#include "host/load/device_runtime.h"
#include "isa/interp/interp.h"
#include "ptx/tree.h"
#include "timing/sm/occupancy.h"
#include <stdlib.h>
#include <string.h>

void module_free(struct heddle_module *m) {
    if (!m)
        return;
    handle_close(m, HANDLE_MODULE);
    for (int i = 0; i < m->n_kernels + m->n_functions; i++) {
        for (int k = 0; k < 2; k++) {
            native_free(m->lowered[i].form[k].native);
            program_free(m->lowered[i].form[k].program);
        }
    }
    free(m->lowered);
    free(m->by_name);
    if (m->image)
        frontend_image_free(m->image);
    if (m->tree)
        ptx_free(m->tree);
    diags_free(&m->diags);
    free(m->text);
    free(m->name);
    free(m);
}

/* Moves the front end's messages into the context's message. */
static enum heddle_status fail_diags(struct heddle *h, struct heddle_module *m) {
    struct error_text e;
    error_begin(&e);
    diags_print(&m->diags, e.stream);
    const char *file = m->diags.file, *text = m->diags.text;
    size_t len = m->diags.len;
    diags_free(&m->diags);
    diags_init(&m->diags, file, text, len);
    return error_end(h, &e, HEDDLE_USAGE);
}

/* Gives the variables the addresses of a recorded run, whose memory and textures heddle_replay() restores. */
static bool place_again(struct heddle *h, struct image *img) {
    if (img->n_variables != h->n_placing) {
        fail(h, HEDDLE_USAGE,
             "the recorded module has %u variables, and its PTX has %u: record the program again with "
             "this version of Heddle",
             h->n_placing, img->n_variables);
        return false;
    }
    for (uint32_t i = 0; i < img->n_variables; i++)
        img->variables[i].address = h->placing[i];
    return true;
}

static bool place_variables(struct heddle *h, struct image *img) {
    for (uint32_t i = 0; i < img->n_variables; i++) {
        struct image_variable *v = &img->variables[i];
        if (v->is_extern)
            continue;
        if (v->space == SPACE_TEX) {
            v->reference.name = v->name;
            v->address = texture_add(h, &v->reference);
        } else {
            uint64_t bytes = v->bytes ? v->bytes : 1;
            bool shared = v->managed && v->space == SPACE_GLOBAL && v->align <= 4096;
            v->address = shared ? mem_alloc_shared(&h->memory, bytes, v->name)
                                : mem_alloc(&h->memory, bytes, v->align > 256 ? v->align : 256, v->name,
                                            v->space == SPACE_CONST);
        }
        if (!v->address) {
            char what[160];
            snprintf(what, sizeof what, "variable '%.120s'", v->name);
            fail_room(h, what, v->bytes);
            return false;
        }
        if (v->init && v->space != SPACE_TEX && !mem_write(&h->memory, v->address, v->init, v->bytes)) {
            fail(h, HEDDLE_USAGE, "variable '%s' cannot be initialised", v->name);
            return false;
        }
    }
    return true;
}

/* Writes the addresses that initialisers contain into the initial values of variables. Requires that all variables have
 * an address. */
static bool relocate(struct heddle *h, const struct image *img) {
    for (uint32_t i = 0; i < img->n_relocs; i++) {
        const struct image_reloc *r = &img->relocs[i];
        uint64_t address =
            r->symbol == UINT32_MAX ? CODE_BASE + 16ull * r->function_id : img->variables[r->symbol].address;
        /* an initialiser such as 0xFF00(symbol) is one byte of the address: r->shift selects it */
        address = (address + (uint64_t)r->addend) >> r->shift;
        uint32_t bytes = r->bytes < sizeof address ? r->bytes : (uint32_t)sizeof address;
        if (!mem_write(&h->memory, img->variables[r->var].address + r->offset, &address, bytes)) {
            fail(h, HEDDLE_USAGE, "the initialiser of '%s' holds an address outside of it",
                 img->variables[r->var].name);
            return false;
        }
    }
    return true;
}

static int compare_names(const void *a, const void *b, void *list) {
    const struct lowered_kernel *l = list;
    return strcmp(l[*(const int *)a].name, l[*(const int *)b].name);
}

/* Fills m->lowered with all kernels that have a body, followed by all functions that have a body, and sorts
 * m->by_name. */
static bool list_functions(struct heddle *h, struct heddle_module *m) {
    int n[2] = {0, 0}; /* functions, kernels */
    for (const struct statement *s = m->tree->statements; s; s = s->next)
        if (s->kind == ST_FUNCTION && s->function->has_body)
            n[s->function->is_entry]++;
    m->lowered = calloc((size_t)n[0] + (size_t)n[1] + 1, sizeof *m->lowered);
    m->by_name = calloc((size_t)n[0] + (size_t)n[1] + 1, sizeof *m->by_name);
    if (!m->lowered || !m->by_name) {
        fail_memory(h);
        return false;
    }
    m->n_kernels = n[1];
    m->n_functions = n[0];
    int at[2] = {n[1], 0}, all = n[0] + n[1];
    for (const struct statement *s = m->tree->statements; s; s = s->next)
        if (s->kind == ST_FUNCTION && s->function->has_body)
            m->lowered[at[s->function->is_entry]++].name = s->function->name->text;
    for (int i = 0; i < all; i++)
        m->by_name[i] = i;
    qsort_r(m->by_name, (size_t)all, sizeof *m->by_name, compare_names, m->lowered);
    return true;
}

static bool load(struct heddle *h, struct heddle_module *m) {
    m->tree = ptx_parse_heads(&m->diags);
    if (!m->tree || m->diags.errors) {
        fail_diags(h, m);
        return false;
    }
    m->image = frontend_image(m->tree);
    if (!m->image) {
        fail_diags(h, m);
        return false;
    }
    if (!list_functions(h, m))
        return false;
    return h->placing ? place_again(h, m->image) : place_variables(h, m->image) && relocate(h, m->image);
}

/* Makes a module that owns the text, of which text[len] may be written. Frees the text on failure. NULL: no memory for
 * it. */
static struct heddle_module *take_text(struct heddle *h, const char *name, char *text, size_t len) {
    struct heddle_module *m = text ? calloc(1, sizeof *m) : NULL;
    if (m)
        m->name = strdup(name);
    if (!m || !m->name) {
        fail_memory(h);
        free(text);
        free(m);
        return NULL;
    }
    m->text = text;
    m->text[len] = '\0';
    diags_init(&m->diags, m->name, m->text, len);
    if (!load(h, m)) {
        module_free(m);
        return NULL;
    }
    if (!handle_open(m, HANDLE_MODULE)) {
        module_free(m);
        fail_memory(h);
        return NULL;
    }
    m->owner = h;
    m->next = h->modules;
    h->modules = m;
    return m;
}

struct heddle_module *module_open_text(struct heddle *h, const char *name, const char *text, size_t len) {
    if (len > PTX_LONGEST) {
        fail(h, HEDDLE_USAGE, "%s: too long to be PTX: the limit is %d MiB", name, PTX_LONGEST >> 20);
        return NULL;
    }
    char *own = malloc(len + 1);
    return take_text(h, name, own ? memcpy(own, text, len) : NULL, len);
}

struct heddle_module *module_own_text(struct heddle *h, const char *name, char *text, size_t len) {
    char *all;
    if (!device_runtime_add(text, len, &all))
        return take_text(h, name, text, len);
    free(text);
    return take_text(h, name, all, all ? strlen(all) : 0);
}

struct heddle_module *heddle_module_text(struct heddle *h, const char *name, const char *text, size_t len) {
    if (!context_enter(h) || !given(h, name, "the module's name") || !given(h, text, "the module's text"))
        return NULL;
    char *all;
    if (!device_runtime_add(text, len, &all))
        return module_open_text(h, name, text, len);
    return take_text(h, name, all, all ? strlen(all) : 0);
}

const char *heddle_kernel(const struct heddle_module *m, int n) {
    if (!handle_is_open(m, HANDLE_MODULE))
        return NULL;
    return n >= 0 && n < m->n_kernels ? m->lowered[n].name : NULL;
}

const char *heddle_function(const struct heddle_module *m, int n) {
    if (!handle_is_open(m, HANDLE_MODULE))
        return NULL;
    return n >= 0 && n < m->n_functions ? m->lowered[m->n_kernels + n].name : NULL;
}

int heddle_address_size(const struct heddle_module *m) {
    return handle_is_open(m, HANDLE_MODULE) ? m->image->address_size : 0;
}

void module_no_kernel(struct heddle *h, const struct heddle_module *m, const char *kernel) {
    enum { MOST = 20 };
    struct error_text e;
    error_begin(&e);
    fprintf(e.stream, "%s: no kernel is called '%s'", m->name, kernel);
    for (int i = 0; i < m->n_kernels && i < MOST; i++)
        fprintf(e.stream, "%s%s", i ? ", " : "; it has ", m->lowered[i].name);
    if (m->n_kernels > MOST)
        fputs(", ...", e.stream);
    fputs(m->n_kernels ? "\n" : "; it has no kernel at all\n", e.stream);
    error_end(h, &e, HEDDLE_USAGE);
}

/* Finds the kernel with this name, and with `functions` also a function. Returns NULL with a message if there is
 * none. */
static struct lowered_kernel *find(struct heddle *h, struct heddle_module *m, const char *name, bool functions) {
    int low = 0, high = m->n_kernels + m->n_functions;
    while (low < high) {
        int middle = low + (high - low) / 2, index = m->by_name[middle];
        int order = strcmp(name, m->lowered[index].name);
        if (order == 0 && (functions || index < m->n_kernels))
            return &m->lowered[index];
        if (order == 0)
            break;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    module_no_kernel(h, m, name);
    return NULL;
}

static bool option_number(const void *config, const char *key, double *value) {
    return config_number(config, key, value);
}

static struct lower_options lowering(const struct heddle *h) {
    const struct reconv_ops *reconv = h->runs_plain ? h->plain.base->ops : h->reconv;
    return (struct lower_options){.context = {.model = reconv->name,
                                              .barriers = (reconv->flags & RECONV_BARRIERS) != 0,
                                              .facts = reconv->facts,
                                              .extensions = h->runs_plain ? h->plain.extensions : h->model.extensions,
                                              .option = option_number,
                                              .most_registers = sm_most_registers,
                                              .config = &h->config,
                                              .machine = &h->config},
                                  .passes = h->passes};
}

/* Adds the notes of the model's mechanisms about the kernel, for example that a mechanism could not be applied to
 * it. */
static void note_remarks(struct heddle *h, const struct program *p) {
    const struct mechanism *e;
    char text[512];
    for (const struct mechanism *const *at = h->mechanisms; (e = mechanism_next(&at, &h->model));)
        if (e->remark && e->remark(p, &h->config, text, sizeof text))
            note(h, "%s", text);
}

static const struct program *program_of(struct heddle *h, struct heddle_module *m, struct lowered_kernel *l) {
    struct lower_options o = lowering(h);
    if (!l)
        return NULL;
    struct program **p = &l->form[h->runs_plain].program;
    if (!*p) {
        *p = frontend_lower(m->image, l->name, &o);
        if (!*p)
            fail_diags(h, m);
        else if (!h->runs_plain)
            note_remarks(h, *p);
    }
    return *p;
}

const struct program *module_program(struct heddle *h, struct heddle_module *m, const char *kernel) {
    return program_of(h, m, find(h, m, kernel, false));
}

struct jit *module_native(const struct heddle *h, struct heddle_module *m, const struct program *p) {
    if (!h->config.gpu.jit)
        return NULL;
    for (int i = 0; i < m->n_kernels; i++) {
        struct lowered_kernel *l = &m->lowered[i];
        const int k = h->runs_plain;
        if (l->form[k].program == p)
            return l->form[k].native ? l->form[k].native : (l->form[k].native = native_new(p, h->config.gpu.jit_after));
    }
    return NULL;
}

int heddle_params(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_param *out, int max) {
    if (!module_enter(h, m) || !given(h, kernel, "the kernel's name") || (max > 0 && !given(h, out, "the list")))
        return -1;
    const struct program *p = module_program(h, m, kernel);
    if (!p)
        return -1;
    for (uint32_t i = 0; i < p->n_params && i < (uint32_t)(max > 0 ? max : 0); i++) {
        const struct program_param *q = &p->params[i];
        out[i] = (struct heddle_param){q->name, type_name(q->type), q->offset, q->bytes};
    }
    return (int)p->n_params;
}

uint64_t heddle_symbol(struct heddle *h, struct heddle_module *m, const char *name, uint64_t *bytes) {
    if (!module_enter(h, m) || !given(h, name, "the variable's name"))
        return 0;
    for (uint32_t i = 0; i < m->image->n_variables; i++) {
        const struct image_variable *v = &m->image->variables[i];
        if (strcmp(v->name, name) == 0 && !v->is_extern) {
            if (bytes)
                *bytes = v->bytes;
            return v->address;
        }
    }
    fail(h, HEDDLE_USAGE, "%s: no variable is called '%s'", m->name, name);
    return 0;
}

static struct heddle_dim dim_of(struct dim3 d) { return (struct heddle_dim){d.x, d.y, d.z}; }

/* Returns the number in the module's .target. */
static uint16_t target_of(const struct module *m) {
    for (const struct suffix *s = m->targets; s; s = s->next)
        if (strncmp(s->word->text, "sm_", 3) == 0)
            return (uint16_t)strtoul(s->word->text + 3, NULL, 10);
    return 0;
}

enum heddle_status heddle_kernel_info(struct heddle *h, struct heddle_module *m, const char *kernel,
                                      struct heddle_kernel_info *out) {
    if (!module_enter(h, m) || !given(h, kernel, "the kernel's name") || !given(h, out, "where to put it"))
        return HEDDLE_USAGE;
    const struct program *p = program_of(h, m, find(h, m, kernel, true));
    if (!p)
        return h->status;
    *out = (struct heddle_kernel_info){
        .registers = p->thread_regs,
        .shared_bytes = p->shared_bytes,
        .local_bytes = p->local_bytes,
        .param_bytes = p->param_bytes,
        .instructions = p->n,
        .blocks = p->n_blocks,
        .functions = p->n_functions,
        .required_block = dim_of(p->reqntid),
        .largest_block = dim_of(p->maxntid),
        .cluster = dim_of(p->cluster),
        .explicit_cluster = p->explicit_cluster,
        .target = target_of(m->tree),
    };
    return HEDDLE_OK;
}

static void print_program(const struct program *p, FILE *out) {
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        const struct block *k = &p->blocks[b];
        for (uint32_t s = 0; p->n_streams > 1 && s < p->n_streams; s++)
            if (program_entry(p, s) == k->begin)
                fprintf(out, "stream %u, %s:\n", s, p->streams[s].name);
        fprintf(out, "B%u:", b);
        if (k->ipdom == UINT32_MAX)
            fputs("  ; joins at the end\n", out);
        else
            fprintf(out, "  ; joins at B%u\n", k->ipdom);
        for (uint32_t pc = k->begin; pc < k->end; pc++) {
            char text[512];
            program_print_inst(p, pc, text, sizeof text);
            fprintf(out, "%6u  %-60s ; line %u%s\n", pc, text, p->info[pc].line, p->info[pc].yields ? ", yields" : "");
        }
    }
}

static enum heddle_status no_pass(struct heddle *h, const char *pass) {
    enum { MOST = 128 };
    const char *name[MOST];
    struct error_text e;
    int n = 0;
    while (n < MOST && (name[n] = frontend_pass_name(h->passes, n)))
        n++;
    const char *near = diag_suggest(pass, name, n);
    error_begin(&e);
    fprintf(e.stream, "no pass is called '%s'", pass);
    if (near)
        fprintf(e.stream, "; did you mean '%s'?", near);
    fputs(near ? " In order they are" : "; in order they are", e.stream);
    for (int i = 0; i < n; i++)
        fprintf(e.stream, "%s %s", i ? "," : "", name[i]);
    fputc('\n', e.stream);
    return error_end(h, &e, HEDDLE_USAGE);
}

enum heddle_status heddle_listing(struct heddle *h, struct heddle_module *m, const char *kernel, const char *pass,
                                  FILE *out) {
    if (!module_enter(h, m) || !given(h, kernel, "the kernel's name") || !given(h, out, "the stream"))
        return HEDDLE_USAGE;
    struct lowered_kernel *l = find(h, m, kernel, true);
    const char *known;
    if (!pass) {
        const struct program *p = program_of(h, m, l);
        if (!p)
            return h->status;
        print_program(p, out);
        return HEDDLE_OK;
    }
    if (!l)
        return h->status;
    int i = 0;
    while ((known = frontend_pass_name(h->passes, i)) && strcmp(known, pass) != 0)
        i++;
    if (!known)
        return no_pass(h, pass);
    struct lower_options o = lowering(h);
    o.dump_after = pass;
    o.dump_to = out;
    struct program *p = frontend_lower(m->image, l->name, &o);
    if (!p)
        return fail_diags(h, m);
    program_free(p);
    return HEDDLE_OK;
}
