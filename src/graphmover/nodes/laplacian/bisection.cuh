// Eigenvalues of a tridiagonal matrix by Sturm counts (Parlett 1998, chapter 3), as in
// small/tridiagonal.py: the number of negative pivots of T - x is the number of eigenvalues
// below x. The lanes of a warp count at 32 places at once, so that each round leaves 1/33 of the
// interval.

// Rounds that leave less than a rounding error of [LOWEST, HIGHEST].
const int ROUNDS = 11;
const double LOWEST = -1e-3, HIGHEST = 2.001;

const double TINY = 1e-300;  // in place of a pivot of 0

// One warp finds an eigenvalue by its number, from 0. squares[i] is that of the entry above
// diagonal[i], and squares[0] is 0.
static __device__ __forceinline__ double eigenvalue(const double* diagonal, const double* squares,
                                                    int n, int number) {
  double low = LOWEST, high = HIGHEST;
  for (int round = 0; round < ROUNDS; ++round) {
    const double step = (high - low) / 33, x = low + (threadIdx.x % 32 + 1) * step;
    int below = 0;
    double pivot = 1.0;
    for (int i = 0; i < n; ++i) {
      pivot = diagonal[i] - x - squares[i] / pivot;
      if (pivot == 0.0) pivot = -TINY;
      below += pivot < 0.0;
    }
    const unsigned beyond = __ballot_sync(~0u, below > number);
    const int steps = beyond ? __ffs(beyond) - 1 : 32;  // from low, all below the eigenvalue
    if (beyond) high = low + (steps + 1) * step;
    low += steps * step;
  }
  return 0.5 * (low + high);
}
