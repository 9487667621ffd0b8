// Large arrays on huge pages: `operator new` of this library.
//
// Rows and columns are visited in random order, and with pages of 4 kB nearly every visit to a large array is also a
// miss of the translation buffer; besides, a fresh array costs a page fault for each of them. Linux gives huge pages of
// 2 MB to whoever asks. (To a certified 1 %: 77,567 texts of 915,863
// words 141 ms instead of 210.)
//
// What is allocated here may be freed by any `operator delete` that calls `free`, and the other way round, so it does
// not matter which of them a program happens to resolve. Sanitizers bring their own, and other systems keep theirs.
#if defined(__linux__) && !defined(DYNMARGIN_SANITIZED)

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

// Only whole huge pages are asked for: what is left at the end would take memory that nobody uses.
void* allocate(std::size_t size) {
  if (size < huge_page) return std::malloc(size > 0 ? size : 1);
  void* found = nullptr;
  if (posix_memalign(&found, huge_page, size) != 0) return nullptr;
  madvise(found, size / huge_page * huge_page, MADV_HUGEPAGE);  // advice: where it is not taken, nothing is lost
  return found;
}

void* allocate_or_throw(std::size_t size) {
  if (void* found = allocate(size)) return found;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete[](void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete[](void* place, std::size_t) noexcept { std::free(place); }

#endif
