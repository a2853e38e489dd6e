// The bounds of `bounds.py` for all pairs, on a GPU.
//
// A thread takes one graph of the library and a few queries, whose numbers all threads of a block
// read at the same time, so each number of the library is read once for all of these queries.

typedef long long int64;

#define QUERIES 8

// `out` holds the distances of labels alone beforehand: bounds take their place. Arrays of the
// library have a column per graph; `slack` is infinite for a graph without nodes.
extern "C" __global__ void __launch_bounds__(256)
    raise_to_bounds(const double* x_pivots, const double* x_quantiles, const double* x_slack,
                    int n_queries, const double* pivots, const double* quantiles,
                    const double* slack, int64 n_graphs, int n_pivots, int d, int n_intervals,
                    double floor, double per_share, double* out) {
  const int64 y = (int64)blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= n_graphs) return;
  int64 query[QUERIES];
  double square[QUERIES], bound[QUERIES];
  for (int q = 0; q < QUERIES; ++q) {
    const int64 number = (int64)blockIdx.y * QUERIES + q;
    query[q] = number < n_queries ? number : n_queries - 1;
    square[q] = bound[q] = 0.0;
  }
  for (int c = 0; c < d; ++c) {
    double moved[QUERIES];
    for (int q = 0; q < QUERIES; ++q) moved[q] = 0.0;
    for (int at = c * n_intervals; at < (c + 1) * n_intervals; ++at) {
      const double there = quantiles[at * n_graphs + y];
      for (int q = 0; q < QUERIES; ++q)
        moved[q] += fabs(x_quantiles[query[q] * d * n_intervals + at] - there);
    }
    for (int q = 0; q < QUERIES; ++q) square[q] += moved[q] * moved[q];
  }
  for (int r = 0; r < n_pivots; ++r) {
    const double there = pivots[r * n_graphs + y];
    for (int q = 0; q < QUERIES; ++q)
      bound[q] = fmax(bound[q], fabs(x_pivots[query[q] * n_pivots + r] - there));
  }
  for (int q = 0; q < QUERIES; ++q) {
    if ((int64)blockIdx.y * QUERIES + q >= n_queries) break;
    double* place = out + query[q] * n_graphs + y;
    const double share = *place;
    const double points = fmax(sqrt(square[q]) / n_intervals, floor * share);
    bound[q] = fmax(bound[q], points + per_share * share) - x_slack[query[q]] - slack[y];
    *place = isinf(slack[y]) ? slack[y] : bound[q];
  }
}
