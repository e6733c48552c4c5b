/// What a launcher says first.
#pragma once

#include <string>

namespace collmark {

/// The first sentence of `text`, in one line: launchers wrap their words at 70 or 80 characters, between rulers of
/// dashes. It ends with a full stop or a colon, which goes, or where a line is left early. Empty: there are no words.
[[nodiscard]] std::string first_sentence(const std::string& text);

}  // namespace collmark
