// The solver for problems with many sinks: the transportation simplex method, one problem per warp.
//
// A basis is a spanning tree of sources and sinks, of which every node but the root knows its
// parent and the flow on the arc to it. Nodes have numbers in preorder and know how many are below
// them (Barr, Glover and Klingman 1979), so every lane can tell by two comparisons whether a node of
// its own is on a path to the root, or below some node: each step of a pivot is done for all nodes
// at once. Memory is a table of costs and a few numbers for each node, so many warps are in flight.

// Integer costs of a guess have so many bits: with the number of a row or column they fit 32, and
// sums along a path in the tree fit 31. With 16, large problems need many pivots by exact costs.
const int SIMPLEX_COST_BITS = 22;
const int INDEX_BITS = 10;
const uint32 INDEX = (1u << INDEX_BITS) - 1;

// Up to so many nodes, potentials in units of integer costs fit 31 bits, whatever the tree.
const int MOST_SCREENED = 512;

// Between these largest costs, squares in single precision neither overflow nor lose bits.
const double LEAST_SCREENED = 1e-12, DEAREST_SCREENED = 1e15;

// Costs that a lane prices before the best arcs so far enter.
const int PRICED_COSTS = 128;

// Rows that are priced by exact costs before the best arc so far enters; hardly ever is there one.
const int EXACT_ROWS = 32;

// More than any cost.
const int NO_COST = 0x7fffffff;

// A lane keeps up to so many nodes in registers.
const int MOST_UNROLLED = 4;
const int MOST_PASSES = 64;
#define UNROLL_OWN _Pragma("unroll (K <= MOST_UNROLLED ? K : 1)")

// Reduced costs that are no larger, relative to the largest cost, may be rounding errors: 2**-46.
// `finer_bound` asks for smaller costs where that is too much for the distance of what is matched.
const double NOISE = 1.0 / (1ll << 46);

// While the first tree grows: the parent of a node that has none yet, the cost of a row that has
// ended, and what makes arcs to a sink that has ended dearer than all others.
const uint16 NO_PARENT = 0xffff;
const uint32 NO_ROW = 0xffffffffu;
const int ENDED = 1 << (SIMPLEX_COST_BITS + 1);

// A node of the tree, without the flow on the arc to its parent.
struct __align__(8) TreeNode {
  uint16 parent;
  uint16 position;  // in preorder
  uint16 below;     // the number of nodes of its subtree, itself included
  uint16 mark;      // while values add up: the first node above that is not in the sum
};

// Sources are nodes 0 ... n - 1, sinks n ... n + m - 1. Lane t % 32 owns node t.
//
// Potentials of a source and a sink that an arc of the tree connects differ by its cost.
struct Basis {
  int* cost;       // (n, m) C_ik as integers
  TreeNode* node;  // (nodes,)
  double* exact;   // (nodes,) potentials by exact costs
  int* flow;       // (nodes,) on the arc to the parent
  int* potential;  // (nodes,) by integer costs
  int n, m, nodes;
  int root;
};

// The nodes that a lane owns, as they are in memory.
template <int K> struct Own {
  int parent[K], position[K], below[K], flow[K];
};

// Tables for each node are in shared memory, and costs behind them, or, if they are many, in scratch
// memory: then more warps are in flight.
STEP void lay_out_basis(Basis& s, char* memory, char* costs, int n, int m) {
  s.n = n, s.m = m, s.nodes = n + m;
  s.node = (TreeNode*)memory, memory += s.nodes * sizeof(TreeNode);
  s.exact = (double*)memory, memory += s.nodes * sizeof(double);
  s.flow = (int*)memory, memory += s.nodes * sizeof(int);
  s.potential = (int*)memory, memory += s.nodes * sizeof(int);
  s.cost = (int*)(costs ? costs : memory);
}

template <typename T> STEP T least_of_warp(T value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(ALL, value);
#else
  for (int apart = 16; apart; apart >>= 1) value = min(value, __shfl_xor_sync(ALL, value, apart));
  return value;
#endif
}

