//! Macros of `cct-executor`.
