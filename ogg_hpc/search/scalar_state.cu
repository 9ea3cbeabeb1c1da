// Kernels of DeviceScalarState. All nodes of one step leave together: sums of integers do not
// depend on the order, so the result is that of one after another.
//
// leaves[v] is the step with which node v leaves, the largest int while nobody has chosen it:
// leaves[u] >= step says "active before the step", leaves[u] > step "active after it".
//
// The nodes that leave are leaving[0 .. *count); the active neighbours of the j-th are
// neighbours[offsets[j] .. offsets[j + 1]). Bit v of row r is bit v % 64 of bits[v / 64][r].

#define LANES 32           // threads that share a column's list
#define WORDS_A_THREAD 16  // of a row of bits

extern "C" __global__ void add_neighbours(
    i64 rows, const i64 *row_offsets, const int *columns, const i64 *values, i64 *sums)
{
    FOR_EACH(row, rows) {
        i64 sum = 0;
        for (i64 k = row_offsets[row]; k < row_offsets[row + 1]; ++k)
            sum += values[columns[k]];
        sums[row] = sum;
    }
}

extern "C" __global__ void set_bits(
    i64 rows, const i64 *row_offsets, const int *columns, u64 *bits)
{
    FOR_EACH(row, rows) {
        for (i64 k = row_offsets[row]; k < row_offsets[row + 1]; ++k)
            bits[(columns[k] >> 6) * rows + row] |= 1ull << (columns[k] & 63);
    }
}

// Turn rows into columns; `filled` is zero for each column.
extern "C" __global__ void transpose(
    i64 rows, const i64 *row_offsets, const int *columns, const i64 *starts, int *filled,
    int *touching)
{
    FOR_EACH(row, rows) {
        for (i64 k = row_offsets[row]; k < row_offsets[row + 1]; ++k)
            touching[starts[columns[k]] + atomicAdd(&filled[columns[k]], 1)] = (int)row;
    }
}

// Mark nodes as leaving, note what that adds to their neighbours' sums and where the neighbours
// will stand, `listed` in all. candidates[0] is how many nodes have had an edge, candidates[1] how
// many have one without these.
extern "C" __global__ void leave(
    i64 step, const i64 *nodes, const i64 *count, const i64 *messages, int *degrees, int *leaves,
    i64 *candidates, int *leaving, i64 *own, i64 *offsets, i64 *listed, int *filled)
{
    if (!ONE_THREAD) return;
    i64 offset = 0, left = candidates[0];
    for (i64 j = 0; j < *count; ++j) {
        int node = (int)nodes[j], degree = degrees[node];
        leaving[j] = node;
        own[j] = -messages[degree];
        offsets[j] = offset;
        offset += degree;
        filled[j] = 0;
        degrees[node] = 0;
        leaves[node] = (int)step;
        left -= degree > 0;
    }
    offsets[*count] = *listed = offset;
    candidates[1] = left;
}

// Write the active neighbours of those leaving nodes that are rows lo .. lo + rows - 1.
extern "C" __global__ void neighbours_in_lists(
    i64 step, const int *leaving, const i64 *count, i64 lo, i64 rows, const i64 *row_offsets,
    const int *columns, const int *leaves, const i64 *offsets, int *filled, int *neighbours)
{
    for (i64 j = 0; j < *count; ++j) {
        i64 row = leaving[j] - lo;
        if (row < 0 || row >= rows) continue;
        const int *list = columns + row_offsets[row];
        FOR_EACH(k, row_offsets[row + 1] - row_offsets[row]) {
            if (leaves[list[k]] >= step)
                neighbours[offsets[j] + atomicAdd(&filled[j], 1)] = list[k];
        }
    }
}

extern "C" __global__ void neighbours_in_bits(
    i64 step, const int *leaving, const i64 *count, i64 lo, i64 rows, i64 words, const u64 *bits,
    const int *leaves, const i64 *offsets, int *filled, int *neighbours)
{
    for (i64 j = 0; j < *count; ++j) {
        i64 row = leaving[j] - lo;
        if (row < 0 || row >= rows) continue;
        FOR_EACH(i, words) {
            for (u64 word = bits[i * rows + row]; word; word &= word - 1) {
                int node = (int)(64 * i) + __ffsll((i64)word) - 1;
                if (leaves[node] >= step)
                    neighbours[offsets[j] + atomicAdd(&filled[j], 1)] = node;
            }
        }
    }
}

// Lower the degrees of the neighbours that stay; gains[k] is by how much that raises the message
// of neighbours[k]. A node that stands there twice falls twice, each time from another degree.
// Where there are masks, zero before, a bit is set for each neighbour that stays.
extern "C" __global__ void lower_degrees(
    i64 step, const i64 *count, const i64 *offsets, const int *neighbours, const i64 *messages,
    const int *leaves, int *degrees, i64 *candidates, i64 *gains, i64 words, u64 *masks)
{
    for (i64 j = 0; j < *count; ++j) {
        FOR_EACH(k, offsets[j + 1] - offsets[j]) {
            int node = neighbours[offsets[j] + k];
            i64 gain = 0;
            if (leaves[node] > step) {
                int degree = atomicSub(&degrees[node], 1);
                if (degree == 1) add(&candidates[1], -1);
                gain = messages[degree - 1] - messages[degree];
                if (words) atomicOr(&masks[j * words + (node >> 6)], 1ull << (node & 63));
            }
            gains[offsets[j] + k] = gain;
        }
    }
}

// Add the gain of each of *count nodes to the sums of the rows that touch it and stay.
extern "C" __global__ void add_to_touching(
    i64 step, const i64 *count, const int *nodes, const i64 *gains, i64 lo, const i64 *starts,
    const int *touching, const int *leaves, i64 *sums)
{
    FOR_EACH(t, LANES * *count) {
        i64 k = t / LANES, gain = gains[k];
        if (gain == 0) continue;
        for (i64 p = starts[nodes[k]] + t % LANES; p < starts[nodes[k] + 1]; p += LANES)
            if (leaves[lo + touching[p]] > step) add(&sums[touching[p]], gain);
    }
}

// Bring the sums up to date where a message is the degree: they fall by one for each bit that a
// row has in common with a mask, and by what a leaving node has counted for.
extern "C" __global__ void lower_by_bits(
    i64 step, const int *leaving, const i64 *count, const i64 *own, const u64 *masks, i64 lo,
    i64 rows, i64 words, const u64 *bits, const int *leaves, i64 *sums)
{
    if (*count == 0) return;  // a step after the last
    i64 parts = (words + WORDS_A_THREAD - 1) / WORDS_A_THREAD;
    FOR_EACH(t, parts * rows) {
        i64 row = t % rows, first = t / rows * WORDS_A_THREAD, gain = 0;
        if (leaves[lo + row] <= step) continue;
        for (i64 i = first; i < first + WORDS_A_THREAD && i < words; ++i) {
            u64 word = bits[i * rows + row];
            for (i64 j = 0; word && j < *count; ++j) {
                gain -= __popcll(word & masks[j * words + i]);
                if (leaving[j] >> 6 == i && word >> (leaving[j] & 63) & 1) gain += own[j];
            }
        }
        if (gain) add(&sums[row], gain);
    }
}
