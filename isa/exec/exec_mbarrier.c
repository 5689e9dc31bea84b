/* mbarrier: barrier objects in shared memory (PTX ISA 9.0, section 9.7.13.15). A phase ends when no arrival and no
 * transaction is pending; the next phase begins at once. Lanes of a warp execute in ascending order. Behaviour that PTX
 * leaves undefined (no object, counts beyond their range) is a fault. try_wait returns at once, as test_wait does: PTX
 * permits a wait but does not require one. */
#ifndef ROWS_FILE /* see isa/rows.h */
#include "exec_mbarrier.h"
#include "exec_mem.h"
#include "isa/machine/pending.h"
#include "isa/rows.h"

/* The fields of an mbarrier object. */
struct mbarrier {
    uint32_t pending, expected;
    int32_t tx;
    bool phase, live;
};

static struct mbarrier unpack(uint64_t word) {
    uint32_t tx = (uint32_t)(word >> MBARRIER_TX) & ((2u << MBARRIER_COUNT_BITS) - 1);
    return (struct mbarrier){.pending = (uint32_t)(word >> MBARRIER_PENDING) & MBARRIER_COUNT_MAX,
                             .expected = (uint32_t)(word >> MBARRIER_EXPECTED) & MBARRIER_COUNT_MAX,
                             .tx = (int32_t)(tx << 11) >> 11,
                             .phase = word >> MBARRIER_PHASE & 1,
                             .live = word >> MBARRIER_LIVE & 1};
}

static uint64_t pack(const struct mbarrier *b) {
    uint64_t tx = (uint32_t)b->tx & ((2u << MBARRIER_COUNT_BITS) - 1);
    return (uint64_t)b->pending << MBARRIER_PENDING | (uint64_t)b->expected << MBARRIER_EXPECTED | tx << MBARRIER_TX |
           (uint64_t)b->phase << MBARRIER_PHASE | (uint64_t)b->live << MBARRIER_LIVE;
}

static void settle(struct mbarrier *b) {
    if (b->pending || b->tx)
        return;
    b->pending = b->expected;
    b->phase = !b->phase;
}

/* The type of an operation on an mbarrier object. The operation returns an error message if the object or operand `n`
 * is invalid, else NULL. */
typedef const char *mbarrier_fn(struct mbarrier *b, uint32_t n);

static const char *init(struct mbarrier *b, uint32_t n) {
    if (n == 0 || n > MBARRIER_COUNT_MAX)
        return "a count of arrivals is from 1 to 1048575";
    *b = (struct mbarrier){.pending = n, .expected = n, .live = true};
    return NULL;
}

/* Has no effect, also on memory without an object: ptxas assembles mbarrier.inval for sm_80 to a nop. So threads may
 * still test the object, as in programs that run on GPUs. The checker counts inval as a write. */
static const char *inval(struct mbarrier *b, uint32_t n) {
    (void)b, (void)n;
    return NULL;
}

static const char *count_tx(struct mbarrier *b, int64_t n) {
    int64_t tx = b->tx + n;
    if (tx > MBARRIER_COUNT_MAX || tx < -MBARRIER_COUNT_MAX)
        return "a count of transactions is from -1048575 to 1048575";
    b->tx = (int32_t)tx;
    return NULL;
}

static const char *expect_tx(struct mbarrier *b, uint32_t n) {
    const char *wrong = count_tx(b, n);
    if (!wrong)
        settle(b);
    return wrong;
}

static const char *complete_tx(struct mbarrier *b, uint32_t n) {
    const char *wrong = count_tx(b, -(int64_t)n);
    if (!wrong)
        settle(b);
    return wrong;
}

static const char *arrive(struct mbarrier *b, uint32_t n) {
    if (n > b->pending)
        return "more threads arrive than the phase waits for";
    b->pending -= n;
    settle(b);
    return NULL;
}

static const char *arrive_no_complete(struct mbarrier *b, uint32_t n) {
    if (n >= b->pending)
        return "this would complete the phase, and .noComplete says that it does not";
    b->pending -= n;
    return NULL;
}

