//! NVIDIA's wheels on PyPI, or on an index that mirrors it.

mod choose;
mod marker;
mod metadata;
mod placement;
mod spelling;
