// Laplacian node embeddings of graphs of up to 350 nodes on a GPU, one block for each graph.
//
// Most graphs go the way of the CPU's dense solver: reflections, bisection, inverse iteration. Those
// that need many eigenvectors are left to Jacobi's method, if they are small, or to the CPU.

typedef long long int64;

#include "eigenspaces.cuh"
#include "rotations.cuh"
#include "reflections.cuh"
#include "bisection.cuh"
#include "inverse_iteration.cuh"

extern __shared__ __align__(16) double memory[];

// Graphs one after the other, as flat arrays.
struct Graphs {
  const int64 *offsets, *indptr;
  const int* indices;
  const double *weights, *degrees;
};

// The block fills the normalised Laplacian of the graph of n nodes from node first on.
static __device__ __forceinline__ void fill_laplacian(const Graphs& g, int64 first, int n, double* A,
                                                      int stride) {
  for (int cell = threadIdx.x; cell < n * n; cell += blockDim.x)
    A[cell / n * stride + cell % n] = cell / n == cell % n;
  __syncthreads();
  for (int u = threadIdx.x; u < n; u += blockDim.x)
    for (int64 edge = g.indptr[first + u]; edge < g.indptr[first + u + 1]; ++edge) {
      const int v = g.indices[edge];
      A[u * stride + v] = -(g.weights ? g.weights[edge] : 1.0) /
                          (sqrt(g.degrees[first + u]) * sqrt(g.degrees[first + v]));
    }
  __syncthreads();
}

// The points of each listed graph; a graph of fewer than d nodes has zeros in the last columns.
extern "C" __global__ void by_rotations(const int* graphs, int n_graphs, const int64* offsets,
                                        const int64* indptr, const int* indices,
                                        const double* weights, const double* degrees, int d,
                                        double* points) {
  const int64 first = offsets[graphs[blockIdx.x]];
  const int n = (int)(offsets[graphs[blockIdx.x] + 1] - first);
  const int stride = n + 1;  // rows are padded by one entry against bank conflicts
  double* A = memory;
  double* V = A + n * stride;
  double* values = V + n * stride;
  Rotation* rotations = (Rotation*)(values + n);
  int* order = (int*)(rotations + (n + 1) / 2);
  for (int cell = threadIdx.x; cell < n * n; cell += blockDim.x)
    V[cell / n * stride + cell % n] = cell / n == cell % n;
  fill_laplacian({offsets, indptr, indices, weights, degrees}, first, n, A, stride);
  diagonalise(A, V, stride, n, rotations);
  // Sort the eigenvalues by counting the smaller ones.
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int rank = 0;
    for (int j = 0; j < n; ++j) {
      const double mine = A[i * stride + i], other = A[j * stride + j];
      rank += other < mine || (other == mine && j < i);
    }
    order[rank] = i;
    values[rank] = A[i * stride + i];
  }
  __syncthreads();
  const auto entry = [=](int row, int i) { return V[row * stride + order[i]]; };
  fill_points(values, n, n, d, entry, points + first * d);
}

// The most eigenvectors that are computed one by one: most_vectors in cuda.py.
static __device__ __forceinline__ int most_vectors(int n, int d) {
  return min(n, max(max(d, 28), 3 * n / 10) + 4);
}

// The block fills the points of one graph; whether it could. The matrix A is in shared or in
// scratch memory, and so are eigenvectors: up to `few` of them in shared memory.
static __device__ __forceinline__ bool by_reflections(const Graphs& g, int64 first, int n, int d,
                                                      double* shared, double* A, double* few_vectors,
                                                      int few, double* many_vectors,
                                                      double* points) {
  const int most = most_vectors(n, d), warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const Tridiagonal t = {shared,         shared + n,     shared + 2 * n,
                         shared + 3 * n, shared + 5 * n, shared + 6 * n};
  double *values = shared + 7 * n, *overlaps = values + most + 1, *largest = overlaps + most;
  fill_laplacian(g, first, n, A, n);
  reduce(A, n, t);
  double* squares = t.w;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    squares[i] = i ? t.above[i - 1] * t.above[i - 1] : 0.0;
  __syncthreads();
  // Twice as many eigenvalues, until a gap ends the last eigenspace that is needed.
  int known = 0, enough = min(n, d + 1), needed = -1;
  while (true) {
    for (int number = known + warp; number < enough; number += warps) {
      const double value = eigenvalue(t.diagonal, squares, n, number);
      if (threadIdx.x % 32 == 0) values[number] = value;
    }
    __syncthreads();
    known = enough;
    needed = eigenvalues_needed(values, known, n, d);
    if (needed >= 0) break;
    enough = min(min(n, most + 1), 2 * enough);
    if (enough == known) return false;
  }
  if (needed > most) return false;
  const Vectors v = vectors_at(needed <= few ? few_vectors : many_vectors, n, needed);
  if (!eigenvectors(t, values, v, overlaps, largest)) return false;
  for (int j = warp; j < needed; j += warps) undo_reflections(A, n, t, v.x + j, v.stride);
  __syncthreads();
  const auto entry = [=](int row, int i) { return v.x[row * v.stride + i]; };
  fill_points(values, needed, n, d, entry, points + first * d);
  return true;
}

// The points of the listed graphs; unsolved becomes 1 for those that need another method.
// Bytes are those of `Launch` in cuda_schedule.py.
#define BY_REFLECTIONS(name, MATRIX_IN_SHARED)                                                  \
  extern "C" __global__ void __launch_bounds__(1024)                                            \
  name(const int* graphs, int n_graphs, const int64* offsets, const int64* indptr,              \
       const int* indices, const double* weights, const double* degrees, int d, int few,        \
       double* scratch, int64 scratch_bytes, double* points, int* unsolved) {                   \
    double* mine = scratch + blockIdx.x * (scratch_bytes / 8);                                  \
    for (int at = blockIdx.x; at < n_graphs; at += gridDim.x) {                                 \
      const int64 first = offsets[graphs[at]];                                                  \
      const int n = (int)(offsets[graphs[at] + 1] - first);                                     \
      double* rest = memory + 7 * n + 3 * most_vectors(n, d) + 1;                               \
      double* A = MATRIX_IN_SHARED ? rest : mine;                                               \
      double* few_vectors = MATRIX_IN_SHARED ? rest + n * n : rest;                             \
      double* many_vectors = MATRIX_IN_SHARED ? mine : mine + n * n;                            \
      const bool solved = by_reflections({offsets, indptr, indices, weights, degrees}, first, n, \
                                         d, memory, A, few_vectors, few, many_vectors, points); \
      if (!solved && threadIdx.x == 0) unsolved[graphs[at]] = 1;                                \
      __syncthreads();                                                                          \
    }                                                                                           \
  }

BY_REFLECTIONS(by_reflections_in_shared_memory, true)
BY_REFLECTIONS(by_reflections_in_scratch_memory, false)
