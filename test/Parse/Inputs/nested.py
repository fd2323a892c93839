"""Writes programs at the limits of nesting and beyond."""


def program(name, let, body="F B"):
    with open(name + ".pipe", "w") as file:
        file.write("schedule s(ranks p = 1, microbatches m = 1) {\n  placement loop;\n"
                   f"  let x = {let};\n  steady {{ repeat x {{ {body} }} }}\n}}\n")


def nested(opening, inside, closing, depth):
    return opening * depth + inside + closing * depth


program("parens", nested("(", "1", ")", 100000))
program("parens-fit", nested("(", "1", ")", 255))
program("signs", "- " * 100000 + "1")
program("signs-fit", "- " * 254 + "1")
program("conditionals", "m ? 1 : " * 100000 + "1")
program("conditionals-fit", "0 ? 2 : " * 254 + "1")
program("sum", "1" + " + 0" * 100000)
program("sum-fit", "1" + " + 0" * 1000)
# `schedule`, `steady` and `repeat` are three levels.
program("blocks", "1", nested("if m { ", "F B", " }", 100000))
program("blocks-fit", "1", nested("if m { ", "F B", " }", 253))
program("elses", "1", "if 0 { F } else " * 50000 + "{ F B }")
program("elses-fit", "1", "if 0 { F } else " * 252 + "{ F B }")
program("brackets", "1", nested("F[", "0", "]", 100000))
program("flat", " + ".join(["(0)"] * 900) + " + 1", "if 0 { F } " * 3000 + "F B")