STEP int sum_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, value);
#else
  for (int apart = 16; apart; apart >>= 1) value += __shfl_xor_sync(ALL, value, apart);
  return value;
#endif
}

// Whether a node at a position is in the subtree that begins at another and has so many nodes.
STEP bool is_below(int position, int start, int count) {
  return (uint32)(position - start) < (uint32)count;
}

// How many nodes a lane has at most.
template <int K> STEP int passes_of(const Basis& s) {
  return K <= MOST_UNROLLED ? K : (s.nodes + 31) / 32;
}

// ------------------------------------------------------------------------ the first tree

// Compute the integer costs of a column, and add each row's to its sum; return that of the column.
// Sums are of 64ths: they fit 31 bits.
STEP int fill_column(const Basis& s, int lane, int k, const CoarseDistances& distances,
                     float units) {
  const float most = (float)((1 << SIMPLEX_COST_BITS) - 2);
  int* row_sum = s.potential;
  int sum = 0;
#pragma unroll 2
  for (int i = 0; i < s.n; ++i) {
    const int cost = (int)fminf(distances(i) * units, most);
    if (k < s.m) s.cost[i * s.m + k] = cost;
    const int of_row = sum_of_warp(k < s.m ? cost >> 6 : 0);
    sum += cost >> 6;
    if (i % 32 == lane) row_sum[i] = of_row + (k < 32 ? 0 : row_sum[i]);
  }
  return sum;
}

// Compute the integer costs. In place of potentials, leave the mean of each row's costs, and that
// of each column's: an arc is cheap if it is far below both (as Russell 1969, with the largest).
STEP void fill_costs(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                     double bound, int sink_factor) {
  const float units = (float)units_per_cost(bound, SIMPLEX_COST_BITS);
  for (int start = 0; start < s.m; start += 32) {
    const int k = start + lane;
    look_at_sink(p, min(k, s.m - 1));
    if (k < s.m) s.flow[s.n + k] = demand_of(p, p.sinks->masses, sink_factor);
    CoarseDistances distances = coarse_distances_of(ground, p);
    int sum;
    if (distances.blocks == 2) {
      distances.blocks = 2;  // the compiler unrolls for the usual number
      sum = fill_column(s, lane, k, distances, units);
    } else {
      sum = fill_column(s, lane, k, distances, units);
    }
    if (k < s.m) s.potential[s.n + k] = (int)(sum * (64.0f / s.n));
  }
#pragma unroll 1
  for (int i = lane; i < s.n; i += 32) s.potential[i] = (int)(s.potential[i] * (64.0f / s.m));
}

// The cheapest column of a row, those that have ended last: what its cost is above the column's
// mean, in units of four, above the number of the column.
STEP uint32 cheapest_column(const Basis& s, int lane, int i) {
  uint32 least = NO_ROW;
#pragma unroll 1
  for (int k = lane; k < s.m; k += 32) {
    const uint32 above = s.cost[i * s.m + k] - s.potential[s.n + k] + (1 << SIMPLEX_COST_BITS);
    least = min(least, (above << (INDEX_BITS - 2) & ~INDEX) | k);
  }
  return least_of_warp(least);
}

// Rows that a lane owns, while the first tree grows.
template <int K> struct Rows {
  uint32 cheapest[K];  // the least cost of a row above both means, and the number of the row
  int column[K];       // where
};

// Search a row again.
template <int K> STEP void search_row(const Basis& s, int lane, int i, Rows<K>& own) {
  const int passes = passes_of<K>(s);
  const uint32 found = cheapest_column(s, lane, i);
  const int above_column = found >> INDEX_BITS, quarter = 1 << (SIMPLEX_COST_BITS - 2);
  const uint32 cost = above_column - (s.potential[i] >> 2) + quarter;
  UNROLL_OWN
  for (int q = 0; q < passes; ++q)
    if (lane + 32 * q == i) own.cheapest[q] = cost << INDEX_BITS | i, own.column[q] = found & INDEX;
}

