"""What depends on whether the compiler lies in the package (src/pipec/bin/pipec,
where `./x wheel` puts it): then the package is made for one platform, and
`pipec` becomes a command."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import platform

from setuptools import setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

WITH_COMPILER = (pathlib.Path(__file__).parent / "src/pipec/bin/pipec").exists()


class Wheel(bdist_wheel):
    """A wheel for any Python 3 on one kind of processor. The compiler is linked
    statically, C library included, so any Linux of the last decade runs it."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        machine = platform.machine()
        return "py3", "none", f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"


setup(
    cmdclass={"bdist_wheel": Wheel} if WITH_COMPILER else {},
    entry_points={"console_scripts": ["pipec = pipec._program:main"]} if WITH_COMPILER else {},
)
