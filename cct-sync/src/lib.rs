//! tokio channels and locks.
