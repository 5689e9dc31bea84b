/* Runs random kernels of one to five instructions with any guard. A launch has a few CTAs of any size, and several
 * launches follow each other. Such short kernels test the first and last instructions of a launch. Under every timing
 * model and preset, outcome and memory must equal those of the functional model. */
#include "host/heddle.h"
#include "test/every_model.h"
#include "test/test.h"
#include <stdio.h>

enum { TEXT = 8192, BYTES = 1 << 16, KERNELS = 25, MANY_KERNELS = 2000, MACHINES = 3 };
static const char *const presets[] = {"fermi", "tiny",  "turing",  "volta-classic", "turing-rtx2060", "fermi-gpgpusim",
                                      "gt200", "pepsc", "pepsc-8", "pepsc-16",      "pepsc-64"};
enum { N_PRESETS = sizeof presets / sizeof presets[0] };

/* Statements with placeholders:
 * - %a is the address of four words of the thread
 * - %z is the address of 64 zero words, which all threads share
 * - %g is the address of a word to which all threads add
 * - %t is the thread's number
 * - $ is a number that only this statement has
 * - @ is the statement's guard
 * Memory never depends on the order of threads. */
static const char *const statements[] = {
    "@ st.global.u32 [%a],%t;",
    "@ st.volatile.global.u32 [%a+4],%t;",
    "@ st.relaxed.gpu.global.u32 [%a+4],7;",
    "@ ld.global.u32 %r,[%a];",
    "@ ld.volatile.global.u32 %r,[%a+4];",
    "@ ld.global.nc.v4.u32 {%r,%r1,%r2,%r3},[%z];",
    "@ ld.global.u32 %r,[%z]; @ st.global.u32 [%a+8],%r;",
    "@ red.global.add.u32 [%g],1;",
    "@ red.global.max.u32 [%g+4],%t;",
    "@ atom.global.add.u32 %r,[%g+8],3;",
    "@ atom.global.or.b32 %r,[%g+12],5; @ and.b32 %r,%r,0;",
    "@ red.shared.add.u32 [s],1;",
    "@ atom.shared.inc.u32 %r,[s+4],9;",
    "@ st.shared.u32 [s+8],%t;",
    "@ ld.shared.u32 %r,[s+8]; @ and.b32 %r,%r,0;",
    "@ st.local.u32 [own],%t;",
    "@ ld.local.u32 %r1,[own];",
    "@ ld.const.u32 %r,[table+4]; @ st.global.u32 [%a+12],%r;",
    "@ prefetch.global.L1 [%z];",
    "@ prefetch.global.L2 [%a];",
    "@ prefetchu.L1 [%z];",
    "@ discard.global.L2 [%z+512],128;",
    "@ applypriority.global.L2::evict_normal [%z],128;",
    "@ cp.async.ca.shared.global [s+16],[%z],4;",
    "@ cp.async.ca.shared.global [s+32],[%z],8; cp.async.commit_group; cp.async.wait_group 0;",
    "@ cp.async.cg.shared.global [s+48],[%z],16; cp.async.commit_group;",
    "cp.async.wait_all;",
    "cp.async.commit_group;",
    "@ membar.gl;",
    "@ membar.cta;",
    "@ fence.acq_rel.sys;",
    "@ nanosleep.u32 100;",
    "@ exit;",
    "@ bra L$; L$:",
    "@ bra L$; st.global.u32 [%a+4],3; L$:",
    "@ bra L$; red.global.add.u32 [%g+16],1; exit; L$:",
    "T$: .branchtargets L$; @ brx.idx %n,T$; L$:",
    "T$: .branchtargets L$, L$; brx.idx %n,T$; L$:",
    "T$: .branchtargets L$, M$; brx.idx %o,T$; L$: st.global.u32 [%a],9; M$:",
    "T$: .branchtargets M$; brx.idx %n,T$; L$: st.global.u32 [%a],9; M$:",
    "bar.sync 0;",
    "barrier.sync 1;",
    "bar.red.popc.u32 %r,2,%q; @ st.global.u32 [%a+8],%r;",
    "@ call f;",
    "call.uni f;",
    "call (%r), twice, (%t); @ st.global.u32 [%a+4],%r;",
    "vote.sync.any.pred %q,%q,%m;",
    "shfl.sync.bfly.b32 %r,%t,0,31,%m; @ st.global.u32 [%a],%r;",
    "bar.warp.sync %m;",
    "activemask.b32 %r;",
    "@ mov.u64 %c,%clock64;",
    "@ mov.u32 %r,%smid;",
    "@ add.u32 %r1,%t,5;",
    "@ sin.approx.f32 %f,%f;",
    "@ div.rn.f64 %e,%e,%e;",
    "@ mad.lo.u32 %r2,%t,3,%t; @ st.global.u32 [%a+12],%r2;",
    "@ pmevent 1;",
    "mov.u32 %k,0; K$: add.u32 %k,%k,1; setp.lt.u32 %p,%k,3; @ red.global.add.u32 [%g+20],1; @%p bra K$;",
    "mov.u32 %k,0; K$: add.u32 %k,%k,1; setp.le.u32 %p,%k,%o; @%p bra K$;",
    ("mov.u64 %h,%z; mov.u32 %k,0; K$: ld.global.u64 %i,[%h]; add.u64 %h,%h,%i; add.u32 %k,%k,1; setp.lt.u32 %p,%k,9;"
     " @%p bra K$;"),
    "ret;",
    "@ ret;",
};
enum { N_STATEMENTS = sizeof statements / sizeof statements[0] };