// Grow a first tree by the least cost above the means: the cheapest arc between a source and a sink
// that both have mass left carries as much as it can. The end that has nothing left becomes a child
// of the other.
//
// Every row knows its cheapest column. Where that column has ended since, the cost is a lower bound:
// the row is searched again only once this bound is the least of all.
template <int K> STEP void grow_tree(Basis& s, int lane) {
  const int passes = passes_of<K>(s);
  int* rest = s.flow;  // (nodes,) mass that is left
  Rows<K> own;
#pragma unroll 1
  for (int t = lane; t < s.nodes; t += 32) s.node[t] = TreeNode{NO_PARENT, 0, 1, 0};
  UNROLL_OWN
  for (int q = 0; q < passes; ++q) own.cheapest[q] = NO_ROW, own.column[q] = 0;
#pragma unroll 1
  for (int i = 0; i < s.n; ++i) search_row(s, lane, i, own);
  __syncwarp();
  int rows = s.n, columns = s.m;
#pragma unroll 1
  while (rows + columns > 1) {
    uint32 least = own.cheapest[0];
    UNROLL_OWN
    for (int q = 1; q < passes; ++q) least = min(least, own.cheapest[q]);
    const int i = least_of_warp(least) & INDEX;
    int column = own.column[0];
    UNROLL_OWN
    for (int q = 1; q < passes; ++q) column = i / 32 == q ? own.column[q] : column;
    const int sink = s.n + __shfl_sync(ALL, column, i % 32);
    const TreeNode at_row = s.node[i], at_sink = s.node[sink];
    if (at_sink.parent != NO_PARENT) {
      search_row(s, lane, i, own);
      continue;
    }
    const int supply = rest[i], demand = rest[sink];
    const bool row_ends = rows > 1 && (supply <= demand || columns == 1);
    const int child = row_ends ? i : sink, above = row_ends ? sink : i;
    const uint16 nodes_above = row_ends ? at_sink.below : at_row.below;
    const uint16 nodes_below = row_ends ? at_row.below : at_sink.below;
    __syncwarp();
    if (lane == 0) {
      const int amount = min(supply, demand);
      s.node[child] = TreeNode{(uint16)above, nodes_above, nodes_below, 0};
      s.node[above].below = nodes_above + nodes_below;
      rest[child] = amount, rest[above] = max(supply, demand) - amount;
      if (!row_ends) s.potential[sink] -= ENDED;
    }
    UNROLL_OWN
    for (int q = 0; q < passes; ++q)
      if (row_ends && lane + 32 * q == i) own.cheapest[q] = NO_ROW;
    row_ends ? --rows : --columns;
    s.root = above;
    __syncwarp();
  }
}

STEP int source_of(const Basis& s, int t) { return t < s.n ? t : s.node[t].parent; }
STEP int sink_of(const Basis& s, int t) { return (t < s.n ? s.node[t].parent : t) - s.n; }

// Let each node's value be the sum of all on the way to the root, each round twice as far
// (Wyllie 1979). With `number`, so do positions, which are relative to the parent at first.
template <bool number, typename Value> STEP void add_up(const Basis& s, int lane, Value* value) {
#pragma unroll 1
  for (int t = lane; t < s.nodes; t += 32) {
    s.node[t].mark = t == s.root ? s.root : s.node[t].parent;
    if (t != s.root) continue;
    value[t] = 0;
    if (number) s.node[t].position = 0;
  }
  __syncwarp();
  bool more = true;
  while (any_problem(more)) {
    more = false;
#pragma unroll 1
    for (int start = 0; start < s.nodes; start += 32) {
      const int t = start + lane;
      const int above = t < s.nodes ? s.node[t].mark : s.root;
      const TreeNode there = s.node[above];
      const Value rest = value[above];
      __syncwarp();
      if (above != s.root) {
        value[t] += rest, s.node[t].mark = there.mark;
        if (number) s.node[t].position += there.position;
        more |= there.mark != s.root;
      }
      __syncwarp();
    }
  }
}

