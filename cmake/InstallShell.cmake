# Installs the manual page, and the scripts for completion where the shells look
# for them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
function(pipec_install_shell_files prefix)
  install(FILES ${PIPEC_MAN_PAGE} DESTINATION ${prefix}${CMAKE_INSTALL_MANDIR}/man1 ${ARGN})
  install(FILES templates/completion.bash RENAME pipec
    DESTINATION ${prefix}${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${ARGN})
  install(FILES templates/completion.zsh RENAME _pipec
    DESTINATION ${prefix}${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${ARGN})
  install(FILES templates/completion.fish RENAME pipec.fish
    DESTINATION ${prefix}${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${ARGN})
endfunction()

pipec_install_shell_files("" COMPONENT shell)
if(SKBUILD_DATA_DIR)
  # In a wheel everything else goes into the package, and these files below the
  # prefix of the environment.
  pipec_install_shell_files(${SKBUILD_DATA_DIR}/ COMPONENT python EXCLUDE_FROM_ALL)
endif()
