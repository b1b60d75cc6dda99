//! Signals: what real processes do with them, and what becomes of simulated ones.

#[cfg(unix)]
mod contracts;
mod defaults;
mod ends;
mod faults;
mod listening;
mod shutdown;
#[cfg(unix)]
#[path = "../two_sided/contracts.rs"]
mod two_sided;
#[path = "../two_sided/worlds.rs"]
mod worlds;
