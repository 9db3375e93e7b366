"""Foreign tasks as specs: what is told in statements, carried opaque, refused, or left to do."""

import base64
import json
import re

import pytest
from click.testing import CliRunner

from aespec.bundle.foreign import read_foreign
from aespec.cli.app import app
from aespec.source import Source
from aespec.syntax import parse
from aespec.trial.importing import ImportRefusedError, import_task
from aespec.trial.importing.writing import quoted
from tests.bundle.foreign_making import harbor_task, older_task


@pytest.fixture
def imported(tmp_path):
    """The import of a sound task with some files changed."""

    def make(files=None, **options):
        task, faults = read_foreign(harbor_task(tmp_path / "task", files))
        assert task is not None, faults
        return import_task(task, "sum", **options)

    return make


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def dockerfile(*lines):
    return {"environment/Dockerfile": "\n".join(["FROM debian:bookworm-slim", *lines, ""])}


def setup_of(made):
    return made.text.partition("  setup {")[2].partition("\n  }\n")[0]


def test_a_dockerfile_becomes_statements(imported):
    made = imported(
        {
            **dockerfile(
                "ENV A=1 B='two words'",
                "RUN apt-get update && apt-get install -y --no-install-recommends git \\",
                "    python3-pip && rm -rf /var/lib/apt/lists/*",
                "RUN pip install --no-cache-dir --break-system-packages pytest==8.3.4",
                "WORKDIR /app",
                "ARG MORE=x",
                "COPY numbers.txt ./",
                "COPY --chmod=755 tools /opt/tools/",
                "RUN echo $MORE > made; false; true",
            ),
            "environment/tools/deep/run.sh": "#!/bin/sh\n",
        }
    )
    setup = setup_of(made)
    assert 'base = "debian:bookworm-slim"' in setup
    assert 'apt = ["git", "python3-pip"]' in setup
    assert 'pip = ["pytest==8.3.4"]' in setup
    assert re.search(r'env = \{ A = "1"\s+B = "two words"', setup)
    assert 'asset "/app/numbers.txt" (from = "sum.import/environment/numbers.txt", mode = "0644"' in setup
    assert '"/opt/tools/deep/run.sh"' in setup
    assert 'mode = "755"' not in setup
    assert "export MORE=x\n" in setup
    assert "set +eu\n" in setup, "a Dockerfile's shell goes on after what fails"
    assert "      echo $MORE > made; false; true\n" in setup
    assert made.files["sum.import/environment/tools/deep/run.sh"] == b"#!/bin/sh\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["RUN --mount=type=cache,target=/c true"], "line 2: RUN has mounts"),
        (["COPY --from=busybox /bin/sh /x"], "line 2: COPY takes from elsewhere"),
        (["ADD https://example.org/x /x"], "line 2: ADD takes a file from the network"),
        (["USER worker", "RUN true"], "line 3: RUN works as the account worker"),
        (["COPY gone.txt /x"], "gone.txt"),
        (["FROM scratch AS a", "FROM a"], "several stages"),
        (["RUN <<EOF", "true", "EOF"], "documents of its own"),
        (["RUN echo '{{ p.x }}'"], "holds `{{ p`"),
        (['ENV A="{{ let.y }}"'], "holds `{{ let`"),
    ],
)
def test_what_cannot_be_told_is_refused_with_its_line_and_the_way_out(imported, lines, words):
    with pytest.raises(ImportRefusedError, match=re.escape(words)) as refusal:
        imported(dockerfile(*lines))
    assert "--base NAME" in refusal.value.remedy


def test_an_image_of_ones_own_stands_for_all_of_the_dockerfile(imported):
    made = imported(
        dockerfile("RUN --mount=type=cache,target=/c true", "ENV A=1", "WORKDIR /w"), base="mine:1"
    )
    setup = setup_of(made)
    assert 'base = "mine:1"' in setup
    assert 'workdir = "/w"' in setup
    assert "run" not in setup
    assert made.files == {}


