# Compiles through ccache where it is installed; -DCMAKE_CXX_COMPILER_LAUNCHER= switches it off.

find_program(DETDIFF_CCACHE ccache)
mark_as_advanced(DETDIFF_CCACHE)
if(PROJECT_IS_TOP_LEVEL AND DETDIFF_CCACHE)
  foreach(language IN ITEMS C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${DETDIFF_CCACHE})
    endif()
  endforeach()
endif()
