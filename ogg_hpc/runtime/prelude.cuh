// What every CUDA C source of the package begins with; cuda_source.py puts it in front.

typedef long long i64;
typedef unsigned long long u64;

// Visit 0 .. n - 1, each by one thread, however many threads there are.
#define FOR_EACH(i, n)                                                  \
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x,            \
             stride_ = (i64)gridDim.x * blockDim.x;                     \
         i < (n); i += stride_)

// True for one thread of all.
#define ONE_THREAD (blockIdx.x == 0 && threadIdx.x == 0)

// Sums of integers are exact, so the order in which threads add does not matter.
__device__ inline void add(i64 *at, i64 value) { atomicAdd((u64 *)at, (u64)value); }
