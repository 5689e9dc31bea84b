/* Does by hand what code that nvcc generates does: registers the kernel of lz4.fatbin and launches it, as programs of
 * CUDA 11, 12 and 13 do. The tests link it with each libcudart.so of Heddle, so they need no toolkit.
 * usage: registers lz4.fatbin [fault|many|texture|closed] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct dim {
    unsigned x, y, z;
};
struct wrapper {
    uint32_t magic, version;
    const void *data;
    void *unused;
};
void **__cudaRegisterFatBinary(const struct wrapper *w);
void __cudaRegisterFatBinaryEnd(void **h);
void __cudaUnregisterFatBinary(void **h);
void __cudaRegisterFunction(void **h, const char *stub, char *name, const char *device, int limit, void *tid, void *bid,
                            void *block, void *grid, int *warp);
void __cudaRegisterVar(void **h, char *shadow, char *address, const char *name, int ext, size_t bytes, int constant,
                       int global);
void __cudaRegisterManagedVar(void **h, void **pointer, char *address, const char *name, int ext, size_t bytes,
                              int constant, int global);
unsigned __cudaPushCallConfiguration(struct dim grid, struct dim block, size_t shared, void *stream);
int __cudaPopCallConfiguration(struct dim *grid, struct dim *block, size_t *shared, void *stream);
int cudaLaunchKernel(const void *stub, struct dim grid, struct dim block, void **args, size_t shared, void *stream);
int __cudaGetKernel(void **out, const void *stub);
int __cudaLaunchKernel(void *kernel, struct dim grid, struct dim block, void **args, size_t shared, void *stream);
int cudaMalloc(void **out, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
int cudaGetSymbolAddress(void **out, const void *symbol);
int cudaDeviceSynchronize(void);
int cudaGetDeviceProperties(void *out, int device);
int cudaRuntimeGetVersion(int *out);
const char *cudaGetErrorName(int e);

static char shadow_of_last[4];

/* Performs the host's part of saxpy<<<2, 32>>>(...). */
static void stub(int n, float a, const float *x, float *y) {
    void *args[] = {&n, &a, &x, &y}, *stream, *kernel;
    struct dim grid, block;
    size_t shared;
    if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != 0)
        exit(10);
    if (n % 2)
        cudaLaunchKernel((const void *)stub, grid, block, args, shared, stream);
    else if (__cudaGetKernel(&kernel, (const void *)stub) == 0)
        __cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

static void *load(const char *path) {
    FILE *f = fopen(path, "rb");
    void *data = malloc(1 << 16);
    if (!f || !data || !fread(data, 1, 1 << 16, f))
        exit(11);
    fclose(f);
    return data;
}

/* Prints three properties of the device, and the size of the struct that the runtime fills: the bytes behind it keep
 * the value 0xaa. The number of SMs is at byte 388 in CUDA 11 and 12, and at byte 384 in CUDA 13. */
static void print_properties(void) {
    unsigned char p[1100];
    int version, major, warp, sms;
    size_t end = 0;
    memset(p, 0xaa, sizeof p);
    if (cudaGetDeviceProperties(p, 0) != 0 || cudaRuntimeGetVersion(&version) != 0)
        exit(12);
    for (size_t i = 0; i < sizeof p; i++)
        end = p[i] != 0xaa ? i + 1 : end;
    memcpy(&major, p + 360, 4);
    memcpy(&warp, p + 308, 4);
    memcpy(&sms, p + (version >= 13000 ? 384 : 388), 4);
    printf("version %d: warps of %d, %d.x, %d SMs, %zu bytes\n", version, warp, major, sms, end);
}

/* ---- texture references, which CUDA 11 was the last to have ---- */

/* The first fields of texture<...>, which programs declare. */
struct channels {
    int x, y, z, w, kind;
};
struct texture_reference {
    int normalized, filter, address[3];
    struct channels format;
    int more[21];
};
void __cudaRegisterTexture(void **h, const struct texture_reference *t, const void **address, const char *name,
                           int dimensions, int normalized_read, int ext);
