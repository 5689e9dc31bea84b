#ifndef TIMING_MEMSYS_PARTS_H
#define TIMING_MEMSYS_PARTS_H
/* The private struct of the memory side, for memsys.c and memsys_new.c. */
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

/* A ring of cycles in which a slice took a packet from its queue and so made room for another. The request network
 * does not know this room yet. All cycles are reported at once when the network runs short of room. */
struct mem_room {
    _Alignas(64) uint64_t *cycle;
    uint32_t mask;
    uint64_t head, noted, tail; /* noted: only entries before this one may be reported to the network */
};

struct memsys {
    const struct config *cfg; /* must outlive the memory side; its values are not converted to core cycles */
    struct memmap map;
    uint32_t sms, slices, partitions, ahead; /* ahead: cycles of a crossing; 0 with the fixed model */
    uint32_t share;                          /* slices per partition */
    uint32_t quantum;                        /* memsys_quantum() */
    struct memport *port;
    struct mem_place *place; /* indexed by SM, then by cluster: destination of the offered request */
    struct partition *partition;
    struct l2 **slice; /* slices of all partitions */
    struct icnt request, reply;
    struct agenda agenda;        /* work of all units except the request network */
    uint64_t turn;               /* first cycle in which the request network may still be called */
    struct gpcs gpcs;            /* caches of clusters, which run with the request network */
    struct tlbs tlbs;            /* TLBs of the SMs, which run with the request network */
    struct mem_room *room;       /* by slice */
    uint64_t scarce[ICNT_WORDS]; /* slices with so little room that new room is reported to the network at once */
    uint64_t next_room;          /* first cycle with new room in a scarce slice; NEVER if no scarce slice has any */
    struct part *part;           /* by partition */
    bool apart;                  /* true if each partition may run ahead of the others (memsys_lead_partition()) */
    bool poll;      /* true if every unit is called in every cycle, which is slow and has the same result */
    uint32_t slack; /* cycles that `back` may be ahead of `front` */
    /* the request network has run all cycles before `front`; all other units have run all cycles before `back` */
    uint64_t front, back;
    uint64_t worked;     /* cycle after the last call of a unit */
    uint64_t last_reply; /* cycle after the arrival of the last reply */
    uint64_t clock_from; /* value of `front` at the last memsys_stats() */
    struct {
        uint64_t latency_sum;
    } n;
};

/* Numbers of units in the agenda. Units of one cycle run in the order of these numbers. */
enum { UNIT_REPLY, UNIT_PARTITION };
enum { MAX_SLACK = 2 * MEMSYS_WINDOW }; /* a larger slack is never used (memsys_window()) */
#endif
