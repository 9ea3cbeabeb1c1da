// Kernels of frontier_kernels.py. A pair is row * copies + copy, or node * copies + copy.

#define LANES 128  // threads that share what one changed pair adds

// Neighbouring threads take neighbouring columns of a row: their atomics meet in few cache lines.
template <class Id>
__device__ inline void push(
    i64 m, i64 width, i64 copies, const i64 *pairs, const double *deltas, const Id *starts,
    const Id *rows, const bool *listening, double *sums, bool *touched)
{
    FOR_EACH(t, LANES * m) {
        i64 i = t / LANES, node = pairs[i] / copies, copy = pairs[i] % copies;
        i64 first = starts[node], work = width * (starts[node + 1] - first);
        for (i64 q = t % LANES; q < work; q += LANES) {
            i64 pair = (i64)rows[first + q / width] * copies + copy, j = q % width;
            if (!listening[pair]) continue;
            touched[pair] = true;
            atomicAdd(&sums[pair * width + j], deltas[i * width + j]);
        }
    }
}

extern "C" __global__ void push_int(
    i64 m, i64 width, i64 copies, const i64 *pairs, const double *deltas, const int *starts,
    const int *rows, const bool *listening, double *sums, bool *touched)
{
    push(m, width, copies, pairs, deltas, starts, rows, listening, sums, touched);
}

extern "C" __global__ void push_i64(
    i64 m, i64 width, i64 copies, const i64 *pairs, const double *deltas, const i64 *starts,
    const i64 *rows, const bool *listening, double *sums, bool *touched)
{
    push(m, width, copies, pairs, deltas, starts, rows, listening, sums, touched);
}
