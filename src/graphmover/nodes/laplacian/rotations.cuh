// Jacobi's method (Golub and Van Loan 2013, section 8.5): rotations in n / 2 planes at once make
// the normalised Laplacian A diagonal, and turn the identity into its eigenvectors V. In one sweep
// every two rows meet once, in the order of a round-robin tournament (Brent and Luk 1985).

// The matrix counts as diagonal when no other entry is larger than this.
const double SMALL = 1e-15;
const int MOST_SWEEPS = 40;

struct Rotation {
  int p, q;     // rows; q beyond the matrix: p has no opponent in this round
  double c, s;  // cosine and sine
};

// The two rows that meet at a place in a round of the tournament.
static __device__ __forceinline__ void pair(int round, int place, int players, int& p, int& q) {
  const int circle = players - 1;
  p = (round + place) % circle;
  q = place ? (round - place + circle) % circle : circle;
  if (p > q) {
    const int least = q;
    q = p, p = least;
  }
}

// The rotation that makes A[p, q] zero; busy is set while A is not diagonal.
static __device__ __forceinline__ Rotation rotation(double* A, int stride, int n, int p, int q,
                                                    int* busy) {
  Rotation r = {p, q, 1.0, 0.0};
  if (q >= n) return r;
  const double off = A[p * stride + q];
  if (fabs(off) > SMALL) *busy = 1;
  if (fabs(off) < 1e-290) return r;
  const double theta = (A[q * stride + q] - A[p * stride + p]) / (2.0 * off);
  const double t = (theta < 0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
  r.c = 1.0 / sqrt(t * t + 1.0);
  r.s = t * r.c;
  return r;
}

// Rotate the entries of A in the rows of a and the columns of b, by a from the left and by b from
// the right. Each pair of rotations has four entries of its own, so all threads work at once.
static __device__ __forceinline__ void turn(double* A, int stride, int n, const Rotation& a,
                                            const Rotation& b) {
  const bool aq = a.q < n, bq = b.q < n;
  const double pp = A[a.p * stride + b.p], pq = bq ? A[a.p * stride + b.q] : 0.0;
  const double qp = aq ? A[a.q * stride + b.p] : 0.0, qq = aq && bq ? A[a.q * stride + b.q] : 0.0;
  const double pp1 = b.c * pp - b.s * pq, pq1 = b.s * pp + b.c * pq;
  const double qp1 = b.c * qp - b.s * qq, qq1 = b.s * qp + b.c * qq;
  const bool own = a.p == b.p;  // then A[p, q] and A[q, p] become zero, exactly
  A[a.p * stride + b.p] = a.c * pp1 - a.s * qp1;
  if (bq) A[a.p * stride + b.q] = own ? 0.0 : a.c * pq1 - a.s * qq1;
  if (aq) A[a.q * stride + b.p] = own ? 0.0 : a.s * pp1 + a.c * qp1;
  if (aq && bq) A[a.q * stride + b.q] = a.s * pq1 + a.c * qq1;
}

// Make A diagonal and V its eigenvectors, by all threads of the block.
static __device__ __forceinline__ void diagonalise(double* A, double* V, int stride, int n,
                                                   Rotation* rotations) {
  __shared__ int busy;
  const int thread = threadIdx.x, threads = blockDim.x;
  const int players = n + n % 2, places = players / 2;
  for (int sweep = 0; n > 1 && sweep < MOST_SWEEPS; ++sweep) {
    __syncthreads();
    if (thread == 0) busy = 0;
    for (int round = 0; round < players - 1; ++round) {
      __syncthreads();
      for (int place = thread; place < places; place += threads) {
        int p, q;
        pair(round, place, players, p, q);
        rotations[place] = rotation(A, stride, n, p, q, &busy);
      }
      __syncthreads();
      for (int block = thread; block < places * places; block += threads)
        turn(A, stride, n, rotations[block / places], rotations[block % places]);
      for (int cell = thread; cell < n * places; cell += threads) {
        const int row = cell / places;
        const Rotation r = rotations[cell % places];
        if (r.q >= n) continue;
        const double left = V[row * stride + r.p], right = V[row * stride + r.q];
        V[row * stride + r.p] = r.c * left - r.s * right;
        V[row * stride + r.q] = r.s * left + r.c * right;
      }
    }
    __syncthreads();
    if (!busy) break;
  }
  __syncthreads();
}
