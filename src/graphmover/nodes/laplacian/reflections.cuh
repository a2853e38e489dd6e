// The tridiagonal form of a symmetric matrix by Householder reflections (Golub and Van Loan 2013,
// section 8.3), by all threads of a block.
//
// Reflection k is I - u u' / h, and changes the rows and columns behind k: A becomes
// A - u w' - w u', with p = A u / h and w = p - u (u'p / 2h). Row k is then final. The other rows
// are not changed before the next u is known, so that one pass over them both changes them by the
// reflection before and multiplies them by the next one's vector.
//
// Every sum is one warp's, in an order that depends on n alone: results do not depend on how many
// threads a block has.

// Rows that a warp takes at a time: they share what it reads of u and w.
const int ROWS = 4;

// Squares of vectors below this count as zero: rounded, they would not give a reflection.
const double NO_SQUARE = 1e-280;

struct Tridiagonal {
  double *diagonal, *above;  // (n,) each; above[n - 1] is 0
  double* halves;            // (n,) h of each reflection; 0: there is none
  double *u, *w, *p;         // (2 n,), (n,), (n,) of the current reflection, and u of the one before
};

static __device__ __forceinline__ double sum_of_lanes(double value) {
  for (int apart = 16; apart; apart /= 2) value += __shfl_xor_sync(~0u, value, apart);
  return value;
}

// One warp chooses reflection k, given row k in u: its entries behind k + 1 become zero.
static __device__ __forceinline__ void choose_reflection(double* A, int n, int k, double* u,
                                                         const Tridiagonal& t) {
  const int lane = threadIdx.x % 32;
  double square = 0.0;
  for (int j = k + 2 + lane; j < n; j += 32) square += u[j] * u[j];
  square = sum_of_lanes(square);
  if (lane) return;
  const double first = k + 1 < n ? u[k + 1] : 0.0;
  t.diagonal[k] = u[k];
  t.above[k] = first;
  t.halves[k] = 0.0;
  if (square < NO_SQUARE) return;
  const double length = sqrt(first * first + square);
  t.above[k] = first > 0.0 ? -length : length;
  t.halves[k] = length * (length + fabs(first));
  u[k + 1] = A[k * n + k + 1] = first - t.above[k];
}

// Turn A into t; row k of A, behind the diagonal, is left with u of reflection k.
static __device__ __forceinline__ void reduce(double* A, int n, const Tridiagonal& t) {
  const int thread = threadIdx.x, threads = blockDim.x;
  const int lane = thread % 32, warp = thread / 32, warps = threads / 32;
  __shared__ double factor;  // u'p / 2h of the reflection before
  if (thread == 0) factor = 0.0;
  for (int j = thread; j < n; j += threads) t.u[n + j] = t.p[j] = 0.0;
  for (int k = 0; k < n; ++k) {
    double *u = t.u + k % 2 * n, *before = t.u + (k + 1) % 2 * n;
    __syncthreads();
    const double u_k = before[k], w_k = t.p[k] - factor * u_k;
    for (int j = k + thread; j < n; j += threads) {
      const double w_j = t.p[j] - factor * before[j];
      t.w[j] = w_j;
      u[j] = A[k * n + j] = A[k * n + j] - u_k * w_j - w_k * before[j];
    }
    __syncthreads();
    if (warp == 0) choose_reflection(A, n, k, u, t);
    __syncthreads();
    const double h = t.halves[k];
    for (int row = k + 1 + ROWS * warp; row < n; row += ROWS * warps) {
      double u_i[ROWS], w_i[ROWS], total[ROWS];
      for (int r = 0; r < ROWS; ++r) {
        u_i[r] = before[min(row + r, n - 1)], w_i[r] = t.w[min(row + r, n - 1)];
        total[r] = 0.0;
      }
      for (int j = k + 1 + lane; j < n; j += 32) {
        const double w_j = t.w[j], before_j = before[j], u_j = u[j];
        double entry[ROWS];  // all are on their way before the first is changed
        for (int r = 0; r < ROWS; ++r) entry[r] = A[min(row + r, n - 1) * n + j];
        for (int r = 0; r < ROWS; ++r) {
          entry[r] -= u_i[r] * w_j + w_i[r] * before_j;
          total[r] += entry[r] * u_j;
        }
        for (int r = 0; r < ROWS; ++r)
          if (row + r < n) A[(row + r) * n + j] = entry[r];
      }
      for (int r = 0; r < ROWS; ++r) {
        const double sum = sum_of_lanes(total[r]);
        if (lane == 0 && row + r < n) t.p[row + r] = h > 0.0 ? sum / h : 0.0;
      }
    }
    __syncthreads();
    if (warp == 0) {
      double product = 0.0;
      for (int j = k + 1 + lane; j < n; j += 32) product += u[j] * t.p[j];
      product = sum_of_lanes(product);
      if (lane == 0) factor = h > 0.0 ? product / (2.0 * h) : 0.0;
    }
  }
  __syncthreads();
}

// One warp turns an eigenvector of the tridiagonal form, with entries x[i * stride], into one of A.
static __device__ __forceinline__ void undo_reflections(const double* A, int n,
                                                        const Tridiagonal& t, double* x,
                                                        int stride) {
  const int lane = threadIdx.x % 32;
  for (int k = n - 2; k >= 0; --k) {
    if (t.halves[k] == 0.0) continue;
    // A lane keeps its entries throughout: those of numbers that leave the same remainder.
    const int first = k + 1 + (lane - (k + 1) % 32 + 32) % 32;
    double product = 0.0;
    for (int i = first; i < n; i += 32) product += A[k * n + i] * x[i * stride];
    const double share = sum_of_lanes(product) / t.halves[k];
    for (int i = first; i < n; i += 32) x[i * stride] -= share * A[k * n + i];
  }
}
