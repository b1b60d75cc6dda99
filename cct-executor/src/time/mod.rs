//! PLACEHOLDER until the real one is written.
