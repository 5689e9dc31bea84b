#ifndef TIMING_REGFILE_H
#define TIMING_REGFILE_H
/* Register banks. A bank reads 32 lanes per cycle: all lanes of one operand or, with collector.lanes, fewer lanes of
 * each of several operands. With collector.lanes, the pipe begins with the first lanes while the bank reads the last
 * lanes. Two operands of a bank of 16 lanes are both read in two cycles, and the instruction leaves after the first
 * cycle. A third operand costs one more cycle. With collector.reads, a bank reads several whole operands per cycle. */
#include "isa/arith.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"

/* Conflicts of writes beyond the end of the ring are not modelled. Only a division in a long queue writes so far
 * ahead. */
enum { REGFILE_RING = 256, MAX_BANKS = 64 };

/* Registers of one instruction, by bank. */
struct bank_list {
    const uint8_t *bank; /* bank of each register for warp 0; for warp w, the bank number is shifted by w */
    uint8_t n_reads;     /* number of registers that are read: the first entries */
    uint8_t n_writes;    /* number of registers that are written: the next entries */
    uint8_t more;        /* additional read ports: operands per cycle beyond the reads of a collector unit */
};

struct regfile_counts {
#define COUNT_FIELDS
#include "regfile_stats.def"
};

struct regfile {
    uint32_t banks, bank_mask; /* bank_mask: banks - 1 if `banks` is a power of two, else 0 */
    uint32_t operands;         /* operands that one instruction may read per cycle */
    int32_t at_once; /* number of operands that regfile_read() handles itself; negative: none (see regfile_ports()) */
    uint32_t slots;  /* operands that a bank reads at the same time */
    uint32_t parts;  /* cycles of each read */
    uint32_t write_slots; /* slots of a cycle that a write takes from reads; 0 if the bank has a write port */
    uint32_t result_bus;  /* results per cycle */
    struct regfile_counts n;
    uint64_t next_read[MAX_BANKS]; /* first slot (cycle x slots) in which the bank can serve another read */
    struct {
        uint64_t written; /* bit b: bank b writes a result in this cycle, before any read */
        uint32_t cycle;   /* low bits of the cycle of the entry; for any other cycle the entry counts as empty. Zeros
                           * are empty, too. */
        uint32_t results; /* on the result bus */
    } ring[REGFILE_RING];
};

/* Requires zeroed memory, in which the ring is empty. */
void regfile_init(struct regfile *f, uint32_t banks, uint32_t operands, uint32_t result_bus);
/* Makes each bank read `lanes` lanes of an operand per cycle, and 32 / lanes operands at a time. `lanes` is a divisor
 * of 32; the default is 32. `warp_lanes` is the number of lanes of a warp, a power of two. In a list of banks, each
 * group of 32 lanes counts as a separate operand. Each bank reads `reads` operands in a cycle, one less if a result is
 * written. With `write_port` a bank reads and writes in the same cycle. */
void regfile_ports(struct regfile *f, uint32_t lanes, uint32_t warp_lanes, uint32_t reads, bool write_port);
/* Returns the bank of a register of warp `warp`; for warp 0 the register is in bank `bank`. */
static inline uint32_t regfile_bank(const struct regfile *f, uint8_t bank, uint32_t warp) {
    return f->bank_mask ? (bank + warp) & f->bank_mask : (bank + warp) % f->banks;
}

static inline bool regfile_written_at(const struct regfile *f, uint64_t cycle, uint32_t bank) {
    uint32_t i = cycle % REGFILE_RING;
    return (f->ring[i].cycle == (uint32_t)cycle) & (f->ring[i].written >> bank & 1); /* unpredictable: no branch */
}

/* Works like regfile_read(), for any number of operands and of ports. */
uint64_t regfile_read_in_turns(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from);
/* Reserves the reads of an instruction of warp `warp`, from cycle `from` on. Returns the cycle after the cycle in
 * which the last read begins. Returns `from` if the instruction has no operands. */
static inline uint64_t regfile_read(struct regfile *f, const struct bank_list *l, uint32_t warp, uint64_t from) {
    const int32_t n = l->n_reads;
    uint64_t last = from;
    f->n.reads += (uint32_t)n;
    if (__builtin_expect(n > f->at_once + l->more, 0))
        return regfile_read_in_turns(f, l, warp, from);
    for (int32_t i = 0; i < n; i++) {
        uint32_t b = regfile_bank(f, l->bank[i], warp);
        uint64_t c = f->next_read[b] > from ? f->next_read[b] : from;
        while (regfile_written_at(f, c, b))
            c++;
        f->next_read[b] = ++c;
        last = c > last ? c : last;
    }
    f->n.read_waits += last - from - (n != 0);
    return last;
}
#include "regfile_write.h"
#endif
