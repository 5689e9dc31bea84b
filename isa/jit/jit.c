/* The code cache of a program: profiles blocks, compiles them, and keeps their code. */
#include "compile.h"
#include "isa/levels.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    PROFILED_RUNS = 2,        /* number of interpreted runs of a block that record the shapes of its accesses */
    MIN_LENGTH = 1,           /* minimum number of instructions of a compiled block, including its branch */
    EXITS_TO_RECOMPILE = 256, /* number of side exits after which a block is recompiled */
    /* greatest mean number of native warp instructions between these exits: a longer native run repays an exit */
    EXIT_INTERVAL = 1000,
    MAX_COMPILATIONS = 24, /* maximum number of compilations of a block */
    PAGE = 4096,
    AREA = 8 * PAGE,
};

/* Compiled code of a block. Replaced code stays until the program is freed, since a thread may be in it. */
struct jit_block {
    struct jit_block *next;
    void *code;
    size_t inside; /* offset in the code at which other blocks enter this block */
    struct site *sites;
    uint32_t n_sites, times; /* times: number of compilations of the block so far, including this one */
};

struct jit_parts {
    const struct program *program;
    uint32_t after;
    pthread_mutex_t lock;
    struct access_profile *profile; /* by PC */
    _Atomic uint64_t executed;      /* warp instructions that native code has executed, except the latest ones */
    /* protected by the lock */
    struct jit_block *blocks;
    struct area *areas; /* only the first area may have free space */
    struct emit buffer; /* code buffer and exits of the compiler, reused for each block */
    struct side_exit *exits;
    uint32_t cap_exits;
    struct jit_counts counts;
    bool refused; /* the host refused executable memory */
    bool vex;     /* compile for AVX2 */
};

#if defined(__POPCNT__)
static bool has_popcnt(void) { return true; }
#elif defined(__x86_64__)
static bool has_popcnt(void) { return __builtin_cpu_supports("popcnt"); }
#else
static bool has_popcnt(void) { return false; }
#endif

/* ---- executable memory: written once, before it becomes executable ---- */

/* Pages for code, allocated from the start. A block's pages become executable after its code is written. */
struct area {
    struct area *next;
    unsigned char *pages;
    size_t bytes, used;
};

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1); }

/* Returns an area with `bytes` bytes left. The host allocates pages at the first write, so a large area costs
 * little. */
static struct area *area_with(struct area **areas, size_t bytes) {
    struct area *first = *areas, *a = NULL;
    if (first && first->bytes - first->used >= bytes)
        return first;
    if (!(a = malloc(sizeof *a)))
        return NULL;
    *a = (struct area){.next = first, .bytes = bytes > AREA ? bytes : AREA};
    void *pages = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        free(a);
        return NULL;
    }
    a->pages = pages;
    *areas = a;
    return a;
}

static void *make_code(struct area **areas, const struct emit *e) {
    const size_t bytes = whole_pages(e->n);
    struct area *a = area_with(areas, bytes);
    if (!a)
        return NULL;
    unsigned char *code = a->pages + a->used;
    memcpy(code, e->code, e->n);
    if (mprotect(code, bytes, PROT_READ | PROT_EXEC) != 0)
        return NULL;
    a->used += bytes;
    return code;
}

static void areas_free(struct area *a) {
    for (struct area *next; a; a = next) {
        next = a->next;
        munmap(a->pages, a->bytes);
        free(a);
    }
}

static void block_free(struct jit_block *b) {
    if (!b)
        return;
    free(b->sites);
    free(b);
}

/* ---- compiling ---- */

/* Returns the number of instructions of the block at `pc` that can be compiled: up to a control instruction, a queue
 * operation or the end of the block, and at most MAX_NATIVE. */
static uint32_t native_length(const struct program *p, uint32_t pc) {
    uint32_t n = 0;
    while (pc + n < p->n && n < MAX_NATIVE) {
        const struct inst *in = &p->code[pc + n];
        if (in->kind >= K_ENQ_DATA)
            break;
        n++;
        if (in->ends_block)
            break;
    }
    return n;
}

/* Returns true if the block is long enough. A branch, call, return or barrier counts as an instruction, because the
 * code continues after it. */
