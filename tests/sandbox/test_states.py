"""What a slot's state differs by, and states frozen as images: alike in every backend."""

import io
import tarfile

import pytest

from aespec.sandbox.api import Difference, SandboxError, SandboxLimits, UncarriableError
from tests.sandbox.scene import LIMITS, RECIPE, make_tar, python_of, read_tar, shell_of

LISTING = (
    r"find / -xdev ! -path '/proc*' ! -path '/sys*' ! -path '/dev*' ! -path / ! -path /etc/resolv.conf "
    r"! -path /etc/hosts ! -path /etc/hostname ! -path /etc/mtab ! -path /.dockerenv "
    r"-printf '%p %y %m %U:%G %l %T@ %s\n' | sed -E 's/\.[0-9]+ / /; s/^(.* d .*) [0-9]+ [0-9]+$/\1/' | sort"
)


def files_of(difference):
    """Files and links of a difference; folders are told by what is in them."""
    return {name: data for name, data in read_tar(difference.archive).items() if data is not None}


def entries_of(difference):
    with tarfile.open(fileobj=io.BytesIO(difference.archive)) as tar:
        return {entry.name: entry for entry in tar}


def test_an_untouched_slot_has_no_difference(slot):
    shell_of(slot)("cat /etc/passwd >/dev/null")
    difference = slot.difference()
    assert files_of(difference) == {}
    assert difference.deleted == ()


def test_what_is_new_changed_and_gone_is_told(slot):
    shell_of(slot)(
        "mkdir -p /app/deep && echo new >/app/deep/f && ln -s /etc/passwd /app/link && "
        "echo more >>/etc/passwd; rm /etc/nsswitch.conf; rm -r /home/agent; mkdir /app/empty"
    )
    difference = slot.difference()
    found = read_tar(difference.archive)
    assert found["app/deep/f"] == b"new\n"
    assert found["app/link"] == "->/etc/passwd"
    assert found["etc/passwd"].endswith(b"more\n")
    assert found["app/deep"] is None
    assert found["app/empty"] is None
    assert set(files_of(difference)) == {"app/deep/f", "app/link", "etc/passwd"}
    assert difference.deleted == ("/etc/nsswitch.conf", "/home/agent")


def test_a_difference_grows_with_the_state(slot):
    shell_of(slot)("echo 1 >/one")
    assert set(files_of(slot.difference())) == {"one"}
    slot.put(make_tar({"two": "2"}))
    assert set(files_of(slot.difference())) == {"one", "two"}
    shell_of(slot)("rm /one /two")
    assert slot.difference() == slot.difference()
    assert files_of(slot.difference()) == {}
    assert slot.difference().deleted == ()


def test_a_folder_in_another_ones_place(slot):
    shell_of(slot)("rm -rf /home/agent && mkdir /home/agent && touch /home/agent/only")
    with_files = slot.difference()
    assert set(files_of(with_files)) == {"home/agent/only"}


STATES = {
    "file for folder": "rm -rf /etc/alternatives && echo x >/etc/alternatives",
    "link for folder": "rm -rf /etc/alternatives && ln -s /etc /etc/alternatives",
    "folder for file": "rm /etc/nsswitch.conf && mkdir /etc/nsswitch.conf && echo x >/etc/nsswitch.conf/f",
    "folder for folder": "rm -rf /etc/alternatives; mkdir /etc/alternatives; echo x >/etc/alternatives/new",
    "kinds": "mkdir /d && cd /d && echo a >a && ln a b && ln -s a c && chmod 4755 a && mkfifo p",
    "moves": "mv /home /elsewhere && mv /etc/nsswitch.conf /elsewhere/f",
    "modes": "chmod 700 /home; chmod 4711 /etc/nsswitch.conf; chown 1000:50 /home 2>/dev/null; true",
    "nearly all gone": "rm -rf /etc /home /app /root /var",
    "link for new folder": "mkdir -p /a/b/c && rm -rf /a/b && ln -s /etc /a/b",
    "names": "mkdir '/a b' && cd '/a b' && echo x >\"$(printf 'new\\nline')\" && echo é >é && "
    "echo z >'-rf' && echo y >\"$(printf '\\377\\376')\" && echo '#' >'*?[x]\\'",
    "times": "touch -d @86400 /etc/nsswitch.conf /early; : >/empty; head -c 3000000 /dev/zero >/zeros",
}


