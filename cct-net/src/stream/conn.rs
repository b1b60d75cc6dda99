//! A connection: the state of its two ends, tied to the network and to tasks.

use super::listening::Listening;
use super::state::{Effects, Packet, SideId, State, Told};
use crate::fabric::flow::FlowKind;
use crate::fabric::{Arrival, FlowId, Net, Network};
use crate::host::Hosts;
use crate::tcp::Options;
use crate::unix;
use cct_executor::node::{self, NodeId};
use cct_executor::shim::{Alarm, Belongs, Resource, ResourceKind, Shared, world_time_ns};
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

/// A connection and its two ends.
pub(crate) struct Conn {
    pub(crate) state: Shared<State>,
    /// One for each side.
    pub(crate) resources: [Resource; 2],
    /// Where it was opened.
    pub(crate) site: &'static Location<'static>,
    /// Tells it from other connections of the world.
    pub(crate) serial: u64,
    world: Belongs,
    pub(crate) names: Names,
    pub(crate) nodes: [NodeId; 2],
    shared: Shared<Handshake>,
    net: Weak<Network>,
    pub(crate) hosts: Weak<Hosts>,
    flows: Option<[FlowId; 2]>,
    pub(crate) options: Options,
}

/// What matters only until the connection is open, or once an end is gone.
#[derive(Default)]
struct Handshake {
    listener: Option<Arc<Listening>>,
    /// When an attempt that waits for room in the listener's queue is over, or a host that is gone is
    /// asked for its connection.
    alarm: Alarm,
    flows_closed: bool,
}

/// What the two ends are called.
#[derive(Clone, Debug)]
pub(crate) enum Names {
    Inet([SocketAddr; 2]),
    Unix([unix::SocketAddr; 2]),
}

/// What is fixed for the life of a connection.
pub(crate) struct About {
    pub(crate) serial: u64,
    pub(crate) names: Names,
    pub(crate) nodes: [NodeId; 2],
    pub(crate) options: Options,
    pub(crate) site: &'static Location<'static>,
}

impl Conn {
    /// A connection over the network, about to be opened by side 0.
    pub(crate) fn over_network(
        net: &Net,
        hosts: &Arc<Hosts>,
        state: State,
        identity: u64,
        about: About,
    ) -> Arc<Conn> {
        let [here, there] = about.nodes;
        let open = |from, to, way: u64| {
            let (identity, kind) = (identity << 1 | way, FlowKind::Reliable);
            let id = Network::open(net, from, to, kind, identity, about.site);
            Network::set_patience(net, id, about.options.connect_timeout);
            id
        };
        let flows = [open(here, there, 0), open(there, here, 1)];
        let net = Arc::downgrade(net);
        Conn::new(state, (net, hosts), Some(flows), about)
    }

    /// A connection inside a node: what is sent arrives at once.
    pub(crate) fn inside_node(hosts: &Arc<Hosts>, state: State, about: About) -> Arc<Conn> {
        Conn::new(state, (Weak::new(), hosts), None, about)
    }

    fn new(
        state: State,
        (net, hosts): (Weak<Network>, &Arc<Hosts>),
        flows: Option<[FlowId; 2]>,
        about: About,
    ) -> Arc<Conn> {
        let About { options, site, .. } = about;
        let resource = || Resource::at(ResourceKind::Socket, site);
        Arc::new(Conn {
            state: Shared::new(state),
            resources: [resource(), resource()],
            site,
            serial: about.serial,
            world: Belongs::here(),
            names: about.names,
            nodes: about.nodes,
            shared: Shared::default(),
            net,
            hosts: Arc::downgrade(hosts),
            flows,
            options,
        })
    }

    /// Changes the state, and does what follows from it.
    pub(crate) fn run<R>(self: &Arc<Self>, f: impl FnOnce(&mut State, &mut Effects) -> R) -> R {
        let mut fx = Effects::default();
        let (result, digests) = self.state.with(|state| {
            let result = f(state, &mut fx);
            (result, state.new_digests())
        });
        if self.world.elsewhere() {
            self.leave(digests, fx);
        } else {
            self.follow(digests, fx);
        }
        result
    }

    /// Has the world's own thread do what follows.
    #[cold]
    fn leave(self: &Arc<Self>, digests: [Option<u64>; 2], fx: Effects) {
        let conn = self.clone();
        self.world.leave(move || conn.follow(digests, fx));
    }

    /// Does what follows from a change of the state.
    #[inline(always)]
    fn follow(self: &Arc<Self>, digests: [Option<u64>; 2], mut fx: Effects) {
        let [first, second] = &self.resources;
        if let Some(digest) = digests[0] {
            first.set_state(digest);
        }
        if let Some(digest) = digests[1] {
            second.set_state(digest);
        }
        while let Some((from, packet)) = fx.next_packet() {
            self.transmit(from, packet);
        }
        while let Some((id, told)) = fx.next_told() {
            self.count(id, told);
        }
        fx.wakes.wake();
    }

