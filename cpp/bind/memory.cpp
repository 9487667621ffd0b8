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
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;
using namespace dynmargin;

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

#if defined(_WIN32)
double available_memory() {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return unknown;
  return static_cast<double>(std::min(status.ullAvailPageFile, status.ullAvailVirtual));
}
#else
// The number after a word in a file of the system, or the first number of the file.
double number_in(const char* path, const std::string& word = "") {
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

// What this process can still get: of the machine's memory, of what its container may use (a file that says "max" has
// no number), and of its address space (ulimit -v).
double available_memory() {
  return std::min({physical_memory(), number_in("/sys/fs/cgroup/memory.max"), address_space()});
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

std::string shortage(const std::string& purpose, double bytes) {
  const double available = available_memory();
  const std::string there = available < unknown ? "; " + in_units(available) + " is available" : "";
  return "there is not enough memory: " + purpose + " takes " + in_units(bytes) + there +
         "; free some, raise the limit on this process, or use fewer rows or columns";
}

}  // namespace

void bind_memory(nb::module_& m) {
  m.def("available_memory", &available_memory, "Bytes that this process can still get; infinite if nobody knows.");
  m.def("in_units", &in_units, "bytes"_a, "Write a number of bytes for people: 3.2 GB.");
  m.def("shortage", &shortage, "purpose"_a, "bytes"_a, "Say that something takes more memory than there is.");
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const NotEnoughMemory& error) {
      PyErr_SetString(PyExc_MemoryError, shortage(error.purpose, error.bytes).c_str());
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, ("there is not enough memory for this; " + in_units(available_memory()) +
                                          " is available; free some, raise the limit on this process, or use fewer "
                                          "rows or columns")
                                             .c_str());
    }
  });
}
