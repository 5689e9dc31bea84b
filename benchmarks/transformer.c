/* transformer: one training step (forward, backward, update) of a stack of layers, each with attention of one head and
 * two products with a ReLU between them. Attention weights are normalised squares, so that the reference computes the
 * same bits as the kernels.
 *   size small: 1 layer, width 32, 32 tokens, 33 launches
 *   size paper: 4 layers, width 192, 192 tokens
 *   size card: 4 layers, width 512, 512 tokens */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

extern const struct bench bench_transformer;

/* The matrices of a layer, each of w x w floats. Gradients of activations follow their activations. */
enum {
    WQ,
    WK,
    WV,
    WO,
    W1,
    W2, /* weights */
    X,
    Q,
    K,
    V,
    S,
    A,
    Y,
    O,
    H,
    R,
    Z, /* activations; S: scores; A: attention weights; R: max(H, 0); Z: result */
    DZ,
    DR,
    DH,
    DO,
    DY,
    DA,
    DS,
    DQ,
    DK,
    DV,
    DX,
    N_MATRICES
};
enum { LAYERS_MOST = 4 };

/* The same operations on the device (h is not NULL) and on the host. */
struct net {
    struct heddle *h;
    struct heddle_module *m;
    enum heddle_status status;
    int layers, w;
    uint64_t device[LAYERS_MOST][N_MATRICES];
    float *host[LAYERS_MOST][N_MATRICES];
    uint64_t target;
    float *target_host;
};

/* An operand of a product: a matrix, or its transpose. */
struct operand {
    int matrix;
    bool transposed;
};

static void host_product(const struct net *n, int l, struct operand a, struct operand b, int c, float scale, int more) {
    const int w = n->w;
    const float *pa = n->host[l][a.matrix], *pb = n->host[l][b.matrix];
    float *pc = n->host[l][c];
    for (int r = 0; r < w; r++)
        for (int k = 0; k < w; k++) {
            float sum = 0;
            for (int i = 0; i < w; i++)
                sum += pa[a.transposed ? i * w + r : r * w + i] * pb[b.transposed ? k * w + i : i * w + k];
            pc[r * w + k] = more ? pc[r * w + k] + scale * sum : scale * sum;
        }
}

/* Computes c = scale * a b, or with `more` c = c + scale * a b. */
static void product(struct net *n, int l, struct operand a, struct operand b, int c, float scale, int more) {
    const int w = n->w, one = 1;
    const int a_row = a.transposed ? one : w, a_column = a.transposed ? w : one, b_row = b.transposed ? one : w,
              b_column = b.transposed ? w : one;
    if (!n->h) {
        host_product(n, l, a, b, c, scale, more);
        return;
    }
    const struct heddle_dim tiles = {(uint32_t)w / 16, (uint32_t)w / 16, 1}, tile = {16, 16, 1};
    const uint64_t pa = n->device[l][a.matrix], pb = n->device[l][b.matrix], pc = n->device[l][c];
    if (n->status == HEDDLE_OK)
        n->status = BENCH_LAUNCH(n->h, n->m, "product", tiles, tile, BENCH_ARG(pa), BENCH_ARG(a_row),
                                 BENCH_ARG(a_column), BENCH_ARG(pb), BENCH_ARG(b_row), BENCH_ARG(b_column),
                                 BENCH_ARG(pc), BENCH_ARG(w), BENCH_ARG(w), BENCH_ARG(scale), BENCH_ARG(more));
}

static struct heddle_dim lines(int threads) { return (struct heddle_dim){bench_blocks((uint32_t)threads, 64), 1, 1}; }
static const struct heddle_dim line = {64, 1, 1};

static void attention(struct net *n, int l) {
    const int w = n->w;
    const float *s = n->host[l][S];
    const uint64_t from = n->device[l][S], to = n->device[l][A];
    if (n->h && n->status == HEDDLE_OK)
        n->status = BENCH_LAUNCH(n->h, n->m, "attention_rows", lines(w), line, BENCH_ARG(from), BENCH_ARG(to),
                                 BENCH_ARG(w), BENCH_ARG(w));
    for (int r = 0; r < w && !n->h; r++) {
        float sum = 1;
        for (int c = 0; c < w; c++)
            sum += s[c * w + r] * s[c * w + r];
        for (int c = 0; c < w; c++)
            n->host[l][A][c * w + r] = s[c * w + r] * s[c * w + r] / sum;
    }
}