    /// Counts what a side was told, at its host.
    fn count(&self, id: SideId, told: Told) {
        if let (Names::Inet(_), Some(hosts)) = (&self.names, self.hosts.upgrade()) {
            let node = self.nodes[id];
            hosts
                .state
                .with(|state| state.host(node).statistics.count(told));
        }
    }

    fn transmit(self: &Arc<Self>, from: SideId, packet: Packet) {
        let Some(flows) = self.flows else {
            return self.arrive(from, packet);
        };
        let mut next = Some(packet);
        while let (Some(packet), Some(net)) = (next, self.net.upgrade()) {
            let (packet, later) = packet.split();
            next = later;
            let segment = Segment {
                conn: self.clone(),
                from,
                packet,
            };
            Network::send(&net, flows[from], Box::new(segment));
        }
    }

    /// Side 0 asks to be connected.
    pub(crate) fn send_syn(self: &Arc<Self>) {
        self.transmit(0, Packet::Syn);
    }

    /// Side 1 agrees.
    pub(crate) fn send_syn_ack(self: &Arc<Self>) {
        self.transmit(1, Packet::SynAck);
    }

    /// Side 1 does not want side 0.
    pub(crate) fn refuse(self: &Arc<Self>) {
        self.run(|state, fx| state.refuse(1, fx));
    }

    /// Both sides are told that the other has reset the connection.
    pub(crate) fn reset_both(self: &Arc<Self>) {
        self.run(|state, fx| state.reset_both(fx));
        self.tidy_up();
    }

    /// Its two ends, for reports.
    pub(crate) fn describe(&self) -> String {
        let end = |id: SideId| {
            let node = node::name_of(self.nodes[id]).unwrap_or_default();
            match &self.names {
                Names::Inet(addrs) => format!("`{node}` {}", addrs[id]),
                Names::Unix(addrs) => format!("`{node}` {:?}", addrs[id]),
            }
        };
        format!("{} -> {}", end(0), end(1))
    }

    /// The handle of a side is dropped, or its process dies.
    pub(crate) fn close(self: &Arc<Self>, id: SideId) {
        if self.world.elsewhere() {
            let conn = self.clone();
            return self.world.leave(move || conn.close(id));
        }
        self.run(|state, fx| state.close(id, fx));
        self.tidy_up();
    }

    /// Opening takes too long unless the listener finds room in time.
    pub(crate) fn limit_opening(self: &Arc<Self>) {
        let timeout = u64::try_from(self.options.connect_timeout.as_nanos()).unwrap_or(u64::MAX);
        let at = world_time_ns().saturating_add(timeout);
        let waker = Waker::from(Arc::new(GiveUp(self.clone())));
        self.shared.with(|shared| shared.alarm.set(at, &waker));
    }

    /// From now on a side's kernel looks after the other one.
    pub(crate) fn keep_alive(self: &Arc<Self>, id: SideId) {
        self.state.with(|state| state.sides[id].keepalive = true);
        if let (Some(flows), Some(net)) = (self.flows, self.net.upgrade()) {
            let conn = self.clone();
            let probe = move || -> Box<dyn Arrival> {
                Box::new(Segment {
                    conn: conn.clone(),
                    from: id,
                    packet: Packet::Probe,
                })
            };
            let patience = self.options.keepalive_time + self.options.keepalive_timeout;
            Network::keep_alive(&net, flows[id], Box::new(probe), patience);
        }
    }

    /// The host of a side is gone without a word. If the other side looks after it, it hears from the
    /// host, should that be back in time, that it knows of no connection.
    pub(crate) fn vanish(self: &Arc<Self>, id: SideId) {
        self.run(|state, _| state.vanish(id));
        if self.state.with(|state| state.probes(1 - id)) {
            let time = self.options.keepalive_time.as_nanos();
            let at = world_time_ns().saturating_add(u64::try_from(time).unwrap_or(u64::MAX));
            let waker = Waker::from(Arc::new(LookAfter(self.clone(), 1 - id)));
            self.shared.with(|shared| shared.alarm.set(at, &waker));
        }
    }

    /// Whom side 1 was opened for.
    pub(crate) fn set_listener(&self, listener: &Arc<Listening>) {
        self.shared
            .with(|shared| shared.listener = Some(listener.clone()));
    }

    /// Ends what is left of the handshake.
    fn end_handshake(&self) -> Option<Arc<Listening>> {
        let (listener, alarm) = self.shared.with(|shared| {
            let alarm = std::mem::take(&mut shared.alarm);
            (shared.listener.take(), alarm)
        });
        drop(alarm);
        listener
    }

    fn set_patience(&self, patience: Duration) {
        if let (Some(flows), Some(net)) = (self.flows, self.net.upgrade()) {
            for flow in flows {
                Network::set_patience(&net, flow, patience);
            }
        }
    }

