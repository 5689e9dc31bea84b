#ifndef TIMING_SM_SHARED_COLLECTORS_H
#define TIMING_SM_SHARED_COLLECTORS_H
/* Collector units that all kinds of pipes share (collector.shared), as the generic collectors of GPGPU-Sim 4.2. An
 * instruction waits in the issue latch of its kind of pipe, one for each part of the SM. Each cycle the units that are
 * free go to the latches, in a fixed order of kinds: SP, SFU, memory, DP, INT, branch, affine. Among the parts, the
 * oldest instruction of a kind comes first: if it gets no unit, no other instruction of its kind gets one
 * (opndcoll_rfu_t::allocate_cu). A unit begins to read in the cycle in which it gets the instruction. */
#include "isa/types.h"
#include <stdbool.h>
#include <stdint.h>

struct config;
struct exec_part;
struct sm;
struct sm_form;
struct sm_path;
struct timed_inst;

/* Sets sm->operands.shared to new latches and units, or to NULL without collector.shared and for a modern core. Returns
 * false if there is not enough memory. */
bool shared_collectors_new(struct sm *sm);
void shared_collectors_free(struct sm *sm);
/* Empties the latches at the begin of a launch. */
void shared_collectors_launch(struct sm *sm);
/* Issues an instruction without a memory access: does what execute() does, from the latch on. */
void shared_collectors_issue(struct sm *sm, uint32_t w, const struct sm_path *path, const struct timed_inst *ti,
                             const struct sm_form *form, uint64_t now);
/* The parts of a cycle. A cycle has two steps, as the reference's register file has two ports. In each step,
 * instructions leave their units, and then instructions in latches get the free units. In the first step, memory
 * instructions, which memory_stage.c moves, get their units between BEFORE_MEMORY and AFTER_MEMORY. */
enum shared_turn { BEFORE_MEMORY, AFTER_MEMORY, SECOND_STEP };
/* Does a part of the work of a cycle. Returns true if an instruction moves. */
bool shared_collectors_tick(struct sm *sm, enum shared_turn turn, uint64_t now);
/* Returns true if an instruction waits in a latch. */
bool shared_collectors_wait(const struct sm *sm);
/* Gives a unit of part `e` to memory instruction `inflight`, or returns false. */
bool shared_collectors_take(struct sm *sm, struct exec_part *e, uint32_t inflight, uint64_t now);
/* Frees the unit of a memory instruction. */
void shared_collectors_leave(struct sm *sm, struct exec_part *e);
#endif
