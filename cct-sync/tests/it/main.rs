//! Tests of the primitives, outside a world most of them against tokio as well, and inside.

mod chan_auto_traits;
mod chan_parity;
mod chan_script;
mod chan_surface;
mod chan_threads;
mod chan_world;
mod explore;
mod listen_world;
mod locks_auto_traits;
mod locks_guards;
mod locks_parity;
mod locks_threads;
mod locks_world;
mod look_world;
mod probe;
mod support;
mod tell_world;