def test_the_instruction_stands_word_for_word(imported):
    text = "# Title\n\n  indented, \\n, {{ braces }}, `code`\n\n>>>\nend: ü\n"
    made = imported({"instruction.md": text})
    body = made.text.partition("  instruction <<<<md\n")[2].partition("  >>>>\n")[0]
    assert "".join(line.removeprefix("    ") for line in body.splitlines(keepends=True)) == text


def test_an_instruction_that_a_spec_would_change_is_refused(imported):
    with pytest.raises(ImportRefusedError, match=re.escape("{{ p")):
        imported({"instruction.md": "Write {{ p.x }}.\n"})


@pytest.mark.parametrize(
    "data",
    [
        b"plain\n",
        b"no end",
        b"",
        b"\x00\xff",
        b"dos\r\n",
        b"AESPEC-END\n",
        b"'quotes' $dollar `tick` \\\n",
        b"  indented\n\t\n",
        b">>>\n>>>>\n",
    ],
)
def test_files_of_tests_are_carried_byte_for_byte(imported, tmp_path, data):
    import subprocess

    made = imported({"tests/some dir/file": data, "tests/test.sh": "#!/bin/bash\n"})
    level = ">>>>" if re.search(r"verbatim = true\) <<<<sh", made.text) else ">>>"
    body = re.search(rf"verbatim = true\) <+sh\n(.*?)\n    {level}\n", made.text, re.DOTALL)[1]
    script = "\n".join(line.removeprefix("      ") for line in body.split("\n"))
    unpacking = script.partition('bash "$work/tests/test.sh"')[0]
    done = subprocess.run(
        ["bash", "-c", unpacking + '\necho "$work"'],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
    )
    place = done.stdout.strip().splitlines()[-1]
    assert (tmp_path / place / "tests/some dir/file").read_bytes() == data


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('system("/usr/bin/setpriv --reuid=65534 true");', "setpriv"),
        ('subprocess.run(["x"], user="solver")', "user="),
        ("os.setuid(5)", "setuid"),
    ],
)
def test_tests_that_take_root_are_told(imported, text, word):
    made = imported({"tests/check": f"{text}\n"})
    assert any(f"the tests call `{word}`, which takes root" in todo for todo in made.todos)


def test_a_change_of_account_is_none_where_nobody_has_rights(imported):
    made = imported({"tests/test.sh": "#!/bin/bash\nrunuser -u solver -- true\n"})
    assert "export -f runuser" in made.text
    assert any("`runuser` changes no account here" in todo for todo in made.todos)


def test_an_account_that_the_dockerfile_makes_may_be_there_already(imported):
    setup = setup_of(imported(dockerfile("RUN useradd -m solver && chown solver /app")))
    assert 'useradd() { command useradd "$@" || [ $? = 9 ]; }' in setup
    assert "groupadd()" not in setup


def test_templates_in_a_solution_do_not_become_places(imported):
    made = imported({"solution/solve.sh": "echo '{{ p.x }}' > /app/sum.txt\n"})
    assert "{{" not in made.text
    assert base64.b64encode(b"echo '{{ p.x }}'")[:12].decode() in made.text


def test_what_the_verifier_lacks_is_left_as_a_todo(imported):
    made = imported(
        {
            "tests/test.sh": "#!/bin/bash\ncurl -LsSf https://astral.sh/uv/install.sh | sh\n",
            **dockerfile("RUN make install", 'ENTRYPOINT ["/start"]'),
        }
    )
    text = " ".join(made.todos)
    assert "calls `curl`, and the verifier has no network" in text
    assert "nothing of what `run` steps make" in text
    assert "ENTRYPOINT isn't carried over" in text
    for todo in made.todos:
        assert f"# TODO {todo}"[:60] in made.text


FINDINGS = [
    {
        "slug": "unread-field",
        "severity": "warning",
        "message": "nobody reads\n\x1b[2J `total`",
        "difference": "--- /app/out.json\n-1\n+2",
        "counterexample": "/tmp/x.json",
    },
    {"slug": "answer-near", "severity": "advice", "message": "only advice"},
]


