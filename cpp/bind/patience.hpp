// Work that is not done in slices, so that Python gets no chance to end it: it looks at the clock and for signals.
#pragma once

#include <nanobind/nanobind.h>

#include "dynmargin/data/patience.hpp"

// Returns work(patience), done with the GIL released. TimeoutError if it takes longer than that, and at least so much
// processor time; whatever the handler of a signal raises (KeyboardInterrupt) comes through.
template <class Work>
auto patiently(double seconds, double least, const Work& work) {
  namespace nb = nanobind;
  dynmargin::Patience patience(seconds, least, [] {
    nb::gil_scoped_acquire acquire;
    return PyErr_CheckSignals() != 0;
  });
  try {
    nb::gil_scoped_release release;
    return work(patience);
  } catch (const dynmargin::OutOfPatience&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TimeoutError, "time is up");
    throw nb::python_error();
  }
}
