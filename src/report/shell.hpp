#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace detdiff::report {

/// One word for a shell, to be pasted: plain text as it is, anything else in single quotes. A word
/// with control characters, invisible characters or bytes that are no UTF-8 becomes $'...' (bash,
/// zsh, ksh): a command on a terminal is harmless to look at and still means the same bytes.
std::string shell_quote(std::string_view word);

/// A command line of this program: "detdiff", `words` and `operands`, these behind "--" if one of
/// them begins with "-". Empty where an operand is "-": standard input cannot be read again.
std::string command_line(const std::vector<std::string>& words,
                         const std::vector<std::string>& operands);

}  // namespace detdiff::report
