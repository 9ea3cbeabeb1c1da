// Scores and gradients of the pairs of a batch. Pair p is of row sources[p] of X and row
// contexts[p] of Y, and has `own` negatives, rows negatives[p * own ..] of Y. Rows are `dim` wide.

#define LANES 8  // threads that share an inner product: what one access to memory brings

// Add to scores, zero before. Term 0 of a pair is its context, the others are its negatives.
extern "C" __global__ void pair_scores(
    i64 pairs, i64 own, i64 dim, const int *sources, const int *contexts, const int *negatives,
    const float *X, const float *Y, float *positive, float *negative)
{
    FOR_EACH(t, LANES * pairs * (1 + own)) {
        i64 pair = t / LANES / (1 + own), term = t / LANES % (1 + own) - 1;
        int other = term < 0 ? contexts[pair] : negatives[pair * own + term];
        const float *x = X + sources[pair] * dim, *y = Y + other * dim;
        float sum = 0;
        for (i64 j = t % LANES; j < dim; j += LANES) sum += x[j] * y[j];
        atomicAdd(term < 0 ? &positive[pair] : &negative[pair * own + term], sum);
    }
}

// Add the gradients of pairs to those of rows, given the slopes at their scores.
extern "C" __global__ void add_pair_gradients(
    i64 pairs, i64 own, i64 dim, const int *sources, const int *contexts, const int *negatives,
    const float *X, const float *Y, const float *positive, const float *negative,
    float *source_sums, float *context_sums)
{
    FOR_EACH(t, pairs * dim) {
        i64 pair = t / dim, j = t % dim;
        i64 source = sources[pair] * dim + j, other = contexts[pair] * dim + j;
        float x = X[source], sum = positive[pair] * Y[other];
        atomicAdd(&context_sums[other], positive[pair] * x);
        for (i64 i = pair * own; i < (pair + 1) * own; ++i) {
            other = negatives[i] * dim + j;
            sum += negative[i] * Y[other];
            atomicAdd(&context_sums[other], negative[i] * x);
        }
        atomicAdd(&source_sums[source], sum);
    }
}

// Add rows of `dim` columns, with `size` elements in all, to those of sums that places name.
extern "C" __global__ void add_rows(
    i64 size, i64 dim, const int *places, const float *rows, float *sums)
{
    FOR_EACH(t, size) atomicAdd(&sums[places[t / dim] * dim + t % dim], rows[t]);
}
