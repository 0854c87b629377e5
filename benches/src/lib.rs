//! Criterion benches of the core, in `benches/`. There is nothing to call here.
