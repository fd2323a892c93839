# Writes the text of files, one after the other, as a C++ string, for use in a
# source:
#   cmake -DOUTPUT=out.inc -P EmbedText.cmake -- in...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(pieces "")
set(inputs FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(NOT inputs)
    if("${CMAKE_ARGV${i}}" STREQUAL "--")
      set(inputs TRUE)
    endif()
    continue()
  endif()
  file(READ "${CMAKE_ARGV${i}}" text)
  # One literal of less than 16 KiB for every compiler's limit.
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces "R\"pipec(${piece})pipec\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
endforeach()
file(WRITE ${OUTPUT} "${pieces}")