static const char *arrive_expect_tx(struct mbarrier *b, uint32_t n) {
    const char *wrong = count_tx(b, n);
    return wrong ? wrong : arrive(b, 1);
}

static const char *drop(struct mbarrier *b, uint32_t n) {
    if (n > b->expected)
        return "more threads drop out than take part";
    b->expected -= n;
    return NULL;
}

static const char *drop_plain(struct mbarrier *b, uint32_t n) {
    const char *wrong = drop(b, n);
    return wrong ? wrong : arrive(b, n);
}

static const char *drop_no_complete(struct mbarrier *b, uint32_t n) {
    const char *wrong = drop(b, n);
    return wrong ? wrong : arrive_no_complete(b, n);
}

static const char *drop_expect_tx(struct mbarrier *b, uint32_t n) {
    const char *wrong = drop(b, 1);
    return wrong ? wrong : arrive_expect_tx(b, n);
}

/* Executes the first step of cp.async.mbarrier.arrive, an arrival when the thread's copies are complete. Heddle
 * performs it in two steps. First, a pending transaction stands for the unfinished copies, so the phase cannot end
 * before mbarrier_copies_done(). Second, with .noinc the arrival is counted at once. Without .noinc no arrival is
 * counted, because PTX would first add one expected arrival and then perform it. */
static const char *copies_pending(struct mbarrier *b, uint32_t n) {
    (void)n;
    return count_tx(b, 1);
}

static const char *copies_pending_noinc(struct mbarrier *b, uint32_t n) {
    const char *wrong = count_tx(b, 1);
    return wrong ? wrong : arrive(b, n);
}

static const char *copies_complete(struct mbarrier *b, uint32_t n) {
    (void)n;
    return b->pending == MBARRIER_COUNT_MAX ? "a phase waits for 1048575 arrivals at most" : NULL;
}

void mbarrier_copies_done(struct cta *c, uint64_t address) {
    uint64_t word;
    memcpy(&word, c->shared + address, sizeof word);
    struct mbarrier b = unpack(word);
    if (!b.live)
        return;
    b.tx--;
    settle(&b);
    word = pack(&b);
    memcpy(c->shared + address, &word, sizeof word);
}

/* Changes the object at `address` by `fn`, unless it does not exist. */
static const char *change(struct cta *c, uint64_t address, mbarrier_fn *fn, uint32_t n) {
    uint64_t word;
    memcpy(&word, c->shared + address, sizeof word);
    struct mbarrier b = unpack(word);
    if (!b.live)
        return "there is no mbarrier: init comes first";
    const char *wrong = (*fn)(&b, n);
    word = pack(&b);
    memcpy(c->shared + address, &word, sizeof word);
    return wrong;
}

const char *mbarrier_arrive_once(struct cta *c, uint64_t address) { return change(c, address, arrive, 1); }

static const char *complete_some(struct mbarrier *b, uint32_t n) { return n ? complete_tx(b, n) : NULL; }

const char *mbarrier_complete_bytes(struct cta *c, uint64_t address, uint32_t bytes) {
    return change(c, address, complete_some, bytes);
}

/* Returns the host address of a lane's object. With `fresh`, the object need not have been initialised. NULL: fx holds
 * the fault. */
static unsigned char *object(struct warp *w, const struct inst *in, struct effects *fx, int lane, bool fresh) {
    uint64_t address = fx->addr[lane], word;
    unsigned char *at = mem_lane(w, in, fx, lane, true);
    if (!at)
        return NULL;
    if (!(fx->shared_lanes >> lane & 1)) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "an mbarrier lies in shared memory, and 0x%llx does not",
                      (unsigned long long)address);
        return NULL;
    }
    memcpy(&word, at, sizeof word);
    if (!fresh && !unpack(word).live) {
        fx_fault_text(fx, FAULT_UNSUPPORTED, lane, "there is no mbarrier at shared 0x%llx: init comes first",
                      (unsigned long long)fx->addr[lane]);
        return NULL;
    }
    return at;
}

