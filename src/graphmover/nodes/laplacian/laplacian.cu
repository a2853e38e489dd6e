// Laplacian node embeddings of small graphs on a GPU, one block for each graph.
//
// Jacobi's method (Golub and Van Loan 2013, section 8.5): rotations in n / 2 planes at once make
// the normalised Laplacian A diagonal, and turn the identity into its eigenvectors V. Both stay in
// shared memory. In one sweep every two rows meet once, in the order of a round-robin tournament
// (Brent and Luk 1985).

typedef long long int64;

// Eigenvalues closer than this count as one, as in solve.py.
const double SAME_EIGENVALUE = 1e-7;
// The matrix counts as diagonal when no other entry is larger than this.
const double SMALL = 1e-15;
const int MOST_SWEEPS = 40;

extern __shared__ __align__(16) double memory[];

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

// The points of each listed graph; a graph of fewer than d nodes has zeros in the last columns.
extern "C" __global__ void smallest_eigenvectors(const int* graphs, int n_graphs,
                                                 const int64* offsets, const int64* indptr,
                                                 const int* indices, const double* weights,
                                                 const double* degrees, int d, double* points) {
  const int graph = graphs[blockIdx.x];
  const int64 first = offsets[graph];
  const int n = (int)(offsets[graph + 1] - first);
  // Rows are padded by one entry against bank conflicts.
  const int stride = n + 1, players = n + n % 2, places = players / 2;
  double* A = memory;
  double* V = A + n * stride;
  double* values = V + n * stride;
  Rotation* rotations = (Rotation*)(values + n);
  int* order = (int*)(rotations + places);
  __shared__ int busy;
  const int thread = threadIdx.x, threads = blockDim.x;

  for (int cell = thread; cell < n * n; cell += threads) {
    const int u = cell / n, v = cell % n;
    A[u * stride + v] = V[u * stride + v] = u == v;
  }
  __syncthreads();
  for (int u = thread; u < n; u += threads)
    for (int64 edge = indptr[first + u]; edge < indptr[first + u + 1]; ++edge) {
      const int v = indices[edge];
      A[u * stride + v] = -(weights ? weights[edge] : 1.0) /
                          (sqrt(degrees[first + u]) * sqrt(degrees[first + v]));
    }
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
  // Sort the eigenvalues by counting the smaller ones.
  for (int i = thread; i < n; i += threads) {
    int rank = 0;
    for (int j = 0; j < n; ++j) {
      const double mine = A[i * stride + i], other = A[j * stride + j];
      rank += other < mine || (other == mine && j < i);
    }
    order[rank] = i;
    values[rank] = A[i * stride + i];
  }
  __syncthreads();
  // Eigenspaces start to stop - 1 and their columns sqrt(diag(P) / m): this mirrors eigenspaces.py.
  // test_points_of_small_and_large_graphs compares the two.
  for (int row = thread; row < n; row += threads)
    for (int start = 0, stop; start < min(n, d); start = stop) {
      double square = 0.0;
      for (stop = start; stop < n; ++stop) {
        if (stop > start && values[stop] - values[stop - 1] > SAME_EIGENVALUE) break;
        const double entry = V[row * stride + order[stop]];
        square += entry * entry;
      }
      for (int column = start; column < min(stop, d); ++column)
        points[(first + row) * d + column] = sqrt(square / (stop - start));
    }
}
