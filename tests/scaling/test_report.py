import csv
import sys

import pytest

from ogg_hpc.errors import InputError, MissingExtraError
from ogg_hpc.scaling import plots
from ogg_hpc.scaling.network import Network
from ogg_hpc.scaling.records import write_record
from ogg_hpc.scaling.report import write_report
from ogg_hpc.scaling.tables import duration

PLOTS = ("time.png", "speed-up.png", "efficiency.png", "shares.png", "bytes.png")


@pytest.fixture
def measured(folder, record):
    """A study of which one case is measured, on more ranks than cores at P = 4."""
    for point in folder.points[:3]:
        hosts = [{"host": "n1", "ranks": point.ranks, "cores": 2, "gpus": 0, "load": 0.5}]
        made = record(point.ranks, 1.0 if point.ranks == 1 else 0.625, hosts=hosts)
        write_record(folder.record_file(point), made)
    return folder


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def test_points_on_more_ranks_than_cores_get_no_speed_up(measured):
    report = write_report(measured)
    one, two, four = rows_of(measured.path / "measured.csv")
    assert float(one["speed_up"]) == 1
    assert float(two["speed_up"]) == pytest.approx(1.6)
    assert float(two["efficiency"]) == pytest.approx(0.8)
    assert (four["speed_up"], four["efficiency"], four["oversubscribed"]) == ("", "", "True")
    assert float(four["seconds"]) == 0.625
    assert any(note.startswith("* P = 4: more ranks") for note in report.notes)
    assert [row[1] for row in report.tables[0].rows] == ["1", "2", "4*"]


def test_missing_points_are_named(measured):
    [note] = [note for note in write_report(measured).notes if note.startswith("Not measured")]
    assert note == "Not measured, and not drawn: train.p0001, train.p0002, train.p0004."


def test_predictions_go_to_thousands_of_ranks_and_say_what_they_rest_on(measured):
    report = write_report(measured, up_to=4096)
    predicted = rows_of(measured.path / "predicted.csv")
    assert [int(row["ranks"]) for row in predicted] == [2**k for k in range(13)]
    assert [row[0] for row in report.tables[2].rows] == [
        "1",
        "4",
        "16",
        "64",
        "256",
        "1,024",
        "4,096",
    ]
    text = "\n".join(report.notes)
    assert "fitted to P = 1, 2; so few points do not determine α and β" in text
    assert "by an Allreduce of 8 bytes and of 8 MB on the ranks measured" in text
    assert "computation is divided without rest" in text


def test_a_network_that_was_given_is_named_as_such(measured):
    notes = write_report(measured, modelled=Network(2e-6, 1e-10, "given, not measured")).notes
    assert any("α = 2e-06 s and β = 1e-10 s a byte given, not measured" in each for each in notes)


def test_messages_on_a_network_that_was_given_are_told_as_a_model(measured, drawn):
    report = write_report(measured, modelled=Network(1e-6, 1e-9, "given, not measured"))
    traffic = report.tables[1]
    assert traffic.header[-1] == "on the given network (model)"
    # 2 calls, and 4,000 bytes at P = 2: 2 µs and 4 µs.
    assert [row[-1] for row in traffic.rows] == ["6 µs", "10 µs"]
    labels = drawn["time.png"].get_legend_handles_labels()[1]
    assert "messages alone on the given network (model)" in labels
    assert write_report(measured).tables[1].header[-1] == "counted / paper's"


def test_everything_is_written(measured):
    report = write_report(measured)
    names = {path.name for path in report.files}
    assert names == {*PLOTS, "report.md", "measured.csv", "predicted.csv"}
    for name in PLOTS:
        assert (measured.path / name).read_bytes().startswith(b"\x89PNG")
    text = (measured.path / "report.md").read_text()
    assert text.startswith("# small: n1 (2 cores), 1 thread a rank, on cpu, commit abc\n")
    assert all(f"]({name})" in text for name in PLOTS)
    assert "| search | 2 | 1,000 | 625 ms |" in text


def test_one_rank_alone_is_a_report_too(folder, record):
    write_record(folder.record_file(folder.points[0]), record(1))
    report = write_report(folder)
    assert "search: no point of several ranks that have cores of their own, so no model." in (
        report.notes
    )
    assert rows_of(folder.path / "predicted.csv") == []
    assert "bytes.png" not in {path.name for path in report.files}


@pytest.fixture
def drawn(monkeypatch):
    """The axes of each plot of the reports that the test writes."""
    from matplotlib.figure import Figure

    axes = {}

    def keep(path, title, height, draw):
        axes[path.name] = Figure().subplots()
        draw(axes[path.name])
        path.touch()

    monkeypatch.setattr(plots, "_write", keep)
    return axes


def test_legends_name_what_is_drawn(measured, drawn):
    write_report(measured)  # no formula is known
    assert drawn["bytes.png"].get_legend_handles_labels()[1] == ["counted"]
    assert "ideal" in drawn["time.png"].get_legend_handles_labels()[1]
    measured.record_file(measured.points[1]).unlink()  # no model any more
    write_report(measured)
    assert "ideal" not in drawn["time.png"].get_legend_handles_labels()[1]


def test_without_a_model_the_measured_ranks_are_marked(measured, drawn):
    measured.record_file(measured.points[1]).unlink()
    write_report(measured)
    assert list(drawn["time.png"].get_xticks()) == [1, 4]


def test_every_network_and_number_of_ranks_gives_a_report(measured):
    for up_to in (1, 2, 3):
        for modelled in (None, Network(0.0, 0.0, "given")):
            tables = write_report(measured, up_to, modelled).tables
            assert all(table.rows for table in tables)


def test_predictions_begin_with_the_least_measured_ranks(measured):
    measured.record_file(measured.points[0]).unlink()
    for up_to, rows in ((1, []), (2, ["2"]), (4, ["4"]), (16, ["4", "16"])):
        tables = write_report(measured, up_to).tables
        assert [row[0] for table in tables[2:] for row in table.rows] == rows


def test_steps_of_which_communication_is_more_than_all_get_a_note(measured, record):
    hosts = [{"host": "n1", "ranks": 2, "cores": 2, "gpus": 0, "load": 0.5}]
    write_record(measured.record_file(measured.points[1]), record(2, 1e-9, hosts=hosts))
    notes = write_report(measured).notes
    assert any("search: communication alone would explain the times" in note for note in notes)


def test_a_machine_that_others_use_is_told(folder, record):
    hosts = [{"host": "n1", "ranks": 1, "cores": 2, "gpus": 0, "load": 14.2}]
    write_record(folder.record_file(folder.points[0]), record(1, hosts=hosts))
    assert (
        write_report(folder)
        .notes[0]
        .startswith("Others used the machine: 14 processes wanted to run on 2 cores")
    )


def test_shared_gpus_are_as_bad_as_shared_cores(record):
    def on(gpus):
        return record(4, hosts=[{"host": "n1", "ranks": 4, "cores": 64, "gpus": gpus, "load": 0.5}])

    assert [on(gpus).oversubscribed for gpus in (0, 2, 4)] == [False, True, False]


def test_nothing_measured_is_no_report(folder):
    with pytest.raises(InputError, match="nothing has been measured"):
        write_report(folder)


def test_without_matplotlib_the_extra_is_named(measured, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ogg-hpc\[plot\]'"):
        write_report(measured)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(161.4, "161 s"), (1.0, "1 s"), (0.45, "450 ms"), (1.03e-3, "1.03 ms"), (2e-7, "0.2 µs")],
)
def test_durations_have_units_that_suit_them(seconds, text):
    assert duration(seconds) == text
