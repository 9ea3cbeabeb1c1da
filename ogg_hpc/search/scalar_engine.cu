// Kernels of the scalar engine on a device: scores, and the choice of the best.
//
// A key orders candidates by score, then by the lowest row; 0 is none. Its upper half is the
// score's bits so changed that they rise with it.

#define LOWEST_ROW 0xFFFFFFFFull

__device__ inline u64 key(float score, i64 row)
{
    if (!isfinite(score)) return 0;  // no choice
    unsigned bits = score == 0.0f ? 0u : __float_as_uint(score);  // -0 ties with 0
    bits = bits >> 31 ? ~bits : bits | 0x80000000u;
    return (u64)bits << 32 | (LOWEST_ROW - (u64)row);
}

extern "C" __global__ void score(
    i64 rows, i64 lo, const int *degrees, const i64 *sums, i64 pieces, const double *starts,
    const double *intercepts, const double *slopes, u64 *keys)
{
    FOR_EACH(row, rows) {
        double degree = degrees[lo + row], total = (double)sums[row];
        if (degree == 0) {
            keys[row] = 0;
            continue;
        }
        // The last piece that starts at or below total / degree.
        i64 piece = 0;
        for (i64 end = pieces; end - piece > 1;) {
            i64 middle = (piece + end) / 2;
            if (starts[middle] * degree <= total) piece = middle;
            else end = middle;
        }
        keys[row] = key((float)(intercepts[piece] * degree + slopes[piece] * total), row);
    }
}

// Choose nodes for a lone rank's step from the `most` best keys, ascending.
extern "C" __global__ void choose(
    i64 n, const u64 *best, i64 most, i64 steps, const double *table, const i64 *candidates,
    i64 *nodes, i64 *count)
{
    if (!ONE_THREAD) return;
    i64 d = candidates[0] > 0;
    for (i64 i = 0; i < steps; ++i) {
        if ((double)candidates[0] > table[2 * i] * (double)n) {
            d = (i64)table[2 * i + 1];
            break;
        }
    }
    i64 taken = 0;
    for (; taken < d && taken < most && best[most - 1 - taken]; ++taken)
        nodes[taken] = (i64)(LOWEST_ROW - (best[most - 1 - taken] & LOWEST_ROW));
    *count = taken;
}
