/* Counts the machine registers of a kernel on the modern core (core.kind=modern): numbers the values of a thread as the
 * machine has them. Requires: registers, `banks`. Keeps: everything but the pressure of kernels. Makes: a pressure that
 * is the number of registers that the kernel takes.
 *
 * R1 is the stack pointer. A 64-bit value takes an even number and the next one, a vector of n words n aligned numbers.
 * A value takes the lowest number that is free, but as long as the occupancy stays, rather a new number than one
 *  - that an access still reads, since a write would wait for it; or
 *  - in the bank of another operand: registers that are read together should be even and odd, and a 32-bit value that
 *    is read with a pair, such as a stored word with its address, should be odd.
 * Between the machine instructions of an expansion, its temporaries take numbers, too. Source: ptxas 13 for sm_86
 * numbers so (docs/modern-core.md). */
#include "isa/arith.h"
#include "isa/expansions.h"
#include "needed.h"
#include "pass.h"
#include "regalloc.h"
#include <stdlib.h>
#include <string.h>

enum {
    STACK_POINTER = 1,
    NO_NUMBER = UINT16_MAX,
    MOST_NUMBERS = 4096, /* a kernel with more live words keeps its pressure */
    MOST_WORDS = 4,      /* of a value of 128 bits */
    WAITS = 2,           /* cost of a number that an access still reads */
    CONFLICT = 1         /* cost of a number in the bank of another operand */
};

/* A value that needs numbers: a register, or a temporary of an expansion (vreg SINK_VREG). */
struct value {
    uint32_t begin, vreg; /* first position */
    bool spare;           /* true for a temporary that takes a number only below the bound */
};

/* A read of a register by an access: a write between both instructions would wait. */
struct late_read {
    uint32_t from, to, next;
};

struct numbers {
    struct ir *ir;
    const struct ir_function *f;
    struct live_segments live;
    struct value *values;
    uint32_t n_values;
    uint16_t *number;   /* register -> its first number; NO_NUMBER: none yet */
    uint64_t **busy;    /* number -> set of positions at which it holds a value */
    uint64_t **awaited; /* number -> set of instructions at which a write would wait for an access */
    uint32_t *late;     /* register -> its first late read; 0: none */
    struct late_read *reads;
    uint32_t n_reads, cap_reads;
    uint32_t *pair, n_pairs, cap_pairs; /* registers that an instruction reads together, two by two */
    uint32_t *same;                     /* register -> the sum that it continues, in the same number; 0: none */
    uint32_t *component;                /* register -> root of the registers that should alternate; 0: none */
    unsigned char *side;                /* register -> its side of the component, 0 or 1 */
    signed char *bank;                  /* root -> bank of side 0; -1: not chosen yet */
    int32_t *with_pair;                 /* register -> instructions that read it together with a pair */
    const struct inst **vector;         /* register -> access with a vector that has it */
    uint32_t top, bound;
    bool spread; /* true while new numbers may be taken to avoid waits and conflicts */
};

static unsigned words_of(const struct numbers *s, uint32_t v) { return v ? vreg_words(&s->ir->vregs[v]) : 1; }

static bool is_late(const struct inst *in) {
    return in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM || in->kind == K_TEX || in->kind == K_COPY;
}

static bool any_bit(const uint64_t *set, uint32_t begin, uint32_t end) {
    for (uint32_t p = begin; p <= end; p = (p / 64 + 1) * 64) {
        const uint32_t last = end / 64 == p / 64 ? end % 64 : 63;
        if (set[p / 64] & (UINT64_MAX << p % 64) & (UINT64_MAX >> (63 - last)))
            return true;
    }
    return false;
}

static void set_bits(uint64_t *set, uint32_t begin, uint32_t end) {
    for (uint32_t p = begin; p <= end; p++)
        set[p / 64] |= 1ull << p % 64;
}

