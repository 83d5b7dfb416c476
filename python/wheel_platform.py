"""Gives a wheel the tag of its library's platform, which `make wheel` names in GRAM_PLATFORM, and the guide as README."""

import os
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Platform(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["GRAM_PLATFORM"]


class Readme(MetadataHookInterface):
    def update(self, metadata):
        text = Path(self.root, "../docs/python.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
