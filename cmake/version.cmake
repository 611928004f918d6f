# cmake -DSOURCE=folder -DOUTPUT=file.c -DVERSION=1.2.3 -P version.cmake
# Writes a C file that defines `const char stowage_version[]`: the version, and the commit where there is a
# repository. What would be equal is not written, so that nothing is built anew.
execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=10
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
set(text "${VERSION}")
if(NOT failed AND NOT commit STREQUAL "")
    string(APPEND text " (${commit})")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"server/version.h\"

const char stowage_version[] = \"${text}\";
")
