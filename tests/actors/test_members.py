from hypothesis import given
from hypothesis import strategies as st

from ogg_hpc.actors.members import Address, Members


def numbers(host):
    return [slot.number for slot in host.slots]


def test_hosts_get_the_lowest_free_slots():
    members = Members()
    assert numbers(members.join(Address(0, 0), "a", 2)) == [0, 1]
    assert numbers(members.join(Address(0, 1), "b", 1)) == [2]
    members.leave(Address(0, 0))
    assert numbers(members.join(Address(1, 0), "c", 3)) == [0, 1, 3]


def test_who_has_left_is_not_there():
    members = Members()
    members.join(Address(0, 0), "a", 2)
    assert members.leave(Address(0, 0)).name == "a"
    assert members.leave(Address(0, 0)) is None
    assert (members.hosts, members.slots) == ({}, {})


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(1, 4)), max_size=30))
def test_no_incarnation_of_a_slot_is_ever_held_twice(moves):
    members, seen = Members(), set()
    for comes, number, capacity in moves:
        address = Address(0, number)
        if comes and address not in members.hosts:
            host = members.join(address, "", capacity)
            held = {(slot.number, slot.incarnation) for slot in host.slots}
            assert len(held) == capacity
            assert not held & seen
            seen |= held
        elif not comes:
            members.leave(address)
        assert sorted(slot.number for host in members.hosts.values() for slot in host.slots) == (
            sorted(members.slots)
        )


def test_a_slot_that_is_started_anew_forgets_what_was_asked_of_it():
    slot = Members().join(Address(0, 0), "a", 1).slots[0]
    slot.ready, slot.weight, slot.sequence, slot.void = True, 0.1, 7, True
    slot.restart(3)
    assert (slot.incarnation, slot.ready, slot.weight, slot.sequence) == (3, False, 1.0, -1)
    assert (slot.grant, slot.void) == (None, False)
