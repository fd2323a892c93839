# Writes the text of a template as a C++ string, for use in a source:
#   cmake -DTEMPLATE=in -DOUTPUT=out.inc -P EmbedTemplate.cmake
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
file(READ ${TEMPLATE} text)
# One literal of less than 16 KiB for every compiler's limit.
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 8000 piece)
  string(APPEND pieces "R\"pipec(${piece})pipec\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE ${OUTPUT} "${pieces}")
