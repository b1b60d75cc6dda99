//! Signals: what real processes do with them, and what becomes of simulated ones.

#[cfg(unix)]
mod contracts;
mod defaults;
mod ends;
mod faults;
mod listening;
mod shutdown;
mod worlds;
