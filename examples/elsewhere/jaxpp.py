"""Task lists of JaxPP as a CSV."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

def write_tasks(tasks, file):
    """Writes the CSV of the tasks of JaxPP."""
    kinds = {"FWD": "F", "BWD": "B", "BWD_I": "I", "BWD_W": "W"}

    def cell(task):
        return f"{task.stage_id}{kinds[getattr(task.fwd_or_bwd, 'name', task.fwd_or_bwd)]}{task.mubatch_idx}"

    for row in tasks:
        cells = []
        for task in row:
            members = [task] if task is None or hasattr(task, "stage_id") else list(task)
            if len(members) == 1:
                cells.append("" if task is None else cell(task))
                continue
            parts = [cell(member) for member in members]
            halves = [part for part in parts if "F" not in part]
            if len(halves) == len(parts):
                cells += parts
                continue
            # Members of an overlap start together, so halves are a whole backward.
            whole = halves[0] if len(halves) == 1 else halves[0].replace("I", "B")
            pair = [part for part in parts if "F" in part] + [whole]
            first = "F" in parts[0]
            cells.append(f"({';'.join(pair if first else reversed(pair))}){'OVERLAP_F_B' if first else 'OVERLAP_B_F'}")
        print(",".join(cells), file=file)
