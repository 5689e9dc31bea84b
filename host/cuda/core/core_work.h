#ifndef CUDA_CORE_WORK_H
#define CUDA_CORE_WORK_H
/* The work of a graph node, and descriptions of work in the layouts of both interfaces. */
#include "core_memory.h"

struct cuda_kernel;
struct cuda_graph;
struct cuda_event;

struct cuda_launch {
    struct cuda_kernel *kernel;
    struct cuda_dim grid, block;
    size_t shared;
    void **args; /* one pointer for each parameter of the kernel */
    bool cooperative;
    int priority;            /* a hint, which is only reported back */
    struct cuda_dim cluster; /* blocks of a cluster; all 0: as the kernel declares */
};
struct cuda_call {
    void (*call)(void *);
    void *data;
};
/* Work of a stream that is no node of a graph: a call of a function of core. */
struct cuda_task {
    enum cuda_error (*run)(const void *data);
    void *data;
    bool waits;           /* it may wait for the host or for other work, even if there are no kernels */
    void (*free)(void *); /* frees `data` when the work has ended; NULL: `data` is not freed */
};
struct cuda_kernel_params {
    const void *function;
    struct cuda_dim grid, block;
    unsigned shared;
    void **args, **extra;
};
/* CUDA_KERNEL_NODE_PARAMS_v2 of CUDA 12 and later. */
struct cuda_kernel_params_v2 {
    struct cuda_kernel_params all;
    const void *kernel;
    struct cuda_context *context;
};
struct cuda_fill_params {
    void *p;
    size_t pitch;
    unsigned value, width;
    size_t n, rows;
};

/* The numbers of enum cudaGraphNodeType. */
enum cuda_node_kind {
    NODE_KERNEL,
    NODE_COPY,
    NODE_FILL,
    NODE_HOST,
    NODE_GRAPH,
    NODE_EMPTY,
    NODE_WAIT,
    NODE_RECORD,
    NODE_ALLOC = 10,
    NODE_FREE,
    NODE_CONDITION = 13,
    NODE_TASK = 100 /* not of cudaGraphNodeType: struct cuda_task */
};

/* The numbers of enum cudaGraphConditionalNodeType. */
enum cuda_condition_kind { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };
/* The work of a conditional node: it chooses one of its graphs by the value of its variable, a word in device memory.
 * IF: graph 0 if the word is not 0; otherwise graph 1, if it exists. WHILE: graph 0, repeatedly, until the word is 0.
 * SWITCH: the graph whose number is the value of the word, if it exists. */
struct cuda_condition {
    uint64_t word; /* device address of the variable, which is also the program's handle of the condition */
    enum cuda_condition_kind kind;
    unsigned n;
    struct cuda_graph **graphs; /* NULL in a description, because the node then gets new, empty graphs */
};

/* What a node does. */
struct cuda_work {
    enum cuda_node_kind kind;
    union {
        struct cuda_launch launch; /* in a node, launch.args is a block with all arguments, which the node owns */
        struct cuda_box box;
        struct cuda_rows rows;
        struct cuda_call call;
        struct cuda_graph *graph;
        struct cuda_event *event;
        struct cuda_graph_memory *memory; /* of NODE_ALLOC and NODE_FREE */
        struct cuda_condition condition;
        struct cuda_task task;
    };
};
/* cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS */
struct cuda_alloc_params {
    int type, handle_types, location, device;
    char more[72];
    const void *access;
    size_t n_access, bytes;
    void *p;
};
/* cudaGraphNodeParams, CUgraphNodeParams: a description of a node of any kind */
struct cuda_node_params {
    int kind, zero[3];
    union {
        long long all[29];
        struct cuda_kernel_params kernel;
        struct cuda_kernel_params_v2 kernel_v2; /* of the driver */
        struct {
            long long head[2];
            char box[200]; /* a struct copy_3d of the interface */
        } copy;
        struct cuda_fill_params fill;
        struct cuda_call call;
        struct cuda_graph *graph;
        struct cuda_event *event;
        struct cuda_alloc_params alloc;
        void *freed;
        struct {
            unsigned long long word;
            int kind;
            unsigned n;
            struct cuda_graph **graphs; /* set when the node is added */
        } condition;
    };
    long long more;
};
/* A copy to (`to`) or from the variable `symbol`. */
struct cuda_symbol_copy {
    const void *symbol;
    void *other;
    size_t bytes, offset;
    enum cuda_copy kind;
    bool to;
};

/* Make work from a description. A fill needs elements of 1, 2 or 4 bytes (cuda_can_fill()). */
enum cuda_error cuda_kernel_work(struct cuda_work *w, const struct cuda_kernel_params *p);
enum cuda_error cuda_symbol_work(struct cuda_work *w, const struct cuda_symbol_copy *c);
/* Makes work from the description of a node, except of copies, whose layouts differ between the interfaces. */
enum cuda_error cuda_described_work(struct cuda_work *w, const struct cuda_node_params *p);
struct cuda_work cuda_line_work(void *to, const void *from, size_t bytes, enum cuda_copy kind);
bool cuda_can_fill(const struct cuda_fill_params *f);
struct cuda_work cuda_fill_work(const struct cuda_fill_params *f);
#endif
