# pipec_add_schedule(TARGET target SCHEDULE name-or-file
#                    [NAME schedule] [PARAMS name=value...] [PASSES list]
#                    [HEADER name] [TABLE])
#
# Compiles a schedule when `target` is built, and lets its sources include the
# executor as `name.h`:
#
#   pipec_add_schedule(TARGET app SCHEDULE zb1p PARAMS ranks=4 microbatches=8)
#
#   #include "zb1p.h"
#
# SCHEDULE is a file (.pipe, .steps or .csv) or a name of pipec's library.
# NAME says which schedule, where a file has several.
# PASSES replaces the passes of the target `cpp`; TABLE writes constant tables
# in place of code.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
function(pipec_add_schedule)
  cmake_parse_arguments(ARG "TABLE" "TARGET;SCHEDULE;NAME;PASSES;HEADER" "PARAMS" ${ARGN})
  if(NOT ARG_TARGET OR NOT ARG_SCHEDULE OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pipec_add_schedule(TARGET target SCHEDULE name-or-file"
                        " [NAME schedule] [PARAMS name=value...] [PASSES list] [HEADER name] [TABLE])")
  endif()

  # A path counts from the calling CMakeLists.txt; anything else is a name.
  set(schedule ${ARG_SCHEDULE})
  set(depends pipec::pipec)
  get_filename_component(file ${schedule} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  if(EXISTS ${file})
    set(schedule ${file})
    # Also on the programs that it may import.
    get_filename_component(folder_of_file ${file} DIRECTORY)
    file(GLOB imports CONFIGURE_DEPENDS ${folder_of_file}/*.pipe)
    list(APPEND depends ${file} ${imports})
    list(REMOVE_DUPLICATES depends)
  endif()

  get_filename_component(name ${ARG_SCHEDULE} NAME_WE)
  if(ARG_HEADER)
    set(name ${ARG_HEADER})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/pipec/${ARG_TARGET})
  set(header ${folder}/${name}.h)
  set(options --emit=cpp -o ${header})
  foreach(param ${ARG_PARAMS})
    list(APPEND options -D${param})
  endforeach()
  if(ARG_NAME)
    list(APPEND options --schedule=${ARG_NAME})
  endif()
  if(ARG_PASSES)
    list(APPEND options --passes=${ARG_PASSES})
  endif()
  if(ARG_TABLE)
    list(APPEND options --cpp=table)
  endif()

  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${header}
    COMMAND pipec::pipec ${schedule} ${options}
    DEPENDS ${depends}
    COMMENT "Compiling the schedule ${ARG_SCHEDULE}"
    VERBATIM)
  target_sources(${ARG_TARGET} PRIVATE ${header})
  target_include_directories(${ARG_TARGET} PRIVATE ${folder})
  target_link_libraries(${ARG_TARGET} PRIVATE pipec::runtime)
endfunction()