/* Guards that are true in all threads, in none, or in some. */
static const char *const guards[] = {"", "@%never ", "@!%never ", "@%one ", "@%half ", "@%warp ", "@%cta ", "@!%one "};
enum { N_GUARDS = sizeof guards / sizeof guards[0] };
enum { GUARD_NEVER = 1 };

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.const .u32 table[4] = {1, 2, 3, 4};\n"
    ".func f() { ret; }\n"
    ".func (.reg .b32 %y) twice(.reg .b32 %x) { add.u32 %y,%x,%x; ret; }\n"
    ".visible .entry k(.param .u64 own_words, .param .u64 zeros, .param .u64 sums) {\n"
    ".reg .b64 %a,%z,%g,%c,%h,%i; .reg .b32 %t,%l,%b,%k,%n,%o,%m,%r,%r<4>; .reg .f32 %f; .reg .f64 %e;\n"
    ".reg .pred %p,%q,%never,%one,%half,%warp,%cta; .shared .align 16 .b8 s[64]; .local .align 16 .b8 own[16];\n";
/* A kernel without this prologue has address registers and predicates that are 0. */
static const char beginning[] =
    "ld.param.u64 %a,[own_words]; ld.param.u64 %z,[zeros]; ld.param.u64 %g,[sums]; mov.u32 %t,%tid.x;\n"
    "mov.u32 %l,%laneid; mov.u32 %b,%ctaid.x; mov.u32 %r,%ntid.x; mad.lo.u32 %r,%b,%r,%t; mul.wide.u32 %c,%r,16;\n"
    "add.u64 %a,%a,%c; and.b32 %o,%t,1; setp.eq.u32 %one,%l,5; setp.lt.u32 %half,%l,16; setp.lt.u32 %warp,%t,32;\n"
    "setp.eq.u32 %cta,%b,0; setp.eq.u32 %q,%o,1; activemask.b32 %m;\n";

struct drawn {
    char text[TEXT];
    uint32_t grid, block, launches;
};

static uint32_t below(uint64_t *seed, uint32_t n) { return (uint32_t)(test_random(seed) % n); }

/* Writes a statement. Replaces @ by the guard and $ by the number of the statement. "@%" and "@!" stay unchanged. */
static size_t write_statement(char *to, size_t size, const char *from, const char *guard, uint32_t number) {
    size_t n = 0;
    for (; *from && n + 16 < size; from++)
        if (*from == '$')
            n += (size_t)snprintf(to + n, size - n, "%u", number);
        else if (*from == '@' && from[1] == ' ')
            n += (size_t)snprintf(to + n, size - n, "%s", guard);
        else
            to[n++] = *from;
    to[n++] = '\n';
    to[n] = 0;
    return n;
}

/* Draws a kernel, with the prologue in three of four cases. Without the prologue, there is no thread number and no
 * valid address, so every access gets a guard that is false. */