def test_a_finding_of_any_length_is_one_short_line(imported):
    made = imported(findings=[dict.fromkeys(FINDINGS[0], "x" * 10**6) | {"severity": "error"}])
    assert max(map(len, made.text.splitlines())) < 1000


def test_findings_become_todos_of_one_line_each(imported):
    made = imported(findings=FINDINGS)
    line = next(line for line in made.text.splitlines() if "unread-field" in line)
    assert line.strip().startswith("# TODO unread-field: nobody reads")
    assert "--- /app/out.json / -1 / +2" in line
    assert line.endswith("| see x.json"), "without the folder of a machine"
    assert "\x1b" not in made.text
    assert "answer-near" not in made.text


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"solution/solve.sh": None}, "no solution"),
        ({"tests/big": "x" * 5_000_000}, "more than a spec can carry"),
    ],
)
def test_a_task_that_makes_no_spec_is_refused(imported, files, words):
    with pytest.raises(ImportRefusedError, match=words):
        imported(files)


@pytest.mark.parametrize(
    "value", ['a"b', "a\\b", "tab\there", "\u0007bell", "ü 漢 😀", "{{ x }}", "$HOME", ""]
)
def test_a_quoted_text_reads_back_as_it_was(value):
    tree, found = parse(Source("t.aes", f"x = {quoted(value)}\n"))
    assert found == ()
    assert f"String(value={value!r}" in repr(tree)


def test_the_older_layout_is_taken_too(tmp_path):
    task, _ = read_foreign(older_task(tmp_path / "old"))
    made = import_task(task, "old")
    assert "test_outputs.py" in made.text


def test_the_command_writes_a_spec_that_has_no_error(run, tmp_path):
    harbor_task(tmp_path / "task")
    (tmp_path / "audit.json").write_text(json.dumps({"findings": FINDINGS}))
    done = run("import", "task", "-o", "sum.aes", "--findings", "audit.json")
    assert done.exit_code == 0, done.output
    assert "todo: " in done.output
    assert (tmp_path / "sum.import/environment/numbers.txt").read_text() == "1\n2\n"
    assert "unread-field" in (tmp_path / "sum.aes").read_text()
    assert "0 errors" in run("lint", "sum.aes").output
    assert run("fmt", "--check", "sum.aes").exit_code == 0
    again = run("import", "task", "-o", "sum.aes")
    assert again.exit_code == 2
    assert "exists already" in again.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none", "-o", "a.aes"], "can't be opened"),
        (["task", "-o", "A b.aes"], "no name for a spec"),
        (["task", "-o", "a.toml"], "no name for a spec"),
        (["task", "-o", "a.aes", "--findings", "bad.json"], "is no audit"),
    ],
)
def test_what_the_command_refuses_leaves_nothing(run, tmp_path, words, said):
    harbor_task(tmp_path / "task")
    (tmp_path / "bad.json").write_text("[]")
    done = run("import", *words)
    assert done.exit_code == 2
    assert said in done.output
    assert "way out: " in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json", "task"]


@pytest.mark.needs("userns", "uid-range", "base-image", "package-index")
def test_an_imported_task_is_solved_by_its_oracle_and_not_by_nothing(run, tmp_path):
    check = '#!/bin/bash\n[ "$(cat /app/sum.txt)" = "$(cat /tests/sum)" ] && r=1 || r=0\n'
    harbor_task(
        tmp_path / "task",
        {
            "tests/test.sh": check + "mkdir -p /logs/verifier\necho $r > /logs/verifier/reward.txt\n",
            "tests/sum": "3\n",
            "solution/solve.sh": "echo $(($(paste -sd+ numbers.txt))) > /app/sum.txt\n",
        },
    )
    assert run("import", "task", "-o", "sum.aes").exit_code == 0
    for agent, status in (("oracle", 0), ("nop", 1)):
        done = run("trial", "sum.aes", "--agent", agent, "--sandbox", "fork")
        assert done.exit_code == status, done.output
