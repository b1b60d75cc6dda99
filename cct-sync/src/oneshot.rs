//! Channels for one message.
//!
//! tokio's `oneshot`. The [`Receiver`] is itself the future of the message.
//!
//! 1. The first of two events decides: the sender completes (sends, or is dropped), or the
//!    receiver closes. After the one the other has no effect.
//! 2. A message that was sent before the receiver closed can still be received.
//!
//! # Differences from tokio
//! None.

pub mod error;
mod receiver;
mod sender;
mod state;

pub use receiver::Receiver;
pub use sender::Sender;

use cct_executor::shim::{Resource, ResourceKind, Shared};
use state::{Inner, State};
use std::panic::Location;
use std::sync::Arc;

/// Makes a channel for one message.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let inner = Arc::new(Inner {
        resource: Resource::new(ResourceKind::Oneshot),
        site: Location::caller(),
        state: Shared::new(State {
            value: None,
            complete: false,
            closed: false,
            sender: None,
            receiver: None,
        }),
    });
    let sender = Sender {
        inner: Some(inner.clone()),
        waiting: false,
    };
    (
        sender,
        Receiver {
            inner: Some(inner),
            waiting: false,
        },
    )
}
