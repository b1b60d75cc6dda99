//! Two people write a text in turn, and a third one reads along, over a network that keeps no order.
//!
//! The bug, in yrs 0.28.1, the newest: changes may be applied in any order, as one that lacks what it
//! builds on is kept until that has come. But of a letter of one writer, one of the other before it,
//! and a third between the two, applied last one first, only the first ever shows: the others are kept
//! for good. Not reported that we know of; a sister, where changes of a single writer were lost in such a
//! way, was in 0.18.2 (<https://github.com/y-crdt/y-crdt/issues/413>,
//! <https://github.com/y-crdt/y-crdt/pull/414>). The `control` package runs the same scenario on
//! automerge, which keeps such changes as well.

#[cfg_attr(feature = "control", path = "automerge.rs")]
#[cfg_attr(not(feature = "control"), path = "yrs.rs")]
mod document;

use cct_net::mailbox::Mailbox;
use cct_net::node;
use cct_sync::mpsc;
use document::Document;

/// How many letters are written, alternately.
const LETTERS: usize = 4;

/// Who writes, and then who reads.
const NAMES: [&str; 3] = ["alice", "bob", "carol"];

/// Where letters arrive, in any order.
fn inbox() -> Mailbox<Vec<u8>> {
    let inbox = Mailbox::builder("letters").unordered();
    inbox.bind().expect("the node has no other")
}

/// Writes every other letter, once the one before has come.
async fn write(who: usize) -> String {
    let mut inbox = inbox();
    let mut document = Document::new(who);
    for letter in 0..LETTERS {
        if letter % 2 != who {
            let (_, change) = inbox.recv().await;
            document.apply(&change);
            continue;
        }
        let change = document.write_first("x");
        for other in NAMES.iter().filter(|name| **name != NAMES[who]) {
            let sent = inbox.send(*other, change.clone());
            sent.expect("the node is known");
        }
    }
    document.text()
}

/// Reads all letters.
async fn read(who: usize) -> String {
    let mut inbox = inbox();
    let mut document = Document::new(who);
    for _ in 0..LETTERS {
        let (_, change) = inbox.recv().await;
        document.apply(&change);
    }
    document.text()
}

/// Tells what text somebody has in the end.
async fn take_part(who: usize, texts: mpsc::Sender<(usize, String)>) {
    let text = match who {
        0 | 1 => write(who).await,
        _ => read(who).await,
    };
    texts.send((who, text)).await.expect("the test waits");
}

/// Whoever has got all letters has all in the text.
pub async fn scenario() {
    let (sender, mut texts) = mpsc::channel(NAMES.len());
    for (who, name) in NAMES.into_iter().enumerate() {
        let sender = sender.clone();
        node(name).start(move || take_part(who, sender.clone()));
    }
    for _ in NAMES {
        let (who, text) = texts.recv().await.expect("all come to an end");
        assert_eq!(text, "x".repeat(LETTERS), "what {} has", NAMES[who]);
    }
}
