# Installs what find_package(pipec) reads; see pipecConfig.cmake.in.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include(CMakePackageConfigHelpers)

# Inside the build by the name that the package gives it.
add_executable(pipec::pipec ALIAS pipec)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pipec)
install(TARGETS pipec EXPORT pipecTargets COMPONENT pipec)
install(TARGETS pipec-runtime EXPORT pipecTargets)
install(EXPORT pipecTargets NAMESPACE pipec:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/pipecConfig.cmake.in
  ${PROJECT_BINARY_DIR}/pipecConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pipecConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pipecConfig.cmake
  ${PROJECT_BINARY_DIR}/pipecConfigVersion.cmake cmake/PipecAddSchedule.cmake
  DESTINATION ${package_dir} COMPONENT development)
