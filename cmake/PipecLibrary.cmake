# Helpers that give every target of the project the same settings.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

find_program(PIPEC_CCACHE ccache)
if(PIPEC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache asks for where headers are precompiled (its manual, section 19).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${PIPEC_CCACHE})
endif()
if(PIPEC_SANITIZE)
  # These three would take a quarter of the time to compile.
  add_compile_options(-fsanitize=${PIPEC_SANITIZE} -fno-sanitize=alignment,object-size,vptr
                      -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PIPEC_SANITIZE})
endif()
if(PIPEC_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Settings of our own code: warnings are errors, LLVM's headers are not ours.
function(pipec_own_code target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports overlaps in std::string by mistake (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
    if(PIPEC_PRECOMPILED_HEADERS)
      # With precompiled headers it does not treat the system's headers as such,
      # and warns about std::string and std::optional at -O3.
      target_compile_options(${target} PRIVATE -Wno-stringop-overflow
        -Wno-stringop-overread -Wno-array-bounds -Wno-maybe-uninitialized)
    endif()
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # std::stable_sort of libstdc++ 12 calls what it deprecates.
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  if(PIPEC_CLANG_TIDY)
    set_target_properties(${target} PROPERTIES CXX_CLANG_TIDY "clang-tidy-19;--quiet;--extra-arg=-Wno-unknown-warning-option;--extra-arg=-Wno-deprecated-declarations")
  endif()
endfunction()

# pipec_precompile(target header...): compiles headers once for the sources of a target.
function(pipec_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Lets ccache tell one precompiled header from another by its text.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# What nearly every source reads of the standard library and of LLVM, compiled
# once: a third to a half of the time that a source takes. Sources still include
# what they use; PIPEC_PRECOMPILED_HEADERS=OFF shows one that does not.
function(pipec_precompile_headers target)
  if(NOT PIPEC_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET pipec-headers)
    add_library(pipec-headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/Headers.cpp)
    pipec_own_code(pipec-headers)
    pipec_precompile(pipec-headers ${PROJECT_SOURCE_DIR}/cmake/Headers.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM pipec-headers)
endfunction()

# pipec_add_library(NAME source... DEPENDS lib...)
# One folder of lib/ is one library; DEPENDS is all that it may include.
function(pipec_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/lib ${PROJECT_BINARY_DIR}/lib)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
  # All as one source take two thirds of the time of pieces of eight.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${PIPEC_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 0)
  pipec_own_code(${name})
  pipec_precompile_headers(${name})
endfunction()

# pipec_add_program(NAME source... DEPENDS lib...)
function(pipec_add_program name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  if(PIPEC_STATIC)
    target_link_options(${name} PRIVATE -static -s)
  endif()
  pipec_own_code(${name})
endfunction()

# pipec_embed_text(target NAME FILE...)
# Makes the text of the files, one after the other, available to the target's
# sources as the string literal in "NAME.inc".
function(pipec_embed_text target name)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake)
  set(output ${PROJECT_BINARY_DIR}/lib/${name}.inc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -P ${script} -- ${ARGN}
    DEPENDS ${ARGN} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# pipec_embed_templates(target NAME...)
# Makes the text of each templates/NAME.mustache available as a row
# `{"NAME", "text"},` of "Emit/templates.inc".
function(pipec_embed_templates target)
  foreach(name ${ARGN})
    pipec_embed_text(${target} Emit/${name} ${PROJECT_SOURCE_DIR}/templates/${name}.mustache)
    string(APPEND rows "{\"${name}\",\n#include \"Emit/${name}.inc\"\n},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/lib/Emit/templates.inc CONTENT "${rows}")
endfunction()
