"""Training with early stopping, on a held-out part of the training set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from graphmover._utils.checks import require_integer
from graphmover._utils.random_state import random_generator
from graphmover.graphs.batch import GraphBatch
from graphmover.graphs.estimators import GraphEstimator
from graphmover.graphs.interop import as_graph_batch
from graphmover.rivals.base import Floats
from graphmover.rivals.neural.inputs import Inputs
from graphmover.rivals.optional import optional


class NeuralClassifier(ClassifierMixin, GraphEstimator, ABC):
    """A network trained by Adam on the cross-entropy.

    A stratified tenth of the training set is held out. Training stops when the loss on it has not
    improved for ``patience`` epochs, and the weights of its best epoch are kept. The test set is
    never seen.

    A subclass needs ``_network(n_classes)``, which returns a PyTorch module. Its ``forward`` takes
    some graphs as one, with the fields ``x`` (nodes, ``self.inputs_.n_node_features``),
    ``edge_index``, ``edge_attr``, ``batch`` (the graph of each node) and ``n_graphs``, and returns
    a score for each graph and class.

    Parameters
    ----------
    hidden : int
        Units of hidden layers.
    learning_rate : float
    batch_size : int
        Number of graphs in a step.
    epochs, patience : int
        The maximum number of epochs, and how many to wait for an improvement.
    random_state : int or None
        Seed of weights, shuffles and the held-out part; PyTorch's global state is left unchanged.
    """

    def __init__(
        self,
        hidden: int = 64,
        *,
        learning_rate: float = 0.01,
        batch_size: int = 64,
        epochs: int = 300,
        patience: int = 40,
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes
        y : array-like of shape (len(X),)
            Classes.
        """
        torch = optional("torch", type(self).__name__)
        for name, least in {"hidden": 1, "batch_size": 1, "epochs": 1, "patience": 0}.items():
            require_integer(name, getattr(self, name), least=least)
        batch = as_graph_batch(X)
        check_classification_targets(y)
        self.classes_, target = np.unique(np.asarray(y), return_inverse=True)
        if len(target) != len(batch):
            raise ValueError(f"y has {len(target)} values for {len(batch)} graphs")
        rng = random_generator(self.random_state)
        train, held_out = stratified_holdout(target, rng)
        self._learn(batch[train])
        with _own_state(torch):
            torch.manual_seed(int(rng.integers(2**31)))
            network = self._network(len(self.classes_))
            best = self._train(torch, network, batch, target, train, held_out, rng)
        self.weights_ = {name: value.numpy() for name, value in best.items()}
        return self

    def _train(
        self,
        torch: Any,
        network: Any,
        batch: GraphBatch,
        target: Any,
        train: Any,
        held_out: Any,
        rng: np.random.Generator,
    ) -> dict[str, Any]:
        """Return the weights of the best epoch."""
        classes = torch.from_numpy(target)
        optimiser = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
        loss_of = torch.nn.functional.cross_entropy
        prepared = self._prepared(batch)
        validation = self._taken(prepared, held_out)
        best, best_loss, waited = _copy(network), np.inf, 0
        for epoch in range(self.epochs):
            network.train()
            for chosen in self._chunks(rng.permutation(train)):
                if len(chosen) == 1 < len(train):
                    continue  # batch normalisation needs more than one graph
                optimiser.zero_grad()
                loss = loss_of(network(self._taken(prepared, chosen)), classes[chosen])
                loss.backward()
                optimiser.step()
            network.eval()
            with torch.no_grad():
                loss = float(loss_of(network(validation), classes[held_out]))
            self.n_epochs_ = epoch + 1
            waited += 1
            if loss < best_loss:
                best, best_loss, waited = _copy(network), loss, 0
            if waited >= self.patience:
                break
        return best

    def _chunks(self, order: Any) -> list[Any]:
        return [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each graph.

        Parameters
        ----------
        X : GraphBatch or anything `as_graph_batch` takes

        Returns
        -------
        ndarray of shape (len(X), number of classes)
        """
        check_is_fitted(self)
        torch = optional("torch", type(self).__name__)
        batch = as_graph_batch(X)
        weights = {name: torch.from_numpy(value) for name, value in self.weights_.items()}
        found = []
        with _own_state(torch), torch.no_grad():
            network = self._network(len(self.classes_))  # its initial weights are replaced
            network.load_state_dict(weights)
            network.eval()
            prepared = self._prepared(batch)
            for chosen in self._chunks(np.arange(len(batch))):
                scores = network(self._taken(prepared, chosen))
                found.append(torch.softmax(scores, dim=1).numpy())
        return np.concatenate(found).astype(np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each graph."""
        places = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[places])

    def _learn(self, batch: GraphBatch) -> None:
        """Learn how graphs become what the network reads."""
        self.inputs_ = Inputs.fitted_to(batch)

    def _prepared(self, batch: GraphBatch) -> Any:
        """Return what is computed once for all graphs; here they stay as they are."""
        return batch

    def _taken(self, prepared: Any, chosen: Any) -> Any:
        """Return some of the graphs as the network reads them."""
        return self.inputs_.tensors(prepared[chosen])

    @abstractmethod
    def _network(self, n_classes: int) -> Any:
        """Return a new network, which takes what `_taken` returns."""


@contextmanager
def _own_state(torch: Any) -> Iterator[None]:
    """Keep PyTorch's random state, and one thread: small graphs are slower with more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def _copy(network: Any) -> dict[str, Any]:
    return {name: value.detach().clone() for name, value in network.state_dict().items()}


def stratified_holdout(target: NDArray[Any], rng: np.random.Generator) -> tuple[Any, Any]:
    """Return nine tenths for training and one to be held out, in each class; both increase."""
    held_out = []
    for kind in range(int(target.max()) + 1):
        own = rng.permutation(np.flatnonzero(target == kind))
        held_out.append(own[: max(len(own) // 10, int(len(own) > 1))])
    out = np.sort(np.concatenate(held_out))
    train = np.setdiff1d(np.arange(len(target)), out)
    return (train, out) if len(out) else (train, train)


class Holdout:
    """A tenth of each class to choose hyperparameters on: what `GridSearchCV` takes as ``cv``."""

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield the one split."""
        _, target = np.unique(np.asarray(y), return_inverse=True)
        yield stratified_holdout(target, np.random.default_rng(0))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        return 1

    def __repr__(self) -> str:
        return "Holdout()"
