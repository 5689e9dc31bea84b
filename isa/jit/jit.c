#include "compile.h"
#include "isa/levels.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    SEEN_RUNS = 2,     /* of a block before it is compiled, in which its accesses are looked at */
    FEWEST = 3,        /* instructions that are worth it, with a branch behind them */
    MOST_LEFT = 256,   /* times that code is left early before it is compiled anew */
    MOST_COMPILED = 6, /* times that a block is compiled */
    PAGE = 4096,
    AREA = 8 * PAGE,
};

/* Code that was made, kept until the program goes: some thread may be in it. */
struct jit_block {
    struct jit_block *next;
    void *code;
    size_t inside; /* the offset at which other code enters it */
    struct site *sites;
    uint32_t n_sites, times; /* it was compiled so many times */
};

struct jit_parts {
    const struct program *program;
    uint32_t after;
    pthread_mutex_t lock;
    struct seen *seen; /* by PC */
    /* under the lock */
    struct jit_block *blocks;
    struct area *areas; /* the first one may have room */
    struct emit room;   /* for code on its way, and ways out of it: kept from block to block */
    struct way_out *outs;
    uint32_t cap_outs;
    struct jit_counts counts;
    bool refused; /* the host's system gives no memory for code */
    bool vex;     /* code is for AVX2 */
};

#if defined(__x86_64__)
static bool processor_counts(void) { return __builtin_cpu_supports("popcnt"); }
#else
static bool processor_counts(void) { return false; }
#endif

/* ---- memory that may be executed: written first, and never after that ---- */

/* Pages for code, taken from the first one on. Those of a block become executable when it has been written; the others
 * are still writable, or nobody's. */
struct area {
    struct area *next;
    unsigned char *pages;
    size_t bytes, used;
};

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1); }

/* One that has so many bytes left. Pages come when they are touched: most programs have a few blocks. */
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

/* Instructions from `pc` on that code can stand for: up to where control is, or the block ends. */
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

