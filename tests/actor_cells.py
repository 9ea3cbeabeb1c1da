"""A cell over the ranks of a job: the first one learns, the others act for it."""

from collections.abc import Iterator
from contextlib import contextmanager

from ogg_hpc.actors.cell import PHASES, Cell
from ogg_hpc.actors.collectors.registry import collector_class
from ogg_hpc.actors.environments.registry import make_environment
from ogg_hpc.actors.host import Host
from ogg_hpc.actors.networks.registry import make_network
from ogg_hpc.actors.normalisation import ObservationNormaliser
from ogg_hpc.actors.schema import Schema
from ogg_hpc.actors.setup import Setup
from ogg_hpc.actors.transports.inside import InsideTransport
from ogg_hpc.actors.transports.mpi import MPITransport, act
from ogg_hpc.runtime.clock import Clock
from ogg_hpc.runtime.communicator import Communicator
from ogg_hpc.runtime.stop import never


@contextmanager
def cell_over_ranks(comm, settings, processes, stop=never) -> Iterator[Cell | None]:
    """Yield a cell on rank 0, with an inside host if that is alone; None on the others.

    Collective; the others come out of it when rank 0 does.

    Parameters
    ----------
    processes
        Environment processes of each host, of one environment each.
    """
    mailbox = comm.mailbox()
    if comm.rank:
        act(mailbox, 0, Host(processes, 1))
        yield None
    else:
        ranks = range(1, comm.size)
        transport = MPITransport(mailbox, ranks) if ranks else InsideTransport(Host(processes, 1))
        cell = learner_cell(transport, settings, stop)
        try:
            yield cell
        finally:
            cell.close()
    mailbox.close()


def learner_cell(transport, settings, stop=never):
    """Return a cell whose first weights are published."""
    schema = Schema.of(make_environment(settings.environment.name, settings.environment.options))
    layout = collector_class(settings.algorithm).layout(schema)
    clock = Clock(Communicator(), *PHASES)
    cell = Cell([transport], Setup(0, settings, schema, layout), clock, stop)
    cell.publish(weights(settings, schema))
    return cell


def weights(settings, schema):
    network = make_network(settings.network.name, schema, settings.network.model)
    return network.initial(settings.seed) | ObservationNormaliser(schema).arrays()