// ------------------------------------------------------------------------ pivots

// Let a lane own its nodes.
template <int K> STEP void take_nodes(const Basis& s, int lane, Own<K>& own) {
  const int passes = passes_of<K>(s);
  UNROLL_OWN
  for (int q = 0; q < passes; ++q) {
    const int t = lane + 32 * q;
    const bool exists = t < s.nodes;
    const TreeNode node = s.node[exists ? t : 0];
    own.parent[q] = node.parent, own.position[q] = node.position;
    own.below[q] = exists ? node.below : 0, own.flow[q] = s.flow[exists ? t : 0];
  }
}

// Let an arc enter the basis.
template <int K, typename Potential>
STEP void pivot(const Basis& s, int lane, Own<K>& own, Potential* potential, int source, int sink,
                Potential reduced) {
  const int passes = passes_of<K>(s);
  const int at_source = s.node[source].position, at_sink = s.node[sink].position;
  // The cycle: nodes from which exactly one end of the arc hangs. The arc to the parent loses flow
  // where a source is above the source, or a sink above the sink. Of several that limit the flow, the
  // last on the way from the top through the arc leaves (Cunningham 1976): no endless loops.
  uint32 limit = ALL;
  UNROLL_OWN
  for (int q = 0; q < passes; ++q) {
    const bool here = is_below(at_source, own.position[q], own.below[q]);
    const bool loses = here == (lane + 32 * q < s.n);
    if (here != is_below(at_sink, own.position[q], own.below[q]) && loses)
      limit = min(limit, (uint32)own.flow[q]);
  }
  const int amount = least_of_warp(limit);
  uint32 rank = ALL;
  UNROLL_OWN
  for (int q = 0; q < passes; ++q) {
    const bool here = is_below(at_source, own.position[q], own.below[q]);
    if (here == is_below(at_sink, own.position[q], own.below[q])) continue;
    const bool loses = here == (lane + 32 * q < s.n);
    const uint32 order = here ? 4095 - own.position[q] : own.position[q];
    if (loses && own.flow[q] == amount) rank = min(rank, order << 11 | (lane + 32 * q));
    own.flow[q] += loses ? -amount : amount;
  }
  rank = least_of_warp(rank);
  const int top = rank & 2047;  // of the subtree that is cut off
  const bool from_source = rank >> 22;
  const int to = from_source ? sink : source, hook = from_source ? at_sink : at_source;
  // The nodes from the arc's end up to the top change places with their parents. What hangs from
  // each, except for the part it was reached from, keeps its order and comes behind that part. Tables
  // in memory stay as they were until all is known.
  bool inside[K];  // the subtree of the last such node so far
  int moved[K];
  UNROLL_OWN
  for (int q = 0; q < passes; ++q) inside[q] = false, moved[q] = 0;
  const int count = s.node[top].below;
  int stem = from_source ? source : sink, above = to, above_flow = amount;
  TreeNode inner = {0, 0, 0, 0}, old;
#pragma unroll 1
  while (true) {
    old = s.node[stem];
    const int old_flow = s.flow[stem] + (from_source == (stem < s.n) ? -amount : amount);
    UNROLL_OWN
    for (int q = 0; q < passes; ++q) {
      const int behind = own.position[q] - old.position;
      const bool now = (uint32)behind < (uint32)old.below;
      if (now && !inside[q])
        moved[q] = behind + (own.position[q] < inner.position ? inner.below : 0);
      inside[q] = now;
      if (lane + 32 * q == stem)
        own.parent[q] = above, own.flow[q] = above_flow, own.below[q] = count - inner.below;
    }
    if (stem == top) break;
    above = stem, above_flow = old_flow, stem = old.parent;
    inner = old;
  }
  __syncwarp();
  // The subtree moves behind the node that it hangs from now.
  const int start = old.position;
  const int place = hook < start ? hook + 1 : hook + 1 - count;
  const Potential change = from_source ? reduced : -reduced;
  UNROLL_OWN
  for (int q = 0; q < passes; ++q) {
    const int t = lane + 32 * q, position = own.position[q], below = own.below[q];
    if (t >= s.nodes) continue;
    if (inside[q]) {
      own.position[q] = place + moved[q];
      potential[t] += change;
    } else {
      own.below[q] += (is_below(hook, position, below) ? count : 0) -
                      (is_below(start, position, below) ? count : 0);
      if (position > start && position <= hook) own.position[q] -= count;
      if (position < start && position > hook) own.position[q] += count;
    }
    s.node[t] = TreeNode{(uint16)own.parent[q], (uint16)own.position[q], (uint16)own.below[q], 0};
    s.flow[t] = own.flow[q];
  }
  __syncwarp();
}

