"""Lists of veScale as a CSV."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

def write_instructions(lines, file, forward="forward", backward="backward"):
    """Writes the CSV of lines `load_data,forward,send,...`, one per rank, with one stage per rank."""
    for rank, line in enumerate(lines):
        done = {forward: 0, backward: 0}
        cells = []
        for name in line.strip().split(","):
            if name in done:
                cells.append(f"{rank}{'F' if name == forward else 'B'}{done[name]}")
                done[name] += 1
        print(",".join(cells), file=file)
