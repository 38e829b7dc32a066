#include "memory.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local int64_t count = 0;
thread_local int64_t first = -1;  // number of the first allocation that fails; -1 for none
thread_local bool later = true;   // whether all later ones fail too
thread_local bool in_library = false;

void* allocate(std::size_t size) noexcept {
  const int64_t number = in_library ? count++ : -1;
  if (first >= 0 && number >= 0 && (later ? number >= first : number == first)) return nullptr;
  return std::malloc(size ? size : 1);
}

}  // namespace

namespace driver {

void enter_library() { in_library = true; }

void leave_library() { in_library = false; }

void fail_from(int64_t number) { count = 0, first = number, later = true; }

void fail_only(int64_t number) { count = 0, first = number, later = false; }

int64_t allocations() { return count; }

}  // namespace driver

void* operator new(std::size_t size) {
  if (void* block = allocate(size)) return block;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