/* Returns the instruction that waits for the access `i`: the first one in its block that reads a result. */
static uint32_t awaited_at(const struct ir *ir, uint32_t i) {
    const struct inst_info *x = &ir->info[i];
    const uint32_t end = ir->blocks[x->block].end;
    for (uint32_t k = i + 1; k < end; k++) {
        const struct inst_info *y = &ir->info[k];
        for (unsigned a = 0; a < x->n_writes; a++)
            for (unsigned b = 0; b < y->n_reads; b++)
                if (ir->regs[x->regs + x->n_reads + a] == ir->regs[y->regs + b])
                    return k;
    }
    return end - 1;
}

static void note_access(struct numbers *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    const struct inst_info *info = &ir->info[i];
    const uint32_t to = awaited_at(ir, i);
    const bool stores_word = in->kind == K_STORE && !in->n_list && in->asize == 8;
    for (unsigned k = 0; k < info->n_reads; k++) {
        const uint32_t v = ir->regs[info->regs + k];
        s->reads = IR_ROOM(ir, s->reads, s->n_reads + 1, s->cap_reads);
        s->reads[++s->n_reads] = (struct late_read){i, to, s->late[v]};
        s->late[v] = s->n_reads;
        s->with_pair[v] += stores_word && words_of(s, v) == 1;
    }
    for (unsigned k = 0; k < in->n_list; k++)
        if (!(ir->lists[in->list + k] & 1) && !s->vector[ir->lists[in->list + k] >> 1])
            s->vector[ir->lists[in->list + k] >> 1] = in;
}

static bool is_live_after(const struct numbers *s, uint32_t v, uint32_t i) {
    for (uint32_t k = s->live.first[v]; k; k = s->live.list[k].next)
        if (s->live.list[k].at.begin <= 2 * i + 1 && s->live.list[k].at.end >= 2 * i + 1)
            return true;
    return false;
}

/* Returns the register whose number the result of an instruction takes if the register ends there: the addend, or the
 * only operand. */
static uint32_t continued(const struct inst *in) {
    const opnd_t o = !(in->c & 1) && in->c != OPND_SINK ? in->c : in->a & 1 ? in->b : in->b & 1 ? in->a : OPND_SINK;
    return o & 1 ? SINK_VREG : o >> 1;
}

/* Notes the register whose number the result takes. A word that is read with a pair has an odd number instead. */
static void note_sum(struct numbers *s, uint32_t i) {
    const uint32_t d = s->ir->code[i].d >> 1, v = continued(&s->ir->code[i]);
    if (v == SINK_VREG || d == SINK_VREG || d == v || s->same[d] || s->with_pair[d] || words_of(s, d) != 1 ||
        words_of(s, v) != 1 || s->ir->vregs[v].special || is_live_after(s, v, i))
        return;
    s->same[d] = s->same[v] ? s->same[v] : v;
}

static uint32_t first_of_sum(const struct numbers *s, uint32_t v) { return s->same[v] ? s->same[v] : v; }

/* Returns the second operand of an instruction that reads three registers of a word, or OPND_SINK. */
static opnd_t middle_of_three(const struct numbers *s, const struct inst *in) {
    const opnd_t o[] = {in->a, in->b, in->c};
    for (int k = 0; k < 3; k++)
        if (o[k] & 1 || o[k] == OPND_SINK || words_of(s, o[k] >> 1) != 1 || o[k] == o[(k + 1) % 3])
            return OPND_SINK;
    return in->b;
}

static void note_pairs(struct numbers *s, uint32_t i) {
    struct ir *ir = s->ir;
    const struct inst_info *info = &ir->info[i];
    const uint32_t *read = ir->regs + info->regs;
    const opnd_t free = middle_of_three(s, &ir->code[i]);
    for (unsigned a = 0; a < info->n_reads; a++)
        for (unsigned b = 0; b < a; b++) {
            if (free != OPND_SINK && (read[a] == free >> 1 || read[b] == free >> 1))
                continue;
            const uint32_t v = first_of_sum(s, read[a]), w = first_of_sum(s, read[b]);
            s->with_pair[v] += words_of(s, v) == 1 && words_of(s, w) == 2;
            s->with_pair[w] += words_of(s, w) == 1 && words_of(s, v) == 2;
            if (v == w || words_of(s, v) != 1 || words_of(s, w) != 1)
                continue;
            s->pair = IR_ROOM(ir, s->pair, s->n_pairs + 1, s->cap_pairs);
            s->pair[s->n_pairs++] = v;
            s->pair[s->n_pairs++] = w;
        }
}

