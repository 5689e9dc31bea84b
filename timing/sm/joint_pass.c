/* The passes of the members of an issue slot through the pipes. */
#include "joint.h"
#include "stages.h"
#include <string.h>

#define EACH_MEMBER(j, in_pipe, m)                                                                                     \
    for (struct sm_joint_member *m = (j)->member; m < (j)->member + (j)->n; m++)                                       \
        if (m->pipe == (in_pipe))

static const struct timed_inst *timed_of(const struct sm *sm, const struct sm_joint_member *m) {
    return &sm->program->inst[m->pc];
}

/* Reserves the register reads of a pass. The members of one turn use different lanes of the banks, so they do not delay
 * each other's reads. Each further turn waits for the reads of the turn before, bank by bank. Returns the cycle after
 * the last read. */
static uint64_t read_operands(struct sm *sm, struct sm_joint *j, struct regfile *f, uint32_t pipe, uint64_t from) {
    uint64_t before[MAX_BANKS], after[MAX_BANKS], last = from;
    uint32_t most = 0;
    memcpy(after, f->next_read, sizeof after);
    for (uint32_t turn = 0; turn <= most; turn++) {
        memcpy(before, after, sizeof before);
        EACH_MEMBER(j, pipe, m) {
            most = m->turn > most ? m->turn : most;
            if (m->turn != turn)
                continue;
            memcpy(f->next_read, before, sizeof before);
            last = max64(last, regfile_read(f, &timed_of(sm, m)->banks, m->warp, from));
            sm->joint.n.conflicts += turn && !sm->joint.slices ? timed_of(sm, m)->banks.n_reads : 0;
            for (int b = 0; b < MAX_BANKS; b++)
                after[b] = max64(after[b], f->next_read[b]);
        }
    }
    memcpy(f->next_read, after, sizeof after);
    return last;
}

/* Adds the writes of one turn to `bank`. A bank is listed as often as the member with the most writes to this bank
 * writes it. Returns the number of registers that these members write together. */
static uint32_t results_in(struct sm *sm, struct sm_joint *j, const struct regfile *f, uint32_t pipe, uint32_t turn,
                           uint32_t latency, uint8_t *bank, uint8_t *n_banks) {
    uint8_t most[MAX_BANKS] = {0};
    uint32_t all = 0;
    EACH_MEMBER(j, pipe, m) {
        const struct timed_inst *ti = timed_of(sm, m);
        uint8_t own[MAX_BANKS] = {0};
        for (uint32_t i = 0; m->turn == turn && ti->latency == latency && i < ti->banks.n_writes; i++, all++) {
            uint32_t b = regfile_bank(f, ti->banks.bank[ti->banks.n_reads + i], m->warp);
            if (++own[b] > most[b])
                most[b] = own[b];
        }
    }
    sm->joint.n.conflicts += turn && !sm->joint.slices ? all : 0;
    for (uint32_t b = 0; b < f->banks; b++)
        for (; most[b] && *n_banks < UINT8_MAX; most[b]--)
            bank[(*n_banks)++] = (uint8_t)b;
    return all;
}

/* Makes a list of the banks to which the members with latency `latency` write their results, turn by turn. Returns the
 * number of registers that these members write together. */
static uint32_t results_of(struct sm *sm, struct sm_joint *j, const struct regfile *f, uint32_t pipe, uint32_t latency,
                           uint8_t *bank, uint8_t *n_banks) {
    uint32_t most = 0, all = 0;
    EACH_MEMBER(j, pipe, m)
    most = m->turn > most ? m->turn : most;
    for (uint32_t turn = 0; turn <= most; turn++)
        all += results_in(sm, j, f, pipe, turn, latency, bank, n_banks);
    return all;
}

/* Reserves the result bus and the register writes of a pass that enters its pipe at `enters`. Returns the cycle at
 * which the pass enters; it is later than `enters` if the bus is busy. */
static uint64_t write_results(struct sm *sm, struct sm_joint *j, struct regfile *f, uint32_t pipe, uint64_t enters,
                              uint64_t now) {
    uint64_t waits = 0;
    EACH_MEMBER(j, pipe, first) {
        const struct timed_inst *ti = timed_of(sm, first);
        uint8_t bank[UINT8_MAX];
        struct bank_list list = {.bank = bank};
        if (first->written || !ti->regs.n_write)
            continue;
        uint32_t all = results_of(sm, j, f, pipe, ti->latency, bank, &list.n_writes);
        uint64_t result = enters + ti->latency + sm->cfg->sm.latch_writeback, on_bus;
        uint64_t written = regfile_deliver(f, &list, 0, result, now, &on_bus);
        f->n.writes += all - list.n_writes;
        waits = max64(waits, on_bus - result);
        EACH_MEMBER(j, pipe, m)
        if (timed_of(sm, m)->latency == ti->latency && timed_of(sm, m)->regs.n_write)
            m->written = written;
    }
    return enters + waits;
}

/* Returns the cycles for which the pass occupies its pipe. */
static uint32_t cycles_of(const struct sm *sm, struct sm_joint *j, const struct sm_joint_member *first) {
    const struct timed_inst *ti = timed_of(sm, first);
    uint32_t members = 0;
    if (sm->joint.slices < 2)
        return ti->initiation;
    EACH_MEMBER(j, first->pipe, m)
    members++;
    return (ti->whole * members + sm->joint.slices - 1) / sm->joint.slices;
}

/* Does for the members of one pipe what execute() does for one instruction. */
static void reserve_pass(struct sm *sm, struct sm_joint *j, const struct sm_joint_member *first, uint64_t now) {
    const uint32_t pipe = first->pipe, part = operands_part(&sm->operands, first->warp);
    struct exec_part *e = &sm->operands.part[part];
    struct collector *c = operands_collector(&sm->operands, sm->cfg, part, pipe);
    struct pipes *pipes = &e->units[pipe];
    uint32_t unit;
    uint64_t reads = collector_accept(c, now, &unit);
    e->takes[pipe] = collector_free(c);
    e->takes_most = max64(e->takes_most, e->takes[pipe]);
    uint64_t leaves = collector_leaves(c, read_operands(sm, j, &e->regfile, pipe, reads));
    uint64_t enters = leaves + sm->cfg->sm.latch_dispatch;
    const uint32_t at = pipes_choose(pipes, &enters, timed_of(sm, first)->latency);
    pipes->n.waits += enters - leaves - sm->cfg->sm.latch_dispatch;
    enters = write_results(sm, j, &e->regfile, pipe, enters, now);
    collector_dispatched(c, unit, leaves, enters);
    pipes_enter(pipes, at, enters, cycles_of(sm, j, first));
    EACH_MEMBER(j, pipe, m) {
        const uint64_t end = enters + timed_of(sm, m)->latency;
        if (!timed_of(sm, m)->regs.n_write)
            m->written = end;
        if (pipes->ends)
            pipes_note_end(pipes, at, end);
    }
}

void joint_reserve(struct sm *sm, struct sm_joint *j, uint64_t now) {
    bool done[N_PIPES] = {[PIPE_MEM] = true};
    for (uint32_t i = 0; i < j->n; i++) {
        if (!done[j->member[i].pipe])
            reserve_pass(sm, j, &j->member[i], now);
        done[j->member[i].pipe] = true;
    }
}
