"""Reading Dockerfiles: instructions, words, and what a context leaves out. Nothing is run here."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aespec.sandbox.api import SandboxError
from aespec.sandbox.contexts import Context, glob_expression, ignore_matcher, match_below
from aespec.sandbox.docker.dockerfile import Lowering, with_documents
from aespec.sandbox.dockerfiles import DockerfileError, parse_dockerfile
from aespec.sandbox.dockerwords import Lexer, WordError
from aespec.sandbox.stages import Settings, StageState, global_arguments, needed_stages


def only(text):
    """The instructions of the one stage of a text below a FROM."""
    return parse_dockerfile(f"FROM base\n{text}").stages[0].instructions


# --- instructions --------------------------------------------------------------------------------


def test_lines_are_joined_and_comments_dropped():
    (run,) = only("RUN one \\\n  two \\\n# a comment\n\n   \\\n  three\n")
    assert run.args == ("one   two      three",)
    assert run.line == 2


def test_an_escaped_escape_continues_nothing():
    first, second = only("RUN echo \\\\\nRUN two\n")
    assert first.args == ("echo \\\\",)
    assert second.args == ("two",)


def test_directives_stand_at_the_top_only():
    read = parse_dockerfile("# syntax=docker/dockerfile:1\n# escape=`\nFROM a\nRUN x `\n y\n")
    assert (read.syntax, read.escape) == ("docker/dockerfile:1", "`")
    assert read.stages[0].instructions[0].args == ("x  y",)
    assert parse_dockerfile("# a comment\n# escape=`\nFROM a\n").escape == "\\"
    assert parse_dockerfile("\n# escape=`\nFROM a\n").escape == "\\"


def test_json_and_shell_forms():
    json_form, shell_form, broken = only("RUN [\"a\", \"b c\"]\nRUN a 'b'\nRUN ['a']\n")
    assert (json_form.args, json_form.is_json) == (("a", "b c"), True)
    assert (shell_form.args, shell_form.is_json) == (("a 'b'",), False)
    assert (broken.args, broken.is_json) == (("['a']",), False)


def test_flags_come_before_the_rest():
    (run,) = only('RUN --mount=type=cache,target="/a b" --network=none echo --mount=x\n')
    assert run.flags == (("mount", "type=cache,target=/a b"), ("network", "none"))
    assert run.args == ("echo --mount=x",)


def test_env_old_and_new():
    old, new = only("ENV a b c\nENV a=1 b='2 3' c=4\\ 5\n")
    assert old.args == ("a", "b c")
    assert new.args == ("a", "1", "b", "'2 3'", "c", "4\\ 5")


def test_heredocs():
    run, copy, more = only(
        "RUN <<A cat <<-'B'\nof a\nA\n\tof b\n\tB\nCOPY <<\"C\" f /d\n$c\nC\nCOPY <<D /d\n\nD\n"
    )
    assert [(found.name, found.text, found.expands) for found in run.heredocs] == [
        ("A", "of a\n", True),
        ("B", "of b\n", False),
    ]
    assert [(found.name, found.content, found.expands) for found in copy.heredocs] == [("C", "$c\n", False)]
    assert more.heredocs[0].content == "\n"


def test_arithmetic_shifts_are_no_heredocs():
    shift, following = only("RUN echo $((1 << 2))\nRUN two\n")
    assert (shift.heredocs, following.args) == ((), ("two",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no FROM"),
        ("RUN x\nFROM a\n", "before the first FROM"),
        ("FROM a b\n", "one argument, or three"),
        ("FROM a AS 1x\n", "no name for a stage"),
        ("FROM a\nNONSENSE x\n", "no instruction 'NONSENSE'"),
        ("FROM a\nCOPY --nope=1 a b\n", "no flag --nope"),
        ("FROM a\nCOPY --link=maybe a b\n", "true or false"),
        ("FROM a\nRUN <<EOF\nx\n", "has no end"),
        ("FROM a\nENV a\n", "a name and a value"),
        ("FROM a\nENV a=1 b\n", "takes name=value"),
        ("FROM a\nWORKDIR\n", "takes an argument"),
        ('FROM a\nRUN ["a", 1]\n', "texts only"),
        ("# escape=x\nFROM a\n", "can't be the escape"),
    ],
)
def test_what_no_builder_takes_is_told_with_its_line(text, told):
    with pytest.raises(DockerfileError, match=told) as caught:
        parse_dockerfile(text)
    assert caught.value.boundary == "image"


@given(st.text(alphabet="FROMRUNCOPYENV <>\"'\\\n${}[]=-#abEOF/:,\t", max_size=120))
@settings(max_examples=400, deadline=None)
def test_any_text_is_read_or_refused(text):
    try:
        read = parse_dockerfile(f"FROM base\n{text}")
    except DockerfileError:
        return
    for stage in read.stages:
        state = StageState(Settings(), read.escape, {}, {})
        for instruction in stage.instructions:
            try:
                state.apply(instruction)
            except DockerfileError:
                return


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("$a", "1"),
        ("${a}b", "1b"),
        ("\\$a", "$a"),
        ("'$a'", "$a"),
        ('"$a"', "1"),
        ('"\\$a"', "$a"),
        ('"\\n"', "\\n"),
        ("\\n", "n"),
        ("${none:-d}", "d"),
        ("${empty:-d}", "d"),
        ("${empty-d}", ""),
        ("${none-d}", "d"),
        ("${a:+set}${none:+set}${empty:+set}${empty+set}", "setset"),
        ("${none:-${a}x}", "1x"),
        ("${none:-'a}b'}", "a}b"),
        ("$none", ""),
        ("a$", "a$"),
        ("${file%.*}|${file%%.*}|${file#*.}|${file##*.}", "a.tar|a|tar.gz|gz"),
        ("${file/a/b}|${file//a/b}", "b.tar.gz|b.tbr.gz"),
        ("${a?gone}", "1"),
    ],
)
def test_variables(word, expected):
    assert Lexer().expand(word, {"a": "1", "empty": "", "file": "a.tar.gz"}) == expected


@pytest.mark.parametrize("word", ["${", "${}", "${a", "'a", '"a', "${none:?told}", "${a!b}", "${a:#x}"])
def test_words_that_can_not_be_read(word):
    with pytest.raises(WordError):
        Lexer().expand(word, {"a": "1"})


def test_words_are_parted_by_blanks_out_of_quotes():
    assert Lexer().split("a 'b c' d\\ e $x\"f g\"", {"x": "1 2"}) == ["a", "b c", "d e", "1", "2f g"]


def test_the_other_escape():
    assert Lexer("`").expand("a\\b`$c", {"c": "1"}) == "a\\b$c"


# --- stages --------------------------------------------------------------------------------------


def test_arguments_before_the_first_stage():
    read = parse_dockerfile("ARG a=1\nARG b=$a-2\nARG c\nFROM x\n")
    known = global_arguments(read, {"c": "given"})
    assert (known["a"], known["b"], known["c"]) == ("1", "1-2", "given")
    assert known["TARGETPLATFORM"].startswith("linux/")


def test_only_needed_stages_are_needed():
    read = parse_dockerfile(
        "FROM a AS one\nFROM b AS two\nFROM one AS three\nRUN x\nFROM c AS four\nFROM d\n"
        "COPY --from=three / /\nRUN --mount=from=1,target=/x true\n"
    )
    assert needed_stages(read, {}) == {0, 1, 2, 4}


def test_a_variable_is_set_for_the_next_instruction():
    state = StageState(Settings(env={"a": "0"}), "\\", {"known": "k"}, {"given": "g"})
    for instruction in only("ENV a=1 b=$a\nARG given=d\nARG known\nARG own=$b\nARG unset\n"):
        assert state.apply(instruction)
    assert (state.env["b"], state.env["given"], state.env["known"], state.env["own"]) == ("0", "g", "k", "0")
    assert "unset" not in state.env
    assert state.settings.env["b"] == "0"
    assert "given" not in state.settings.env


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("x", "/w/x"),
        ("x/", "/w/x/"),
        (".", "/w/"),
        ("..", "/"),
        ("/a/../b/", "/b/"),
        ("/", "/"),
        ("//a", "/a"),
    ],
)
def test_places(path, expected):
    state = StageState(Settings(workdir="/w"), "\\", {}, {})
    assert state.place(path) == expected


# --- contexts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("*.pyc", ["a.pyc"], ["d/a.pyc", "a.py"]),
        ("**/*.pyc", ["a.pyc", "d/a.pyc", "d/e/a.pyc"], ["a.py"]),
        ("d/**", ["d/a", "d/a/b"], ["d", "e/d"]),
        ("**/d", ["d", "x/d", "x/y/d"], ["xd"]),
        ("d/**/f", ["d/f", "d/x/f", "d/x/y/f"], ["d/xf", "f"]),
        ("t?mp", ["temp"], ["tmp", "t/mp"]),
        ("[a-c]x", ["ax"], ["dx"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("**", ["anything", "a/b"], []),
        ("a\\*", ["a*"], ["ab"]),
    ],
)
def test_ignore_patterns(pattern, hits, misses):
    matches = ignore_matcher(pattern)
    assert [path for path in hits if not matches(path)] == []
    assert [path for path in misses if matches(path)] == []


@pytest.mark.parametrize("pattern", ["[a", "[", "[z-a]", "a[\\"])
def test_patterns_that_can_not_be_read(pattern):
    with pytest.raises(SandboxError):
        glob_expression(pattern)


def test_hostile_patterns_take_no_time():
    matches = ignore_matcher("/".join(["**"] * 30) + "/" + "*a" * 30 + "b")
    assert not matches("/".join(["a" * 60] * 60))
    assert Lexer().expand("${x##" + "*a" * 40 + "b}", {"x": "a" * 500}) == "a" * 500


def test_wildcards_name_what_is_there():
    tree = {
        "": [("a", True), ("b", True), ("f", False)],
        "a": [("x1", False), ("y", True)],
        "b": [("x2", False)],
    }
    found = list(match_below("*/x*", lambda folder: tree.get(folder, [])))
    assert sorted(found) == ["a/x1", "b/x2"]


def test_exceptions_bring_back_what_an_earlier_pattern_left_out(tmp_path):
    for name in ("a/keep", "a/drop", "a/b/keep", "c/d"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".dockerignore").write_text("a\nc\n!**/keep\n.dockerignore\n")
    names = [item.name for item in Context(tmp_path).items("")]
    assert sorted(names) == ["", "a", "a/b", "a/b/keep", "a/keep"]


# --- for an engine -------------------------------------------------------------------------------


def lowered(text, *, has_buildkit=False, **mapped):
    lowering = Lowering(
        text,
        {},
        mapped.get("image_map", {}),
        lambda name: Settings(env={"own": name}),
        has_buildkit=has_buildkit,
    )
    return lowering.lowered()


def test_the_authors_lines_stay_as_they_are():
    text = 'FROM a AS b\nENV x=$own\nCOPY --chown=1 f  /g\nRUN echo "x"   y\nFROM b\nCMD ["x"]\n'
    assert lowered(text).text == f"# escape=\\\n{text}"


def test_bases_are_mapped_wherever_they_stand():
    text = "ARG v=1\nFROM a:$v AS s\nFROM s\nCOPY --from=other /x /y\nCOPY --from=s /x /z\n"
    made = lowered(text, image_map={"a:1": "A", "other": "OTHER", "s": "never"})
    assert made.text.splitlines()[2:] == [
        "FROM A AS s",
        "FROM s",
        "COPY --from=OTHER /x /y",
        "COPY --from=s /x /z",
    ]


def test_heredocs_become_files_and_commands():
    made = lowered("FROM a\nRUN <<E\necho $x\nE\nCOPY <<E /f\n$own\nE\nUSER u\nRUN <<E\n#!/bin/x\nE\n")
    made = with_documents(made, "DOCS")
    assert made.documents == {"/0/E": "a\n", "/1/E": "#!/bin/x\n"}
    assert made.text.splitlines()[2:] == [
        'RUN ["/bin/sh", "-c", "echo $x\\n"]',
        'COPY --from=DOCS ["/0/E", "/f"]',
        "USER u",
        'COPY --from=DOCS ["/1/E", "/aespec-setup/E"]',
        *("USER root", 'RUN ["/bin/sh", "-c", "chmod 755 /aespec-setup/*"]', "USER u"),
        'RUN ["/aespec-setup/E"]',
        *("USER root", 'RUN ["/bin/sh", "-c", "rm -rf /aespec-setup"]', "USER u"),
    ]


def test_what_is_harmless_is_left_out_and_the_rest_wants_buildkit():
    text = (
        "FROM a\nRUN --mount=type=cache,target=/c x\nCOPY --link f /g\nVOLUME /v\n"
        "RUN --mount=type=bind,target=/b y\nCOPY --chmod=1 f /h\n"
    )
    made = lowered(text)
    assert made.text.splitlines()[2:4] == ["RUN x", "COPY f /g"]
    assert made.wants_buildkit == ("RUN --mount", "COPY --chmod")
    assert "VOLUME" not in made.text
    assert "--mount=type=cache,target=/c" in lowered(text, has_buildkit=True).text