static int compare_pairs(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Gives the registers that instructions read together alternating sides, in the order of a breadth-first search. */
static void find_sides(struct numbers *s) {
    struct ir *ir = s->ir;
    uint32_t *both = arena_array(ir->tmp, 2 * (size_t)s->n_pairs + 1, sizeof *both), n = s->n_pairs;
    uint32_t *queue = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *queue);
    uint32_t *first = arena_array(ir->tmp, (size_t)ir->n_vregs + 2, sizeof *first);
    for (uint32_t k = 0; k < n; k += 2) {
        both[2 * k] = both[2 * k + 3] = s->pair[k];
        both[2 * k + 1] = both[2 * k + 2] = s->pair[k + 1];
    }
    qsort(both, n, 2 * sizeof *both, compare_pairs);
    for (uint32_t k = 0; k < n; k++)
        first[both[2 * k] + 1]++;
    for (uint32_t v = 0; v <= ir->n_vregs; v++)
        first[v + 1] += first[v];
    for (uint32_t k = 0; k < s->n_values; k++) {
        const uint32_t root = first_of_sum(s, s->values[k].vreg);
        uint32_t done = 0, top = 0;
        if (s->component[root] || first[root] == first[root + 1])
            continue;
        s->component[root] = root;
        for (queue[top++] = root; done < top; done++)
            for (uint32_t e = first[queue[done]]; e < first[queue[done] + 1]; e++) {
                const uint32_t other = both[2 * e + 1];
                if (s->component[other])
                    continue;
                s->component[other] = root;
                s->side[other] = !s->side[queue[done]];
                queue[top++] = other;
            }
    }
    for (uint32_t v = 1; v < ir->n_vregs; v++) {
        s->component[v] = s->component[first_of_sum(s, v)];
        s->side[v] = s->side[first_of_sum(s, v)];
    }
}

/* Chooses the banks of components with registers that are read with pairs: most of these should be odd. */
static void choose_banks(struct numbers *s) {
    int32_t *odd = arena_array(s->ir->tmp, (size_t)s->ir->n_vregs + 1, sizeof *odd);
    for (uint32_t v = 1; v < s->ir->n_vregs; v++)
        odd[s->component[v]] += s->side[v] ? -s->with_pair[v] : s->with_pair[v];
    for (uint32_t v = 0; v < s->ir->n_vregs; v++)
        s->bank[v] = odd[v] ? odd[v] > 0 : -1;
}

/* Returns the bank in which a register should be, or -1. */
static int bank_of(const struct numbers *s, uint32_t v) {
    const uint32_t root = s->component[v];
    if (root)
        return s->bank[root] < 0 ? -1 : s->bank[root] ^ s->side[v];
    return s->with_pair[v] > 0 ? 1 : -1;
}

static int compare_values(const void *a, const void *b) {
    const struct value *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->vreg != y->vreg ? (x->vreg < y->vreg ? -1 : 1) : (int)x->spare - (int)y->spare;
}

/* Returns true if nothing reads the results of the definitions of a register. */
static bool is_unread(const struct numbers *s, uint32_t v) {
    for (uint32_t k = s->live.first[v]; k; k = s->live.list[k].next)
        if (s->live.list[k].at.begin != s->live.list[k].at.end)
            return false;
    return true;
}

