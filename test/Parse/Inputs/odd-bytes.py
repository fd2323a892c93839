"""Writes source files that no editor would."""
files = {
    "nul.pipe": b"// \0\n",
    "utf8.pipe": b"// fine\n// \xff\n",
    "surrogate.pipe": b"// \xed\xa0\x80\n",
    "cut.pipe": b"// \xe2\x82",
    "line.pipe": b"//" + b"x" * (10 * (1 << 20) - 2),
    "fits.pipe": b" " * ((1 << 20) - 5) + b" oops",
    "name.pipe": b"a" * (1 << 20),
    "bom.pipe": b"\xef\xbb\xbfschedule s(ranks p = 1, microbatches m = 1) {\r\n"
                b"  placement loop;\r\n\r\n  steady { F B }\r\n}\r\n",
    "bom-error.pipe": b"\xef\xbb\xbfschedule ;\n",
}
for name, content in files.items():
    with open(name, "wb") as file:
        file.write(content)
