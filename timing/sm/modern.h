#ifndef TIMING_SM_MODERN_H
#define TIMING_SM_MODERN_H
/* The modern core (core.kind=modern), as Huerta et al. measured it on Turing, Ampere and Blackwell (MICRO 2025). Its
 * stages replace the scoreboard, the operand collectors, the fetch stage and the way of memory instructions to the
 * load/store unit. Everything else of the SM is the same for both cores.
 *
 * Cycles of a fixed-latency instruction that issues in cycle t and waits for nothing: Control t+1, Allocate t+2,
 * operand reads t+3 to t+5, execution from t+6 on. Its result can be used by an instruction that issues in cycle
 * t + latency. Without control bits (isa/control_bits.h) in the program, the scoreboard of the model decides when an
 * instruction may issue. docs/modern-core.md has the rules, and which figures are published. */
#include "isa/control_bits.h"
#include "modern_state.h"
#include "timed.h"
#include "warps.h"

struct sm;
struct exec_part;
struct sm_form;
struct sb_regs;

/* ---- modern.c ---- */
/* Makes the state of a modern core with this number of warp slots. Returns NULL if memory is out. */
struct sm_modern *modern_new(uint32_t slots);
void modern_free(struct sm_modern *m);
/* Prepares for a launch of sm->program. Returns false if memory is out. */
bool modern_launch(struct sm *sm);
/* Returns the control bits of an instruction, or NULL if the program has none. */
static inline const struct control_bits *modern_control(const struct sm_modern *m, uint32_t pc) {
    return m->control ? &m->control[pc] : NULL;
}

/* ---- modern_ready.c: which instructions may issue ---- */
void modern_warp_start(struct sm *sm, uint32_t w);
/* Returns true if the latency of the instruction is not known at compile time, so that dependent instructions wait for
 * a counter. */
static inline bool modern_is_variable(const struct timed_inst *ti) {
    return ti->flags & TIMED_MEMORY || ti->op == CLASS_SHFL || ti->pipe == PIPE_SFU ||
           (ti->pipe == PIPE_DP && ti->op != CLASS_MMA);
}
/* As modern_is_variable(), for a machine instruction of an expansion. */
static inline bool modern_is_variable_part(const struct timed_part *t) {
    return t->pipe == PIPE_SFU || (t->pipe == PIPE_DP && t->op != CLASS_MMA);
}
/* Records that a fixed-latency result arrives in cycle `now`. Without control bits, variable-latency instructions that
 * read it wait for one more cycle. */
void modern_result(struct sm *sm, uint32_t w, uint32_t pc, lanemask_t lanes, uint64_t now);
/* Returns true if control bits let the path issue in cycle `now` before its operands have arrived. A fixed-latency
 * result arrives one cycle later for a variable-latency instruction, which has no bypass. */
bool modern_too_early(const struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now);
/* Returns what lanes of a warp wait for before the instruction at `pc`. `now`: UINT64_MAX to ignore stall counts. */
enum sb_verdict modern_check(const struct sm *sm, uint32_t w, uint32_t pc, unsigned board, lanemask_t lanes,
                             uint64_t now);

/* ---- modern_counters.c: stall counts and dependence counters ---- */
/* Applies the stall count and the yield bit of the instruction that the path issues in cycle `now`, and counts it if
 * the control bits let it issue too early. */
void modern_issues(struct sm *sm, uint32_t w, const struct sm_path *path, uint64_t now);
/* Applies the stall count and the yield bit of the last machine instruction of an expansion. */
void modern_stall(struct sm *sm, uint32_t w, lanemask_t lanes, const struct control_bits *c, uint64_t now);
/* Makes the lanes of a path wait until cycle `until`. */
void modern_stall_until(struct sm *sm, uint32_t w, lanemask_t lanes, uint64_t until);
/* Begins the record of an instruction in flight that issues in cycle `now`. Its counters rise in Control, so
 * instructions that issue from now + 2 on see them. */
void modern_flies(struct sm *sm, uint32_t inflight, bool variable, uint64_t now);
/* Does what modern_issues() and modern_flies() do, for a member of an issue slot of several warps (joint.h). Such a
 * member reads its registers elsewhere. */