static bool is_worth_it(const struct program *p, uint32_t pc) {
    uint32_t n = native_length(p, pc);
    const unsigned kind = pc + n < p->n ? p->code[pc + n].kind : K_NOP;
    return n + (kind == K_BRANCH || kind == K_CALL || kind == K_RET || kind == K_EXIT || kind == K_BARRIER) >=
           MIN_LENGTH;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns true if few instructions are compiled as calls. A call costs as much as interpretation, and before a
 * call all dirty lines (see compile.h) are stored. */
static bool is_mostly_native(const struct compiler *c) { return 3 * c->native >= 2 * c->n; }

static struct jit_block *new_block(struct jit *j, uint32_t pc, bool partial, bool *refused) {
    struct jit_parts *parts = j->parts;
    const struct program *p = parts->program;
    struct compiler c = {.program = p,
                         .entry = j->entry[partial],
                         .partial = partial,
                         .profile = parts->profile,
                         .first = &p->code[pc],
                         .n = native_length(p, pc),
                         .e = {.code = parts->buffer.code, .cap = parts->buffer.cap, .vex = parts->vex},
                         .exits = parts->exits,
                         .cap_exits = parts->cap_exits};
    struct jit_block *b = calloc(1, sizeof *b);
    if (b)
        b->sites = c.sites = calloc(c.n + 1, sizeof *c.sites);
    if (c.sites && compile_block(&c) && is_mostly_native(&c)) {
        b->code = make_code(&parts->areas, &c.e);
        *refused = !b->code;
    }
    b = b && !b->code ? (block_free(b), NULL) : b;
    if (b) {
        b->n_sites = c.n_sites;
        b->inside = c.inside;
        parts->counts.blocks++;
        parts->counts.instructions += c.n;
        parts->counts.native += c.native;
        parts->counts.bytes += c.e.n;
    }
    parts->buffer = c.e;
    parts->exits = c.exits;
    parts->cap_exits = c.cap_exits;
    return b;
}

/* Compiles the block. If that fails, sets the block's code to NULL permanently. Requires the lock. */
static void compile_entry(struct jit *j, uint32_t pc, bool partial) {
    struct jit_parts *parts = j->parts;
    struct jit_entry *entry = &j->entry[partial][pc];
    uint32_t times = entry->block ? entry->block->times : 0;
    double start = seconds();
    struct jit_block *b =
        parts->refused || times == MAX_COMPILATIONS ? NULL : new_block(j, pc, partial, &parts->refused);
    if (b) {
        b->times = times + 1;
        b->next = parts->blocks;
        parts->blocks = entry->block = b;
    }
    parts->counts.seconds += seconds() - start;
    jit_code *code = NULL;
    if (b) /* memcpy(), because ISO C has no cast from data pointers to function pointers */
        memcpy(&code, &b->code, sizeof code);
    atomic_store_explicit(&entry->code, code, memory_order_release);
    atomic_store_explicit(&entry->inside, b ? (char *)b->code + b->inside : NULL, memory_order_release);
}

/* ---- profiling ---- */

static enum space space_accessed(const struct inst *in, const struct effects *fx) {
    return in->space == SPACE_GENERIC ? (enum space)fx->space : (enum space)in->space;
}

static void note_access(struct access_profile *s, const struct inst *in, const struct effects *fx) {
    if (!fx->lanes)
        return;
    const uint8_t space = (uint8_t)space_accessed(in, fx), was = s->shape;
    const bool other = s->has_space && s->space != space;
    s->space = space;
    s->has_space = true;
    if (fx->lanes == LANES_ALL && was != ACCESS_CALL) {
        const uint8_t shape = (uint8_t)access_shape_of(fx->addr, in->msize);
        s->shape = was == ACCESS_UNKNOWN || was == shape ? shape : ACCESS_ANY;
    }
    if (other) {
        s->shape = ACCESS_CALL;
        s->call_partial = true;
    }
}

/* Interprets the block with step(), and records the shapes of its accesses. */
static uint32_t run_and_profile(struct jit_frame *f, uint32_t pc) {
    struct jit_parts *parts = f->jit->parts;
    uint32_t n = native_length(parts->program, pc);
    for (uint32_t i = 0; i < n; i++) {
        const struct inst *in = &f->first[i];
        uint32_t reason = f->step(f, i);
        if (reason)
            return i | reason;
        if (in->kind == K_LOAD || in->kind == K_STORE)
            note_access(&parts->profile[pc + i], in, f->fx);
    }
    return n;
}

static bool is_partial(const struct jit_frame *f) { return f->active != LANES_ALL; }

/* Called in place of a block's native code in the first PROFILED_RUNS runs. Executes the block, and records its memory
 * accesses for the compiler. The next call compiles the block. */
static uint32_t profile_entry(struct jit_frame *f) {
    struct jit *j = f->jit;
    uint32_t pc = (uint32_t)(f->first - j->parts->program->code);
    struct jit_entry *entry = &j->entry[is_partial(f)][pc];
    if (atomic_fetch_add_explicit(&entry->profiled, 1, memory_order_relaxed) < PROFILED_RUNS)
        return run_and_profile(f, pc);
    if (pthread_mutex_trylock(&j->parts->lock) != 0)
        return 0;
    if (atomic_load_explicit(&entry->code, memory_order_relaxed) == profile_entry)
        compile_entry(j, pc, is_partial(f));
    pthread_mutex_unlock(&j->parts->lock);
    return 0;
}

jit_code *jit_request(const struct jit *j, uint32_t pc, bool partial) {
    jit_code *none = NULL;
    if (!is_worth_it(j->parts->program, pc) ||
        !atomic_compare_exchange_strong(&j->entry[partial][pc].code, &none, profile_entry))
        return none;
    return profile_entry;
}

/* ---- side exits ---- */

/* Sets the hints of access i to the allocation that its first active lane accesses. */
static void update_hints(struct jit_block *b, const struct jit_frame *f, const struct inst *in, uint32_t i) {
    const unsigned char *base = f->bank[in->a & 1] + (in->a >> 1);
    if (!(in->a & 1))
        base += (size_t)in->asize * (size_t)__builtin_ctz(f->active);
    uint64_t address = 0;
    memcpy(&address, base, in->asize);
    address += (uint64_t)in->imm;
    for (uint32_t k = 0; k < b->n_sites; k++) {
        uint32_t hint = __atomic_load_n(&b->sites[k].hint, __ATOMIC_RELAXED);
        if (b->sites[k].index == i && mem_find(f->memory, address, in->msize, &hint))
            __atomic_store_n(&b->sites[k].hint, hint, __ATOMIC_RELAXED);
    }
}

/* Counts a side exit. Returns true if exits are many and frequent. Requires the lock. */
static bool leaves_often(const struct jit_parts *parts, struct jit_entry *entry) {
    if (++entry->left % EXITS_TO_RECOMPILE)
        return false;
    const uint64_t now = atomic_load_explicit(&parts->executed, memory_order_relaxed), n = now - entry->since;
    entry->since = now;
    return n < (uint64_t)EXITS_TO_RECOMPILE * EXIT_INTERVAL;
}

void jit_left(struct jit *j, struct jit_frame *f, uint32_t pc, uint32_t i) {
    struct jit_parts *parts = j->parts;
    const struct inst *in = &parts->program->code[pc + i];
    struct jit_entry *entry = &j->entry[is_partial(f)][pc];
    if (pthread_mutex_trylock(&parts->lock) != 0)
        return;
    parts->counts.exits++;
    if ((in->kind == K_LOAD || in->kind == K_STORE) && entry->block)
        update_hints(entry->block, f, in, i);
    if (leaves_often(parts, entry)) {
        struct access_profile *s = &parts->profile[pc + i];
        if (is_partial(f))
            s->call_partial = true;
        else
            s->shape = (in->kind == K_LOAD || !parts->vex) && s->shape < ACCESS_ANY ? ACCESS_ANY : ACCESS_CALL;
        compile_entry(j, pc, is_partial(f));
    }
    pthread_mutex_unlock(&parts->lock);
}

void jit_executed(struct jit *j, uint64_t n) {
    atomic_fetch_add_explicit(&j->parts->executed, n, memory_order_relaxed);
}

struct jit_counts jit_count(const struct jit *j) {
    pthread_mutex_lock(&j->parts->lock);
    struct jit_counts n = j->parts->counts;
    pthread_mutex_unlock(&j->parts->lock);
    return n;
}

struct jit *jit_new(const struct program *p, uint32_t after) {
    enum isa_level level = isa_processor_level();
    if (level == CPU_BASE || !has_popcnt() || !p->n)
        return NULL;
    struct jit *j = calloc(1, sizeof *j);
    struct jit_parts *parts = calloc(1, sizeof *parts);
    struct jit_entry *entry = calloc(2 * (size_t)p->n, sizeof *entry);
    struct access_profile *profile = calloc(p->n, sizeof *profile);
    if (!j || !parts || !entry || !profile) {
        free(j);
        free(parts);
        free(entry);
        free(profile);
        return NULL;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        entry[i].countdown = entry[p->n + i].countdown = after + 1;
        profile[i].shape = ACCESS_UNKNOWN;
    }
    *parts = (struct jit_parts){.program = p, .after = after, .profile = profile, .vex = level == CPU_AVX2};
    pthread_mutex_init(&parts->lock, NULL);
    *j = (struct jit){{entry, entry + p->n}, parts};
    return j;
}

void jit_free(struct jit *j) {
    if (!j)
        return;
    for (struct jit_block *b = j->parts->blocks, *next; b; b = next) {
        next = b->next;
        block_free(b);
    }
    areas_free(j->parts->areas);
    emit_free(&j->parts->buffer);
    free(j->parts->exits);
    pthread_mutex_destroy(&j->parts->lock);
    free(j->parts->profile);
    free(j->parts);
    free(j->entry[0]);
    free(j);
}
