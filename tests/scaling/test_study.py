import pytest

from ogg_hpc.errors import InputError
from ogg_hpc.scaling.study import Study, load_study
from ogg_hpc.settings import describe


def test_every_key_is_explained():
    keys = {key: text for key, _, text in describe(Study)}
    assert {"ranks", "repeats", "[[cases]] kind", "[[cases]] graph"} <= set(keys)
    assert all(keys.values())


def test_a_case_without_a_name_is_called_after_its_kind_and_engine(study_file):
    study_file.write_text('[[cases]]\ngraph = "ba:n=20,d=2"\nengine = "scalar"\n')
    assert load_study(study_file).cases[0].label == "inference-scalar"


def test_an_embedding_without_a_name_is_called_after_its_strategy(study_file):
    study_file.write_text(
        '[[cases]]\nkind = "embedding"\ngraph = "ba:n=20,d=2"\noverrides = ["strategy=dot"]\n'
    )
    assert load_study(study_file).cases[0].label == "embedding-dot"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("repeats = 2", "1: repeats must be at least 3, not 2"),
        ("repeats = 'x'", "1: repeats must be an integer, not 'x'"),
        ("reapeats = 3", "1: unknown key reapeats; did you mean repeats?"),
        ("ranks = [2, 2]", "1: ranks are different numbers from 1, not [2, 2]"),
        ("ranks = [0]", "1: ranks are different numbers from 1, not [0]"),
        ("threads = 0", "1: threads must be at least 1"),
        ("device = 'tpu'", "1: device is auto or cpu or cuda, not 'tpu'"),
        ("name = 'a b'", "1: name 'a b': letters, digits"),
        ("[[cases]]\nkind = 'other'", "2: kind is inference or training or embedding, not 'other'"),
        (
            "[[cases]]\nkind = 'embedding'\noverrides = ['strategi=dot']",
            "3: unknown key strategi; did you mean strategy?",
        ),
        (
            "[[cases]]\nkind = 'embedding'\noverrides = ['method=line']",
            "3: line of both orders is two models",
        ),
        ("[[cases]]\nkind = 'embedding'\noverrides = ['dim=0']", "3: --dim must be at least 1"),
        ("[[cases]]\nkind = 'embedding'\nengine = 'scalar'", "3: an embedding has none"),
        (
            "[[cases]]\nkind = 'embedding'\nscaling = 'weak'\ngrows = 'nodes'",
            "4: the batches of an embedding grow with P, so entries must, too",
        ),
        ("[[cases]]\nscaling = 'linear'", "2: scaling is strong or weak, not 'linear'"),
        ("[[cases]]\ngrows = 'edges'", "2: grows is entries or nodes, not 'edges'"),
        ("[[cases]]\nengine = 'warp'", "2: engine is auto or reference or frontier or scalar, not"),
        (
            "[[cases]]\nkind = 'training'\nengine = 'frontier'",
            "3: engine is auto or reference or scalar, not 'frontier'",
        ),
        ("[[cases]]\noverrides = ['problem=\"mis\"']", "2: problem is for keys of the case"),
        (
            "[[cases]]\noverrides = ['learning.engine=\"scalar\"']",
            "2: learning.engine is for keys of",
        ),
        (
            "[[cases]]\noverrides = ['parallel.ranks_per_graph=1']",
            "2: parallel.ranks_per_graph is for",
        ),
        ("[[cases]]\ncollective = 'ring'", "2: collective is allgather or allreduce, not 'ring'"),
        ("[[cases]]\nbalance = 'nodes'", "2: balance is rows or edges, not 'nodes'"),
        ("[[cases]]\n[[cases]]\nsteps = 0", "3: steps must be at least 1"),
        ("[[cases]]\ngraph = 'er:n=20'", "2: er:n=20: er needs p too"),
        ("[[cases]]\ngraph = 'ba:n=9,d=2,count=2'", "one graph is measured; leave count out"),
        ("[[cases]]\nscaling = 'weak'\ngraph = 'g.mtx'", "3: g.mtx: a file cannot grow with P"),
        ("[[cases]]\nscaling = 'weak'\ngraph = 'rb:n=9,d=3,p=0.2'", "rb cannot grow with P"),
        ("[[cases]]\n[[cases]]", "1: 2 cases are called inference-auto"),
        ("name = 'x'", ": nothing to measure: add a [[cases]] table"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_key(study_file, line, message):
    study_file.write_text(line + "\n")
    with pytest.raises(InputError) as raised:
        load_study(study_file)
    said = str(raised.value)
    assert said.startswith(f"{study_file}:")
    assert message in said
