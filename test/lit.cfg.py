# Configuration of the regression tests.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs by their names: pipec, pipec-opt, FileCheck, not, split-file, count.
#
#   %python   the Python that the build found (%torch-python: the one of the
#             PyTorch environment; %deepspeed-python and the like: the one of the
#             environment of a framework in PIPEC_HUB_DEEPSPEED)
#   %cxx      the C++ compiler of the build, with its sanitizers
#   %mpicxx   the same for MPI
#   %mpirun, %clang, %clang-format, %rustc
#   %release  PIPEC_RELEASE, the folder of the files of a release (%release-python: the
#             Python that makes them; %image: the file system of the container image;
#             %systems: the folder of minimal systems)
#   %mypy     PIPEC_MYPY, or the mypy of the PATH
#   %pyright  the same for pyright
#   %notebook-python  the Python of the environment PIPEC_NOTEBOOK_VENV
#   %lsp-python  the Python of the environment PIPEC_LSP_VENV
#   %ortools-python  the Python of the environment PIPEC_ORTOOLS_VENV
#   %site-python  the Python of the environment PIPEC_SITE_VENV
#   %packaging-python  the Python of the environment PIPEC_PACKAGING_VENV
#   %eigen    the include folder of Eigen
#   %root     the source tree,  %build  the build tree
#
# Features: torch (an environment with PyTorch) and torch-2.13 or the like (its
# version), hub-deepspeed or the like (an environment with that framework), notebook (an environment with
# Jupyter's kernel, NumPy, pandas and Matplotlib), pytest-lsp, ortools (environments with these), mpi, eigen, clang, clang-format,
# rustc, asan, assertions, setuptools (Python has it), release (the files of a release were made), systems (minimal systems were made),
# venv (environments of Python can be made), emacs (with Eglot), fish, groff, hx, mandoc, mkdocs, mypy, npm, nvim, nvim-0.8 (or
# later), packaging (an environment with auditwheel, twine and pre-commit), pyright, tree-sitter (it can generate and compile parsers), zsh, browser (Chromium that Selenium can drive),
# cairosvg, axe (PIPEC_AXE names axe.min.js), server (pipec has one), all (the long tests were asked for), root (the tests run as root).

import glob
import importlib.util
import os
import shutil
import subprocess

import lit.formats

config.name = "pipec"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".pipe", ".steps", ".test", ".py"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pipec_obj_root, "test")

