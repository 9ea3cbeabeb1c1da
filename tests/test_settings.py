from dataclasses import dataclass, fields

import pytest

from ogg_hpc.errors import InputError, SettingsError
from ogg_hpc.settings import build, describe, load, override, setting
from ogg_hpc.training.settings import TrainSettings


@dataclass(frozen=True)
class Oven:
    degrees: float = setting(180.0, "heat")
    fan: bool = setting(False, "whether air moves")

    def __post_init__(self):
        if self.degrees > 300:
            raise SettingsError("oven.degrees must be at most 300")


@dataclass(frozen=True)
class Tray:
    name: str = setting("", "what lies on it")
    pieces: int | tuple[int, ...] = setting(1, "how many, or [least, most]")


@dataclass(frozen=True)
class Bakery:
    owner: str
    loaves: int = setting(3, "loaves a day")
    spices: tuple[str, ...] = setting((), "names")
    extra: dict = setting(dict, "anything")
    oven: Oven = setting(Oven, "the oven")
    tray: tuple[Tray, ...] = setting((), "trays")


DOCUMENT = """\
# comment
owner = "Ada"
loaves = 4
spices = ["salt"]

[extra]
loaves = "not a key of the bakery"

[oven]
degrees = 200

[[tray]]
name = "rye"
pieces = 6

[[tray]]
name = "spelt"
pieces = [2, 5]
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        file = tmp_path / "bakery.toml"
        file.write_text(text)
        return file

    return write


def test_document_becomes_typed_settings(write):
    bakery = load(Bakery, write(DOCUMENT))
    assert bakery == Bakery(
        owner="Ada",
        loaves=4,
        spices=("salt",),
        extra={"loaves": "not a key of the bakery"},
        oven=Oven(degrees=200.0),
        tray=(Tray("rye", 6), Tray("spelt", (2, 5))),
    )
    assert type(bakery.oven.degrees) is float


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("loaves = 4", "loafs = 4", 3, "unknown key loafs; did you mean loaves?"),
        ("loaves = 4", "zzz = 4", 3, "unknown key zzz; known keys: owner, loaves, spices"),
        ("degrees = 200", "degree = 1", 10, "unknown key oven.degree; did you mean degrees?"),
        ("degrees = 200", "owner = 'x'", 10, "unknown key oven.owner"),
        ('"spelt"\npieces', '"spelt"\npiece', 18, "unknown key tray[1].piece; did you mean pieces"),
        ("loaves = 4", "loaves = 4.5", 3, "loaves must be an integer, not 4.5"),
        ("loaves = 4", "loaves = true", 3, "loaves must be an integer, not True"),
        ('owner = "Ada"', "owner = 5", 2, "owner must be a string, not 5"),
        ('["salt"]', '"salt"', 4, "spices must be a list, not 'salt'"),
        ('["salt"]', '["salt", 3]', 4, "spices[1] must be a string, not 3"),
        ("degrees = 200", 'degrees = "hot"', 10, "oven.degrees must be a number, not 'hot'"),
        ("degrees = 200", "fan = 1", 10, "oven.fan must be true or false, not 1"),
        ("[2, 5]", "2.5", 18, "tray[1].pieces must be an integer or a list, not 2.5"),
        ("degrees = 200", "degrees = 400", 9, "oven.degrees must be at most 300"),
        ("[oven]\ndegrees = 200", "[[oven]]", 9, "oven must be a table, not [{}]"),
        ('owner = "Ada"\n', "", None, "the key owner is missing"),
    ],
)
def test_fault_names_file_line_and_key(write, old, new, line, message):
    assert old in DOCUMENT
    file = write(DOCUMENT.replace(old, new))
    where = str(file) if line is None else f"{file}:{line}"
    with pytest.raises(InputError) as error:
        load(Bakery, file)
    assert str(error.value).startswith(f"{where}: ")
    assert message in str(error.value)


def test_inline_tables_are_found_too(write):
    file = write('owner = "Ada"\noven = {degree = 3}\n')
    with pytest.raises(InputError, match=r":2: unknown key oven\.degree; did you mean degrees"):
        load(Bakery, file)


def test_file_that_is_missing_or_no_toml(write, tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: cannot read the settings: No such file"):
        load(Bakery, tmp_path / "none.toml")
    with pytest.raises(InputError, match=r"not TOML: .*line 2"):
        load(Bakery, write("owner = 'Ada'\nloaves 3\n"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not TOML"):
        load(Bakery, tmp_path / "binary.toml")


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("loaves=7", {"loaves": 7}),
        ("loaves = 7 ", {"loaves": 7}),
        ("owner=Ada Lovelace", {"owner": "Ada Lovelace"}),
        ('owner="5"', {"owner": "5"}),
        ("owner=a=b", {"owner": "a=b"}),
        ("owner=own/file.py:Class", {"owner": "own/file.py:Class"}),
        ("spices=['a', 'b']", {"spices": ["a", "b"]}),
        ("oven.degrees=1e2", {"oven": {"degrees": 100.0}}),
        ("oven.fan=true", {"oven": {"degrees": 200, "fan": True}}),
        ("extra.deep.down=1", {"extra": {"deep": {"down": 1}}}),
    ],
)
def test_assignment_is_toml_or_a_plain_string(assignment, expected):
    document = {"owner": "x", "oven": {"degrees": 200}}
    assert override(document, [assignment]) == document | expected


def test_override_leaves_the_document_alone_and_the_last_wins():
    document = {"oven": {"degrees": 200}}
    result = override(document, ["oven.degrees=1", "oven.degrees=2"])
    assert result == {"oven": {"degrees": 2}}
    assert document == {"oven": {"degrees": 200}}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("loaves", "'loaves': expected section.key=value"),
        ("=3", "expected section.key=value"),
        ("owner.first=Ada", "owner is not a table"),
        ("oven.degree=3", "unknown key oven.degree; did you mean degrees?"),
        ("loaves=many", "loaves must be an integer, not 'many'"),
        ("oven.degrees=301", "oven.degrees must be at most 300"),
    ],
)
def test_fault_of_an_assignment_is_a_settings_error(write, assignment, message):
    with pytest.raises(SettingsError) as error:
        load(Bakery, write('owner = "Ada"\n'), [assignment])
    assert message in str(error.value)


def test_assignments_win_over_the_file(write):
    bakery = load(Bakery, write(DOCUMENT), ["loaves=9", "oven.fan=true"])
    assert (bakery.loaves, bakery.oven) == (9, Oven(200.0, True))


def test_build_fills_in_defaults():
    bakery = build(Bakery, {"owner": "Ada"})
    assert (bakery.loaves, bakery.oven, bakery.tray, bakery.extra) == (3, Oven(), (), {})


def test_describe_lists_every_key_with_default_and_help():
    assert list(describe(Bakery)) == [
        ("owner", "", ""),
        ("loaves", "3", "loaves a day"),
        ("spices", "()", "names"),
        ("extra", "", "anything"),
        ("oven.degrees", "180.0", "heat"),
        ("oven.fan", "False", "whether air moves"),
        ("[[tray]] name", "''", "what lies on it"),
        ("[[tray]] pieces", "1", "how many, or [least, most]"),
    ]


def test_every_training_setting_has_a_help_text():
    described = list(describe(TrainSettings))
    assert [key for key, _, text in described if not text] == []
    keys = {key for key, _, _ in described}
    assert {"problem", "learning.steps", "parallel.ranks_per_graph", "[[train]] family"} <= keys
    assert all(entry.metadata.get("help") for entry in fields(TrainSettings))
