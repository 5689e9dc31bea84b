/* The modern core: latencies of memory instructions. */
#include "modern.h"
#include "stages.h"

/* least number of cycles from the last data of an access to their write-back */
enum { TAIL = 1 };
/* latencies of the table below for 32-bit loads from global and shared memory; core.load_latency and
 * core.shared_latency replace them */
enum { USUAL_LOAD = 32, USUAL_SHARED = 24 };

/* Kinds of memory instructions with latencies of their own. */
enum memory_kind { GLOBAL_LOAD, GLOBAL_STORE, SHARED_LOAD, SHARED_STORE, CONSTANT_LOAD, COPY, N_MEMORY_KINDS };

/* Cycles from issue (Huerta et al., Table 2): `read`, until a source may be written; `result`, until a consumer may
 * issue if the access hits. The first index is 0 for an address in regular registers and 1 for an address in uniform
 * registers or an immediate. The second index is the size: 32, 64 or 128 bits a lane. A result of 0 means that there is
 * none. */
static const struct {
    uint8_t read[2][3], result[2][3];
} latency[N_MEMORY_KINDS] = {
    [GLOBAL_LOAD] = {{{11, 11, 11}, {9, 9, 9}}, {{32, 34, 38}, {29, 31, 35}}},
    [GLOBAL_STORE] = {{{14, 16, 20}, {10, 12, 16}}, {{32, 34, 38}, {29, 31, 35}}}, /* results: of atomics; assumed */
    [SHARED_LOAD] = {{{9, 9, 9}, {9, 9, 9}}, {{24, 24, 26}, {23, 23, 25}}},
    [SHARED_STORE] = {{{12, 14, 18}, {10, 12, 16}}, {{24, 24, 26}, {23, 23, 25}}},
    [CONSTANT_LOAD] = {{{29, 29, 29}, {10, 10, 10}}, {{29, 29, 29}, {26, 26, 26}}}, /* 128 bits: assumed */
    [COPY] = {{{13, 13, 13}, {13, 13, 13}}, {{39, 39, 39}, {39, 39, 39}}},
};

/* The properties of an instruction that decide its latencies. */
struct memory_row {
    enum memory_kind kind;
    uint8_t uniform, size; /* size: log2 of 32-bit words a lane, at most 2 */
};

static struct memory_row row_of(const struct sm *sm, uint32_t pc, uint8_t space) {
    const struct inst *in = &sm->program->program->code[pc];
    const struct control_bits *c = modern_control(sm->modern, pc);
    const unsigned bytes = inst_elements(in) * (in->msize > in->rsize ? in->msize : in->rsize);
    const bool reads = in->kind == K_LOAD || in->kind == K_TEX || in->kind == K_PREFETCH;
    struct memory_row r = {.uniform = c && c->uniform, .size = bytes > 8 ? 2 : bytes > 4};
    if (in->kind == K_COPY)
        r.kind = COPY;
    else if (space == SPACE_CONST || space == SPACE_PARAM)
        r.kind = CONSTANT_LOAD;
    else if (space == SPACE_SHARED)
        r.kind = reads ? SHARED_LOAD : SHARED_STORE;
    else
        r.kind = reads ? GLOBAL_LOAD : GLOBAL_STORE;
    return r;
}

/* Returns how many cycles more an access takes on the card (core.load_latency, core.shared_latency) than in the table
 * above. */
static int32_t card_adds(const struct sm *sm, enum memory_kind kind) {
    const struct core_cfg *core = &sm->cfg->core;
    if (kind == GLOBAL_LOAD || kind == GLOBAL_STORE)
        return (int32_t)core->load_latency - USUAL_LOAD;
    return kind == SHARED_LOAD || kind == SHARED_STORE ? (int32_t)core->shared_latency - USUAL_SHARED : 0;
}

uint32_t modern_read_cycles(const struct sm *sm, uint32_t pc) {
    const struct memory_row r = row_of(sm, pc, sm->program->program->code[pc].space);
    return latency[r.kind].read[r.uniform][r.size] - MODERN_TO_LATCH;
}

uint64_t modern_copy_ends(const struct modern_flight *mf) {
    return mf->granted + latency[COPY].result[0][0] - MODERN_TO_SHARED;
}

uint64_t modern_returns(struct sm *sm, uint32_t inflight, uint64_t now) {
    const struct inflight *f = &sm->in_flight.entry[inflight];
    const struct modern_flight *mf = &sm->modern->flight[inflight];
    struct modern_part *p = &sm->modern->part[f->part];
    const struct memory_row r = row_of(sm, f->pc, mf->space);
    const uint8_t(*result)[3] = latency[r.kind].result;
    if (!sm->program->inst[f->pc].regs.n_write)
        return max64(now, mf->has_read);
    uint64_t hit =
        mf->granted + (uint64_t)((int32_t)result[r.uniform][r.size] + card_adds(sm, r.kind) - MODERN_TO_SHARED);
    uint64_t late = now + TAIL + result[r.uniform][0] - result[1][0];
    uint64_t bus = p->returns_free + (2u << r.size); /* 512 bits a cycle */
    p->returns_free = max64(max64(hit, late), bus);
    return max64(p->returns_free, mf->has_read);
}