# Editors and their tools, which `x check --all` downloads; else those of the PATH.
editors_path = os.path.pathsep.join(filter(None, [os.environ.get("PIPEC_EDITORS"), config.environment["PATH"]]))
config.environment["PATH"] = os.path.pathsep.join([config.pipec_bin_dir, config.llvm_bin_dir, editors_path])
for name in ("CCACHE_BASEDIR", "CCACHE_DIR", "CCACHE_NOHASHDIR", "ASAN_OPTIONS",
             "UBSAN_OPTIONS", "PIPEC_TEST_ALL", "PYRIGHT_PYTHON_CACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Programs must not change what they print with the terminal they run in.
for name in ("COLUMNS", "LINES", "CLICOLOR_FORCE", "FORCE_COLOR", "NO_COLOR"):
    config.environment.pop(name, None)
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["FILECHECK_OPTS"] = "--dump-input-context=20"

# The environment with PyTorch, one of those that `x check-torch` makes.
torch_venv = os.environ.get("PIPEC_TORCH_VENV", "")
torch_python = os.path.join(torch_venv, "bin", "python3")

# The environment with notebooks and pandas, which `x check --all` makes.
notebook_python = os.path.join(os.environ.get("PIPEC_NOTEBOOK_VENV", ""), "bin", "python3")
# The environment with a client of language servers, from the same.
lsp_python = os.path.join(os.environ.get("PIPEC_LSP_VENV", ""), "bin", "python3")

# The environment with CP-SAT, from the same.
ortools_python = os.path.join(os.environ.get("PIPEC_ORTOOLS_VENV", ""), "bin", "python3")

# The environment with MkDocs, from the same.
site_python = os.path.join(os.environ.get("PIPEC_SITE_VENV", ""), "bin", "python3")

# The environment with auditwheel, twine and pre-commit, which `x check-release` makes.
packaging_python = os.path.join(os.environ.get("PIPEC_PACKAGING_VENV", ""), "bin", "python3")

mypy = os.environ.get("PIPEC_MYPY") or shutil.which("mypy")
pyright = os.environ.get("PIPEC_PYRIGHT") or shutil.which("pyright")

# What tests compile is linked with libraries of the build.
sanitize = f" -fsanitize={config.pipec_sanitize}" if config.pipec_sanitize else ""
config.environment["OMPI_CXX"] = config.cxx
mpirun = config.mpirun + " --allow-run-as-root --oversubscribe"
if "address" in config.pipec_sanitize:
    mpirun += " -x ASAN_OPTIONS=detect_leaks=0"  # MPI itself leaks

config.substitutions += [
    ("%torch-python", torch_python),
    ("%notebook-python", notebook_python),
    ("%lsp-python", lsp_python),
    ("%ortools-python", ortools_python),
    ("%site-python", site_python),
    ("%packaging-python", packaging_python),
    ("%python", config.python),
    ("%lit", f"{config.python} {os.path.abspath(sys.argv[0])}"),
    ("%mpicxx", config.mpicxx + sanitize),
    ("%mypy", mypy or ""),
    ("%pyright", pyright or ""),
    ("%mpirun", mpirun),
    ("%cxx", config.cxx + sanitize),
    ("%cmake", config.cmake),
    ("%clang-format", config.clang_format),
    ("%rustc", config.rustc),
    ("%clang", config.clang),
    ("%eigen", config.eigen_include),
    ("%root", config.pipec_src_root),
    ("%build", config.pipec_obj_root),
]

# The environments of other frameworks, those that `x check-hub` makes.
for variable, folder in sorted(os.environ.items()):
    name = variable.removeprefix("PIPEC_HUB_").lower()
    if name != variable.lower() and os.path.exists(os.path.join(folder, "bin", "python3")):
        config.available_features.add(f"hub-{name}")
        config.substitutions.append((f"%{name}-python", os.path.join(folder, "bin", "python3")))

for info in glob.glob(os.path.join(torch_venv, "lib", "python3*", "site-packages",
                                   "torch-*.dist-info")) if torch_venv else []:
    major, minor = os.path.basename(info).split("-")[1].split(".")[:2]
    config.available_features |= {"torch", f"torch-{major}.{minor}"}
if config.mpicxx and config.mpirun and "NOTFOUND" not in config.mpicxx + config.mpirun:
    config.available_features.add("mpi")
if "NOTFOUND" not in config.clang:
    config.available_features.add("clang")
if "NOTFOUND" not in config.clang_format:
    config.available_features.add("clang-format")
# A rustc of rustup without a toolchain does not run.
if "NOTFOUND" not in config.rustc and not subprocess.call(
        [config.rustc, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    config.available_features.add("rustc")
for name in ("fish", "groff", "hx", "mandoc", "npm", "nvim", "zsh"):
    if shutil.which(name, path=editors_path):
        config.available_features.add(name)
if all(shutil.which(name, path=editors_path) for name in ("tree-sitter", "node", "cc")):
    config.available_features.add("tree-sitter")
if "nvim" in config.available_features and not subprocess.call(
        [shutil.which("nvim", path=editors_path), "--headless", "-u", "NONE", "-n", "-i", "NONE",
         "+lua if vim.lsp.start then vim.cmd('qall') else vim.cmd('cquit') end"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    config.available_features.add("nvim-0.8")
if os.environ.get("PIPEC_TEST_ALL") and shutil.which("emacs") and not subprocess.call(
        ["emacs", "--batch", "--no-init-file", "-l", "package", "-f", "package-initialize", "-l", "eglot"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    config.available_features.add("emacs")
if mypy:
    config.available_features.add("mypy")
if pyright:
    config.available_features.add("pyright")
if "PIPEC_NOTEBOOK_VENV" in os.environ and os.path.exists(notebook_python):
    config.available_features.add("notebook")
if "PIPEC_SITE_VENV" in os.environ and os.path.exists(site_python):
    config.available_features.add("mkdocs")
if "PIPEC_PACKAGING_VENV" in os.environ and os.path.exists(packaging_python):
    config.available_features.add("packaging")
if "PIPEC_LSP_VENV" in os.environ and os.path.exists(lsp_python):
    config.available_features.add("pytest-lsp")
if "PIPEC_ORTOOLS_VENV" in os.environ and os.path.exists(ortools_python):
    config.available_features.add("ortools")
if config.eigen_include:
    config.available_features.add("eigen")
if (os.path.exists("/usr/bin/chromedriver") and os.path.exists("/usr/bin/chromium")
        and importlib.util.find_spec("selenium")):
    config.available_features.add("browser")
if os.path.exists(os.environ.get("PIPEC_AXE", "")):
    config.available_features.add("axe")
    config.environment["PIPEC_AXE"] = os.environ["PIPEC_AXE"]
if not subprocess.call([config.python, "-c", "import cairosvg"], stderr=subprocess.DEVNULL):
    config.available_features.add("cairosvg")
if "address" in config.pipec_sanitize:
    config.available_features.add("asan")
if config.pipec_build_type == "Debug":
    config.available_features.add("assertions")
if not subprocess.call([config.python, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL):
    config.available_features.add("venv")
if not subprocess.call([config.python, "-c", "import setuptools, pip, wheel, ensurepip"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    config.available_features.add("setuptools")
# What `x check-release` made.
for feature, names in (("release", ("RELEASE", "RELEASE_PYTHON", "IMAGE")), ("systems", ("SYSTEMS",))):
    values = [os.environ.get(f"PIPEC_{name}", "") for name in names]
    if all(map(os.path.exists, values)):
        config.available_features.add(feature)
        config.substitutions += [(f"%{name.lower().replace('_', '-')}", value)
                                 for name, value in sorted(zip(names, values), reverse=True)]
# In some containers there are no namespaces.
hosts = os.path.join(config.test_source_root, "Integration/Inputs/hosts.py")
if not subprocess.call([config.python, hosts, "each", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    config.available_features.add("namespaces")
# In some containers nothing can be mounted.
if "systems" in config.available_features and subprocess.call(
        [os.path.join(config.test_source_root, "Release/Inputs/in-system.sh"),
         os.path.join(os.environ["PIPEC_SYSTEMS"], "system-bookworm"), "/tmp", "true"]):
    config.available_features.remove("systems")
if config.pipec_has_server == "ON":
    config.available_features.add("server")
if os.environ.get("PIPEC_TEST_ALL"):
    config.available_features.add("all")
if os.geteuid() == 0:
    config.available_features.add("root")

# A test that hangs is a failure, not a run that never ends.
try:
    import psutil  # noqa: F401 (lit needs it to end a test's children)

    lit_config.maxIndividualTestTime = 3600 if "all" in config.available_features else 300
except ImportError:
    pass
