# Runs commands on text with escape sequences; one line per command.
import subprocess

STEPS = b"""pipec-steps 1
schedule @"\\1B[31mX" { ranks 1 stages 1 microbatches 1
  map 0
  rank 0 {
    F s0 m0
    B s0 m0
  }
}
"""

def write(name, text):
    with open(name, "wb") as file:
        file.write(text)

write("name.steps", STEPS)
write("\x1b[2Jx.steps", b"nothing\n")
write("a.pipe", b'''// \x07\x1b[5mdoc
schedule a(ranks p = 1, microbatches m = 1) {
  placement loop;
  require m == 2, "x\x1b]0;pwn\x07";
  steady { F B }
}
''')

controls = 0
with open("text.out", "wb") as out:
    for name, *command in [
            ("require", "pipec", "a.pipe"),
            ("timeline", "pipec", "name.steps"),
            ("times", "pipec", "name.steps", "--cost=F=1,B=2"),
            ("report", "pipec", "name.steps", "--emit=report"),
            ("dot", "pipec", "name.steps", "--emit=dot"),
            ("diff", "pipec", "diff", "name.steps", "name.steps"),
            ("missing", "pipec-opt", "\x1b[2J.steps"),
            ("located", "pipec-opt", "\x1b[2Jx.steps"),
            ("describe", "pipec", "--describe", "a.pipe")]:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        controls += sum(byte < 32 and byte != 10 or byte == 127 for byte in run.stdout)
        out.write(name.encode() + b" " + run.stdout.replace(b"\n", b" | ") + b"\n")
    out.write(f"control characters: {controls}\n".encode())
