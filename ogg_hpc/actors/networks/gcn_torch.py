"""The graph convolutional policy of molecules, in torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ogg_hpc.actors.networks.gcn_forward import Parameters, decide, encode, value
from ogg_hpc.actors.networks.trainable import Evaluated, Tensors, TrainableNetwork
from ogg_hpc.actors.schema import PLAIN

if TYPE_CHECKING:
    from ogg_hpc.actors.networks.gcn import GCN

_PARTS = 4  # of a batch, by the size of molecules


class TrainableGCN(TrainableNetwork):
    """The torch form of a `GCN`.

    Parameters
    ----------
    network
        The NumPy form.
    """

    def __init__(self, network: GCN) -> None:
        super().__init__()
        self._most = network.atoms
        groups: dict[str, torch.nn.ParameterDict] = {}
        for name, shape in network.shapes.items():
            group, part = name.split(".")
            groups.setdefault(group, torch.nn.ParameterDict())[part] = torch.zeros(shape)
        for group, parameters in groups.items():
            self.add_module(group, parameters)

    def evaluate(self, observations: Tensors, actions: Tensors) -> Evaluated:
        """See `TrainableNetwork.evaluate`.

        The entropy is that of the stages after one another, each given the choices before it: its
        mean over actions of the policy is the entropy of the whole action.
        """
        # Molecules are padded to the largest beside them, so those of a size go together.
        by_size = (observations["atoms"] > 0).sum(1).argsort(stable=True)
        parameters = dict(self.named_parameters())
        with by_size.device:
            parts = [
                self._evaluate(
                    parameters,
                    {name: each[part] for name, each in observations.items()},
                    actions[PLAIN][part].long(),
                )
                for part in by_size.tensor_split(_PARTS)
                if len(part)
            ]
            place = by_size.argsort()
            return Evaluated(*(torch.cat(each)[place] for each in zip(*parts, strict=True)))

    def _evaluate(
        self, parameters: Parameters, observations: Tensors, actions: torch.Tensor
    ) -> Evaluated:
        first, second, order, stop = actions.unbind(1)
        molecules = encode(torch, parameters, observations)
        largest = molecules.atoms.shape[1]
        second = torch.where(second < self._most, second, second - self._most + largest)
        choices = (stop, first, second, order)
        goes_on = 1.0 - stop.float()
        log_probability = entropy = torch.zeros(len(stop))

        def evaluated(head: int, logs: Any) -> torch.Tensor:
            nonlocal log_probability, entropy
            counts = goes_on if head else 1.0
            chosen = logs.gather(1, choices[head][:, None])[:, 0]
            log_probability = log_probability + counts * chosen
            entropy = entropy - counts * (logs.exp() * logs).sum(1)
            return choices[head]

        decide(torch, parameters, molecules, evaluated)
        return Evaluated(log_probability, entropy, value(parameters, molecules))