// The least reduced cost of a column among some rows, and its row. Rows are looked at in fours, and
// only once which of the four it was.
STEP int best_row(const Basis& s, int k, int first, int last, int& row) {
  const int* cost = s.cost + first * s.m + k;
  int least = NO_COST, i = first;
  row = first;
#pragma unroll 1
  for (; i + 4 <= last; i += 4) {
    int four = least;
#pragma unroll
    for (int j = 0; j < 4; ++j, cost += s.m) four = min(four, *cost - s.potential[i + j]);
    if (four < least) least = four, row = i;
  }
  const int* found = s.cost + row * s.m + k;
  for (; i > first && *found - s.potential[row] != least; ++row) found += s.m;
#pragma unroll 1
  for (; i < last; ++i, cost += s.m)
    if (*cost - s.potential[i] < least) least = *cost - s.potential[i], row = i;
  return least + s.potential[s.n + k];
}

// Pivot until no arc can lower the cost of integers, or until that takes too long. Of some rows
// each lane keeps its best arc; as long as one of these can lower the cost, the best enters.
template <int K> STEP void optimise(const Basis& s, int lane, Own<K>& own) {
  const int rows = max(PRICED_COSTS / ((s.m + 31) / 32), 4);
  int first = 0, without = 0;
  for (int patience = 32 * s.nodes; without < s.n && patience > 0;) {
    const int last = min(first + rows, s.n);
    int best = 0, cost = 0, source = 0, sink = s.n;
#pragma unroll 1
    for (int k = lane; k < s.m; k += 32) {
      int i;
      const int least = best_row(s, k, first, last, i);
      if (least < best) best = least, source = i, sink = s.n + k;
    }
    if (best < 0) cost = s.cost[source * s.m + sink - s.n];
    without += last - first, first = last == s.n ? 0 : last;
    for (; patience > 0; --patience) {
      const int reduced = least_of_warp(best);
      if (reduced >= 0) break;
      const int from = lowest_bit(__ballot_sync(ALL, best == reduced));
      const int ends = __shfl_sync(ALL, source | sink << 16, from);
      pivot<K>(s, lane, own, s.potential, ends & 0xffff, ends >> 16, reduced);
      best = best < 0 ? cost - s.potential[source] + s.potential[sink] : 0;
      without = 0;
    }
  }
}

// The first tree, and the best one for integer costs.
template <int K> STEP void solve_integers(Basis& s, int lane) {
  grow_tree<K>(s, lane);
#pragma unroll 1
  for (int t = lane; t < s.nodes; t += 32) {
    const int cost = t == s.root ? 0 : s.cost[source_of(s, t) * s.m + sink_of(s, t)];
    s.potential[t] = t < s.n ? cost : -cost;
  }
  __syncwarp();
  add_up<true>(s, lane, s.potential);
  Own<K> own;
  take_nodes(s, lane, own);
  optimise(s, lane, own);
}

// ------------------------------------------------------------------------ the proof

