#include "strings.hpp"

ck_strings_view ck_strings_read(const ck_strings* strings) {
  return {strings->bytes.data(), strings->ends.data(), static_cast<int64_t>(strings->ends.size())};
}

void ck_strings_free(ck_strings* strings) { delete strings; }
