//! Two parts of a program that wait for an actor to stop.
//!
//! The bug, in ractor 0.15.13: an actor that stops wakes those who wait for it, and leaves one
//! permit for somebody who comes later. The second one who comes later waits for ever
//! (<https://github.com/slawlor/ractor/pull/466>, item 20). Gone in 0.16.5, where who waits looks
//! first whether the actor has stopped.
//!
//! ractor is written for tokio. It is the published one, untouched; the folder `tokio` beside this one
//! stands in for tokio.

use cct_executor::spawn;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

/// Counts what it is sent.
struct Counter;

enum Message {
    Add(u32),
    Get(RpcReplyPort<u32>),
}

impl Actor for Counter {
    type Msg = Message;
    type State = u32;
    type Arguments = ();

    async fn pre_start(
        &self,
        _myself: ActorRef<Message>,
        _arguments: (),
    ) -> Result<u32, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _myself: ActorRef<Message>,
        message: Message,
        count: &mut u32,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Add(number) => *count += number,
            Message::Get(reply) => reply.send(*count)?,
        }
        Ok(())
    }
}

/// An actor that is told to stop stops, for all who wait for it.
pub async fn scenario() {
    let (actor, handle) = Actor::spawn(None, Counter, ()).await.expect("it starts");
    actor.cast(Message::Add(3)).expect("it runs");
    assert_eq!(call!(actor, Message::Get).expect("it answers"), 3);
    let watchers = [(); 2].map(|()| {
        let actor = actor.clone();
        spawn(async move { actor.wait(None).await.expect("no limit") })
    });
    actor.stop(None);
    for watcher in watchers {
        watcher.await.expect("it waits only");
    }
    handle.await.expect("it does not panic");
}