/* Is it long enough? A branch, a call or a return goes on to other code (compile_branch()). */
static bool is_worth_it(const struct program *p, uint32_t pc) {
    uint32_t n = native_length(p, pc);
    const unsigned kind = pc + n < p->n ? p->code[pc + n].kind : K_NOP;
    return n + (kind == K_BRANCH || kind == K_CALL || kind == K_RET) >= FEWEST;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls cost what the interpreter costs, and what is held in vectors besides. */
static bool pays(const struct compiler *c) { return 3 * c->native >= 2 * c->n; }

static struct jit_block *new_block(struct jit *j, uint32_t pc, bool part, bool *refused) {
    struct jit_parts *parts = j->parts;
    const struct program *p = parts->program;
    struct compiler c = {.program = p,
                         .entry = j->entry[part],
                         .part = part,
                         .seen = parts->seen,
                         .first = &p->code[pc],
                         .n = native_length(p, pc),
                         .e = {.code = parts->room.code, .cap = parts->room.cap, .vex = parts->vex},
                         .outs = parts->outs,
                         .cap_outs = parts->cap_outs};
    struct jit_block *b = calloc(1, sizeof *b);
    if (b)
        b->sites = c.sites = calloc(c.n, sizeof *c.sites);
    if (c.sites && compile_block(&c) && pays(&c)) {
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
    parts->room = c.e;
    parts->outs = c.outs;
    parts->cap_outs = c.cap_outs;
    return b;
}

/* Under the lock. The entry gets code, or never will. */
static void compile_entry(struct jit *j, uint32_t pc, bool part) {
    struct jit_parts *parts = j->parts;
    struct jit_entry *entry = &j->entry[part][pc];
    uint32_t times = entry->block ? entry->block->times : 0;
    double start = seconds();
    struct jit_block *b = parts->refused || times == MOST_COMPILED ? NULL : new_block(j, pc, part, &parts->refused);
    if (b) {
        b->times = times + 1;
        b->next = parts->blocks;
        parts->blocks = entry->block = b;
    }
    parts->counts.seconds += seconds() - start;
    jit_code *code = NULL;
    if (b) /* ISO C knows no cast from data to functions */
        memcpy(&code, &b->code, sizeof code);
    atomic_store_explicit(&entry->code, code, memory_order_release);
    atomic_store_explicit(&entry->inside, b ? (char *)b->code + b->inside : NULL, memory_order_release);
}

/* ---- before that ---- */

static enum space space_seen(const struct inst *in, const struct effects *fx) {
    return in->space == SPACE_GENERIC ? (enum space)fx->space : (enum space)in->space;
}

static void look(struct seen *s, const struct inst *in, const struct effects *fx) {
    if (fx->lanes != LANES_ALL)
        return;
    uint8_t shape = (uint8_t)shape_of(fx->addr, in->msize), was = s->shape, space = (uint8_t)space_seen(in, fx);
    if (was != ACCESS_CALL)
        s->shape = was == ACCESS_UNSEEN || was == shape ? shape : ACCESS_ANY;
    if (was != ACCESS_UNSEEN && s->space != space)
        s->shape = ACCESS_CALL;
    s->space = space;
}

/* The block as the interpreter runs it, and what its accesses are like. */
static uint32_t run_and_look(struct jit_frame *f, uint32_t pc) {
    struct jit_parts *parts = f->jit->parts;
    uint32_t n = native_length(parts->program, pc);
    for (uint32_t i = 0; i < n; i++) {
        const struct inst *in = &f->first[i];
        uint32_t reason = f->step(f, i);
        if (reason)
            return i | reason;
        if (in->kind == K_LOAD || in->kind == K_STORE)
            look(&parts->seen[pc + i], in, f->fx);
    }
    return n;
}

static bool is_part(const struct jit_frame *f) { return f->active != LANES_ALL; }

/* The code of an entry while it is looked at. */
static uint32_t not_yet(struct jit_frame *f) {
    struct jit *j = f->jit;
    uint32_t pc = (uint32_t)(f->first - j->parts->program->code);
    struct jit_entry *entry = &j->entry[is_part(f)][pc];
    if (atomic_fetch_add_explicit(&entry->looked, 1, memory_order_relaxed) < SEEN_RUNS)
        return run_and_look(f, pc);
    if (pthread_mutex_trylock(&j->parts->lock) != 0)
        return 0;
    if (atomic_load_explicit(&entry->code, memory_order_relaxed) == not_yet)
        compile_entry(j, pc, is_part(f));
    pthread_mutex_unlock(&j->parts->lock);
    return 0;
}

jit_code *jit_ripe(const struct jit *j, uint32_t pc, bool part) {
    jit_code *none = NULL;
    if (!is_worth_it(j->parts->program, pc) ||
        !atomic_compare_exchange_strong(&j->entry[part][pc].code, &none, not_yet))
        return none;
    return not_yet;
}

/* ---- after that ---- */

/* Where the first active lane's access is now. */
static void find_again(struct jit_block *b, const struct jit_frame *f, const struct inst *in, uint32_t i) {
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

void jit_left(struct jit *j, struct jit_frame *f, uint32_t pc, uint32_t i) {
    struct jit_parts *parts = j->parts;
    const struct inst *in = &parts->program->code[pc + i];
    struct jit_entry *entry = &j->entry[is_part(f)][pc];
    bool access = in->kind == K_LOAD || in->kind == K_STORE;
    bool many = (atomic_fetch_add_explicit(&entry->left, 1, memory_order_relaxed) + 1) % MOST_LEFT == 0;
    if (pthread_mutex_trylock(&parts->lock) != 0)
        return;
    parts->counts.exits++;
    if (access && entry->block)
        find_again(entry->block, f, in, i);
    if (many) {
        struct seen *s = &parts->seen[pc + i];
        if (is_part(f))
            s->call_part = true;
        else
            s->shape = (in->kind == K_LOAD || !parts->vex) && s->shape < ACCESS_ANY ? ACCESS_ANY : ACCESS_CALL;
        compile_entry(j, pc, is_part(f));
    }
    pthread_mutex_unlock(&parts->lock);
}

struct jit_counts jit_count(const struct jit *j) {
    pthread_mutex_lock(&j->parts->lock);
    struct jit_counts n = j->parts->counts;
    pthread_mutex_unlock(&j->parts->lock);
    return n;
}

struct jit *jit_new(const struct program *p, uint32_t after) {
    enum isa_level level = isa_processor_level();
    if (level == CPU_BASE || !processor_counts() || !p->n)
        return NULL;
    struct jit *j = calloc(1, sizeof *j);
    struct jit_parts *parts = calloc(1, sizeof *parts);
    struct jit_entry *entry = calloc(2 * (size_t)p->n, sizeof *entry);
    struct seen *seen = calloc(p->n, sizeof *seen);
    if (!j || !parts || !entry || !seen) {
        free(j);
        free(parts);
        free(entry);
        free(seen);
        return NULL;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        entry[i].wait = entry[p->n + i].wait = after + 1;
        seen[i].shape = ACCESS_UNSEEN;
    }
    *parts = (struct jit_parts){.program = p, .after = after, .seen = seen, .vex = level == CPU_AVX2};
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
    emit_free(&j->parts->room);
    free(j->parts->outs);
    pthread_mutex_destroy(&j->parts->lock);
    free(j->parts->seen);
    free(j->parts);
    free(j->entry[0]);
    free(j);
}
