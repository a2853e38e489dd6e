"""Graph neural networks as scikit-learn classifiers; they need PyTorch and PyTorch Geometric."""
