//! Mailboxes: order, copies, sessions, names.

use crate::{checker, everywhere};
use cct_executor::node::{self, Node, NodeId, node};
use cct_executor::task::yield_now;
use cct_executor::time::{sleep, timeout};
use cct_executor::{Granularity, observe, spawn};
use cct_net::fabric::{self, Verdict};
use cct_net::mailbox::{Event, Mailbox, Sender};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Message {
    Ask(u32),
    Answer { value: u32 },
}

fn idle(name: &str) -> Node {
    node(name).start(std::future::pending::<()>)
}

async fn bind(node: &Node, make: fn() -> Mailbox<Message>) -> Mailbox<Message> {
    node.spawn(async move { make() }).await.unwrap()
}

#[test]
fn messages_of_a_pair_arrive_in_order_and_others_interleave() {
    everywhere("order", 40, || async {
        let (a, b) = (idle("a"), idle("b"));
        let plain = || Mailbox::bind("m").unwrap();
        let (from_a, from_b) = (bind(&a, plain).await, bind(&b, plain).await);
        let mut here = Mailbox::<Message>::bind("m").unwrap();
        for n in 0..3 {
            from_a.send(here.node(), Message::Ask(n)).unwrap();
            from_b.send(here.node(), Message::Ask(n)).unwrap();
        }
        let mut next = [0; 3];
        let mut senders = Vec::new();
        for _ in 0..6 {
            let (from, message) = here.recv().await;
            let expected = &mut next[usize::from(from.0)];
            assert_eq!(message, Message::Ask(*expected));
            *expected += 1;
            senders.push(from);
        }
        assert!(here.try_recv().is_none());
        assert_eq!(next, [0, 3, 3]);
    });
}

/// All the orders that the options allow come up, and no others.
#[test]
fn unordered_messages_overtake_each_other() {
    for (unordered, expected) in [(false, 1), (true, 6)] {
        let orders = Arc::new(Mutex::new(BTreeSet::new()));
        let theirs = orders.clone();
        let report = checker("unordered").iterations(300).run(move || {
            let orders = theirs.clone();
            async move {
                let builder = Mailbox::<u32>::builder("m");
                let builder = if unordered {
                    builder.unordered()
                } else {
                    builder
                };
                let mut mailbox = builder.bind().unwrap();
                let here = mailbox.node();
                (0..3).for_each(|n| mailbox.send(here, n).unwrap());
                let mut order = Vec::new();
                for _ in 0..3 {
                    order.push(mailbox.recv().await.1);
                }
                let mut orders = orders.lock().unwrap_or_else(PoisonError::into_inner);
                orders.insert(order);
            }
        });
        report.assert_passed();
        let orders = orders.lock().unwrap();
        assert_eq!(orders.len(), expected, "{orders:?}");
    }
}

#[test]
fn messages_are_doubled_where_that_is_allowed() {
    for duplicable in [false, true] {
        everywhere("double", 20, move || async move {
            let builder = Mailbox::<Message>::builder("m");
            let builder = if duplicable {
                builder.duplicable()
            } else {
                builder
            };
            let mut mailbox = builder.bind().unwrap();
            let here = mailbox.node();
            fabric::set_rule(|_| Verdict::Duplicate);
            mailbox.send(here, Message::Answer { value: 7 }).unwrap();
            let mut count = 0;
            while let Ok((_, message)) = timeout(Duration::from_secs(1), mailbox.recv()).await {
                assert_eq!(message, Message::Answer { value: 7 });
                count += 1;
            }
            assert_eq!(count, 1 + u32::from(duplicable));
        });
    }
}

#[test]
fn a_session_that_broke_is_announced_before_what_follows() {
    everywhere("sessions", 30, || async {
        let (a, b) = (idle("a"), idle("b"));
        let with = || Mailbox::builder("m").sessions().bind().unwrap();
        let from_a = bind(&a, with).await;
        let mut at_b = bind(&b, with).await;
        let message = |n| Event::Message {
            from: NodeId(1),
            message: Message::Ask(n),
        };
        let again = Event::Reconnected { from: NodeId(1) };
        from_a.send("b", Message::Ask(1)).unwrap();
        assert_eq!(at_b.recv_event().await, message(1));
        fabric::partition(&a, &b);
        from_a.send("b", Message::Ask(2)).unwrap();
        fabric::heal(&a, &b);
        from_a.send("b", Message::Ask(3)).unwrap();
        assert_eq!(at_b.recv_event().await, again);
        assert_eq!(at_b.recv_event().await, message(3));
        // Those who do not ask do not see it.
        fabric::partition(&a, &b);
        fabric::heal(&a, &b);
        from_a.send("b", Message::Ask(4)).unwrap();
        assert_eq!(at_b.recv().await.1, Message::Ask(4));
        // A restart of the sender is a new session too, also with nothing sent.
        a.crash();
        a.restart();
        let _from_a = bind(&a, with).await;
        assert_eq!(at_b.recv_event().await, again);
        assert_eq!(at_b.try_recv_event(), None);
    });
}

