"""Writes files of many kinds with pipec-opt and looks at what became of them."""
import atexit
import os
import shutil
import stat
import subprocess
import sys
import tempfile

SOURCE = open(sys.argv[1], encoding="utf-8").read()
NOBODY = 65534
os.umask(0o022)
os.chmod(".", 0o777)


def can_run(program, user):
    """Whether `user` can run the program in this folder."""
    try:
        return subprocess.run([program, "--version"], user=user, stdout=subprocess.PIPE, check=False).returncode == 0
    except PermissionError:
        return False


PROGRAM = shutil.which("pipec-opt")
USER = NOBODY if os.geteuid() == 0 else None
if not can_run(PROGRAM, USER):
    # The build is where no other user gets to, such as in the home of root.
    folder = tempfile.mkdtemp(prefix="pipec-output-files-")
    atexit.register(shutil.rmtree, folder)
    os.chmod(folder, 0o777)
    PROGRAM = shutil.copy(PROGRAM, folder)
    os.mkdir(os.path.join(folder, "work"))
    os.chdir(os.path.join(folder, "work"))
    os.chmod(".", 0o777)
    assert can_run(PROGRAM, USER), "another user cannot run a program in the folder for temporary files"


def run(path, good=True, user=None, source=SOURCE):
    result = subprocess.run([PROGRAM, "-o", path], input=source, text=True, user=user, check=False,
                            env=dict(os.environ, TMPDIR=os.getcwd()),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (result.returncode == 0) == good, (path, result.stdout)
    return result.stdout


def write(path, text="old\n", mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


TEXT = subprocess.run([PROGRAM, "-"], input=SOURCE, stdout=subprocess.PIPE, text=True, check=True).stdout

# A link that leads nowhere leads to the new file, through other links too.
os.mkdir("folder")
os.symlink("folder/new", "link")
os.symlink("link", "second")
run("second")
assert os.path.islink("second") and os.path.islink("link") and read("folder/new") == TEXT
os.symlink("nowhere/new", "lost")
assert "no such file or directory" in run("lost", good=False)
os.symlink("circle", "circle")
run("circle", good=False)
assert os.path.islink("circle")

# Every character of a path is itself.
os.mkdir("a%b")
run("a%b/x%%y")
assert os.listdir("a%b") == ["x%%y"] and read("a%b/x%%y") == TEXT
long = "n" * 255
run(long)
assert read(long) == TEXT

# The mode stays, whatever the umask.
write("open", mode=0o666)
run("open")
assert stat.S_IMODE(os.stat("open").st_mode) == 0o666 and read("open") == TEXT

# Hard links stay, and what was longer is cut off.
write("first", text="old\n" * 1000)
os.link("first", "other")
run("first")
assert os.path.samefile("first", "other") and read("other") == TEXT
# A failed run leaves them as they are.
assert "error" in run("first", good=False, source="nothing")
assert os.path.samefile("first", "other") and read("other") == TEXT

# A file that is not to be written is not replaced.
write("fixed", mode=0o444)
assert "cannot write `fixed`: permission denied" in run("fixed", good=False)
assert read("fixed") == "old\n"

# A file that may be written in a folder that may not.
os.mkdir("closed")
write("closed/file", mode=0o666)
os.chmod("closed", 0o555)
run("closed/file", user=USER)
assert read("closed/file") == TEXT
assert "error" in run("closed/file", good=False, user=USER, source="nothing")
assert read("closed/file") == TEXT
assert "cannot write `closed/new`: permission denied" in run("closed/new", good=False, user=USER)
os.chmod("closed", 0o755)

# The owner and the group stay.
if os.geteuid() == 0:
    write("theirs", mode=0o644)
    os.chown("theirs", NOBODY, NOBODY)
    run("theirs")
    status = os.stat("theirs")
    assert (status.st_uid, status.st_gid) == (NOBODY, NOBODY) and read("theirs") == TEXT

# Nothing else is left in the folders.
assert sorted(os.listdir("closed")) == ["file"] and os.listdir("folder") == ["new"]
assert not [name for name in os.listdir(".") if name.startswith(".pipec")]
shutil.rmtree("closed")
