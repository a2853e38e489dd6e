// The closed form on a GPU: the sums of `cpu.py`, in the same order and with the same roundings.
//
// A block takes one graph of x and a tile of the graphs of the index, whose sums are in shared
// memory. It goes through the labels of its graph; for each, its threads share the graphs that have
// it. A graph stands once in the list of a label, so no two threads add to the same sum.

typedef long long int64;

// Where the graphs of a list, from begin to end, stop being less than this one.
static __device__ __forceinline__ int64 first_at_least(const int* graphs, int64 begin, int64 end,
                                                       int64 graph) {
  while (begin < end) {
    const int64 middle = (begin + end) / 2;
    if (graphs[middle] < graph)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// `out` is infinite beforehand, and stays so for graphs without mass.
extern "C" __global__ void __launch_bounds__(256)
    tree_distances(const int64* x_offsets, const int* ids, const double* x_masses,
                   const double* x_totals, int n_depths, const double* totals,
                   const double* scales, const int64* offsets, const int* graphs,
                   const double* masses, const int* row_of, const double* rows, int partial,
                   int64 n_graphs, int tile, double* out) {
  extern __shared__ double common[];
  const int64 i = blockIdx.x, first = (int64)blockIdx.y * tile;
  const int width = n_graphs - first < tile ? (int)(n_graphs - first) : tile;
  if (x_totals[i] == 0) return;
  const double scale = partial ? 1.0 : x_totals[i];
  for (int j = threadIdx.x; j < width; j += blockDim.x) common[j] = 0.0;
  for (int64 entry = x_offsets[i]; entry < x_offsets[i + 1]; ++entry) {
    __syncthreads();
    const int label = ids[entry], row = row_of[label];
    const double mass = x_masses[entry];
    if (row >= 0) {
      const double* amounts = rows + row * n_graphs + first;
      for (int j = threadIdx.x; j < width; j += blockDim.x)
        common[j] += fmin(mass * scales[first + j], amounts[j] * scale);
      continue;
    }
    int64 begin = offsets[label], end = offsets[label + 1];
    if (gridDim.y > 1) {
      begin = first_at_least(graphs, begin, end, first);
      end = first_at_least(graphs, begin, end, first + width);
    }
    for (int64 place = begin + threadIdx.x; place < end; place += blockDim.x) {
      const int graph = graphs[place];
      common[graph - first] += fmin(mass * scales[graph], masses[place] * scale);
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < width; j += blockDim.x) {
    const double whole = __dmul_rn(n_depths, __dmul_rn(totals[first + j], scale));
    if (whole > 0) out[i * n_graphs + first + j] = fmax(whole - common[j], 0.0) / whole;
  }
}
