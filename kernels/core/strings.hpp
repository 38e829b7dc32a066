// The strings that functions of the C interface make.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guard.hpp"

struct ck_strings {
  std::string bytes;
  std::vector<int64_t> ends;

  void end_string() { ends.push_back(static_cast<int64_t>(bytes.size())); }
  void add(std::string_view text) {
    bytes += text;
    end_string();
  }
};

namespace ck {

// Gives the strings that `write` adds.
ck_status give_strings(ck_strings** out, auto&& write) {
  return guarded([&] {
    auto strings = std::make_unique<ck_strings>();
    write(*strings);
    *out = strings.release();
  });
}

}  // namespace ck
