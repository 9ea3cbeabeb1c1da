import importlib
import pickle
import pkgutil

import pytest

import ogg_hpc
from ogg_hpc.actors.message import MalformedMessageError
from ogg_hpc.actors.waiting import NoActorsError
from ogg_hpc.embedding.divergence import DivergedError
from ogg_hpc.errors import (
    InfeasibleError,
    InputError,
    InterruptionError,
    MissingExtraError,
    OggError,
    SettingsError,
    StoppedError,
)
from ogg_hpc.graphs.building.edges import ConflictingEdgesError
from ogg_hpc.graphs.conversion.piece import DoubtError, WholeFileError, WiderDialectError
from ogg_hpc.graphs.graph import ConflictingWeightsError
from ogg_hpc.settings import build
from ogg_hpc.training.settings import TrainSettings


def _settings_that_do_not_fit():
    try:
        build(TrainSettings, {"learning": {"steps": "many"}})
    except SettingsError as error:
        return error
    return None


ERRORS = [
    OggError("all wrong"),
    InputError("edges.txt", "is damaged", 3),
    InputError("edges.txt", "is damaged"),
    SettingsError("no such thing"),
    MissingExtraError("ortools", "solvers"),
    InterruptionError("interrupted"),
    StoppedError("stopped by SIGUSR1 at step 3 of 9"),
    InfeasibleError("not a cover"),
    ConflictingWeightsError("a", "b", 1.0, 2.0, 0, 7),
    ConflictingEdgesError(3, 5, (1.0, 2.0)),
    WiderDialectError(cells=True),
    DoubtError(InputError("edges.txt", "expected 'u v'", 3)),
    WholeFileError(),
    DivergedError(0, 3, 0.025),
    MalformedMessageError("grant: a host knows no such message"),
    NoActorsError("nobody steps an environment"),
    _settings_that_do_not_fit(),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_reaches_other_ranks_as_it_is(error):
    received = pickle.loads(pickle.dumps(error))
    assert type(received) is type(error)
    assert str(received) == str(error)
    assert repr(vars(received)) == repr(vars(error))  # one error may hold another
    assert received.exit_code == error.exit_code


def test_every_kind_of_error_is_tested():
    for module in pkgutil.walk_packages(ogg_hpc.__path__, "ogg_hpc."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    kinds = [OggError]
    for kind in kinds:
        kinds += [k for k in kind.__subclasses__() if k.__module__.startswith("ogg_hpc.")]
    assert set(kinds) == {type(error) for error in ERRORS}