static void find_values(struct numbers *s) {
    struct ir *ir = s->ir;
    uint32_t n = 0;
    for (uint32_t i = s->f->begin; i < s->f->end; i++) {
        const uint8_t id = select_expansion(ir, &ir->code[i]);
        n += id ? expansion_of(id)->temporaries + expansion_of(id)->spare : 0;
    }
    s->values = arena_array(ir->tmp, (size_t)ir->n_vregs + n + 1, sizeof *s->values);
    for (uint32_t v = 1; v < ir->n_vregs; v++) {
        uint32_t begin = UINT32_MAX;
        for (uint32_t k = s->live.first[v]; k; k = s->live.list[k].next)
            begin = s->live.list[k].at.begin < begin ? s->live.list[k].at.begin : begin;
        const bool unread_texel = s->vector[v] && s->vector[v]->kind == K_TEX && is_unread(s, v);
        if (begin != UINT32_MAX && words_of(s, v) && !unread_texel && &ir->functions[ir->vregs[v].function] == s->f)
            s->values[s->n_values++] = (struct value){begin, v, false};
    }
    for (uint32_t i = s->f->begin; i < s->f->end; i++) {
        const uint8_t id = select_expansion(ir, &ir->code[i]);
        for (unsigned k = 0; id && k < (unsigned)expansion_of(id)->temporaries + expansion_of(id)->spare; k++)
            s->values[s->n_values++] = (struct value){2 * i, SINK_VREG, k >= expansion_of(id)->temporaries};
    }
    qsort(s->values, s->n_values, sizeof *s->values, compare_values);
}

/* Returns true if a value can have the number `at` for its word. */
static bool is_free(struct numbers *s, const struct value *v, uint32_t at) {
    if (at == STACK_POINTER || at >= MOST_NUMBERS)
        return false;
    if (!s->busy[at]) {
        s->busy[at] = arena_array(s->ir->tmp, (size_t)s->ir->n / 32 + 1, sizeof **s->busy);
        s->awaited[at] = arena_array(s->ir->tmp, (size_t)s->ir->n / 64 + 1, sizeof **s->awaited);
    }
    if (!v->vreg)
        return !any_bit(s->busy[at], v->begin, v->begin + 1);
    for (uint32_t k = s->live.first[v->vreg]; k; k = s->live.list[k].next)
        if (any_bit(s->busy[at], s->live.list[k].at.begin, s->live.list[k].at.end))
            return false;
    return true;
}

static bool all_free(struct numbers *s, const struct value *v, uint32_t at) {
    for (unsigned k = 0; k < words_of(s, v->vreg); k++)
        if (!is_free(s, v, at + k))
            return false;
    return true;
}

static void take(struct numbers *s, const struct value *v, uint32_t at) {
    const unsigned words = words_of(s, v->vreg);
    for (unsigned w = at; w < at + words; w++) {
        if (!v->vreg)
            set_bits(s->busy[w], v->begin, v->begin + 1);
        for (uint32_t k = v->vreg ? s->live.first[v->vreg] : 0; k; k = s->live.list[k].next)
            set_bits(s->busy[w], s->live.list[k].at.begin, s->live.list[k].at.end);
        for (uint32_t k = v->vreg ? s->late[v->vreg] : 0; k; k = s->reads[k].next)
            if (s->reads[k].from < s->reads[k].to)
                set_bits(s->awaited[w], s->reads[k].from + 1, s->reads[k].to);
    }
    if (v->vreg) {
        s->number[v->vreg] = (uint16_t)at;
        if (s->component[v->vreg] && s->bank[s->component[v->vreg]] < 0)
            s->bank[s->component[v->vreg]] = (signed char)(at % 2 ^ s->side[v->vreg]);
    }
    s->top = at + words > s->top ? at + words : s->top;
}

/* A vector of adjacent registers: `n` operands from `list` on, the first number a multiple of `align`. */
struct vector {
    const opnd_t *list;
    unsigned n, align;
};

/* Returns the vector of an access that has the register. A fetch of a texture has one vector of coordinates, and its
 * results are vectors of two. */
static struct vector vector_of(const struct numbers *s, const struct inst *in, uint32_t v) {
    const opnd_t *list = s->ir->lists + in->list;
    const unsigned results = inst_list_writes(in);
    unsigned k = 0;
    if (in->kind != K_TEX)
        return (struct vector){list, in->n_list, in->n_list};
    while (list[k] != v << 1)
        k++;
    if (k >= results)
        return (struct vector){list + results, in->n_list - results, in->n_list - results > 2 ? 4 : 2};
    k &= ~1u;
    for (unsigned e = k; e < k + 2; e++)
        if (e >= results || is_unread(s, list[e] >> 1))
            return (struct vector){NULL, 0, 1};
    return (struct vector){list + k, 2, 2};
}

