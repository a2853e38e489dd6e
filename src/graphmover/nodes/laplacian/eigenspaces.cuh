// Eigenspaces of a sorted spectrum and their columns sqrt(diag(P) / m): this mirrors
// eigenspaces.py, and test_points_of_small_and_large_graphs compares the two.

// Eigenvalues closer than this count as one, as in solve.py.
const double SAME_EIGENVALUE = 1e-7;

// The number of the first eigenvalue behind the eigenspace that begins with number start.
static __device__ __forceinline__ int end_of_eigenspace(const double* values, int known, int start) {
  int stop = start + 1;
  while (stop < known && values[stop] - values[stop - 1] <= SAME_EIGENVALUE) ++stop;
  return stop;
}

// How many eigenvalues the first d columns need; -1: more than the known ones of all n.
static __device__ __forceinline__ int eigenvalues_needed(const double* values, int known, int n,
                                                         int d) {
  int stop = 0;
  while (stop < min(known, d)) stop = end_of_eigenspace(values, known, stop);
  return stop == known && known < n ? -1 : stop;
}

// Fill the columns of all n rows from known eigenvalues; entry(row, i) is of eigenvector number i.
template <typename Entry>
static __device__ __forceinline__ void fill_points(const double* values, int known, int n, int d,
                                                   Entry entry, double* points) {
  for (int row = threadIdx.x; row < n; row += blockDim.x)
    for (int start = 0, stop; start < min(known, d); start = stop) {
      stop = end_of_eigenspace(values, known, start);
      double square = 0.0;
      for (int i = start; i < stop; ++i) square += entry(row, i) * entry(row, i);
      for (int column = start; column < min(stop, d); ++column)
        points[(int64)row * d + column] = sqrt(square / (stop - start));
    }
}