void modern_joins(struct sm *sm, uint32_t w, const struct sm_path *path, uint32_t inflight, uint64_t now);
/* Moves the record of the instruction in flight `from` to `to`, which ends in its place. */
void modern_hand_over(struct sm *sm, uint32_t from, uint32_t to);
/* Called when some lanes of the access `of` missed and the others are now the instruction in flight `new`. With
 * counters by lane, moves the record of those others from `of` to `new`. */
void modern_split(struct sm *sm, uint32_t of, uint32_t new);
/* Handles EVENT_RAISE: raises the counters of an instruction in flight. */
void modern_raise(struct sm *sm, uint32_t inflight, uint64_t now);
/* Lower a counter of an instruction in flight, whose operands have been read or whose result is written. */
void modern_has_read(struct sm *sm, uint32_t inflight, uint64_t now);
void modern_has_written(struct sm *sm, uint32_t inflight, uint64_t now);

/* ---- modern_consumers.c: instructions that may still read a register (core.consumers) ---- */
/* Makes the counters of readers for a launch, if it needs them (sm_modern.readers). Returns false if memory is out. */
bool modern_consumers_launch(struct sm *sm);
void modern_consumers_start(struct sm *sm, uint32_t w);
/* Returns true if an instruction with these registers must wait: an instruction in flight may still read a register
 * that it writes, or a counter of a register that it reads is full. Requires sm_modern.readers, as the next function
 * does. */
bool modern_consumers_hold(const struct sm *sm, uint32_t w, const struct sb_regs *r);
/* Adds `change`, 1 or -1, to the counters of the registers that an instruction in flight reads. */
void modern_consumers_change(struct sm *sm, uint32_t inflight, int change);

/* ---- modern_operands.c: register ports, register-file cache, result queue ---- */
/* Reserves the reads of a variable-latency instruction in free cycles from `now` on. Returns how many cycles later than
 * without conflicts the last read is. */
uint64_t modern_read_when_free(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, uint64_t now);
/* Writes a variable-latency result in cycle `now`. Returns false if the port is busy. */
bool modern_write_now(struct sm *sm, uint32_t part, uint32_t pc, uint64_t now);

/* ---- modern_queue.c: variable-latency instructions without a memory access ---- */
/* Returns the first cycle in which the queue of the sub-core has room for the instruction, as far as is known now.
 * Returns 0 if the instruction does not use the queue, or if core.queue is 0. */
uint64_t modern_queue_free(const struct sm *sm, uint32_t part, const struct timed_inst *ti);
/* Puts an instruction that issues in cycle `now` into the queue, and reserves its pipe. Returns the cycle in which it
 * enters the pipe. Sets *entry to its number in the queue. */
uint64_t modern_enter_queue(struct sm *sm, uint32_t part, const struct timed_part *t, uint64_t now, uint32_t *entry);
/* Records that an entry of the queue waits for register ports for `waits` cycles, and the entries behind it with it. */
void modern_queue_waits(struct sm *sm, uint32_t part, uint32_t entry, uint64_t waits);

/* ---- modern_execute.c ---- */
/* Returns true if modern_may_issue() has nothing to do for this instruction: it neither passes the queue of the
 * sub-core, nor is it a product that waits for the multiplier, nor has it an operand in constant memory. */
static inline bool modern_issues_freely(const struct sm_modern *m, const struct timed_inst *ti, uint32_t pc) {
    const struct control_bits *c = modern_control(m, pc);
    return ti->flags & (TIMED_MEMORY | TIMED_PLAIN) ||
           (!modern_is_variable(ti) && !(ti->flags & TIMED_PRODUCT) && (!c || c->constant == CONTROL_NO_CONSTANT));
}
/* Looks up the operand in constant memory of the path's instruction, if it has one, in the cache of the sub-core.
 * Returns true if the instruction may issue in this cycle. After a miss, the path waits for the line, and the sub-core
 * issues nothing for some cycles. */
bool modern_may_issue(struct sm *sm, uint32_t s, uint32_t w, uint32_t p, uint64_t now);
/* Sends an issued instruction without a memory access through the stages. */
void modern_execute(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti,
                    const struct sm_form *form, uint64_t now);
/* ---- modern_pipes.c: from Control to write-back ---- */
/* Does what modern_execute() does for an instruction with TIMED_PLAIN of a warp's only path (sm_fast_path.plain). */
void modern_plain(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti, uint64_t now);
/* Lets nothing issue to the pipes of a sub-core before cycle `from`. */
void modern_hold(struct exec_part *e, uint64_t from);
/* Sends a fixed-latency instruction through Allocate and its pipe. Returns the number of cycles that it waits for the
 * pipe. */
