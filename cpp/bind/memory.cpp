// How much memory there is, and a sentence in place of std::bad_alloc.
#include "dynmargin/data/memory.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#if defined(_WIN32)
#define NOMINMAX
#include <windows.h>
#else
#include <stdlib.h>  // says whether the C library is GNU's
#include <sys/resource.h>
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;
using namespace dynmargin;

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();
constexpr const char* control_group = "/sys/fs/cgroup";  // as a process in a container sees its own

#if defined(_WIN32)
double available_memory(const std::string&) {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return unknown;
  return static_cast<double>(std::min(status.ullAvailPageFile, status.ullAvailVirtual));
}
#else
// The number after a word in a file of the system, or the first number of the file.
double number_in(const std::string& path, const std::string& word = "") {
  std::ifstream file(path);
  std::string found;
  if (!word.empty())
    while (file >> found && found != word) {
    }
  double value;
  return file >> value ? value : unknown;
}

double physical_memory() {
  const double available = number_in("/proc/meminfo", "MemAvailable:");
  if (available < unknown) return 1024 * (available + number_in("/proc/meminfo", "SwapFree:"));
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double address_space() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  const double used = number_in("/proc/self/statm") * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - (used < unknown ? used : 0));
}

// What is left of the memory that a container may use; a file that says "max" has no number. Pages of files that were
// not used lately count as used there, but are given back when memory is needed.
double group_memory(const std::string& folder) {
  const double limit = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
  if (limit == unknown || used == unknown) return limit;
  const double files = number_in(folder + "/memory.stat", "inactive_file");
  return std::max(0.0, limit - used + (files < unknown ? files : 0));
}

// What this process can still get: of the machine's memory, of its container's, and of its address space (ulimit -v).
double available_memory(const std::string& group) {
  return std::min({physical_memory(), group_memory(group), address_space()});
}
#endif

std::string in_units(double bytes) {
  const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 || bytes >= 99.5 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
  return text;
}

// A sentence about memory that is not enough for something, and what to do about it.
std::string not_enough(const std::string& purpose) {
  const double available = available_memory(control_group);
  const std::string there = available < unknown ? "; " + in_units(available) + " is available" : "";
  return "there is not enough memory" + purpose + there +
         "; free some, raise the limit on this process, or use fewer rows or columns";
}

std::string shortage(const std::string& purpose, double bytes) {
  return not_enough(": " + purpose + " takes " + in_units(bytes));
}

// GNU's C library keeps freed blocks of up to 32 MB for later once it has seen one of that size, and does so for every
// thread. (Verifying 500,000 rows of a million columns on the disk: 276 MB, and 199 without that; training on 300,000
// rows of text: 109 MB of the 90 that were allowed, and 84. It takes up to a quarter more time.)
void give_back_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace

void bind_memory(nb::module_& m) {
  m.def("available_memory", &available_memory, "group"_a = control_group,
        "Bytes that this process can still get, a member of this control group of Linux; infinite if unknown.");
  m.def("in_units", &in_units, "bytes"_a, "Write a number of bytes for people: 3.2 GB.");
  m.def("shortage", &shortage, "purpose"_a, "bytes"_a, "Say that something takes more memory than there is.");
  m.def("give_back_freed_memory", &give_back_freed_memory,
        "From now on return large blocks to the system when they are freed, if the C library can be told to.");
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const NotEnoughMemory& error) {
      PyErr_SetString(PyExc_MemoryError, shortage(error.purpose, error.bytes).c_str());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, not_enough(" for this").c_str());
    }
  });
}