int cudaBindTexture(size_t *offset, const struct texture_reference *t, const void *p, const struct channels *f,
                    size_t bytes);
int cudaBindTextureToArray(const struct texture_reference *t, const void *array, const struct channels *f);
int cudaUnbindTexture(const struct texture_reference *t);
int cudaMallocArray(void **out, const struct channels *f, size_t width, size_t height, unsigned flags);
int cudaMemcpy2DToArray(void *a, size_t x, size_t y, const void *p, size_t pitch, size_t width, size_t height,
                        int kind);

static const char texture_ptx[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n.global .texref t1;\n.global .texref t2;\n"
    ".visible .entry tex(.param .u64 p)\n{\n  .reg .u32 %r<4>;\n  .reg .f32 %f<9>;\n  .reg .u64 %d<4>;\n"
    "  ld.param.u64 %d1, [p];\n  mov.u32 %r1, %tid.x;\n  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t1, {%r1}];\n"
    "  cvt.rn.f32.u32 %f5, %r1;\n  mov.f32 %f6, 0f3FC00000;\n"
    "  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f7}, [t2, {%f5, %f6}];\n"
    "  fma.rn.f32 %f1, %f2, 0f42C80000, %f1;\n"
    "  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d1, %d1, %d2;\n  st.global.f32 [%d1], %f1;\n  ret;\n}\n";

static struct texture_reference line_texture, array_texture = {.filter = 1, .address = {1, 1, 1}};

static void texture_stub(float *p) {
    void *args[] = {&p};
    cudaLaunchKernel((const void *)texture_stub, (struct dim){1, 1, 1}, (struct dim){4, 1, 1}, args, 0, NULL);
}

static void **register_textures(void) {
    static struct {
        uint32_t magic;
        uint16_t version, head_bytes;
        uint64_t bytes;
        uint16_t kind, one;
        uint32_t entry_bytes;
        uint64_t padded;
        uint32_t zero[3], arch, name[2];
        uint64_t flags, none, full;
        char text[2048];
    } container = {0xba55ed50, 1, 16, 64 + 2048, 1, 0x101, 64, 2048, {0}, 30, {0}, 0x11, 0, sizeof texture_ptx, ""};
    static struct wrapper w = {0x466243b1, 1, &container, NULL};
    memcpy(container.text, texture_ptx, sizeof texture_ptx);
    void **h = __cudaRegisterFatBinary(&w);
    __cudaRegisterFunction(h, (const char *)texture_stub, "tex", "tex", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterTexture(h, &line_texture, NULL, "t1", 1, 1, 0); /* bytes are read as fractions */
    __cudaRegisterTexture(h, &array_texture, NULL, "t2", 2, 0, 0);
    __cudaRegisterFatBinaryEnd(h);
    return h;
}

/* Each of four threads x prints texel x of the line texture plus 100 times a sample of the array texture:
 * - The bytes 0, 51, 102 and 255 are read as 0, 0.2, 0.4 and 1.
 * - The array has the rows (0 1 2 3) and (10 11 12 13). The sample is at y = 1.5, the middle of the second row, and at
 *   x, the edge between two texels. So the samples are 10, 10.5, 11.5 and 12.5. */
static void textures(void) {
    static const unsigned char bytes[] = {0, 51, 102, 255};
    static const float rows[] = {0, 1, 2, 3, 10, 11, 12, 13};
    const struct channels byte = {8, 0, 0, 0, 1}, real = {32, 0, 0, 0, 2};
    void **h = register_textures(), *line, *array;
    float *out, host[4];
    size_t offset = 1;
    cudaMalloc(&line, sizeof bytes);
    cudaMalloc((void **)&out, sizeof host);
    cudaMemcpy(line, bytes, sizeof bytes, 1);
    if (cudaMallocArray(&array, &real, 4, 2, 0) != 0 || cudaMemcpy2DToArray(array, 0, 0, rows, 16, 16, 2, 1) != 0 ||
        cudaBindTexture(&offset, &line_texture, line, &byte, UINT32_MAX) != 0 || offset != 0 ||
        cudaBindTextureToArray(&array_texture, array, &real) != 0)
        exit(13);
    texture_stub(out);
    cudaMemcpy(host, out, sizeof host, 2);
    printf("textures %g %g %g %g\n", (double)host[0], (double)host[1], (double)host[2], (double)host[3]);
    if (cudaUnbindTexture(&line_texture) != 0 || cudaUnbindTexture((const void *)&offset) != 18)
        exit(14);
    __cudaUnregisterFatBinary(h);
}

/* Checks that the runtime no longer reads the memory of a shared object that was closed. This memory had the names of a
 * kernel and of a managed variable. */
static void closed(const char *path) {
    enum { PAGE = 4096 };
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct wrapper w = {0x466243b1, 1, load(path), NULL};
    void *out, **h = __cudaRegisterFatBinary(&w);
    if (page == MAP_FAILED)
        exit(15);
    char *kernel = strcpy(page + 8, "_Z5saxpyifPKfPf"), *variable = strcpy(page + 64, "last");
    __cudaRegisterFunction(h, kernel, kernel, kernel, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterManagedVar(h, (void **)page, page, variable, 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(h);
    __cudaUnregisterFatBinary(h);
    munmap(page, PAGE);
    int symbol = cudaGetSymbolAddress(&out, &out);
    printf("closed: %s, ", cudaGetErrorName(symbol));
    printf("%s\n",
           cudaGetErrorName(cudaLaunchKernel(kernel, (struct dim){1, 1, 1}, (struct dim){1, 1, 1}, NULL, 0, 0)));
}

/* Prints the processor time of a launch. It is the least of several times, because other processes may run on the
 * machine. */
static void launch_many(const float *x, float *y) {
    enum { LAUNCHES = 10000, TRIES = 5 };
    double best = 1e9;
    for (int k = 0; k < TRIES; k++) {
        clock_t began = clock();
        for (int i = 0; i < LAUNCHES; i++)
            if (__cudaPushCallConfiguration((struct dim){1, 1, 1}, (struct dim){32, 1, 1}, 0, NULL) == 0)
                stub(1 + i % 2, 0, x, y);
        cudaDeviceSynchronize();
        double each = 1e6 * (double)(clock() - began) / CLOCKS_PER_SEC / LAUNCHES;
        best = each < best ? each : best;
    }
    printf("a launch takes %.2f us\n", best);
}

int main(int argc, char **argv) {
    struct wrapper w = {0x466243b1, 1, load(argv[1]), NULL};
    void **h = __cudaRegisterFatBinary(&w);
    __cudaRegisterFunction(h, (const char *)stub, "saxpy", "_Z5saxpyifPKfPf", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(h, shadow_of_last, "last", "last", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(h);
    print_properties();
    float x[64], y[64], *dx, *dy, last;
    for (int i = 0; i < 64; i++)
        x[i] = y[i] = (float)i;
    cudaMalloc((void **)&dx, sizeof x);
    cudaMalloc((void **)&dy, sizeof y);
    cudaMemcpy(dx, x, sizeof x, 1);
    cudaMemcpy(dy, y, sizeof y, 1);
    for (int n = 63; n <= 64; n++)
        if (__cudaPushCallConfiguration((struct dim){2, 1, 1}, (struct dim){32, 1, 1}, 0, NULL) == 0)
            stub(n, 2, dx, argc > 2 && strcmp(argv[2], "fault") == 0 ? NULL : dy);
    if (argc > 2 && strcmp(argv[2], "many") == 0)
        launch_many(dx, dy);
    if (argc > 2 && strcmp(argv[2], "texture") == 0)
        textures();
    if (argc > 2 && strcmp(argv[2], "closed") == 0)
        closed(argv[1]);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpy(y, dy, sizeof y, 2);
    cudaMemcpyFromSymbol(&last, shadow_of_last, 4, 0, 2);
    printf("%g %g\n", (double)y[62], (double)y[63]);
    __cudaUnregisterFatBinary(h);
    return 0;
}
