// Virtual memory of the driver API: a buffer that grows by pieces without a copy, memory mapped at two addresses, and
// memory without access; values that streams write and wait for; copies and advice in batches (CUDA 13).
// usage: virtual [unmapped|closed|read]: the argument selects an access of a kernel that must be a fault
#include "mistakes.h"
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define FINE(...)  WANT((__VA_ARGS__) == CUDA_SUCCESS)
#define WRONG(...) WANT((__VA_ARGS__) == CUDA_ERROR_INVALID_VALUE)

__global__ void number(unsigned *p, unsigned first, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = first + (unsigned)i;
}
__global__ void add(const unsigned *p, size_t n, unsigned long long *sum) {
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += p[i];
    atomicAdd(sum, mine);
}

static CUmemAllocationProp properties(void) {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}
static CUmemAccessDesc all_access(CUmemAccess_flags flags) {
    CUmemAccessDesc a = {};
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.flags = flags;
    return a;
}

static size_t unit;
static const CUmemAccessDesc both = all_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

// Enlarges a buffer as a vector grows: adds memory at its end, so that the numbers keep their addresses.
static void grows(void) {
    CUmemAllocationProp prop = properties();
    CUdeviceptr at, next;
    CUmemGenericAllocationHandle piece[4], again;
    size_t before, after, all, n = unit / 4, bytes;
    FINE(cuMemAddressReserve(&at, 4 * unit, 0, 0, 0));
    FINE(cuMemGetInfo(&before, &all));
    for (int i = 0; i < 3; i++) {
        FINE(cuMemCreate(&piece[i], unit, &prop, 0));
        FINE(cuMemMap(at + i * unit, unit, 0, piece[i], 0));
        FINE(cuMemSetAccess(at + i * unit, unit, &both, 1));
        FINE(cuMemRelease(piece[i])); // the memory exists as long as it is mapped
        number<<<8, 128>>>((unsigned *)(at + i * unit), i * (unsigned)n, n);
    }
    OK(cudaDeviceSynchronize());
    FINE(cuMemGetInfo(&after, &all));
    WANT(before - after == 3 * unit);
    std::vector<unsigned> seen(3 * n);
    FINE(cuMemcpyDtoH(seen.data(), at, 3 * unit)); // the copy crosses two boundaries between pieces
    for (size_t i = 0; i < 3 * n; i += 1001)
        WANT(seen[i] == i);
    WANT(seen[n - 1] == n - 1 && seen[n] == n && seen[3 * n - 1] == 3 * n - 1);
    unsigned long long *sum, total;
    OK(cudaMallocManaged(&sum, 8));
    *sum = 0;
    add<<<8, 128>>>((unsigned *)at, 3 * n, sum);
    OK(cudaDeviceSynchronize());
    total = 3 * n * (3 * n - 1) / 2;
    WANT(*sum == total);
    // requests the address just after a range
    CUresult r = cuMemAddressReserve(&next, unit, 0, at + 4 * unit, 0);
    WANT(r == CUDA_SUCCESS && next == at + 4 * unit);
    FINE(cuMemAddressFree(next, unit));
    FINE(cuMemRetainAllocationHandle(&again, (void *)(at + unit + 100)));
    FINE(cuMemGetAllocationPropertiesFromHandle(&prop, again));
    WANT(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED && prop.location.id == 0);
    FINE(cuMemGetAddressRange(&next, &bytes, at + unit));
    WANT(next <= at + unit && next + bytes >= at + 2 * unit);
    unsigned long long flags = 9;
    FINE(cuMemGetAccess(&flags, &both.location, at + 2 * unit));
    WANT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    WRONG(cuMemGetAccess(&flags, &both.location, at + 3 * unit));
    WRONG(cuMemFree(at));
    WRONG(cuMemcpyDtoH(seen.data(), at + 3 * unit - 4, 8));
    WRONG(cuMemUnmap(at + unit, unit / 2));
    WRONG(cuMemAddressFree(at, 4 * unit)); // mapped
    // maps the second piece, whose handle is kept, also at another address: both addresses have the same memory
    FINE(cuMemMap(at + 3 * unit, unit, 0, again, 0));
    FINE(cuMemSetAccess(at + 3 * unit, unit, &both, 1));
    number<<<1, 32>>>((unsigned *)(at + 3 * unit), 777, 1);
    unsigned word = 0;
    FINE(cuMemcpyDtoH(&word, at + unit, 4));
    WANT(word == 777);
    FINE(cuMemUnmap(at, unit));
    FINE(cuMemUnmap(at + unit, 3 * unit));
    FINE(cuMemRelease(again));
    WRONG(cuMemRelease(again));
    FINE(cuMemAddressFree(at, 4 * unit));
    FINE(cuMemGetInfo(&after, &all));
    WANT(before - after < unit); // the sum
    OK(cudaFree(sum));
}