/* Gives consecutive numbers to a vector, if none of its registers has one. Returns false if it is no vector of whole
 * words. */
static bool take_vector(struct numbers *s, struct vector of) {
    const opnd_t *list = of.list;
    for (unsigned k = 0; k < of.n; k++) {
        if (list[k] & 1 || words_of(s, list[k] >> 1) != 1 || s->number[list[k] >> 1] != NO_NUMBER)
            return false;
        for (unsigned j = 0; j < k; j++)
            if (list[j] == list[k])
                return false;
    }
    for (uint32_t at = 0; of.n && at + of.n < MOST_NUMBERS; at += of.align) {
        unsigned k = 0;
        while (k < of.n && is_free(s, &(struct value){0, list[k] >> 1, false}, at + k))
            k++;
        if (k < of.n)
            continue;
        for (k = 0; k < of.n; k++)
            take(s, &(struct value){0, list[k] >> 1, false}, at + k);
        return true;
    }
    return false;
}

static unsigned cost(const struct numbers *s, const struct value *v, uint32_t at) {
    const unsigned words = words_of(s, v->vreg);
    unsigned sum = 0;
    if (!s->spread || v->spare)
        return 0;
    for (unsigned k = 0; k < words; k++)
        if (any_bit(s->awaited[at + k], v->begin / 2, v->begin / 2))
            sum = WAITS;
    const int bank = words == 1 && v->vreg ? bank_of(s, v->vreg) : -1;
    return sum + (bank >= 0 && (unsigned)bank != at % 2 ? CONFLICT : 0);
}

/* Fills `at` with numbers to try first: those of the operands of the instruction that begins the value. Returns how
 * many there are. */
static unsigned operands_first(const struct numbers *s, const struct value *v, uint32_t at[MAX_INST_REGS]) {
    const struct ir *ir = s->ir;
    const uint32_t i = v->begin / 2;
    const struct inst_info *info = &ir->info[i];
    unsigned n = 0;
    if (!v->vreg || !(v->begin & 1) || (ir->code[i].kind != K_LANE && ir->code[i].kind != K_CVT))
        return 0;
    for (unsigned k = info->n_reads; k-- > 0;) {
        const uint32_t read = ir->regs[info->regs + k];
        if (s->number[read] != NO_NUMBER && words_of(s, read) == words_of(s, v->vreg))
            at[n++] = s->number[read];
    }
    return n;
}

/* Gives a value the cheapest number. A number above all others is taken only if that avoids a wait or a conflict and
 * stays below the bound, or if there is no other. */
static void place(struct numbers *s, const struct value *v) {
    const unsigned words = words_of(s, v->vreg);
    uint32_t tried[MAX_INST_REGS], best = NO_NUMBER;
    unsigned best_cost = UINT32_MAX;
    const unsigned n = operands_first(s, v, tried);
    for (uint32_t k = 0; best_cost && k < n + MOST_NUMBERS / words; k++) {
        const uint32_t at = k < n ? tried[k] : (k - n) * words;
        if (best != NO_NUMBER && at + words > s->top && at + words > s->bound)
            break;
        if (!all_free(s, v, at))
            continue;
        const unsigned c = cost(s, v, at);
        if (c < best_cost) {
            best_cost = c;
            best = at;
        }
    }
    if (best != NO_NUMBER && (!v->spare || best + words <= s->bound))
        take(s, v, best);
}

/* Gives adjacent numbers to the vector that has the value, if its alignment is `words` (0: any) and none of its
 * registers has a number yet. Returns false if it does not. */
static bool number_vector(struct numbers *s, const struct value *v, unsigned words) {
    const struct inst *in = s->vector[v->vreg];
    const struct vector of = in ? vector_of(s, in, v->vreg) : (struct vector){NULL, 0, 1};
    const unsigned class = of.align > MOST_WORDS ? MOST_WORDS : of.align;
    return of.n && (!words || words == class) && take_vector(s, of);
}

