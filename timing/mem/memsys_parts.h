#ifndef TIMING_MEMSYS_PARTS_H
#define TIMING_MEMSYS_PARTS_H
/* The private struct of the memory side, for memsys.c, memsys_new.c and request_half.c. */
#include "agenda.h"
#include "gpc.h"
#include "icnt.h"
#include "memport.h"
#include "memsys.h"
#include "partition.h"
#include "tlb.h"

/* State of a partition that the networks use. The networks may be behind the partition in time. */
struct part {
    _Alignas(64) struct clock_point clock; /* the DRAM clock in the partition's present cycle */
    uint64_t done;                         /* the partition has simulated all cycles before this cycle */
    uint64_t worked;                       /* cycle after the partition's last work */
};

/* A ring of cycles in which a slice took a packet from its queue and so made room for another. All cycles are reported
 * to the request network at once when it runs short of room. */
struct mem_room {
    _Alignas(64) uint64_t *cycle;
    uint32_t mask;
    uint64_t head;                      /* the request network's end */
    _Alignas(64) _Atomic uint64_t tail; /* the slice's end */
};

/* State of a half of the memory side. */
struct mem_half {
    uint64_t done;        /* the half has run all cycles before this cycle */
    uint64_t worked;      /* cycle after the last call of a unit */
    uint64_t last_reply;  /* cycle after the arrival of the last reply */
    uint64_t latency_sum; /* cycles of packets in the network */
};

/* The memory side has two halves: the request network, with the caches of clusters and the TLBs, and all other units.
 * Two threads may run them at the same time. Then each half changes only its own fields. The halves pass packets
 * through l2_accept() and gpc_fill(), and room through mem_room. */
struct memsys {
    const struct config *cfg; /* must outlive the memory side; its values are not converted to core cycles */
    struct memmap map;
    uint32_t sms, slices, partitions, ahead; /* ahead: cycles of a crossing; 0 with the fixed model */
    uint32_t share;                          /* slices per partition */
    uint32_t quantum;                        /* memsys_quantum() */
    uint32_t slack;                          /* cycles that `back` may be ahead of `front` */
    struct memport *port;
    struct partition *partition;
    struct l2 **slice;     /* slices of all partitions */
    struct mem_room *room; /* by slice */
    struct part *part;     /* by partition */
    bool apart;            /* true if each partition may run ahead of the others (memsys_lead_partition()) */
    bool poll;             /* true if every unit is called in every cycle, which is slow and has the same result */
    bool exchanged;        /* requests may have been exchanged that are not offered yet */
    uint64_t clock_from;   /* value of `front.done` at the last memsys_stats() */
    /* the request network's half */
    _Alignas(64) struct mem_half front;
    uint64_t turn;               /* first cycle in which the request network may still be called */
    struct mem_place *place;     /* indexed by SM, then by cluster: destination of the offered request */
    uint64_t scarce[ICNT_WORDS]; /* slices with so little room that new room is reported to the network at once */
    uint64_t next_room;          /* first cycle with new room in a scarce slice; NEVER if no scarce slice has any */
    uint64_t put[ICNT_WORDS];    /* slices that got packets since the last deliver() */
    struct icnt request;
    struct gpcs gpcs; /* caches of clusters */
    struct tlbs tlbs; /* TLBs of the SMs */
    /* the other half */
    _Alignas(64) struct mem_half back;
    struct icnt reply;
    struct agenda agenda; /* work of the units */
};

/* Numbers of units in the agenda. Units of one cycle run in the order of these numbers. */
enum { UNIT_REPLY, UNIT_PARTITION };
enum { MAX_SLACK = 2 * MEMSYS_WINDOW }; /* a larger slack is never used (memsys_window()) */

/* Offers the exchanged requests that are at the heads of their queues. */
void request_half_offer(struct memsys *m);
/* Makes the other half's actions known to the request network. */
void request_half_receive(struct memsys *m);
/* Returns the cycle of the next known work. Returns NEVER if there is none until a request is offered, a slice has room
 * again, or a cluster gets a reply. */
uint64_t request_half_next(const struct memsys *m);
/* Runs the request network, the TLBs and the caches of clusters up to cycle `to`. */
void request_half_run(struct memsys *m, uint64_t to);
#endif