static void perform(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, mbarrier_fn *fn) {
    const uint32_t *count = reg_ptr(w, in->b);
    uint64_t *state = in->d == OPND_SINK ? NULL : reg_ptr(w, in->d);
    uint32_t n_rows;
    mem_addresses(w, in, m, fx, 1);
    mem_lanes_begin(in, fx);
    for (; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint64_t word;
        unsigned char *at = object(w, in, fx, l, fn == init || fn == inval);
        if (!at)
            return;
        if (fn == inval)
            continue;
        if (cluster_is_remote(fx->addr[l]) && isa_rows(&n_rows)[in->row].op == OP_CP) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l,
                          "copies arrive at an mbarrier of their own CTA; 0x%llx is another's",
                          (unsigned long long)fx->addr[l]);
            return;
        }
        memcpy(&word, at, sizeof word);
        struct mbarrier b = unpack(word);
        const char *wrong = (*fn)(&b, count[l]);
        if (wrong) {
            fx_fault_text(fx, FAULT_UNSUPPORTED, l, "mbarrier at shared 0x%llx with operand %u: %s",
                          (unsigned long long)fx->addr[l], count[l], wrong);
            return;
        }
        if (state)
            state[l] = word;
        word = pack(&b);
        memcpy(at, &word, sizeof word);
    }
}

/* Tests whether the phase that b names (a state, or a parity) has ended. */
static void test(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx, bool parity) {
    const uint64_t *state = reg_ptr(w, in->b);
    const uint32_t *parities = reg_ptr(w, in->b);
    rowmask_t done = 0, left = m;
    mem_addresses(w, in, m, fx, 1);
    mem_lanes_begin(in, fx);
    for (; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t word;
        unsigned char *at = object(w, in, fx, l, false);
        if (!at)
            break;
        memcpy(&word, at, sizeof word);
        bool asked = parity ? parities[l] & 1 : unpack(state[l]).phase;
        done |= (rowmask_t)(unpack(word).phase != asked) << l;
    }
    if (in->d != OPND_SINK)
        blend_lanes(reg_ptr(w, in->d), &done, m & ~left, 0);
}

bool mbarrier_is_wait(const struct inst *in) {
    uint32_t n;
    const struct isa_row *row = &isa_rows(&n)[in->row];
    const unsigned mode = form_get(row->form, CAT_MODE);
    return in->kind == K_ATOM && row->op == OP_MBARRIER && (mode == MODE_TEST_WAIT || mode == MODE_TRY_WAIT);
}

bool mbarrier_find_wait(struct warp *w, const struct inst *in, rowmask_t m, struct mbarrier_wait *out) {
    uint32_t n;
    const bool parity = form_get(isa_rows(&n)[in->row].form, CAT_MODE2) == MODE2_PARITY;
    struct effects fx = {0};
    out->lanes = 0;
    if (!m)
        return false;
    mem_addresses(w, in, m, &fx, 1);
    mem_lanes_begin(in, &fx);
    for (; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        const unsigned char *at = object(w, in, &fx, l, false);
        uint64_t word;
        if (!at)
            break;
        memcpy(&word, at, sizeof word);
        const struct mbarrier b = unpack(word);
        const bool asked = parity ? ((const uint32_t *)reg_ptr(w, in->b))[l] & 1
                                  : unpack(((const uint64_t *)reg_ptr(w, in->b))[l]).phase;
        if (b.phase != asked || (out->lanes && out->address != fx.addr[l]))
            continue;
        if (!out->lanes)
            *out = (struct mbarrier_wait){fx.addr[l], asked, b.pending, b.expected, b.tx, 0};
        out->lanes |= 1u << l;
    }
    return out->lanes != 0;
}

#define PERFORM(name)                                                                                                  \
    static void mbarrier_##name(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {              \
        perform(w, in, m, fx, name);                                                                                   \
    }
PERFORM(init)
PERFORM(inval)
PERFORM(expect_tx)
PERFORM(complete_tx)
PERFORM(arrive)
PERFORM(arrive_no_complete)
PERFORM(arrive_expect_tx)
PERFORM(drop_plain)
PERFORM(drop_no_complete)
PERFORM(drop_expect_tx)
static void mbarrier_test(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    test(w, in, m, fx, false);
}
static void mbarrier_test_parity(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    test(w, in, m, fx, true);
}

