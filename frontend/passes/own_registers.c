/* Gives each register of the PTX a scoreboard number of its own, and the bank of the number in its name
 * (peer.own_registers), as GPGPU-Sim does. Requires: registers. Keeps: everything else, so registers still share slots;
 * the scoreboard numbers, too, if there are too many registers. Makes: ir.board, ir.board_words, ir.board_bank. */
#include "pass.h"

/* Returns the number at the end of a register's name, modulo 64, or `otherwise` if there is none. */
static uint8_t number_in_name(const struct vreg *r, uint32_t otherwise) {
    uint32_t at = r->name ? r->name_len : 0, value = 0;
    for (; at && r->name[at - 1] >= '0' && r->name[at - 1] <= '9'; at--)
        ;
    if (!r->name || at == r->name_len)
        return (uint8_t)(otherwise % 64);
    for (; at < r->name_len; at++)
        value = (value * 10 + (uint32_t)(r->name[at] - '0')) % 64;
    return (uint8_t)value;
}

bool pass_own_registers(struct ir *ir) {
    uint32_t n = 0;
    if (ir->n_vregs > UINT16_MAX)
        return true;
    ir->board_words = arena_array(ir->keep, (size_t)ir->n_vregs + 1, 1);
    ir->board_bank = arena_array(ir->keep, (size_t)ir->n_vregs + 1, 1);
    for (uint32_t v = 1; v < ir->n_vregs; v++) {
        const struct vreg *r = &ir->vregs[v];
        if (r->special || ir->intervals[v].begin > ir->intervals[v].end)
            continue;
        ir->board_words[n] = (uint8_t)class_words((enum reg_class)r->cls);
        ir->board_bank[n] = number_in_name(r, n);
        ir->board[v] = (uint16_t)n++;
    }
    ir->n_boards = n;
    return true;
}
