# RUN: %python -I -c "import sys; sys.path.insert(0, '%root/python/src'); exec(open('%s').read())"
"""`import pipec` imports no package but the standard library, and of that no more than
is needed to start."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

before = set(sys.modules)
import pipec  # noqa: E402

imported = {name.partition(".")[0] for name in set(sys.modules) - before}
strange = imported - {"pipec"} - set(sys.stdlib_module_names)
assert not strange, strange
# Modules that take long to import and that one call in a hundred needs.
slow = imported & {"asyncio", "email", "html", "http", "importlib.resources", "tempfile", "unittest", "xml"}
assert not slow, slow
assert set(pipec.__all__) <= set(dir(pipec))
assert all(getattr(pipec, name).__doc__ for name in pipec.__all__)