#[test]
fn what_comes_before_the_mailbox_is_bound_waits_and_after_it_is_lost() {
    everywhere("early", 20, || async {
        let a = idle("a");
        let here = Mailbox::<Message>::bind("m").unwrap();
        here.send(&a, Message::Ask(1)).unwrap();
        sleep(Duration::from_millis(10)).await;
        let mut there = bind(&a, || Mailbox::bind("m").unwrap()).await;
        assert_eq!(there.recv().await, (NodeId(0), Message::Ask(1)));
        drop(there);
        here.send(&a, Message::Ask(2)).unwrap();
        sleep(Duration::from_millis(10)).await;
        let mut there = bind(&a, || Mailbox::bind("m").unwrap()).await;
        assert_eq!(there.try_recv(), None);
        here.send(&a, Message::Ask(3)).unwrap();
        assert_eq!(there.recv().await.1, Message::Ask(3));
        // What waited when the node crashed is gone.
        here.send(&a, Message::Ask(4)).unwrap();
        sleep(Duration::from_millis(10)).await;
        a.crash();
        a.restart();
        let mut there = bind(&a, || Mailbox::bind("m").unwrap()).await;
        assert_eq!(there.try_recv(), None);
    });
}

#[test]
fn mistakes_are_named() {
    let report = checker("mistakes").iterations(1).run(|| async {
        let a = idle("a");
        let mailbox = Mailbox::<u32>::bind("m").unwrap();
        let taken = Mailbox::<u32>::bind("m").unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        let other = Mailbox::<Message>::bind("m").unwrap_err();
        assert_eq!(other.kind(), ErrorKind::InvalidInput);
        assert!(
            other.to_string().contains("mailboxes `m` carry u32, not "),
            "{other}"
        );
        let unknown = mailbox.send("z", 1).unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
        assert_eq!(unknown.to_string(), "there is no node `z`");
        let unknown = mailbox.send(NodeId(9), 1).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no node n9");
        let taken = a.spawn(async {
            let _first = Mailbox::<u32>::bind("m").unwrap();
            Mailbox::<u32>::bind("m").unwrap_err().to_string()
        });
        assert_eq!(
            taken.await.unwrap(),
            "mailbox `m` is bound on node `a` already"
        );
        drop(mailbox);
        assert!(Mailbox::<u32>::bind("m").is_ok());
        assert_eq!(node::find("a"), Some(a.id()));
        assert_eq!(
            (node::find("z"), node::name_of(a.id())),
            (None, Some("a".to_owned()))
        );
    });
    report.assert_passed();
}

/// A receiver that gives up between its point and the message loses nothing.
#[test]
fn receiving_is_cancel_safe() {
    everywhere("cancel", 60, || async {
        let mut mailbox = Mailbox::<u32>::bind("m").unwrap();
        let (sender, here) = (mailbox.sender(), mailbox.node());
        spawn(async move {
            for n in 0..5 {
                sender.send(here, n).unwrap();
                yield_now().await;
            }
        });
        let (mut expected, mut cancelled) = (0, 0);
        while expected < 5 {
            let received = if cancelled < 10 {
                cct_executor::cancellable(mailbox.recv()).await
            } else {
                Some(mailbox.recv().await)
            };
            cancelled += u32::from(received.is_none());
            if let Some((_, n)) = received {
                assert_eq!(n, expected);
                expected += 1;
            }
        }
    });
}

/// Learners tell states apart by the kinds of messages, not by what is in them.
#[test]
fn the_abstract_state_sees_kinds() {
    let states = |vary_kind: bool, vary_value: bool| {
        let report = checker("kinds").iterations(40).run(move || async move {
            let coin = cct_executor::nondet::boolean();
            let mailbox: Mailbox<Message> = Mailbox::bind("m").unwrap();
            let sender: Sender<Message> = mailbox.sender();
            let value = u32::from(coin && vary_value);
            let message = if coin && vary_kind {
                Message::Answer { value }
            } else {
                Message::Ask(value)
            };
            sender.send(mailbox.node(), message).unwrap();
            sleep(Duration::from_millis(1)).await;
            observe::observe("end", 1);
        });
        report.assert_passed();
        report.coverage.states
    };
    assert_eq!(states(false, false), states(false, true));
    assert!(states(true, false) > states(false, false));
}

/// A node that goes down between two messages has sent one, though the poll that it was in comes to its end. What it has sent
/// may be lost with it.
#[test]
fn what_a_node_sends_after_its_crash_is_never_sent() {
    let all: Arc<Mutex<BTreeSet<Vec<&str>>>> = Arc::default();
    let seen = all.clone();
    let between = checker("between two messages").granularity(Granularity::Sync);
    let report = between.iterations(400).run(move || {
        let seen = seen.clone();
        async move {
            let heard: Arc<Mutex<Vec<&str>>> = Arc::default();
            for name in ["a", "b"] {
                let heard = heard.clone();
                node(name).start(move || {
                    let heard = heard.clone();
                    async move {
                        let mut mailbox = Mailbox::<u8>::bind("news").unwrap();
                        loop {
                            mailbox.recv().await;
                            heard.lock().unwrap().push(name);
                        }
                    }
                });
            }
            let teller = node("teller").start(|| async {
                let mailbox = Mailbox::<u8>::bind("news").unwrap();
                mailbox.send("a", 1).unwrap();
                mailbox.send("b", 1).unwrap();
            });
            teller.crash();
            sleep(Duration::from_secs(1)).await;
            let mut heard = heard.lock().unwrap().clone();
            heard.sort_unstable();
            seen.lock().unwrap().insert(heard);
        }
    });
    report.assert_passed();
    let possible = [vec![], vec!["a"], vec!["b"], vec!["a", "b"]];
    assert_eq!(*all.lock().unwrap(), BTreeSet::from(possible));
}
