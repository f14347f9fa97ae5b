"""The real agents that tests drive: what to install, and what a throw-away home and environment must hold.

Adding one is adding a row. `{port}` is the fake model's port.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

KEY = "sk-test-000"
CODEX_SETTINGS = """\
model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "Fake"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"""


@dataclass(frozen=True)
class Agent:
    """An npm package at a pinned version, its program, and its settings: files in the home and variables."""

    package: str
    version: str
    program: str
    variables: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, home: Path, port: int) -> None:
        """Write the settings into a home of the test's own."""
        for name, content in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.replace("{port}", str(port)))

    def environ(self, home: Path, port: int, program: Path) -> dict[str, str]:
        """All the variables it gets: nothing is inherited."""
        own = {name: value.replace("{port}", str(port)) for name, value in self.variables.items()}
        return {
            "PATH": f"{program.parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "USER": "dev",
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": "tmux-256color",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            **own,
        }


AGENTS = {
    "claude": Agent(
        package="@anthropic-ai/claude-code",
        version="2.1.197",
        program="claude",
        variables={
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": KEY,
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        files={
            ".claude.json": '{"hasCompletedOnboarding": true, "theme": "dark",'
            f' "customApiKeyResponses": {{"approved": ["{KEY}"], "rejected": []}}}}'
        },
    ),
    "codex": Agent(
        package="@openai/codex",
        version="0.171.0",
        program="codex",
        variables={"FAKE_KEY": KEY},
        files={".codex/config.toml": CODEX_SETTINGS},
    ),
}