uint64_t modern_fixed(struct sm *sm, uint32_t part, uint32_t w, uint32_t pc, const struct timed_part *t, bool own_file,
                      uint64_t now);
/* Sends a machine instruction of an expansion, but not the last one, to its pipe. It uses as many register ports as the
 * instruction of the program. Returns the number of cycles that it waits. */
uint64_t modern_pass(struct sm *sm, uint32_t inflight, const struct timed_part *t, uint64_t now);
/* Sends an instruction in flight, or the last machine instruction of its expansion, to its pipe. The result then
 * arrives. `own_file`: its operands are not in the register file of the sub-core. */
void modern_finish(struct sm *sm, uint32_t inflight, const struct timed_part *t, bool own_file, uint64_t now);
/* EVENT_READ: a variable-latency instruction reads its operands, or has read them. */
void modern_reads(struct sm *sm, uint32_t inflight, uint64_t now);
/* Writes the result of an instruction in flight. Returns false if the port is busy; the result is then written a cycle
 * later. */
bool modern_completes(struct sm *sm, uint32_t inflight, uint64_t now);

/* ---- modern_expand.c: the machine instructions of an expansion ---- */
/* Returns true if the latency of the last machine instruction is variable. */
bool modern_expands_variable(const struct sm *sm, const struct control_bits *c);
/* Begins an expansion, whose first machine instruction issues in cycle `now`. Its warp's lanes wait until the last one
 * has issued. */
void modern_expand_begin(struct sm *sm, uint32_t inflight, uint64_t now);
/* EVENT_EXPAND: issues the next machine instruction, or waits for its pipe. It takes the issue slot of the sub-core
 * before any warp. */
void modern_expand(struct sm *sm, uint32_t inflight, uint64_t now);
/* Returns true if an expansion took the issue slot of sub-core `part` in cycle `now`. */
static inline bool modern_slot_taken(const struct sm_modern *m, uint32_t part, uint64_t now) {
    return m->part[part].expanded == now + 1;
}

/* Returns true if modern_slot_taken() is true for some sub-core. */
static inline bool modern_some_slot_taken(const struct sm_modern *m, uint64_t now) { return m->expanded == now + 1; }

/* ---- modern_latency.c: latencies of memory instructions ---- */
/* Returns, for the memory instruction at `pc`, the number of cycles from its entry into the latch of the address unit
 * until its counter for reads is lowered. */
uint32_t modern_read_cycles(const struct sm *sm, uint32_t pc);
/* Returns the cycle in which the result of an access that the load/store unit has finished is written. */
uint64_t modern_returns(struct sm *sm, uint32_t inflight, uint64_t now);
/* Returns the first cycle in which a copy to shared memory can be complete. */
uint64_t modern_copy_ends(const struct modern_flight *mf);

/* ---- modern_memory.c ---- */
/* Follows sm_mem_accept(). */
void modern_accepted(struct sm *sm, uint32_t inflight, uint64_t now);
/* Runs the address units and the arbiter before the load/store unit for one cycle, in place of sm_mem_tick(), and
 * returns what sm_mem_tick() returns. */
bool modern_mem_tick(struct sm *sm, uint64_t now);

/* ---- modern_fetch.c ---- */
/* Runs the fetch stage for one cycle. Sets sm_modern.fetches. */
void modern_fetch(struct sm *sm, uint64_t now);
/* Puts an instruction into the buffer of the path whose fetch has this ticket. */
void modern_fetched(struct sm *sm, uint32_t ticket, uint64_t now);
/* Returns the place (timed_inst.place) where lanes continue that are now at `pc`, as heirs of the buffer of path
 * `old`. */
uint32_t modern_place_after(const struct sm *sm, uint32_t w, const struct sm_path *old, uint32_t pc, lanemask_t lanes);
/* Fetches a machine instruction of an expansion whose lanes have moved to another path. The fetch takes no slot of the
 * fetch stage, and the machine instruction does not wait for it. */
void modern_fetch_alone(struct sm *sm, uint32_t part, uint32_t w, uint32_t at, uint64_t now);
#endif