// Beyond which reduced cost of integers an arc's exact one is positive, too: how far below its
// integer an exact cost can be, and by how much potentials are rounded. Points were rounded to 24
// bits, so by a part of the largest coordinate; then the rule was followed with 24 bits. NO_COST if
// that is not known.
STEP int doubt_of(const Basis& s, int lane, const GroundDistance& ground, const Problem& p,
                  double bound, double units) {
  const bool in_range = bound >= LEAST_SCREENED && bound <= DEAREST_SCREENED;
  if (s.nodes > MOST_SCREENED || !in_range) return NO_COST;
  int most = -1000;
  for (int c = lane; c < ground.d; c += 32) {
    const int64 source = (int64)p.source_graph * ground.d + c;
    const int64 sink = (int64)p.sink_graph * ground.d + c;
    const double at_source = fmax(fabs(p.sources->low[source]), fabs(p.sources->high[source]));
    const double at_sink = fmax(fabs(p.sinks->low[sink]), fabs(p.sinks->high[sink]));
    int exponent;
    frexp(fmax(at_source, at_sink), &exponent);
    most = max(most, exponent);
  }
  const double rounded = sqrt((double)ground.d) * ldexp(1.0, most_in_warp(most) - 23);
  const double followed = (ground.d + 16) * bound / (1 << 25);
  return (int)fmin((rounded + followed) * units + 3.0, 1e9);
}

// Compute the exact costs of the tree's arcs, at most `most`, and potentials from them; return the
// flow's cost.
STEP double price_tree(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                       double most) {
  double cost = 0.0;
#pragma unroll 1
  for (int t = lane; t < s.nodes; t += 32) {
    if (t == s.root) continue;
    look_at_sink(p, sink_of(s, t));
    const double distance = fmin(distances_of(ground, p)(source_of(s, t)), most);
    s.exact[t] = t < s.n ? distance : -distance;
    cost += s.flow[t] * distance;
  }
  for (int apart = 16; apart; apart >>= 1) cost += __shfl_xor_sync(ALL, cost, apart);
  __syncwarp();
  add_up<false>(s, lane, s.exact);
  return cost;
}

STEP void round_potentials(const Basis& s, int lane, double units) {
#pragma unroll 1
  for (int t = lane; t < s.nodes; t += 32) s.potential[t] = (int)rint(s.exact[t] * units);
  __syncwarp();
}

// The arc with the least reduced cost below `reduced`, by exact costs, among some rows: its row and
// column, or NO_ROW. Exact costs are computed only where integers leave a doubt.
STEP uint32 price_exactly(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                          double most, int most_units, int doubt, int first, int last,
                          double& reduced) {
  uint32 where = NO_ROW;
#pragma unroll 1
  for (int k = lane; k < s.m; k += 32) {
    const TreeNode sink = s.node[s.n + k];
    const int here = s.potential[s.n + k];
    uint32 doubtful = 0;
#pragma unroll 4
    for (int i = first; i < last; ++i)
      if (min(s.cost[i * s.m + k], most_units) - s.potential[i] + here <= doubt)
        doubtful |= 1u << (i - first);
    for (uint32 rest = doubtful; rest; rest &= rest - 1) {
      const int i = first + lowest_bit(rest);
      if (s.node[i].parent == s.n + k || sink.parent == i) doubtful ^= 1u << (i - first);
    }
    look_at_sink(p, k);
    const Distances distances = distances_of(ground, p);
#pragma unroll 1
    for (; doubtful; doubtful &= doubtful - 1) {
      const int i = first + lowest_bit(doubtful);
      const double change = fmin(distances(i), most) - s.exact[i] + s.exact[s.n + k];
      if (change < reduced) reduced = change, where = i << INDEX_BITS | k;
    }
  }
  if (!any_problem(where != NO_ROW)) return NO_ROW;
  for (int apart = 16; apart; apart >>= 1) {
    const double other = __shfl_xor_sync(ALL, reduced, apart);
    const uint32 there = __shfl_xor_sync(ALL, where, apart);
    if (other < reduced || (other == reduced && there < where)) reduced = other, where = there;
  }
  return where;
}

