#ifndef FRONTEND_PASS_H
#define FRONTEND_PASS_H
/* The ordered table of passes. Private to the passes here and in mechanisms/. */
#include "frontend/analysis/dump.h"
#include "frontend/analysis/ir.h"
#include "frontend/frontend.h"
#include "isa/expansions.h"

struct pass {
    const char *name, *help;
    /* runs the pass; returns false if it failed, with the reason in ir->failure. NULL: the pass changes nothing and
     * only has a dump */
    bool (*run)(struct ir *ir);
    bool (*wanted)(const struct ir *ir);          /* returns true if the pass is to run; NULL: the pass always runs */
    const char *when;                             /* a phrase for messages: when `wanted` is true */
    void (*dump)(const struct ir *ir, FILE *out); /* prints the result of the pass; NULL: the program is printed */
    const char *before; /* only for a mechanism's pass: the pass of pass.c right before which it runs */
    /* If not NULL, frontend_lower() calls this function instead of lower_with_limit(). The function may call
     * lower_with_limit() several times, and returns one of the programs. */
    struct program *(*lower)(const struct image *img, const char *kernel, const struct lower_options *opt);
};

/* The passes that every program goes through, in order, ended by a NULL name. The first, "lower", stands for the
 * translation of statements. mechanisms/all.h has the table that includes the mechanisms' passes. */
extern const struct pass passes[];

/* Works like frontend_lower(), with the given value of ir.decouple_limit. */
struct program *lower_with_limit(const struct image *img, const char *kernel, const struct lower_options *opt,
                                 uint32_t limit);

/* Returns true if the machine has control bits, which passes make: core.kind=modern with core.assembly=on. */
bool assembles(const struct ir *ir);

/* limit.c: returns the number of registers of a thread that no value can have. */
uint32_t registers_reserved(const struct ir *ir);
/* Returns the limit of 32-bit registers for a thread's values, which is the minimum of regs.max, pepsc.registers and
 * the kernel's .maxnreg, less the reserved ones, or 0 without a limit. If `key` is not NULL, stores in it the name of
 * the setting that gives the limit. Without a limit, `key` is unchanged. */
uint32_t register_limit(const struct ir *ir, const char **key);

/* Returns the number of registers that a function may need. A kernel may need as many as leave its occupancy as it is
 * with its present need, `pressure`. A called function may need that many, rounded up to the unit of allocation. */
uint32_t registers_allowed(const struct ir *ir, const struct ir_function *f);

/* invert.c: branches over jumps. */
bool pass_invert(struct ir *ir);

/* select.c: machine instructions for the modern core. */
bool pass_select(struct ir *ir);
/* select_expand.c: returns true if core.select is on. */
bool selects(const struct ir *ir);
/* Returns the expansion (isa/expansions.h) of an instruction, on virtual or final registers. */
uint8_t select_expansion(const struct ir *ir, const struct inst *in);
/* uniform.c: registers of the uniform datapath. */
bool pass_uniform(struct ir *ir);
/* options.c: returns true if the machine has a uniform datapath. */
bool has_uniform_datapath(const struct ir *ir);
/* Returns true if accesses to global memory can read their address in uniform registers. */
bool has_uniform_addresses(const struct ir *ir);
/* added.c: instructions that ptxas adds. */
struct edit;
bool pass_added(struct ir *ir);
/* Returns true if the pass adds any (core.entry, core.fillers, core.f64_gap, core.pointer_copies). */
bool adds_instructions(const struct ir *ir);
/* pointer_copies.c: adds copies of pointers in loops. */
void add_pointer_copies(struct ir *ir, struct edit *e);

/* descriptors.c: copies of the descriptors of memory accesses. */
bool pass_descriptors(struct ir *ir);
/* Returns true if functions that are called through pointers copy descriptors (core.descriptors). */
bool has_descriptors(const struct ir *ir);
/* Returns true if the function copies the descriptor before each access to global memory. */
bool copies_descriptors(const struct ir *ir, const struct ir_function *f);
/* saves.c: registers that functions save for their callers. */
bool pass_saves(struct ir *ir);
/* schedule.c: order of instructions for the modern core. */
bool pass_schedule(struct ir *ir);
bool pass_units(struct ir *ir);
/* banks.c: registers for the modern core. */
bool pass_banks(struct ir *ir);
/* numbers.c: how many registers the machine's rules take. */
bool pass_numbers(struct ir *ir);
/* own_registers.c: scoreboard numbers as in GPGPU-Sim. */
bool pass_own_registers(struct ir *ir);
/* control_pass.c: control bits for the modern core, and their listing. */
bool pass_control(struct ir *ir);
void dump_control(const struct ir *ir, FILE *out);
/* Counts the machine instructions of a program with control bits. */
void control_count(const struct program *p, uint32_t count[N_MACHINE_CLASSES]);

/* Checks the program under construction after pass `name`. Returns a description of the first error, in `buffer`, or
 * NULL. */
const char *verify_ir(const struct ir *ir, const char *name, char *buffer, size_t size);
/* Checks a finished program. Returns a description of the first error, in `buffer`, or NULL. */
const char *verify_program(const struct program *p, char *buffer, size_t size);
#endif