static void draw(struct drawn *d, uint64_t *seed) {
    static const uint32_t grids[] = {1, 1, 2, 5, 17}, blocks[] = {1, 31, 32, 33, 64, 100, 160};
    bool begins = below(seed, 4) != 0;
    size_t at = (size_t)snprintf(d->text, sizeof d->text, "%s%s", head, begins ? beginning : "");
    for (uint32_t i = 0, n = 1 + below(seed, 5); i < n; i++) {
        const char *statement = statements[below(seed, N_STATEMENTS)];
        if (!begins && (*statement != '@' || strstr(statement, "L$; st.") || strstr(statement, "L$; red.")))
            continue;
        at += write_statement(d->text + at, sizeof d->text - at, statement,
                              guards[begins ? below(seed, N_GUARDS) : GUARD_NEVER], i);
    }
    snprintf(d->text + at, sizeof d->text - at, "}\n");
    d->grid = grids[below(seed, 5)];
    d->block = blocks[below(seed, 7)];
    d->launches = 1 + below(seed, 3);
}

struct outcome {
    enum heddle_status status;
    char error[2048];
    unsigned char data[BYTES];
};

static void run(struct heddle *h, const struct drawn *d, struct outcome *o) {
    struct heddle_module *m = heddle_module_text(h, "tiny.ptx", d->text, strlen(d->text));
    uint64_t p = heddle_alloc(h, BYTES), own = p + 8192, zeros = p + 1024;
    const struct heddle_arg args[] = {{&own, 8}, {&zeros, 8}, {&p, 8}};
    heddle_clear(h, p, BYTES);
    o->status = m ? HEDDLE_OK : heddle_status(h);
    for (uint32_t i = 0; i < d->launches && o->status == HEDDLE_OK; i++)
        o->status = heddle_launch(h, m, "k", (struct heddle_dim){d->grid, 1, 1}, (struct heddle_dim){d->block, 1, 1}, 0,
                                  args, 3);
    snprintf(o->error, sizeof o->error, "%s", heddle_error(h));
    heddle_read(h, p, o->data, BYTES);
    heddle_free(h, p);
}

static struct heddle *open_machine(const char *model, const char *preset, int number) {
    char err[512] = "";
    const char *const set[] = {"gpu.sms=2", number % 3 == 0 ? "gpu.poll=true" : "gpu.poll=false", NULL};
    struct heddle *h = heddle_open(
        &(struct heddle_options){
            .model = model, .config = preset, .set = set, .threads = 1 + (uint32_t)number % 2, .cycle_limit = 1000000},
        err, sizeof err);
    ck_assert_msg(h != NULL, "%s on %s: %s", model, preset, err);
    return h;
}

START_TEST(they_end_as_in_the_functional_model) {
    static struct outcome want, got;
    static struct drawn d;
    struct heddle *functional = open_machine("functional", presets[_i], 1), *timed[MAX_MODELS] = {NULL};
    const struct every_model *all = mixed_models();
    uint64_t seed = 0x71d7 + (uint64_t)_i;
    int ended = 0;
    for (int k = 0; k < (test_every() ? MANY_KERNELS : KERNELS); k++) {
        draw(&d, &seed);
        run(functional, &d, &want);
        EXPECT(want.status == HEDDLE_OK, "%d: %s\n%s", want.status, want.error, d.text);
        for (int i = 0; i < MACHINES; i++) {
            int m = (MACHINES * k + i) % all->n;
            if (!timed[m])
                timed[m] = open_machine(all->name[m], presets[_i], m + _i);
            run(timed[m], &d, &got);
            EXPECT(got.status == HEDDLE_OK && memcmp(got.data, want.data, BYTES) == 0,
                   "kernel %d in %s on %s, %u CTAs of %u: %d %s\n%s", k, all->name[m], presets[_i], d.grid, d.block,
                   got.status, got.status ? got.error : "other memory", d.text);
            ended++;
        }
    }
    ck_assert_int_gt(ended, 2 * KERNELS);
    heddle_close(functional);
    for (int m = 0; m < all->n; m++)
        heddle_close(timed[m]);
}
END_TEST

SUITE(random_tiny_kernels) { TEST_LOOP(they_end_as_in_the_functional_model, 0, N_PRESETS); }