static void attention_back(struct net *n, int l) {
    const int w = n->w;
    const float *s = n->host[l][S], *a = n->host[l][A], *da = n->host[l][DA];
    const uint64_t ps = n->device[l][S], pa = n->device[l][A], pda = n->device[l][DA], pds = n->device[l][DS];
    if (n->h && n->status == HEDDLE_OK)
        n->status = BENCH_LAUNCH(n->h, n->m, "attention_back", lines(w), line, BENCH_ARG(ps), BENCH_ARG(pa),
                                 BENCH_ARG(pda), BENCH_ARG(pds), BENCH_ARG(w), BENCH_ARG(w));
    for (int r = 0; r < w && !n->h; r++) {
        float sum = 1, dot = 0;
        for (int c = 0; c < w; c++) {
            sum += s[c * w + r] * s[c * w + r];
            dot += a[c * w + r] * da[c * w + r];
        }
        for (int c = 0; c < w; c++)
            n->host[l][DS][c * w + r] = 2 * s[c * w + r] / sum * (da[c * w + r] - dot);
    }
}

/* to = max(from, 0); with a gradient: that gradient where `from` is positive. */
static void relu(struct net *n, int l, int from, int gradient, int to) {
    const int cells = n->w * n->w;
    const uint64_t pf = n->device[l][from], pg = gradient < 0 ? 0 : n->device[l][gradient], pt = n->device[l][to];
    if (n->h && n->status == HEDDLE_OK)
        n->status = BENCH_LAUNCH(n->h, n->m, "relu", lines(cells), line, BENCH_ARG(pf), BENCH_ARG(pg), BENCH_ARG(pt),
                                 BENCH_ARG(cells));
    for (int i = 0; i < cells && !n->h; i++)
        n->host[l][to][i] = n->host[l][from][i] > 0 ? gradient < 0 ? n->host[l][from][i] : n->host[l][gradient][i] : 0;
}

/* to = a + scale * b; operands may be matrices of other layers. */
static void add_scaled(struct net *n, uint64_t pa, const float *a, uint64_t pb, const float *b, int l, int to,
                       float scale) {
    const int cells = n->w * n->w;
    const uint64_t pt = n->device[l][to];
    if (n->h && n->status == HEDDLE_OK)
        n->status = BENCH_LAUNCH(n->h, n->m, "add_scaled", lines(cells), line, BENCH_ARG(pa), BENCH_ARG(pb),
                                 BENCH_ARG(pt), BENCH_ARG(cells), BENCH_ARG(scale));
    for (int i = 0; i < cells && !n->h; i++)
        n->host[l][to][i] = a[i] + scale * b[i];
}

static void add(struct net *n, int l, int a, int b, int to, float scale) {
    add_scaled(n, n->device[l][a], n->host[l][a], n->device[l][b], n->host[l][b], l, to, scale);
}

#define M(x) ((struct operand){x, false})
#define T(x) ((struct operand){x, true})

static void forward(struct net *n, int l) {
    if (l > 0)
        add_scaled(n, n->device[l - 1][Z], n->host[l - 1][Z], n->device[l - 1][Z], n->host[l - 1][Z], l, X, 0);
    product(n, l, M(X), M(WQ), Q, 1, 0);
    product(n, l, M(X), M(WK), K, 1, 0);
    product(n, l, M(X), M(WV), V, 1, 0);
    product(n, l, M(K), T(Q), S, 1, 0); /* a column of S and A belongs to one query */
    attention(n, l);
    product(n, l, T(A), M(V), Y, 1, 0);
    product(n, l, M(Y), M(WO), O, 1, 0);
    add(n, l, O, X, O, 1);
    product(n, l, M(O), M(W1), H, 1, 0);
    relu(n, l, H, -1, R);
    product(n, l, M(R), M(W2), Z, 1, 0);
    add(n, l, Z, O, Z, 1);
}

