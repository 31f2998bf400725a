"""setup.sh on machines it must explain itself on, with stand-ins for apt."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

DEBIAN = 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'


class Machine:
    """A copy of the scripts, a PATH of stand-ins, and an os-release file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        for name in ("setup.sh", "requirements.txt"):
            shutil.copy(ROOT / "scripts" / name, folder / "scripts" / name)
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in [
            "bash",
            "dirname",
            "awk",
            "tr",
            "sed",
            "grep",
            "cat",
            "cksum",
            "env",
            "id",
            "touch",
            "rm",
        ]:
            os.symlink(shutil.which(tool), self.bin / tool)
        self.set_os(DEBIAN)
        self.stub("dpkg-query", "exit 1")  # nothing is installed
        self.stub("apt-cache", 'echo "  Candidate: 1.0"')
        self.stub("apt-get", 'echo "$@" >> "$LOG"')

    def set_os(self, text: str) -> None:
        (self.folder / "os-release").write_text(text)

    def stub(self, name: str, body: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!{self.bin}/bash\n{body}\n")
        path.chmod(0o755)

    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": str(self.bin),
            "LOG": str(self.folder / "log"),
            "CWM_OS_RELEASE": str(self.folder / "os-release"),
        }
        return subprocess.run(
            [str(self.bin / "bash"), "scripts/setup.sh", *args],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_unknown_system_is_named(machine: Machine) -> None:
    machine.set_os('ID=plan9\nPRETTY_NAME="Plan 9"\n')
    done = machine.run()
    assert done.returncode == 1
    assert "error: unknown operating system 'Plan 9'" in done.stderr
    assert "--no-packages" in done.stderr
    assert machine.log() == ""


def test_package_that_no_source_has(machine: Machine) -> None:
    machine.stub("apt-cache", '[ "$2" = clang-22 ] && echo "  Candidate: (none)" || echo "  Candidate: 1"')
    machine.stub("id", "echo 0")
    done = machine.run()
    assert done.returncode == 1
    assert "error: the package sources of Debian GNU/Linux 12 (bookworm) lack: clang-22\n" in done.stderr
    assert "install" not in machine.log()


def test_no_network(machine: Machine) -> None:
    machine.stub("apt-cache", "true")
    machine.stub("apt-get", "exit 100")
    machine.stub("id", "echo 0")
    done = machine.run()
    assert done.returncode == 1
    assert "error: the package lists could not be refreshed and lack: clang-22" in done.stderr


def test_neither_root_nor_sudo(machine: Machine) -> None:
    machine.stub("id", "echo 1000")
    done = machine.run()
    assert done.returncode == 1
    assert "error: packages are missing and there is neither root nor sudo" in done.stderr
    assert "run as root: apt-get update && apt-get install clang-22" in done.stderr


def test_says_that_it_uses_sudo(machine: Machine) -> None:
    machine.stub("id", "echo 1000")
    machine.stub("sudo", '"$@"')
    done = machine.run()
    assert "setup: using sudo for apt-get" in done.stdout
    assert "update" in machine.log() and "install -y" in machine.log()
    assert "error: still missing after apt-get: clang-22" in done.stderr


def test_installs_only_what_is_missing(machine: Machine) -> None:
    machine.stub("id", "echo 0")
    machine.stub(
        "dpkg-query",
        'for p in "$@"; do case "$p" in -*|ccache) ;; *) echo "$p installed" ;; esac; done\n'
        '[ -e "$LOG" ] && echo "ccache installed"; exit 1',
    )
    machine.run()
    install = [line for line in machine.log().splitlines() if line.startswith("install")]
    assert install == ["install -y -qq --no-install-recommends ccache"]


def test_no_packages_leaves_apt_alone(machine: Machine) -> None:
    machine.set_os("ID=plan9\n")
    machine.run("--no-packages")
    assert machine.log() == ""


def test_unknown_option(machine: Machine) -> None:
    done = machine.run("--frobnicate")
    assert done.returncode == 1
    assert "error: unknown option '--frobnicate'" in done.stderr


def fake_python(machine: Machine, pip: str) -> None:
    """A .venv whose python records its calls; `pip` is what its installer does."""
    venv = machine.folder / ".venv" / "bin"
    venv.mkdir(parents=True, exist_ok=True)
    python = venv / "python3"
    python.write_text(
        f'#!{machine.bin}/bash\ncase "$*" in *"pip install"*) echo "pip" >> "$LOG"; {pip} ;; esac\nexit 0\n'
    )
    python.chmod(0o755)


def test_second_run_does_nothing(machine: Machine) -> None:
    fake_python(machine, "true")
    assert machine.run("--no-packages").returncode == 0
    assert machine.log().count("pip") == 1
    second = machine.run("--no-packages")
    assert second.returncode == 0
    assert second.stdout == ""
    assert machine.log().count("pip") == 1


def test_failed_installation_is_not_remembered_as_done(machine: Machine) -> None:
    fake_python(machine, "exit 1")
    done = machine.run("--no-packages")
    assert done.returncode == 1
    assert "error: pip could not install the packages of scripts/requirements.txt" in done.stderr
    assert not (machine.folder / ".venv" / ".cwm-requirements").exists()
    assert (machine.folder / ".venv" / ".cwm-incomplete").exists()


def test_changed_requirements_are_installed(machine: Machine) -> None:
    fake_python(machine, "true")
    machine.run("--no-packages")
    with (machine.folder / "scripts" / "requirements.txt").open("a") as requirements:
        requirements.write("another==1.0\n")
    assert machine.run("--no-packages").returncode == 0
    assert machine.log().count("pip") == 2


@pytest.mark.parametrize(
    ("cuda", "status"),
    [("cuda: Optional[str] = None", 0), ("cuda: Optional[str] = '12.8'", 1), ("hip: Optional[str] = '6.4'", 1)],
)
def test_torch_for_gpus_is_refused(machine: Machine, cuda: str, status: int) -> None:
    fake_python(machine, "true")
    torch = machine.folder / ".venv" / "lib" / "python3.11" / "site-packages" / "torch"
    torch.mkdir(parents=True)
    (torch / "version.py").write_text(f"__version__ = '2.13.0'\n{cuda}\n")
    done = machine.run("--no-packages")
    assert done.returncode == status
    assert ("error: pip installed a build of PyTorch for GPUs" in done.stderr) == (status == 1)
    # The remedy is a command of the user's, which the next run must not undo.
    (torch / "version.py").write_text("__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\n")
    again = machine.run("--no-packages")
    assert again.returncode == 0
    assert machine.log().count("pip") == 1
