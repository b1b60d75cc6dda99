//! The floor of W11: packets that wait in a queue for each pair of nodes, made when it is first used, and one task that carries
//! them to their receivers in the order in which they were sent.

use super::{exec, rt};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

const NO_FLOW: u32 = u32::MAX;

#[derive(Default)]
struct Net {
    /// For each sender the number of its flow to each receiver.
    numbers: Vec<Vec<u32>>,
    flows: Vec<Flow>,
    /// Flows, as often as they have packets.
    on_their_way: VecDeque<u32>,
    inboxes: Vec<Inbox>,
    carrier: Option<Waker>,
}

struct Flow {
    to: u32,
    packets: VecDeque<u64>,
}

#[derive(Default)]
struct Inbox {
    packets: VecDeque<u64>,
    waiter: Option<Waker>,
}

impl Net {
    fn of(nodes: usize) -> Net {
        Net {
            numbers: (0..nodes).map(|_| vec![NO_FLOW; nodes]).collect(),
            inboxes: (0..nodes).map(|_| Inbox::default()).collect(),
            ..Net::default()
        }
    }

    fn send(&mut self, from: usize, to: usize, packet: u64) {
        let number = &mut self.numbers[from][to];
        if *number == NO_FLOW {
            *number = self.flows.len() as u32;
            self.flows.push(Flow {
                to: to as u32,
                packets: VecDeque::new(),
            });
        }
        self.flows[*number as usize].packets.push_back(packet);
        self.on_their_way.push_back(*number);
        if let Some(carrier) = self.carrier.take() {
            carrier.wake();
        }
    }

    /// One packet arrives.
    fn carry(&mut self) -> bool {
        let Some(number) = self.on_their_way.pop_front() else {
            return false;
        };
        let flow = &mut self.flows[number as usize];
        let inbox = &mut self.inboxes[flow.to as usize];
        inbox.packets.extend(flow.packets.pop_front());
        if let Some(waiter) = inbox.waiter.take() {
            waiter.wake();
        }
        true
    }
}

/// Each node in turn sends a message to the next of its peers, and receives one.
pub(in crate::perf) fn exchange(nodes: u64, each: u64, peers: u64) {
    exec::run(async move {
        let net = Rc::new(RefCell::new(Net::of(nodes as usize)));
        let carried = net.clone();
        let carrier = rt::spawn(async move {
            let mut left = nodes * each;
            poll_fn(move |cx| {
                let mut net = carried.borrow_mut();
                while net.carry() {
                    left -= 1;
                }
                if left == 0 {
                    return Poll::Ready(());
                }
                net.carrier = Some(cx.waker().clone());
                Poll::Pending
            })
            .await;
        });
        let work: Vec<_> = (0..nodes)
            .map(|own| rt::spawn(one_node(net.clone(), own, each, nodes, peers)))
            .collect();
        for done in work {
            rt::join(done).await;
        }
        rt::join(carrier).await;
    });
}

async fn one_node(net: Rc<RefCell<Net>>, own: u64, each: u64, nodes: u64, peers: u64) {
    for n in 0..each {
        let peer = (own + 1 + n % peers) % nodes;
        net.borrow_mut().send(own as usize, peer as usize, n);
        poll_fn(|cx| {
            let inbox = &mut net.borrow_mut().inboxes[own as usize];
            match inbox.packets.pop_front() {
                Some(packet) => Poll::Ready(packet),
                None => {
                    inbox.waiter = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
    }
}
