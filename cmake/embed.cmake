# cmake -DINPUT=file -DOUTPUT=file.c -DSYMBOL=name -P embed.cmake
# Writes a C file that defines `const char name[]` (NUL-terminated) and `const size_t name_len`.
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR length "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "(char)0x\\1," bytes "${hex}")
string(REGEX REPLACE "((\\(char\\)0x[0-9a-f][0-9a-f],){12})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <stddef.h>
extern const char ${SYMBOL}[];
extern const size_t ${SYMBOL}_len;
const char ${SYMBOL}[] = {\n${bytes}0};
const size_t ${SYMBOL}_len = ${length};
")
