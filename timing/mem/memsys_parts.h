#ifndef TIMING_MEMSYS_PARTS_H
#define TIMING_MEMSYS_PARTS_H
/* What memsys.c and memsys_new.c share: the memory side, open. */
#include "agenda.h"
#include "gpc.h"
#include "icnt.h"
#include "memport.h"
#include "memsys.h"
#include "partition.h"

/* What a partition keeps for the networks, which may be behind it. */
struct part {
    _Alignas(64) struct clock_point clock; /* of the cycle that it works on */
    uint64_t done;                         /* cycles before this have been done ahead of the others */
    uint64_t worked;                       /* cycle after its last turn */
};

/* Ring: when a slice took a packet, and so had room for one more, as far as the request network has not been told. It
 * is told of all at once when it is short of room there. */
struct mem_room {
    _Alignas(64) uint64_t *cycle;
    uint32_t mask;
    uint64_t head, noted, tail; /* noted: up to here the network may know */
};

struct memsys {
    struct config cfg;
    struct memmap map;
    uint32_t sms, slices, partitions, ahead; /* ahead: cycles of a crossing, 0 with the fixed model */
    uint32_t share;                          /* slices of a partition */
    struct memport *port;
    struct mem_place *place; /* by SM, then by cluster: where the request goes that it offers */
    struct partition *partition;
    struct l2 **slice; /* of all partitions */
    struct icnt request, reply;
    struct agenda agenda;        /* of all but the request network */
    uint64_t turn;               /* cycles before this are over for that */
    struct gpcs gpcs;            /* caches of clusters, which go with the request network */
    struct mem_room *room;       /* by slice */
    uint64_t scarce[ICNT_WORDS]; /* slices that the request network is told of room of in the very cycle */
    uint64_t next_room;          /* the first such cycle; NEVER: none is noted */
    struct part *part;           /* by partition */
    bool apart;                  /* partitions may be run one by one */
    bool poll;                   /* call every unit every cycle: slow, and the same result */
    uint32_t slack;              /* cycles that `back` may be ahead of `front` */
    uint64_t front, back;        /* cycles before these are done: of the request network, of the others */
    uint64_t worked;             /* cycle after the last in which a unit was called */
    uint64_t last_reply;         /* cycle after the last reply came */
    uint64_t clock_from;         /* of the statistics: core cycle of the last memsys_stats() */
    struct {
        uint64_t latency_sum;
    } n;
};

/* Numbers of the units in the agenda, in the order of their turns. */
enum { UNIT_REPLY, UNIT_PARTITION };
enum { MAX_SLACK = 2 * MEMSYS_WINDOW }; /* more is not used (memsys_window()) */
#endif
