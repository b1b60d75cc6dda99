//! Typed messages between nodes, for protocol code that is not made of bytes.
//!
//! A node binds a mailbox under a name; mailboxes of the same name on different nodes send to each
//! other. Messages take the same links as connections do and suffer the same faults: what is on its
//! way when a link is cut, or its receiver crashes, is lost, and nobody is told. Messages of one
//! sender to one receiver arrive in order, unless the mailbox is
//! [`unordered`](Builder::unordered).
//!
//! A node that never bound the mailbox since it was started keeps what arrives for it until it does;
//! a mailbox that was dropped loses it.
//!
//! ```
//! use cct_executor::Checker;
//! use cct_executor::node::node;
//! use cct_net::mailbox::Mailbox;
//!
//! enum Message {
//!     Ping(u32),
//!     Pong(u32),
//! }
//!
//! let report = Checker::new().iterations(50).run(|| async {
//!     node("server").start(|| async {
//!         let mut mailbox = Mailbox::<Message>::bind("game").unwrap();
//!         loop {
//!             if let (from, Message::Ping(n)) = mailbox.recv().await {
//!                 mailbox.send(from, Message::Pong(n + 1)).unwrap();
//!             }
//!         }
//!     });
//!     let mut mailbox = Mailbox::bind("game").unwrap();
//!     mailbox.send("server", Message::Ping(1)).unwrap();
//!     assert!(matches!(mailbox.recv().await, (_, Message::Pong(2))));
//! });
//! report.assert_passed();
//! ```
//!
//! Reports call a message by its type; by what it is, if the mailbox was made with
//! [`Mailbox::builder(name).debug()`](Builder::debug).
//!
//! # Calls
//! Where every request has an answer, [`Calls`] saves the numbering and the matching:
//!
//! ```
//! use cct_executor::node::node;
//! use cct_executor::{Checker, spawn};
//! use cct_net::mailbox::{Call, Calls};
//!
//! let report = Checker::new().iterations(50).run(|| async {
//!     node("server").start(|| async {
//!         let mut calls = Calls::<u32, String>::bind("spell").unwrap();
//!         loop {
//!             let Call { request, answer, .. } = calls.recv().await;
//!             spawn(async move { answer.send(format!("<{request}>")) });
//!         }
//!     });
//!     let caller = Calls::<u32, String>::bind("spell").unwrap().caller();
//!     assert_eq!(caller.call("server", 7).await.unwrap(), "<7>");
//! });
//! report.assert_passed();
//! ```
//!
//! All requests of one node to another arrive in order, as over one connection. Where they do not, as
//! calls go over several, or are repeated on the way, [`Calls::builder`] says so.
//!
//! # Differences from real transports
//! There is no back-pressure: any number of messages may be on their way. Nothing is ever refused;
//! protocols that want to learn of broken sessions ask for [`sessions`](Builder::sessions).

mod builder;
mod calls;
mod calls_builder;
mod handle;
mod letter;
mod line;
mod peer;
mod registry;
mod room;
mod slot;
mod waiting;

pub use builder::Builder;
pub use calls::{Answer, Call, Caller, Calls};
pub use calls_builder::CallsBuilder;
pub use handle::{Mailbox, Sender};
pub use peer::Peer;
pub use slot::Event;
