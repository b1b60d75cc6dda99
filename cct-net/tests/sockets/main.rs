//! Sockets: what real ones do, and what becomes of them when things go wrong.

#[macro_use]
#[path = "contracts/list.rs"]
mod list;
mod at_once;
mod by_descriptor;
mod contracts;
mod faults;
mod fresh;
mod keepalive;
mod locked;
mod netstat;
mod of_the_test;
mod partial;
mod pieces;
mod repeat;
#[path = "../two_sided/results.rs"]
mod results;
mod standard;
#[path = "../two_sided/contracts.rs"]
mod two_sided;
#[path = "../two_sided/worlds.rs"]
mod worlds;