static void mistaken(void) {
    CUmemAllocationProp prop = properties(), other = prop;
    CUdeviceptr at;
    CUmemGenericAllocationHandle handle;
    size_t n;
    other.location.id = 1;
    WANT(cuMemCreate(&handle, unit, &other, 0) == CUDA_ERROR_INVALID_DEVICE);
    other = prop;
    other.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    WRONG(cuMemGetAllocationGranularity(&n, &other, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    WRONG(cuMemCreate(&handle, unit + 4096, &prop, 0));
    WRONG(cuMemCreate(&handle, 0, &prop, 0));
    WANT(cuMemCreate(&handle, (size_t)1 << 46, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    WRONG(cuMemAddressReserve(&at, unit + 1, 0, 0, 0));
    WRONG(cuMemAddressReserve(&at, unit, 3 << 20, 0, 0));
    FINE(cuMemAddressReserve(&at, 2 * unit, 0, 0, 0));
    FINE(cuMemCreate(&handle, unit, &prop, 0));
    WRONG(cuMemMap(at, 2 * unit, 0, handle, 0)); // more bytes than the handle has
    WRONG(cuMemMap(at + 4096, unit, 0, handle, 0));
    WRONG(cuMemMap(at + 2 * unit, unit, 0, handle, 0)); // behind the range
    WRONG(cuMemMap(at, unit, 0, handle + 8, 0));
    WRONG(cuMemSetAccess(at, unit, &both, 1)); // no memory is mapped there
    FINE(cuMemMap(at + unit, unit, 0, handle, 0));
    WRONG(cuMemMap(at + unit, unit, 0, handle, 0)); // in use
    CUmemAccessDesc wrong = both;
    wrong.location.id = 1;
    WANT(cuMemSetAccess(at + unit, unit, &wrong, 1) == CUDA_ERROR_INVALID_DEVICE);
    WRONG(cuMemSetAccess(at, 2 * unit, &both, 1)); // the first half is not mapped
    WRONG(cuMemcpyHtoD(at + unit, &n, 8));         // no access yet
    CUmemAccessDesc reads = all_access(CU_MEM_ACCESS_FLAGS_PROT_READ);
    FINE(cuMemSetAccess(at + unit, unit, &reads, 1));
    WRONG(cuMemcpyHtoD(at + unit, &n, 8));
    FINE(cuMemcpyDtoH(&n, at + unit, 8));
    WANT(n == 0); // new memory
    FINE(cuMemUnmap(at + unit, unit));
    FINE(cuMemRelease(handle));
    WRONG(cuMemAddressFree(at, unit));
    FINE(cuMemAddressFree(at, 2 * unit));
}

// Passes memory to another process as a file.
static void passed_on(void) {
    CUmemAllocationProp prop = properties();
    CUmemGenericAllocationHandle handle, other;
    CUdeviceptr at;
    int file = -1;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    FINE(cuMemCreate(&handle, unit, &prop, 0));
    FINE(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    FINE(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    WRONG(cuMemImportFromShareableHandle(&other, (void *)(uintptr_t)1000, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    FINE(cuMemAddressReserve(&at, 2 * unit, 0, 0, 0));
    FINE(cuMemMap(at, unit, 0, handle, 0));
    FINE(cuMemMap(at + unit, unit, 0, other, 0));
    FINE(cuMemSetAccess(at, 2 * unit, &both, 1));
    number<<<1, 64>>>((unsigned *)at, 40, 64);
    unsigned seen[64] = {};
    FINE(cuMemcpyDtoH(seen, at + unit, sizeof seen));
    WANT(seen[0] == 40 && seen[63] == 103);
    close(file);
    FINE(cuMemRelease(other));
    FINE(cuMemUnmap(at, 2 * unit));
    FINE(cuMemRelease(handle));
}

static void values(void) {
    CUstream s, other;
    CUdeviceptr p;
    unsigned seen[4] = {};
    FINE(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    FINE(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    FINE(cuMemAlloc(&p, 16));
    FINE(cuStreamWriteValue32(s, p, 5, 0));
    FINE(cuStreamWriteValue32(s, p + 4, 6, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    FINE(cuStreamWriteValue64(s, p + 8, 0x700000008ull, 0));
    FINE(cuStreamWaitValue32(s, p, 5, CU_STREAM_WAIT_VALUE_EQ));
    FINE(cuStreamWaitValue32(s, p, 0xfffffff0, CU_STREAM_WAIT_VALUE_GEQ)); // cyclic
    FINE(cuStreamWaitValue64(s, p + 8, 8, CU_STREAM_WAIT_VALUE_AND));
    FINE(cuStreamWaitValue64(s, p + 8, 8, CU_STREAM_WAIT_VALUE_GEQ));
    FINE(cuStreamWaitValue32(s, p, 6, CU_STREAM_WAIT_VALUE_EQ)); // nobody has written this value yet
    WANT(cuStreamQuery(s) == CUDA_ERROR_NOT_READY);
    WRONG(cuStreamWriteValue32(s, p + 2, 1, 0));
    WRONG(cuStreamWriteValue64(s, p + 4, 1, 0));
    WRONG(cuStreamWriteValue32(s, p + 4096, 1, 0));
    CUstreamBatchMemOpParams list[3] = {};
    list[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    list[0].writeValue.address = p;
    list[0].writeValue.value = 99;
    list[1].operation = CU_STREAM_MEM_OP_BARRIER;
    list[2].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    list[2].waitValue.address = p;
    list[2].waitValue.value = 100;
    list[2].waitValue.flags = CU_STREAM_WAIT_VALUE_NOR;
    FINE(cuStreamBatchMemOp(s, 3, list, 0));
    FINE(cuStreamWriteValue32(other, p, 6, 0));
    FINE(cuStreamSynchronize(s));
    FINE(cuMemcpyDtoH(seen, p, 16));
    WANT(seen[0] == 99 && seen[1] == 6 && seen[2] == 8 && seen[3] == 7);
    FINE(cuMemFree(p));
    FINE(cuStreamDestroy(s));
    FINE(cuStreamDestroy(other));
}

static void batches(void) {
    cudaStream_t s;
    int *a, *b, *m, host[64], back[64] = {};
    for (int i = 0; i < 64; i++)
        host[i] = i;
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc(&a, 256));
    OK(cudaMalloc(&b, 256));
    OK(cudaMallocManaged(&m, 8192));
    cudaMemcpyAttributes how[2] = {};
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    void *to[3] = {a, b, back}, *from[3] = {host + 32, host, a};
    size_t bytes[3] = {128, 256, 128}, first[2] = {0, 1}, wrong[2] = {1, 0};
    OK(cudaMemcpyBatchAsync(to, (const void **)from, bytes, 3, how, first, 2, s));
    WANT(back[0] == 32 && back[31] == 63 && back[32] == 0);
    OK(cudaMemcpy(back, b, 256, cudaMemcpyDeviceToHost));
    WANT(back[0] == 0 && back[63] == 63);
    FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, (const void **)from, bytes, 3, how, wrong, 2, s));
    FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, (const void **)from, bytes, 1, how, first, 2, s));
    FAILS(cudaErrorInvalidValue, cudaMemcpyBatchAsync(to, (const void **)from, bytes, 3, how, first, 2, 0));
    // copies two rows of three elements from an array with rows of 8 elements
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    OK(cudaMallocArray(&array, &format, 8, 8));
    OK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 8, cudaMemcpyHostToDevice));
    cudaMemcpy3DBatchOp box = {};
    box.src.type = cudaMemcpyOperandTypeArray;
    box.src.op.array.array = array;
    box.src.op.array.offset.x = 1;
    box.src.op.array.offset.y = 2;
    box.dst.type = cudaMemcpyOperandTypePointer;
    box.dst.op.ptr.ptr = a;
    box.dst.op.ptr.rowLength = 4;
    box.extent = make_cudaExtent(3, 2, 1);
    box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    OK(cudaMemset(a, 0, 256));
    OK(cudaMemcpy3DBatchAsync(1, &box, 0, s));
    OK(cudaMemcpy(back, a, 32, cudaMemcpyDeviceToHost));
    WANT(back[0] == 17 && back[2] == 19 && back[3] == 0 && back[4] == 25 && back[6] == 27);
    box.dst.op.ptr.rowLength = 2;
    FAILS(cudaErrorInvalidValue, cudaMemcpy3DBatchAsync(1, &box, 0, s));
    cudaMemLocation where[1] = {{cudaMemLocationTypeDevice, 0}};
    void *pages[1] = {m};
    size_t page[1] = {8192}, zero[1] = {0};
    OK(cudaMemPrefetchBatchAsync(pages, page, 1, where, zero, 1, 0, s));
    pages[0] = a;
    FAILS(cudaErrorInvalidValue, cudaMemPrefetchBatchAsync(pages, page, 1, where, zero, 1, 0, s));
    OK(cudaFreeArray(array));
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(m));
    OK(cudaStreamDestroy(s));
}

static void touch(const char *what) {
    CUmemAllocationProp prop = properties();
    CUdeviceptr at;
    CUmemGenericAllocationHandle handle;
    FINE(cuMemAddressReserve(&at, 2 * unit, 0, 0, 0));
    FINE(cuMemCreate(&handle, unit, &prop, 0));
    CUmemAccessDesc reads = all_access(CU_MEM_ACCESS_FLAGS_PROT_READ);
    if (strcmp(what, "unmapped") != 0)
        FINE(cuMemMap(at, unit, 0, handle, 0));
    if (strcmp(what, "read") == 0)
        FINE(cuMemSetAccess(at, unit, &reads, 1));
    number<<<1, 1>>>((unsigned *)at + 3, 1, 1);
    WANT(cudaDeviceSynchronize() != cudaSuccess);
}

int main(int argc, char **argv) {
    CUmemAllocationProp prop = properties();
    int can = 0;
    OK(cudaFree(0));
    FINE(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    WANT(can);
    FINE(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    WANT(unit >= 65536 && unit % 65536 == 0);
    if (argc > 1) {
        touch(argv[1]);
        return done();
    }
    grows();
    mistaken();
    passed_on();
    values();
    batches();
    return done();
}
