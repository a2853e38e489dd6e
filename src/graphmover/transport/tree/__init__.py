"""The closed form of equation (1) where nodes are labels that refine each other.

Let depth k of 0..h have the label histograms x_k and y_k of two graphs, as shares of their mass.
The ground distance is the share of the depths at which labels differ. Labels of depth k + 1 refine
those of depth k, so matching nodes from the deepest depth up makes as many as possible equal at
every depth at once, and the least cost is

    mean over k of  1 - sum_l min(x_k(l), y_k(l))

With `TreeDistance(partial=True)`, x_k and y_k are masses, and the sum is divided by that of y.

Masses are integers. Times the product of both totals, every term is an integer: sums are exact,
in any order, while h + 1 times that product is at most 2**53, and there is one rounding at the end.
"""
