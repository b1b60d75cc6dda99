//! The master: keeps the chain whole.

use super::{Bug, Msg};
use crate::subjects::machine::{Address, Machine, Me};
use cct_executor::always;
use cct_executor::words::fingerprint::hash_of;

/// Invariant: while `asked` is none, all neighbours in the chain are linked.
pub(super) struct Master {
    bug: Bug,
    servers: Vec<Address<Msg>>,
    clients: Vec<Address<Msg>>,
    /// Servers not known to have failed.
    chain: Vec<usize>,
    head: usize,
    tail: usize,
    links: Vec<(usize, usize)>,
    /// Neighbours of which the successor is to say how far it is.
    asked: Option<(usize, usize)>,
    /// Servers that know who is who, as bits, or have failed.
    ready: u32,
}

impl Master {
    pub(super) fn new(bug: Bug, servers: Vec<Address<Msg>>, clients: Vec<Address<Msg>>) -> Master {
        let size = servers.len();
        Master {
            bug,
            servers,
            clients,
            chain: (0..size).collect(),
            head: 0,
            tail: size - 1,
            links: (1..size).map(|next| (next - 1, next)).collect(),
            asked: None,
            ready: 0,
        }
    }

    fn tell(&self, me: &Me<Msg>, server: usize, message: Msg) {
        me.send(&self.servers[server], message);
    }

    fn is_ready(&self) -> bool {
        self.ready.count_ones() as usize == self.servers.len()
    }

    /// One server more is ready. Clients begin when all are.
    fn got_ready(&mut self, me: &Me<Msg>, server: usize) {
        let before = self.is_ready();
        self.ready |= 1 << server;
        if !before && self.is_ready() {
            self.tell_clients(me);
        }
    }

    fn tell_clients(&self, me: &Me<Msg>) {
        if !self.is_ready() {
            return;
        }
        for client in &self.clients {
            me.send(client, Msg::Head(self.servers[self.head].clone()));
        }
    }

    fn ask(&mut self, me: &Me<Msg>, (before, next): (usize, usize)) {
        self.asked = Some((before, next));
        self.tell(me, next, Msg::NewPredecessor(before, me.address()));
    }

    /// The neighbours are linked, once the predecessor knows how far the successor is.
    fn link(&mut self, me: &Me<Msg>, (before, next): (usize, usize), lens: [usize; 2]) {
        self.asked = None;
        self.links.push((before, next));
        match self.bug {
            Bug::CrossedWires => self.tell_clients(me),
            _ => self.tell(me, before, Msg::NewSuccessor(next, lens)),
        }
    }

    fn failed(&mut self, me: &Me<Msg>, server: usize) {
        self.chain.retain(|&other| other != server);
        if let (Bug::Neighbours, Some((before, next))) = (self.bug, self.asked) {
            let behind = self.chain.iter().find(|&&other| other > server).copied();
            if let (true, Some(behind)) = (next == server, behind) {
                self.ask(me, (before, behind));
                self.link(me, (before, behind), [usize::MAX, 0]);
            }
        }
        self.mend(me);
        self.got_ready(me, server);
    }

    fn mend(&mut self, me: &Me<Msg>) {
        let (head, tail) = (self.chain[0], self.chain[self.chain.len() - 1]);
        if head != self.head {
            self.head = head;
            self.tell(me, head, Msg::BecomeHead);
            self.tell_clients(me);
        }
        if tail != self.tail {
            self.tail = tail;
            self.tell(me, tail, Msg::BecomeTail);
        }
        let mut pairs = self.chain.windows(2).map(|pair| (pair[0], pair[1]));
        match pairs.find(|pair| !self.links.contains(pair)) {
            Some(pair) if self.asked == Some(pair) => {}
            Some(pair) => self.ask(me, pair),
            None => self.asked = None,
        }
    }
}

impl Machine for Master {
    type Message = Msg;
    const NAME: &'static str = "master";

    fn start(&mut self, me: &mut Me<Msg>) {
        for server in &self.servers {
            let (servers, clients) = (self.servers.clone(), self.clients.clone());
            me.send(server, Msg::Members(servers, clients, me.address()));
        }
    }

    fn handle(&mut self, me: &mut Me<Msg>, message: Msg) {
        match message {
            Msg::Ready(server) => self.got_ready(me, server),
            Msg::Failed(server) => self.failed(me, server),
            Msg::Linked(next, before, lens) => {
                if self.asked == Some((before, next)) {
                    self.link(me, (before, next), lens);
                    self.mend(me);
                }
            }
            _ => always!(false, "the master was sent what it does not take"),
        }
    }

    fn digest(&self) -> Option<u64> {
        Some(hash_of(&(&self.chain, &self.links, self.asked, self.ready)))
    }
}
