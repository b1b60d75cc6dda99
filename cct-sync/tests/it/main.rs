//! Tests of the primitives, outside a world most of them against tokio as well, and inside.

mod chan_parity;
mod chan_script;
mod locks_auto_traits;
mod locks_guards;
mod locks_parity;
mod locks_threads;
mod locks_world;
mod support;
