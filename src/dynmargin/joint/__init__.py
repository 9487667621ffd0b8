"""One problem for all classes at once, and what is proven about it."""
