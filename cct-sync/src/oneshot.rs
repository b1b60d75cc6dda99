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

use cct_executor::shim::{Access, Looks, OpKind, Resource, ResourceKind, Shared, decides_seams};
use state::{Inner, State};
use std::panic::Location;
use std::sync::Arc;

/// Makes a channel for one message.
///
/// # Scheduling points
/// One at granularity `spawn` (on Linux) and finer. Whoever makes such a channel is about to leave the sender somewhere, to
/// be told what it has just seen not to be there: under a lock that is given back in between, as a rule, and what
/// happens there is missed.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let site = Location::caller();
    let resource = Resource::new(ResourceKind::Oneshot);
    if decides_seams() {
        resource.seam_point(OpKind::Open, Access::Read, site);
    }
    let inner = Arc::new(Inner {
        resource,
        site,
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
        looks: Looks::new(),
    };
    (
        sender,
        Receiver {
            inner: Some(inner),
            looks: Looks::new(),
        },
    )
}