@pytest.mark.parametrize("script", STATES.values(), ids=STATES)
def test_a_frozen_state_is_the_state(sandbox, image, script):
    with sandbox.open(image, LIMITS) as slot:
        shell_of(slot)(script)
        # Sockets and FIFOs stay behind, as the contract says.
        shell_of(slot)("find / -xdev -type p ! -path '/proc*' -delete")
        before = shell_of(slot)(LISTING, output_limit_bytes=1 << 24).stdout.splitlines()
        difference = slot.difference()
    frozen = sandbox.freeze(image, difference)
    with sandbox.open(frozen, LIMITS) as slot:
        after = shell_of(slot)(LISTING, output_limit_bytes=1 << 24).stdout.splitlines()
        assert set(before) ^ set(after) == set()
        assert len(before) == len(after) > 10
        if sandbox.name == "fork":  # an engine exports all of the image for it
            assert files_of(slot.difference()) == {}
            assert slot.difference().deleted == ()


def test_freezing_keeps_how_programs_start_and_leaves_the_image_alone(sandbox, image):
    frozen = sandbox.freeze(image, Difference(make_tar({"frozen": "f"}), ("/etc/nsswitch.conf",)))
    assert (frozen.env, frozen.workdir, frozen.user) == (image.env, image.workdir, image.user)
    assert frozen.digest != image.digest
    with sandbox.open(frozen, LIMITS) as slot:
        outcome = shell_of(slot)('cat /frozen; test -e /etc/nsswitch.conf || echo gone; echo "$FROM_RECIPE"')
        assert outcome.stdout == b"fgone\nyes\n"
    with sandbox.open(image, LIMITS) as slot:
        assert shell_of(slot)("test ! -e /frozen && test -e /etc/nsswitch.conf").status == 0


def test_what_is_frozen_can_be_frozen_again(sandbox, image):
    first = sandbox.freeze(image, Difference(make_tar({"a": "1", "b": "1"})))
    with sandbox.open(first, LIMITS) as slot:
        shell_of(slot)("rm /a; echo 2 >/b; echo 2 >/c")
        difference = slot.difference()
    assert files_of(difference) == {"b": b"2\n", "c": b"2\n"}
    assert difference.deleted == ("/a",)
    second = sandbox.freeze(first, difference)
    with sandbox.open(second, LIMITS) as slot:
        assert shell_of(slot)("cat /b /c; test -e /a || echo gone").stdout == b"2\n2\ngone\n"


def test_equal_states_are_frozen_once(sandbox, image):
    difference = Difference(make_tar({"same": "s"}, mtime=1))
    first, second = sandbox.freeze(image, difference), sandbox.freeze(image, difference)
    assert (first.digest, first.reference) == (second.digest, second.reference)
    other = sandbox.freeze(image, Difference(make_tar({"same": "t"}, mtime=1)))
    assert other.digest != first.digest
    assert sandbox.freeze(image, Difference(difference.archive, ("/app",))).digest != first.digest


def test_owners_are_frozen_where_there_are_several(sandbox, image):
    with sandbox.open(image, LIMITS) as slot:
        shell_of(slot)("echo x >/f && chown 1000:50 /f && chmod 6755 /f && mkdir /d && chown 1000 /d")
        difference = slot.difference()
    with sandbox.open(sandbox.freeze(image, difference), LIMITS) as slot:
        outcome = shell_of(slot)("stat -c '%a %u:%g' /f /d")
    owners = ["6755 1000:50", "755 1000:0"] if sandbox.abilities().tier == "full" else ["6755 0:0", "755 0:0"]
    assert outcome.stdout.decode().splitlines() == owners


