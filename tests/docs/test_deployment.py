"""What deploys the service: as far as it can be checked without an engine of containers."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import yaml

from episodic_agent.faces.cli.serving import serve
from episodic_agent.faces.http.opening import ALIVE
from episodic_agent.faces.http.serving import GRACE, PAUSE
from episodic_agent.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = ("Dockerfile", "compose.yml", "kubernetes.yaml", "episodic-agent.service")


def text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_every_setting_that_is_named_is_one(name: str) -> None:
    for setting in re.findall(r"EPISODIC_([A-Z_]+)", text(name)):
        assert setting.lower() in Settings.__dataclass_fields__, setting


def commands() -> list[list[str]]:
    """The words behind `episodic` in every file."""
    service = yaml.safe_load(text("compose.yml"))["services"]["service"]["command"]
    documents = {one["kind"]: one for one in yaml.safe_load_all(text("kubernetes.yaml"))}
    (container,) = documents["Deployment"]["spec"]["template"]["spec"]["containers"]
    (start,) = re.findall(r"^ExecStart=\S+/episodic (.*)$", text("episodic-agent.service"), re.M)
    (image,) = re.findall(r"^CMD (\[.*\])$", text("Dockerfile"), re.M)
    return [service, container["args"], shlex.split(start), yaml.safe_load(image)]


@pytest.mark.parametrize("words", commands(), ids=["compose", "kubernetes", "systemd", "image"])
def test_every_command_is_one_that_serves(words: list[str]) -> None:
    assert words[0] == "serve"
    with click.Context(serve) as context:
        serve.parse_args(context, words[1:])
        assert context.params["port"] == 8765


def test_probes_ask_what_there_is_and_the_end_has_its_time() -> None:
    documents = {one["kind"]: one for one in yaml.safe_load_all(text("kubernetes.yaml"))}
    pod = documents["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] in ALIVE
    assert container["startupProbe"]["httpGet"]["path"] in ALIVE
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert pod["securityContext"]["runAsNonRoot"] is True
    lasts = PAUSE + GRACE
    compose = yaml.safe_load(text("compose.yml"))["services"]["service"]["stop_grace_period"]
    (unit,) = re.findall(r"^TimeoutStopSec=(\d+)$", text("episodic-agent.service"), re.M)
    assert min(pod["terminationGracePeriodSeconds"], int(compose.removesuffix("s")), int(unit)) > lasts
    assert re.search(r"^USER 10001$", text("Dockerfile"), re.M)
    assert "urlopen('http://127.0.0.1:8765/healthz'" in text("Dockerfile")


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not here: the unit was not checked")
    unit = tmp_path / "episodic-agent.service"
    unit.write_text(
        re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", text("episodic-agent.service")), encoding="utf-8"
    )
    done = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
