// Eigenvectors of a tridiagonal matrix T by inverse iteration (Parlett 1998, chapter 4), all of
// them at once: a thread solves (T - value) y = x for its vector, then the block makes all vectors
// orthogonal, each to those before it. So the vectors of a multiple eigenvalue span its eigenspace.
// The steps are those of small/tridiagonal.py.

// The largest residual |(T - value) x| accepted, for x of length 1.
const double RESIDUAL = 1e-13;
const double SMALL_PIVOT = 1e-17;   // in place of a pivot of 0
const double NO_LENGTH = 1e-9;      // of what is left of x beside the vectors before it
const int ATTEMPTS = 6;

// Vectors side by side, entry i of vector j at i * stride + j: an odd stride keeps both the
// threads that solve and the lanes that multiply on different banks of shared memory.
struct Vectors {
  int n, count, stride;
  double* x;
  double *upper, *second, *third, *factor;  // LU factors of T - value
  bool* swapped;                            // whether rows i and i + 1 were exchanged
};

static __device__ __forceinline__ Vectors vectors_at(double* memory, int n, int count) {
  const int stride = count | 1, cells = n * stride;
  return {n,
          count,
          stride,
          memory,
          memory + cells,
          memory + 2 * cells,
          memory + 3 * cells,
          memory + 4 * cells,
          (bool*)(memory + 5 * cells)};
}

// A number from [-0.5, 0.5) for an entry of a start, always the same: SplitMix64 (Steele, Lea and
// Flood 2014), as in `_utils/hashing.py`.
static __device__ __forceinline__ double random_entry(int i, int j, int attempt) {
  unsigned long long z = ((attempt * 4096ull + j) * 4096ull + i + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53 - 0.5;
}

// One thread factors T - value with partial pivoting, for vector j.
static __device__ __forceinline__ void lu_factor(const Tridiagonal& t, double value,
                                                 const Vectors& v, int j) {
  double pivot = t.diagonal[0] - value, right = t.above[0];
  int at = j;
  for (int i = 0; i + 1 < v.n; ++i, at += v.stride) {
    const double below = t.above[i], next_right = t.above[i + 1];
    const double next_pivot = t.diagonal[i + 1] - value;
    const bool swapped = fabs(below) > fabs(pivot);
    if (!swapped && pivot == 0.0) pivot = SMALL_PIVOT;
    const double factor = swapped ? pivot / below : below / pivot;
    v.swapped[at] = swapped;
    v.factor[at] = factor;
    v.upper[at] = swapped ? below : pivot;
    v.second[at] = swapped ? next_pivot : right;
    v.third[at] = swapped ? next_right : 0.0;
    pivot = swapped ? right - factor * next_pivot : next_pivot - factor * right;
    right = swapped ? -factor * next_right : next_right;
  }
  v.upper[at] = fabs(pivot) > SMALL_PIVOT ? pivot : SMALL_PIVOT;
  v.second[at] = v.third[at] = 0.0;
}

// One thread solves (T - value) y = x in place for vector j; the largest entry of y.
static __device__ __forceinline__ double lu_solve(const Vectors& v, int j) {
  int at = j;
  double left = v.x[at];
  for (int i = 0; i + 1 < v.n; ++i, at += v.stride) {
    const double next = v.x[at + v.stride], factor = v.factor[at];
    const bool swapped = v.swapped[at];
    v.x[at] = swapped ? next : left;
    left = swapped ? left - factor * next : next - factor * left;
  }
  v.x[at] = left;
  double largest = 0.0, below = 0.0, second_below = 0.0;
  for (int i = v.n - 1; i >= 0; --i, at -= v.stride) {
    const double y = (v.x[at] - v.second[at] * below - v.third[at] * second_below) / v.upper[at];
    v.x[at] = y;
    second_below = below, below = y;
    largest = fmax(largest, fabs(y));
  }
  return largest;
}

// The block makes vector j orthogonal to those before it and scales it to length 1.
// bad is set where nothing is left of it, and a new start takes its place.
static __device__ __forceinline__ void orthonormalise(const Vectors& v, int j, int attempt,
                                                      double* overlaps, int* bad) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int pass = 0; j > 0 && pass < 2; ++pass) {  // twice is enough (Parlett 1998, chapter 6)
    for (int other = warp; other < j; other += warps) {
      double product = 0.0;
      for (int i = lane; i < v.n; i += 32)
        product += v.x[i * v.stride + other] * v.x[i * v.stride + j];
      product = sum_of_lanes(product);
      if (lane == 0) overlaps[other] = product;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < v.n; i += blockDim.x) {
      double shares = 0.0;
      for (int other = 0; other < j; ++other) shares += overlaps[other] * v.x[i * v.stride + other];
      v.x[i * v.stride + j] -= shares;
    }
    __syncthreads();
  }
  if (warp == 0) {
    double square = 0.0;
    for (int i = lane; i < v.n; i += 32) square += v.x[i * v.stride + j] * v.x[i * v.stride + j];
    const double length = sqrt(sum_of_lanes(square));
    const bool restart = !(length > NO_LENGTH);
    if (restart && lane == 0) *bad = 1;
    for (int i = lane; i < v.n; i += 32) {
      double& entry = v.x[i * v.stride + j];
      entry = restart ? random_entry(i, j, attempt + 1) : entry / length;
    }
  }
  __syncthreads();
}

// One warp computes the square of |(T - value) x| for vector j.
static __device__ __forceinline__ double squared_residual(const Tridiagonal& t, double value,
                                                          const Vectors& v, int j) {
  double total = 0.0;
  for (int i = threadIdx.x % 32; i < v.n; i += 32) {
    const int at = i * v.stride + j;
    double r = (t.diagonal[i] - value) * v.x[at];
    if (i > 0) r += t.above[i - 1] * v.x[at - v.stride];
    if (i + 1 < v.n) r += t.above[i] * v.x[at + v.stride];
    total += r * r;
  }
  return sum_of_lanes(total);
}

// The block finds the eigenvectors of these values; whether all of them have small residuals.
// They end in the same round: a vector that went on alone would not stay orthogonal to the others.
static __device__ __forceinline__ bool eigenvectors(const Tridiagonal& t, const double* values,
                                                    const Vectors& v, double* overlaps,
                                                    double* largest) {
  const int thread = threadIdx.x, threads = blockDim.x;
  __shared__ int bad;
  for (int j = thread; j < v.count; j += threads) lu_factor(t, values[j], v, j);
  for (int cell = thread; cell < v.n * v.count; cell += threads) {
    const int i = cell / v.count, j = cell % v.count;
    v.x[i * v.stride + j] = random_entry(i, j, 0);
  }
  for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
    __syncthreads();
    for (int j = thread; j < v.count; j += threads) largest[j] = lu_solve(v, j);
    // One solve may amplify too little of the eigenvector in the start: never stop there.
    if (thread == 0) bad = attempt == 0;
    __syncthreads();
    // T - value is almost singular: scale first, so that no square overflows.
    for (int cell = thread; cell < v.n * v.count; cell += threads)
      v.x[cell / v.count * v.stride + cell % v.count] /= largest[cell % v.count];
    __syncthreads();
    for (int j = 0; j < v.count; ++j) orthonormalise(v, j, attempt, overlaps, &bad);
    for (int j = thread / 32; j < v.count; j += threads / 32) {
      const double square = squared_residual(t, values[j], v, j);
      if (thread % 32 == 0 && !(square <= RESIDUAL * RESIDUAL)) bad = 1;
    }
    __syncthreads();
    if (!bad) return true;
    __syncthreads();  // before bad is set anew
  }
  return false;
}
