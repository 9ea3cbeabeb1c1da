from ogg_hpc.actors.gateway.backoff import Backoff


def test_pauses_grow_up_to_the_most_and_begin_anew_after_a_success():
    backoff = Backoff(0.5, 30.0)
    limits = [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    pauses = [backoff.pause() for _ in limits]
    assert all(0.05 <= pause <= limit for pause, limit in zip(pauses, limits, strict=True))
    backoff.reset()
    assert backoff.pause() <= 0.5


def test_pauses_of_many_hosts_differ():
    assert len({Backoff(0.5, 30.0).pause() for _ in range(20)}) == 20
