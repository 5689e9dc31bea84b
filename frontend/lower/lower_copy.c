/* Lowers cp.async. The forms have these operands; `size` is the constant 4, 8 or 16 (cg: only 16):
 *   ca, cg                    [shared], [global], size{, bytes to read | predicate: read nothing}{, cache policy}
 *   commit_group              none
 *   wait_group                n
 *   wait_all                  none
 *   mbarrier.arrive{.noinc}   [a] */
#include "lower.h"
#include <string.h>

/* Reads a constant operand. Reports an error and returns false if it is not a constant or `fits` rejects it. */
static bool constant(struct lower *l, const struct operand *o, const char *expected, bool (*fits)(uint64_t),
                     uint64_t *out) {
    if (o->kind != OPD_INT) {
        bad_operand(l, o, expected);
        return false;
    }
    *out = (uint64_t)o->integer;
    if (fits(*out))
        return true;
    diag_error(l->d, o->loc, "'%s' takes %s, not %lld", opcode_text(l), expected, (long long)o->integer);
    return false;
}

static bool fits_ca(uint64_t n) { return n == 4 || n == 8 || n == 16; }
static bool fits_cg(uint64_t n) { return n == 16; }
static bool fits_groups(uint64_t n) { return n <= INT32_MAX; }

/* Lowers the destination address in shared memory: sets *base to a register of *bytes bytes, and *more to a constant
 * that the copy adds to it. */
static bool lower_destination(struct lower *l, const struct operand *o, opnd_t *base, unsigned *bytes, opnd_t *more) {
    struct address a;
    if (!address_of(l, o, SPACE_SHARED, &a))
        return false;
    *base = a.base;
    *bytes = a.asize;
    /* the address of this variable is known only after all variables are allocated, so an instruction with a fixup
     * computes it */
    if (a.fixup) {
        uint32_t guard = pause_guard(l);
        *base = temp_reg(l, RC_64) << 1;
        *bytes = 8;
        emit_move(l, *base, OPND_ZERO, RC_64);
        emit_fixup(l, a.what, (uint64_t)a.imm);
        l->guard = guard;
        a.imm = 0;
    }
    *more = ir_constant(l->ir, RC_64, (uint64_t)a.imm, 0);
    return true;
}

static void lower_bytes(struct lower *l) {
    const struct operand *to = l->st->insn.operands;
    bool policy = l->dec->hints & HINT_CACHE_POLICY, cg = form_get(l->dec->row->form, CAT_MODE2) == MODE2_CG;
    if (!operand_count(l, 3 + policy, 4 + policy))
        return;
    const struct operand *from = to->next, *size = from->next, *read = size->next;
    if (policy && !read->next)
        read = NULL;
    struct address a;
    opnd_t base, more, c;
    unsigned base_bytes;
    uint64_t n;
    bool has_ignore_predicate = false;
    if (!constant(l, size, cg ? "a size of 16 bytes" : "a size of 4, 8 or 16 bytes", cg ? fits_cg : fits_ca, &n) ||
        !lower_destination(l, to, &base, &base_bytes, &more) || !address_of(l, from, SPACE_GLOBAL, &a))
        return;
    if (read && read->kind == OPD_INT && read->integer > n) {
        diag_error(l->d, read->loc, "a copy of %u bytes cannot read %llu bytes", (unsigned)n,
                   (unsigned long long)read->integer);
        return;
    }
    if (read && read->kind == OPD_NOT) {
        has_ignore_predicate = true;
    } else if (read && read->kind == OPD_NAME) {
        const struct symbol *s = find_reg(l, read);
        has_ignore_predicate = s && s->type == T_PRED;
    }
    c = read ? source(l, read, has_ignore_predicate ? T_PRED : T_U32) : ir_constant(l->ir, RC_32, n, 0);
    if (policy)
        source(l, read ? read->next : size->next, T_B64); /* checked, but without effect */
    struct inst *in = emit(l, l->dec->row);
    in->b = base;
    in->c = c;
    in->e = more;
    in->msize = (uint8_t)n;
    in->rsize = (uint8_t)base_bytes;
    in->dsize = has_ignore_predicate ? 0 : 4;
    in->d2size = 0;
    set_address(l, in, &a);
    in->cache_op = cg ? CACHE_CG : CACHE_CA;
    emit_done(l);
}

static void lower_wait(struct lower *l) {
    bool all = form_get(l->dec->row->form, CAT_MODE2) == MODE2_WAIT_ALL;
    uint64_t n = 0;
    if (!operand_count(l, !all, !all) ||
        (!all && !constant(l, l->st->insn.operands, "a number of groups from 0 on", fits_groups, &n)))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->imm = all ? -1 : (int64_t)n;
    emit_done(l);
}

static void lower_arrive(struct lower *l) {
    struct address a;
    if (!operand_count(l, 1, 1) || !address_of(l, l->st->insn.operands, l->dec->space, &a))
        return;
    struct inst *in = emit(l, l->dec->row);
    in->dsize = in->d2size = 0;
    in->b = ir_constant(l->ir, RC_32, 1, 0); /* arrivals */
    in->msize = in->rsize = 8;
    set_address(l, in, &a);
    emit_done(l);
}

/* Checks what the opcode table does not check: that the opcode is a cp.async, and that its modifiers for the state
 * spaces and the L2 cache are right. */
static bool well_formed(struct lower *l) {
    const char *text = opcode_text(l), *to = strstr(text, ".shared"), *from = strstr(text, ".global");
    const char *wrong = NULL;
    if (strncmp(text, "cp.async.", 9) != 0)
        wrong = "only cp.async is supported";
    else if (l->dec->row->kind == K_COPY ? !from || from < to : from != NULL)
        wrong = "a copy goes from .global to .shared, and is written .shared.global";
    else if (l->dec->row->kind != K_COPY && strstr(text, ".L2::"))
        wrong = "L2 modifiers apply only to copies";
    if (wrong)
        diag_error(l->d, l->st->insn.opcode_loc, "'%s': %s", text, wrong);
    return !wrong;
}

void lower_copy(struct lower *l) {
    if (!well_formed(l))
        return;
    switch (l->dec->row->kind) {
    case K_COPY:
        lower_bytes(l);
        break;
    case K_COLLECT:
        lower_wait(l);
        break;
    case K_COMMIT:
        if (operand_count(l, 0, 0)) {
            emit(l, l->dec->row);
            emit_done(l);
        }
        break;
    default:
        lower_arrive(l);
    }
}