// Go on with exact costs until the flow is proven optimal, which it mostly is at once; return its
// cost. With potentials such that no arc's reduced cost is below -slack, no flow costs less by more
// than slack for each unit of mass. Potentials of the proof come fresh from the tree.
STEP double prove_basis(const Basis& s, int lane, const GroundDistance& ground, Problem& p,
                        double most, double units, int doubt, double total, double matched,
                        bool& proven) {
  const int most_units = (int)fmin(most * units, (double)(1 << SIMPLEX_COST_BITS));
  int patience = 8 * s.nodes;
  while (true) {
    __syncwarp();  // all lanes are done with the potentials
    const double cost = price_tree(s, lane, ground, p, most);
    const double slack = fmax(cost * PROVEN, most * NOISE * matched) / total;
    round_potentials(s, lane, units);
    proven = true;
    for (int first = 0; first < s.n && cost > 0 && patience;) {
      const int last = min(first + EXACT_ROWS, s.n);
      double reduced = -slack;
      const uint32 found =
          price_exactly(s, lane, ground, p, most, most_units, doubt, first, last, reduced);
      if (found == NO_ROW) {
        first = last;
      } else {
        Own<MOST_PASSES> own;
        take_nodes(s, lane, own);
        const int source = found >> INDEX_BITS, sink = s.n + (found & INDEX);
        pivot(s, lane, own, s.exact, source, sink, reduced);
        round_potentials(s, lane, units);
        proven = false, --patience;
      }
    }
    if (proven || !patience) return cost;
  }
}

// Solve with costs of 22 bits, then prove that the flow is optimal for exact costs, up to PROVEN.
STEP void guess_by_simplex(const Side* x, const Side* y, const Tasks& tasks,
                           const Results& results, const GroundDistance& ground,
                           const Tables& tables) {
  Basis s;
  const int lane = threadIdx.x & 31;
  const int64 count = number_of_tasks(tasks);
  for (int64 number = blockIdx.x; number < count; number += gridDim.x) {
    Lane l;
    Problem p;
    take_problem(x, y, tasks, number, count, 32, 1, 32, l, p);
    int source_factor, sink_factor, total;
    bool solved =
        small_factors(p.sources->totals[p.source_graph], p.sinks->totals[p.sink_graph], 31,
                      source_factor, sink_factor, total);
    double distance = 0.0;
    if (solved) {
      lay_out_basis(s, tables.memory, tables.costs, l.n, l.m);
      const double bound = cost_bound(ground, p);
      const Supply<int> supply = supply_of(p, p.sources->masses, source_factor);
#pragma unroll 1
      for (int i = lane; i < s.n; i += 32) s.flow[i] = supply(i);
      fill_costs(s, lane, ground, p, bound, sink_factor);
      __syncwarp();
      if (s.nodes <= 64)
        solve_integers<2>(s, lane);
      else if (s.nodes <= 96)
        solve_integers<3>(s, lane);
      else if (s.nodes <= 32 * MOST_UNROLLED)
        solve_integers<MOST_UNROLLED>(s, lane);
      else
        solve_integers<MOST_PASSES>(s, lane);
      const double units = units_per_cost(bound, SIMPLEX_COST_BITS);
      const int doubt = doubt_of(s, lane, ground, p, bound, units);
      // A distance so small that rounding errors of other costs matter: dearer arcs than all flow
      // together cannot be in an optimal flow, whatever they cost beyond that.
      const double matched = matched_mass(p, total);
      for (double most = bound; solved && most > 0; most = finer_bound(most, distance, matched))
        distance =
            prove_basis(s, lane, ground, p, most, units, doubt, total, matched, solved) / matched;
    }
    if (lane == 0) leave_result(p, tasks, results, solved, distance);
    __syncwarp();
  }
}
