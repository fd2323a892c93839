# The pages that the programs make of their own tables: the manual page, and what
# `pipec --explain` prints.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The system's Python: what comes first on the PATH may be another one.
find_program(PIPEC_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PIPEC_PYTHON python3 REQUIRED)

set(PIPEC_MAN_PAGE ${PROJECT_BINARY_DIR}/share/man/man1/pipec.1)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1)
add_custom_command(OUTPUT ${PIPEC_MAN_PAGE}
  COMMAND pipec --doc-man -o ${PIPEC_MAN_PAGE}
  DEPENDS pipec VERBATIM COMMENT "Making the manual page")

set(diagnostics ${PROJECT_BINARY_DIR}/share/pipec/Diagnostics)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/Diagnostics/Inputs/*.example)
# A wrong example fails its test, not the build.
add_custom_command(OUTPUT ${diagnostics}.md
  COMMAND ${PIPEC_PYTHON} utils/diagnostics-page.py --lenient
    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --out ${PROJECT_BINARY_DIR}/share/pipec
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS pipec pipec-opt utils/diagnostics-page.py ${examples}
  VERBATIM COMMENT "Making the pages of diagnostics")
add_custom_target(pipec-pages ALL DEPENDS ${PIPEC_MAN_PAGE} ${diagnostics}.md)
install(DIRECTORY ${diagnostics} DESTINATION ${CMAKE_INSTALL_DATADIR}/pipec COMPONENT pipec)
