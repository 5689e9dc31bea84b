/* A form is one way in which an instruction can execute: it states which register file each operand uses. A form is
 * created at its first use and kept for the launch. An instruction has few forms. */
#include "cae_parts.h"
#include <stdlib.h>

enum { OTHER = 2 * MAX_INST_REGS }; /* where the banks of the compact file begin in cae_form.bank */

static bool is_compact(const struct cae *u, uint32_t warp, uint16_t reg) {
    return cae_tags(u, warp)[reg].class != CLASS_VECTOR;
}

/* Returns the number of words of a register. Predicates have 0 words: they are stored beside the scoreboard, not in a
 * register file. */
static uint8_t words(const struct cae *u, uint16_t reg) { return u->map.program->reg_words[reg]; }

/* Returns a form with only those fields set that distinguish the forms of one instruction. */
static struct cae_form wanted(const struct cae *u, uint32_t warp, uint32_t pc, struct cae_choice c) {
    const struct timed_inst *ti = &sm_get_program(u->sm)->inst[pc];
    struct cae_form f = {.result = c.class != CLASS_VECTOR, .unit = c.why == CAE_FITS};
    for (unsigned i = 0; i < ti->regs.n_read; i++)
        if (words(u, ti->regs.read[i]) && is_compact(u, warp, ti->regs.read[i]))
            f.compact |= 1u << i;
    for (unsigned i = 0; i < ti->regs.n_write && !c.full && !f.result; i++)
        if (words(u, ti->regs.write[i]) && is_compact(u, warp, ti->regs.write[i]))
            f.expands |= (uint16_t)(1u << i);
    return f;
}

static void fill_reads(const struct cae *u, struct cae_form *f, uint32_t banks, uint32_t compact_banks) {
    struct timed_inst *ti = &f->form.ti;
    for (int there = 0; there < 2; there++)
        for (unsigned i = 0; i < ti->regs.n_read; i++) {
            uint16_t reg = ti->regs.read[i];
            if (!words(u, reg) || (f->compact >> i & 1) != (unsigned)there)
                continue;
            if (there) {
                f->bank[OTHER + f->form.other.n_reads++] = (uint8_t)(reg % compact_banks);
            } else {
                f->bank[ti->banks.n_reads++] = (uint8_t)(reg % banks);
                ti->read_words = (uint8_t)(ti->read_words + words(u, reg));
            }
        }
}

/* Fills in the register banks that an instruction writes. An expanded register is written twice: first with the old
 * values of all lanes, then with the new values of some lanes. */
static void fill_writes(const struct cae *u, struct cae_form *f, uint32_t banks, uint32_t compact_banks) {
    struct timed_inst *ti = &f->form.ti;
    for (unsigned i = 0; i < ti->regs.n_write; i++) {
        uint16_t reg = ti->regs.write[i];
        if (!words(u, reg))
            continue;
        if (f->result) {
            f->bank[OTHER + f->form.other.n_reads + f->form.other.n_writes++] = (uint8_t)(reg % compact_banks);
            continue;
        }
        for (unsigned twice = f->expands >> i & 1, k = 0; k <= twice; k++) {
            f->bank[ti->banks.n_reads + ti->banks.n_writes++] = (uint8_t)(reg % banks);
            ti->write_words = (uint8_t)(ti->write_words + words(u, reg));
        }
    }
}

static void fill(const struct cae *u, uint32_t pc, struct cae_form *f) {
    const struct sm_cfg *sm = &u->cfg->sm;
    struct timed_inst *ti = &f->form.ti;
    uint32_t banks = sm->banks / u->parts, compact_banks = u->file[0].banks;
    *ti = sm_get_program(u->sm)->inst[pc];
    ti->read_words = ti->write_words = 0;
    ti->banks = (struct bank_list){.bank = f->bank, .more = ti->banks.more};
    f->form.other = (struct bank_list){.bank = f->bank + OTHER};
    f->form.file = u->file;
    fill_reads(u, f, banks, compact_banks);
    fill_writes(u, f, banks, compact_banks);
    if (!f->unit || !sm->pipe[PIPE_AFFINE].units)
        return;
    ti->pipe = PIPE_AFFINE;
    ti->op = CLASS_COMPACT;
    ti->expansion = 0;
    ti->initiation = (uint16_t)u->cfg->cae.initiation;
    if (u->cfg->cae.latency)
        ti->latency = (uint16_t)u->cfg->cae.latency;
}

const struct cae_form *cae_form_for(struct cae *u, uint32_t warp, uint32_t pc, struct cae_choice c) {
    struct cae_form want = wanted(u, warp, pc, c), *f = u->forms[pc];
    if (!want.unit && !want.compact && !want.expands && !want.result)
        return NULL;
    while (f && (f->compact != want.compact || f->expands != want.expands || f->unit != want.unit ||
                 f->result != want.result))
        f = f->next;
    if (f)
        return f;
    f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = want;
    fill(u, pc, f);
    f->next = u->forms[pc];
    return u->forms[pc] = f;
}

void cae_forms_free(struct cae *u) {
    for (uint32_t pc = 0; u->forms && pc < u->map.program->n; pc++)
        for (struct cae_form *f = u->forms[pc], *next; f; f = next) {
            next = f->next;
            free(f);
        }
    free(u->forms);
    u->forms = NULL;
}