    /// Whether the connection's world still runs.
    pub(crate) fn is_current(&self) -> bool {
        self.hosts.strong_count() > 0
    }

    /// Gives the flows back when nothing can happen any more.
    fn tidy_up(&self) {
        let Some(flows) = self.flows else { return };
        if !self.state.with(|state| state.is_over()) {
            return;
        }
        let Some(net) = self.net.upgrade() else {
            return;
        };
        if !flows.iter().all(|&flow| Network::is_idle(&net, flow)) {
            return;
        }
        let before = self
            .shared
            .with(|shared| std::mem::replace(&mut shared.flows_closed, true));
        if !before {
            flows.iter().for_each(|&flow| Network::close(&net, flow));
        }
    }

    fn syn_arrives(self: &Arc<Self>) {
        let Some(hosts) = self.hosts.upgrade() else {
            return;
        };
        let gave_up = self.state.with(|state| !state.is_opening(0));
        match hosts.listener_for(self) {
            // The attempt was given up: its handshake would end in a reset.
            _ if gave_up => {}
            None => self.refuse(),
            Some(listener) => {
                self.set_listener(&listener);
                self.state.with(|state| {
                    state.set_buffers(1, listener.buffers.send, listener.buffers.recv)
                });
                listener.admit(self);
            }
        }
    }

    /// Side 0 learns that side 1 agrees; from now on both are open.
    fn syn_ack_arrives(self: &Arc<Self>) {
        let Some(listener) = self.end_handshake() else {
            return;
        };
        if !self.state.with(|state| state.is_opening(0)) {
            // The other side finds out by a reset, as it never gets to see this connection.
            listener.forget_opening();
            return;
        }
        self.set_patience(self.options.retransmission_timeout);
        self.run(|state, fx| state.establish(fx));
        listener.opened(self);
    }

    fn arrive(self: &Arc<Self>, from: SideId, packet: Packet) {
        match packet {
            Packet::Syn => self.syn_arrives(),
            Packet::SynAck => self.syn_ack_arrives(),
            _ => {
                self.run(|state, fx| state.arrive(1 - from, packet, fx));
                if packet == Packet::Rst {
                    drop(self.end_handshake());
                }
            }
        }
        if !matches!(packet, Packet::Data(_)) {
            self.tidy_up();
        }
    }
}

/// A packet of a connection.
struct Segment {
    conn: Arc<Conn>,
    from: SideId,
    packet: Packet,
}

/// What TCP and IP add to each packet.
const HEADERS: usize = 40;

impl Arrival for Segment {
    fn arrive(self: Box<Self>) {
        self.conn.arrive(self.from, self.packet);
    }

    fn opens(&self) -> bool {
        matches!(self.packet, Packet::Syn | Packet::SynAck)
    }

    fn lost(self: Box<Self>) {
        let who = match self.packet {
            Packet::SynAck => {
                if let Some(listener) = self.conn.end_handshake() {
                    listener.forget_opening();
                }
                0
            }
            Packet::Rst => return,
            _ => self.from,
        };
        self.conn.run(|state, fx| state.time_out(who, fx));
        self.conn.tidy_up();
    }

    fn size(&self) -> usize {
        match self.packet {
            Packet::Data(count) => HEADERS + count,
            _ => HEADERS,
        }
    }

    fn kind(&self) -> u64 {
        match self.packet {
            Packet::Syn => 1,
            Packet::SynAck => 2,
            Packet::Data(_) => 3,
            Packet::Fin => 4,
            Packet::Rst => 5,
            Packet::Probe => 6,
        }
    }

    fn receiver(&self) -> Option<&Resource> {
        // A listener's, until it has accepted.
        let there = !matches!(self.packet, Packet::Syn);
        there.then(|| &self.conn.resources[1 - self.from])
    }

    fn label(&self) -> &'static str {
        match self.packet {
            Packet::Syn => "syn",
            Packet::SynAck => "syn-ack",
            Packet::Data(_) => "data",
            Packet::Fin => "fin",
            Packet::Rst => "reset",
            Packet::Probe => "keep-alive",
        }
    }
}

/// An attempt to connect has waited long enough for room in the listener's queue.
struct GiveUp(Arc<Conn>);

impl Wake for GiveUp {
    fn wake(self: Arc<Self>) {
        let conn = &self.0;
        if conn.state.with(|state| state.is_opening(0)) {
            drop(conn.end_handshake());
            conn.run(|state, fx| state.time_out(0, fx));
        }
    }
}

/// A side has heard nothing from the other one, whose host is or was gone, for so long that it asks.
struct LookAfter(Arc<Conn>, SideId);

impl Wake for LookAfter {
    fn wake(self: Arc<Self>) {
        let LookAfter(conn, id) = &*self;
        if conn.state.with(|state| state.probes(*id)) {
            conn.transmit(*id, Packet::Probe);
        }
    }
}