/* Gives numbers to values of `words` words and to vectors of as many, if they have none yet. 0: any number of words. */
static void number_some(struct numbers *s, unsigned words) {
    for (uint32_t k = 0; k < s->n_values; k++) {
        const struct value *v = &s->values[k];
        if (v->vreg && (s->number[v->vreg] != NO_NUMBER || number_vector(s, v, words)))
            continue;
        if ((s->spread || !v->spare) && (!words || words == words_of(s, v->vreg)))
            place(s, v);
    }
}

/* Numbers all values, in the order in which they begin; with `by_size`, vectors first and single words last, which
 * leaves fewer gaps that are too small. Returns how many numbers there are, the stack pointer included. */
static uint32_t number_all(struct numbers *s, bool spread, bool by_size) {
    struct ir *ir = s->ir;
    s->spread = spread;
    s->top = STACK_POINTER + 1;
    s->busy = arena_array(ir->tmp, MOST_NUMBERS, sizeof *s->busy);
    s->awaited = arena_array(ir->tmp, MOST_NUMBERS, sizeof *s->awaited);
    memset(s->number, 0xff, ((size_t)ir->n_vregs + 1) * sizeof *s->number);
    choose_banks(s);
    if (!by_size)
        number_some(s, 0);
    for (unsigned words = MOST_WORDS; by_size && words; words /= 2)
        number_some(s, words);
    return s->top;
}

static void prepare(struct numbers *s) {
    struct ir *ir = s->ir;
    const size_t n = (size_t)ir->n_vregs + 1;
    s->number = arena_array(ir->tmp, n, sizeof *s->number);
    s->late = arena_array(ir->tmp, n, sizeof *s->late);
    s->same = arena_array(ir->tmp, n, sizeof *s->same);
    s->component = arena_array(ir->tmp, n, sizeof *s->component);
    s->side = arena_array(ir->tmp, n, sizeof *s->side);
    s->bank = arena_array(ir->tmp, n, sizeof *s->bank);
    s->with_pair = arena_array(ir->tmp, n, sizeof *s->with_pair);
    s->vector = arena_array(ir->tmp, n, sizeof *s->vector);
    for (uint32_t i = s->f->begin; i < s->f->end; i++)
        if (is_late(&ir->code[i]))
            note_access(s, i);
    find_values(s);
    for (uint32_t i = s->f->begin; i < s->f->end; i++)
        if (ir->code[i].kind == K_LANE)
            note_sum(s, i);
    for (uint32_t i = s->f->begin; i < s->f->end; i++)
        if (ir->code[i].kind == K_LANE)
            note_pairs(s, i);
    find_sides(s);
}

/* Returns the words that a kernel takes, without the reserved ones. If the numbers do not fit in the bound, the kernel
 * takes as few as it can. */
static uint32_t count_words(struct ir *ir, const struct ir_function *f) {
    struct numbers s = {.ir = ir, .f = f, .live = find_live_segments(ir)};
    uint32_t limit = register_limit(ir, NULL), words;
    const uint32_t bound = registers_allowed(ir, f) + STACK_POINTER;
    s.bound = bound;
    prepare(&s);
    words = number_all(&s, true, true);
    if (words > bound) {
        const uint32_t in_order = number_all(&s, false, false), sized = number_all(&s, false, true);
        const uint32_t least = in_order < sized ? in_order : sized;
        words = least > bound ? least : bound;
    }
    words -= STACK_POINTER;
    limit = limit && limit < f->pressure ? f->pressure : limit;
    return limit && words > limit ? limit : words;
}

bool pass_numbers(struct ir *ir) {
    for (uint32_t k = 0; k < ir->n_functions; k++) {
        struct ir_function *f = &ir->functions[k];
        if (!f->is_entry || f->pressure > MOST_NUMBERS / 4)
            continue;
        const uint32_t before = f->pressure, words = count_words(ir, f);
        f->pressure = words > before ? words : before;
        ir_note(ir, f->begin, "%u registers; %u words are live at once", f->pressure, before);
    }
    regalloc_total(ir);
    return true;
}
