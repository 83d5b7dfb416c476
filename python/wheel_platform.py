"""Gives a wheel the tag of its library's platform, which `make wheel` names in GRAM_PLATFORM."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platform(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["GRAM_PLATFORM"]
