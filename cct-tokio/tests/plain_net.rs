//! A test without an attribute whose sockets outlive its runtime.
#![cfg(target_os = "linux")]

#[path = "../../cct-executor/tests/again/mod.rs"]
mod again;
#[macro_use]
#[path = "../../cct-executor/tests/again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_tokio::net::TcpStream;
use cct_tokio::runtime::Builder;
use std::net::TcpListener;

// Explored, nobody would ever come to `accept`: what it takes to learn that is the watch's to say.
passes!(["once" "explore"] accepts_when_its_runtime_is_gone {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(TcpStream::connect(address)).unwrap();
    drop(runtime);
    let (_, from) = listener.accept().unwrap();
    assert_eq!(client.local_addr().unwrap(), from);
});
