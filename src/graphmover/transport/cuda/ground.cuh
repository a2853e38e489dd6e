// The ground distance on the GPU, in double or single precision; `ground.py` states the rule.

struct GroundDistance {
  int d;             // coordinates of a node
  int k;             // labels of a node
  double floor;      // nodes of which any label differs are at least this far apart
  double per_label;  // added for each label that differs
};

STEP double square_root(double x) { return sqrt(x); }
STEP float square_root(float x) { return __fsqrt_rn(x); }
STEP double larger(double a, double b) { return fmax(a, b); }
STEP float larger(float a, float b) { return fmaxf(a, b); }

// The rule: from the square of the Euclidean distance and the number of labels that differ.
template <typename Real> struct Rule {
  Real floor, per_label;

  __device__ __forceinline__ Real operator()(Real square, int differing) const {
    const Real distance = square_root(square);
    return differing ? larger(distance, floor) + differing * per_label : distance;
  }
};

template <typename Real> STEP Rule<Real> rule_of(const GroundDistance& ground) {
  return Rule<Real>{(Real)ground.floor, (Real)ground.per_label};
}

// An upper bound on all costs between two graphs: the diagonal of the box around both, with all
// labels different. `low` and `high` are the smallest and largest coordinates of each graph.
STEP double cost_bound(const GroundDistance& ground, const double* low, const double* high,
                       const double* other_low, const double* other_high) {
  double square = 0.0;
  for (int c = 0; c < ground.d; ++c) {
    const double reach = fmax(high[c] - other_low[c], other_high[c] - low[c]);
    square += reach * reach;
  }
  return rule_of<double>(ground)(square, ground.k);
}

// How many labels of a source differ from those of one sink.
struct Labels {
  const int64* sources;  // (sources, k)
  const int64* sink;     // (k,)
  int64 first;           // the sink's first label, in a register
  int k;

  __device__ __forceinline__ int differing(int i) const {
    if (LABELS == 0 || (LABELS == ANY_NUMBER && !k)) return 0;
    if (LABELS == 1) return sources[i] != first;
    const int64* source = sources + (int64)i * k;
    int count = source[0] != first;
    for (int c = 1; c < k; ++c) count += source[c] != sink[c];
    return count;
  }
};

STEP Labels labels_of(const GroundDistance& ground, const int64* sources, const int64* sink) {
  return Labels{sources, sink, ground.k ? sink[0] : 0, ground.k};
}

// The distances of the sources to one sink.
struct Distances {
  Rule<double> rule;
  Labels labels;
  const double* sources;  // (sources, d)
  const double* sink;     // (d,)
  int d;
  int n_costly;           // from this number on, sources cost nothing

  __device__ __forceinline__ double operator()(int i) const {
    if (PARTIAL && i >= n_costly) return 0.0;
    double square = 0.0;
    for (int c = 0; c < d; ++c) {
      const double difference = sources[(int64)i * d + c] - sink[c];
      square += difference * difference;
    }
    return rule(square, labels.differing(i));
  }
};

// The same in single precision. Rows of points are padded with zeros to a multiple of 4; the first
// two blocks of the sink's stay in registers.
struct CoarseDistances {
  Rule<float> rule;
  Labels labels;
  const float4* sources;  // (sources, blocks)
  const float4* sink;     // (blocks,)
  float4 near, far;       // sink[0] and, if there is one, sink[1]
  int blocks;
  int n_costly;           // as above

  __device__ __forceinline__ float operator()(int i) const {
    if (PARTIAL && i >= n_costly) return 0.0f;
    float square = 0.0f;
    for (int block = 0; block < blocks; ++block) {
      const float4 a = sources[i * blocks + block];
      const float4 b = block == 0 ? near : block == 1 ? far : sink[block];
      const float4 apart = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
      square += apart.x * apart.x + apart.y * apart.y;
      square += apart.z * apart.z + apart.w * apart.w;
    }
    return rule(square, labels.differing(i));
  }
};
