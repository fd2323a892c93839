# The Debian package: `cpack` in the build tree, as utils/make-release.py runs it.
# With SOURCE_DATE_EPOCH the same sources result in the same bytes.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pipec)
set(CPACK_PACKAGE_VENDOR "the developers of pipec")
set(CPACK_PACKAGE_CONTACT "The developers of pipec <pipec@localhost>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for pipeline-parallel training schedules")
set(CPACK_PACKAGE_DESCRIPTION
  "pipec compiles programs that describe pipeline-parallel training schedules
to CSVs that PyTorch runs, to C++ executors, and to pictures. It checks them,
inserts the communication, and simulates them under costs. The package
contains the library of schedules and the headers of executors.")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/FollowDebianPolicy.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(NOT PIPEC_STATIC)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
