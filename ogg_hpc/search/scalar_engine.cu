// Kernels of the scalar engines on a device: scores, and the choice of the best.
//
// Keys are those of tournament.py: they order candidates by score, then by the lowest row; 0 is none.

#define ROW_BITS 31
#define LAST_ROW ((1ll << ROW_BITS) - 1)

__device__ inline i64 key(float score, i64 row)
{
    if (!isfinite(score)) return 0;  // no choice
    i64 bits = __float_as_int(score);
    if (bits < 0) bits = -(bits & 0x7FFFFFFF);  // so that -0 ties with 0
    return (bits + (1ll << 31)) << ROW_BITS | (LAST_ROW - row);
}

extern "C" __global__ void score_by_pieces(
    i64 rows, i64 lo, const int *degrees, const i64 *sums, i64 pieces, const double *starts,
    const double *intercepts, const double *slopes, i64 *keys)
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
    i64 n, const i64 *best, i64 most, i64 steps, const double *table, const i64 *candidates,
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
        nodes[taken] = LAST_ROW - (best[most - 1 - taken] & LAST_ROW);
    *count = taken;
}

// The value of a power table at a positive integer: see `interpolate` of fixed_point.py.
#define SHIFT (52 - 8)

__device__ inline double interpolate(const double *table, i64 sum)
{
    i64 bits = __double_as_longlong((double)sum);
    const double *knot = table + ((bits >> SHIFT) - (1023ll << (52 - SHIFT)));
    double part = (double)(bits & ((1ll << SHIFT) - 1)) * (1.0 / (1ll << SHIFT));
    return knot[0] + (knot[1] - knot[0]) * part;
}

// List the rows whose answers have to be sent: all that have changed at degrees below `low`,
// elsewhere those that have moved by more than a share of what was sent.
extern "C" __global__ void find_answers(
    i64 rows, i64 lo, const int *degrees, const i64 *sums, const double *by_degree,
    const double *by_sum, double largest, i64 low, double share, const i64 *answers, i64 *count,
    int *nodes, i64 *values)
{
    FOR_EACH(row, rows) {
        int degree = degrees[lo + row];
        if (degree == 0) continue;
        double value = by_degree[degree] * interpolate(by_sum, sums[row]) + 0.5;
        i64 answer = value < largest ? (i64)floor(value) : (i64)largest;
        i64 sent = answers[lo + row], moved = answer > sent ? answer - sent : sent - answer;
        if (moved == 0 || (degree >= low && !((double)moved > share * (double)sent))) continue;
        i64 k = (i64)atomicAdd((u64 *)count, 1ull);
        nodes[k] = (int)(lo + row);
        values[k] = answer;
    }
}

// Replace the answers of *count nodes, by 0 where no values are given; note what they gain.
extern "C" __global__ void replace_answers(
    const i64 *count, const int *nodes, i64 given, const i64 *values, i64 *answers, i64 *gains)
{
    FOR_EACH(k, *count) {
        i64 value = given ? values[k] : 0;
        gains[k] = value - answers[nodes[k]];
        answers[nodes[k]] = value;
    }
}

extern "C" __global__ void score_by_answers(
    i64 rows, i64 lo, const int *degrees, const i64 *sums, const i64 *answer_sums,
    const double *by_degree, const double *by_sum, i64 *keys)
{
    FOR_EACH(row, rows) {
        int degree = degrees[lo + row];
        keys[row] = 0;
        if (degree == 0) continue;
        double factor = by_degree[degree] * interpolate(by_sum, sums[row]);
        keys[row] = key((float)((double)answer_sums[row] * factor), row);
    }
}