static void backward(struct net *n, int l) {
    const float rate = -0.001f;
    if (l + 1 == n->layers)
        add_scaled(n, n->device[l][Z], n->host[l][Z], n->target, n->target_host, l, DZ, -1);
    else
        add_scaled(n, n->device[l + 1][DX], n->host[l + 1][DX], n->device[l + 1][DX], n->host[l + 1][DX], l, DZ, 0);
    product(n, l, M(DZ), T(W2), DR, 1, 0);
    relu(n, l, H, DR, DH);
    product(n, l, M(DH), T(W1), DO, 1, 0);
    add(n, l, DO, DZ, DO, 1);
    product(n, l, M(DO), T(WO), DY, 1, 0);
    product(n, l, M(V), T(DY), DA, 1, 0);
    product(n, l, M(A), M(DY), DV, 1, 0);
    attention_back(n, l);
    product(n, l, T(DS), M(K), DQ, 1, 0);
    product(n, l, M(DS), M(Q), DK, 1, 0);
    product(n, l, M(DQ), T(WQ), DX, 1, 0);
    product(n, l, M(DK), T(WK), DX, 1, 1);
    product(n, l, M(DV), T(WV), DX, 1, 1);
    add(n, l, DX, DO, DX, 1);
    product(n, l, T(R), M(DZ), W2, rate, 1); /* the updates */
    product(n, l, T(O), M(DH), W1, rate, 1);
    product(n, l, T(Y), M(DO), WO, rate, 1);
    product(n, l, T(X), M(DQ), WQ, rate, 1);
    product(n, l, T(X), M(DK), WK, rate, 1);
    product(n, l, T(X), M(DV), WV, rate, 1);
}

static void step(struct net *n) {
    for (int l = 0; l < n->layers; l++)
        forward(n, l);
    for (int l = n->layers; l-- > 0;)
        backward(n, l);
}

/* Compares the weights with the weights that C code computes. At a large size the C code would take minutes, so only
 * the first row of the first product is compared. */
static enum heddle_status compare(struct net *n, struct net *host, float *got, bool small, char *why, size_t why_size) {
    const size_t cells = (size_t)n->w * (size_t)n->w, bytes = cells * sizeof *got;
    enum heddle_status s = HEDDLE_OK;
    if (small)
        step(host);
    for (int l = 0; s == HEDDLE_OK && small && l < n->layers; l++)
        for (int k = WQ; s == HEDDLE_OK && k <= W2; k++)
            if ((s = heddle_read(n->h, n->device[l][k], got, bytes)) == HEDDLE_OK)
                s = bench_compare(got, host->host[l][k], cells, 0, "weight", why, why_size);
    if (small || (s = heddle_read(n->h, n->device[0][Q], got, bytes)) != HEDDLE_OK)
        return s;
    for (int c = 0; c < n->w; c++) {
        float sum = 0;
        for (int i = 0; i < n->w; i++)
            sum += host->host[0][X][i] * host->host[0][WQ][i * n->w + c];
        host->host[0][Q][c] = sum;
    }
    return bench_compare(got, host->host[0][Q], (size_t)n->w, 0, "q", why, why_size);
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, enum bench_size size, char *why,
                              size_t why_size) {
    const bool small = size == BENCH_SMALL;
    struct net n = {.h = h,
                    .m = m,
                    .layers = small ? 1 : LAYERS_MOST,
                    .w = small                 ? 32
                         : size == BENCH_PAPER ? 192
                                               : 512},
               host = n;
    const size_t cells = (size_t)n.w * (size_t)n.w, matrices = (size_t)n.layers * N_MATRICES + 2;
    float *all = calloc(matrices * cells, sizeof *all), *at = all;
    uint64_t seed = 3;
    if (!all)
        return bench_no_memory(why, why_size);
    host.h = NULL;
    for (int l = 0; l < n.layers; l++)
        for (int k = 0; k < N_MATRICES; k++, at += cells) {
            host.host[l][k] = at;
            if (k <= W2 || (k == X && l == 0))
                bench_fill(at, cells, &seed, -0.1f, 0.1f);
            n.device[l][k] = bench_buffer(h, at, cells * sizeof *at);
        }
    host.target_host = at;
    bench_fill(at, cells, &seed, -1, 1);
    n.target = bench_buffer(h, at, cells * sizeof *at);
    n.status = n.target ? HEDDLE_OK : heddle_status(h);
    if (n.status == HEDDLE_OK)
        step(&n);
    enum heddle_status s = n.status;
    if (s == HEDDLE_OK)
        s = compare(&n, &host, at + cells, small, why, why_size);
    free(all);
    return s;
}

const struct bench bench_transformer = {
    "transformer", "a training step: products in shared-memory tiles, attention; uniform", "large", "large.ptx", run,
};