def test_a_difference_above_the_limit_is_uncarriable(slot):
    shell_of(slot)("head -c 300000 /dev/zero >/big")
    with pytest.raises(UncarriableError):
        slot.difference(limit_bytes=100_000)
    assert len(slot.difference(limit_bytes=400_000).archive) > 300_000


def test_a_sparse_file_counts_as_what_it_says(sandbox, image):
    with sandbox.open(image, SandboxLimits(disk_bytes=8 << 30)) as slot:
        shell_of(slot)("truncate -s 4G /sparse")
        with pytest.raises(UncarriableError):
            slot.difference(limit_bytes=10_000_000)
        shell_of(slot)("rm /sparse; echo still >/here")
        assert files_of(slot.difference()) == {"here": b"still\n"}


def test_many_files(sandbox, image):
    count = 20_000 if sandbox.name == "fork" else 2_000
    with sandbox.open(image, SandboxLimits(disk_bytes=512 << 20)) as slot:
        script = f"import os\nfor i in range({count}):\n open(f'/many/{{i:06}}', 'w').write(str(i))"
        outcome = python_of(slot)("import os; os.mkdir('/many')\n" + script)
        assert outcome.status == 0, outcome.stderr
        difference = slot.difference()
        with pytest.raises(UncarriableError):
            slot.difference(limit_bytes=count * 100)
    assert len(files_of(difference)) == count
    with sandbox.open(sandbox.freeze(image, difference), LIMITS) as slot:
        assert shell_of(slot)("ls /many | wc -l; cat /many/000777").stdout == f"{count}\n777".encode()


def test_hard_links_stay_links_of_each_other(sandbox, image):
    with sandbox.open(image, LIMITS) as slot:
        shell_of(slot)(
            "mkdir /d; head -c 500000 /dev/zero >/d/a; for i in 1 2 3 4 5 6 7 8; do ln /d/a /d/$i; done"
        )
        difference = slot.difference(limit_bytes=1_000_000)
    entries = entries_of(difference)
    assert sum(entry.isreg() for entry in entries.values()) == 1
    with sandbox.open(sandbox.freeze(image, difference), LIMITS) as slot:
        assert shell_of(slot)("stat -c '%h %s' /d/a /d/8").stdout == b"9 500000\n9 500000\n"


def test_a_hostile_difference_is_refused_and_leaves_nothing(sandbox, image):
    for bad in (
        Difference(make_tar({"../x": "x"})),
        Difference(b"", ("/../etc",)),
        Difference(b"", ("/",)),
        Difference(b"no tar at all" * 100),
    ):
        with pytest.raises(SandboxError):
            sandbox.freeze(image, bad)
        with pytest.raises(SandboxError):
            sandbox.freeze(image, bad)


@pytest.mark.needs("userns")
def test_a_tree_too_deep_to_name_is_uncarriable(fork, context):
    script = "import os\nfor i in range(60):\n os.mkdir('d' * 100); os.chdir('d' * 100)\nopen('f', 'w')"
    with fork.open(fork.prepare(RECIPE, context), LIMITS) as slot:
        assert python_of(slot)(script, cwd="/app").status == 0
        with pytest.raises(UncarriableError):
            slot.difference()


@pytest.mark.needs("userns")
def test_a_state_without_accounts_is_frozen_too(fork, context):
    image = fork.prepare(RECIPE, context)
    with fork.open(image, LIMITS) as slot:
        shell_of(slot)("rm /etc/passwd && mkdir -p /etc/passwd/f")
        difference = slot.difference()
    assert difference.deleted == ("/etc/passwd",)
    with fork.open(fork.freeze(image, difference), LIMITS) as slot:
        assert shell_of(slot)("ls /etc/passwd").stdout == b"f\n"