/* Returns true if the arrival of the lanes comes later (mbarrier_copies_done()). Else their copies land now. */
static bool copies_later(struct warp *w, rowmask_t m) {
    if (!w->cta->copies_take_time)
        pending_wait(w, m, -1);
    return w->cta->copies_take_time;
}

static void copies_arrive(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    perform(w, in, m, fx, copies_later(w, m) ? copies_pending : copies_complete);
}
static void copies_arrive_noinc(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    perform(w, in, m, fx, copies_later(w, m) ? copies_pending_noinc : arrive);
}

static void products_arrive(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    perform(w, in, m, fx, w->cta->copies_take_time ? copies_pending_noinc : arrive);
}

#define MBARRIER(form, function) WARP_FN(MBARRIER, T1(B64), form, ATOM, MEM, NO_OPDS, mbarrier_##function)

#define ROWS_FILE "isa/exec/exec_mbarrier.c"
#define ROWS_NAME mbarrier
#include "isa/rows_expand.h"
#else
/* clang-format off */
MBARRIER(FORM(MODE, INIT), init)
MBARRIER(FORM(MODE, INVAL), inval)
MBARRIER(FORM(MODE2, EXPECT_TX), expect_tx)
MBARRIER(FORM(MODE, COMPLETE_TX), complete_tx)
MBARRIER(FORM(MODE, ARRIVE), arrive)
MBARRIER(FORM(MODE, ARRIVE) | FORM(MODE2, NOCOMPLETE), arrive_no_complete)
MBARRIER(FORM(MODE, ARRIVE) | FORM(MODE2, EXPECT_TX), arrive_expect_tx)
MBARRIER(FORM(MODE, ARRIVE_DROP), drop_plain)
MBARRIER(FORM(MODE, ARRIVE_DROP) | FORM(MODE2, NOCOMPLETE), drop_no_complete)
MBARRIER(FORM(MODE, ARRIVE_DROP) | FORM(MODE2, EXPECT_TX), drop_expect_tx)
MBARRIER(FORM(MODE, TEST_WAIT), test)
MBARRIER(FORM(MODE, TEST_WAIT) | FORM(MODE2, PARITY), test_parity)
MBARRIER(FORM(MODE, TRY_WAIT), test)
MBARRIER(FORM(MODE, TRY_WAIT) | FORM(MODE2, PARITY), test_parity)
WARP_FN(CP, T1(B64), FORM(MODE, ARRIVE) | FORM(MODE2, MBARRIER), ATOM, MEM, NO_OPDS, copies_arrive)
WARP_FN(CP, T1(B64), FORM(MODE, ARRIVE) | FORM(MODE2, MBARRIER) | FORM(SPACE, SHARED), ATOM, MEM, NO_OPDS,
    copies_arrive)
WARP_FN(CP, T1(B64), FORM(MODE, ARRIVE) | FORM(MODE2, MBARRIER) | FLAG(NOINC), ATOM, MEM, NO_OPDS,
    copies_arrive_noinc)
WARP_FN(CP, T1(B64), FORM(MODE, ARRIVE) | FORM(MODE2, MBARRIER) | FLAG(NOINC) | FORM(SPACE, SHARED), ATOM, MEM,
    NO_OPDS, copies_arrive_noinc)
/* The arrival of tcgen05.commit waits for the products of the thread, as the arrivals above wait for its copies. */
WARP_FN(TCGEN05, T1(B64), FORM(MODE2, COMMIT), ATOM, MEM, NO_OPDS, products_arrive)
LANE(mbarrier_pending_count, MBARRIER, T1(B64), FORM(MODE, PENDING_COUNT), INT_OTHER, DA(B32, B64),
    d = (uint32_t)(a >> MBARRIER_PENDING) & MBARRIER_COUNT_MAX)
/* clang-format on */
#endif
