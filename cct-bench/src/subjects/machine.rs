//! State machines that send each other messages, as P# has them: what the protocols are built on.
//!
//! 1. Scheduling points: before a machine is created, before a message is sent, and before one is
//!    handled. Data choices are none. A machine without a message that it would take is not
//!    enabled. As in P#, a message has left the inbox when the point before its handler is passed,
//!    and a machine that may act without a message passes a point before it looks for one.
//! 2. A machine runs [`Machine::start`] when it is first picked, then one handler per message.
//!    Messages of a kind that it defers stay in the inbox; those of a kind that it ignores vanish
//!    when it next looks for a message, and until then count as contents of the inbox, as in P#.
//! 3. A halted machine takes nothing; what is sent to it vanishes.
//! 4. The iteration ends when no machine can go on.
//!
//! [`run_as_p`] runs machines as P has them (Desai, Qadeer, Seshia, ESEC/FSE 2015, section 5: points
//! are at enqueueing, at blocking in a dequeue and at creation): taking a message that is there is no
//! point. There the fingerprint also says whose inbox it is, and how far its machine is within a
//! handler: the message, values drawn by [`Me::coin`], and what was sent. So, with observed
//! variables, it is the whole state, as it was in the cache of the authors' model checker.
//!
//! Three parts of the fingerprint tell states apart. `contents`: the messages in each inbox, in
//! order, of which only the kind counts unless [`Message::digest`] says more. The rest of the default state: pending operations, and the state that each
//! machine is in, as a mark that it holds the way a task holds a lock. `observed`: what
//! [`Machine::digest`] says.

use cct_executor::shim::{Access, OpKind, Resource, ResourceKind, Shared, Waiter};
use cct_executor::words::fingerprint::mix2;
use cct_executor::{nondet, observe, spawn};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

/// States that a machine may tell apart.
const STATES: usize = 20;

/// What machines send.
pub(crate) trait Message: Clone + Send + 'static {
    /// The kind of message, below 64.
    fn kind(&self) -> u32;

    /// What the fingerprint sees of it while it is in an inbox: its kind, or more.
    fn digest(&self) -> u64 {
        u64::from(self.kind()) + 1
    }
}

/// A state machine.
pub(crate) trait Machine: Send + 'static {
    /// What it is sent.
    type Message: Message;
    /// What kind of machine it is.
    const NAME: &'static str;

    /// What it does first.
    fn start(&mut self, me: &mut Me<Self::Message>);

    /// Takes a message.
    fn handle(&mut self, me: &mut Me<Self::Message>, message: Self::Message);

    /// The kinds of messages, as bits, that it leaves in the inbox now.
    fn deferred(&self) -> u64 {
        0
    }

    /// The kinds of messages, as bits, that it drops unhandled now.
    fn ignored(&self) -> u64 {
        0
    }

    /// Whether it may act now although it has no message to take.
    fn acts_unasked(&self) -> bool {
        false
    }

    /// Acts without a message.
    fn act(&mut self, _me: &mut Me<Self::Message>) {}

    /// The custom abstraction of its variables, if it has one.
    fn digest(&self) -> Option<u64> {
        None
    }
}

/// Where a machine's messages go.
pub(crate) struct Address<M>(Arc<Inbox<M>>);

struct Inbox<M> {
    resource: Resource,
    number: u64,
    system: Arc<System>,
    queue: Shared<Queue<M>>,
}

struct Queue<M> {
    messages: VecDeque<M>,
    /// As in P: how far its machine is within a handler. Stays 0 as in P#.
    progress: u64,
    deferred: u64,
    ignored: u64,
    /// Present while the machine is blocked.
    waiter: Option<Waiter>,
    halted: bool,
}

/// All machines of one world.
struct System {
    as_p: bool,
    marks: [Resource; STATES],
    life: Shared<Life>,
}

struct Life {
    machines: u64,
    /// Machines that are neither blocked nor halted. At 0 everything is over, for good.
    busy: u32,
    /// The task of the scenario, once its own machine is blocked or halted.
    root: Option<Waiter>,
}

/// What [`Me::receive`] came back with.
enum Next<M> {
    Message(M),
    /// No message: the machine acts unasked.
    Unasked,
    /// Everything is over.
    Over,
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Address(self.0.clone())
    }
}

impl<M> PartialEq for Address<M> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<M> Hash for Address<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.number.hash(state);
    }
}

impl<M: Message> Queue<M> {
    /// The first message that would be taken.
    fn next(&self) -> Option<usize> {
        let passed = self.deferred | self.ignored;
        let taken = |message: &M| passed >> message.kind() & 1 == 0;
        self.messages.iter().position(taken)
    }

    /// Takes the first message that is neither deferred nor ignored. Ignored ones before it vanish.
    fn take(&mut self) -> Option<M> {
        let before = self.next().unwrap_or(self.messages.len());
        let (mut at, ignored) = (0, self.ignored);
        for _ in 0..before {
            match ignored >> self.messages[at].kind() & 1 {
                0 => at += 1,
                _ => drop(self.messages.remove(at)),
            }
        }
        self.messages.remove(at)
    }

    fn digest(&self) -> u64 {
        let messages = self.messages.iter().map(Message::digest);
        let halted = u64::from(self.halted);
        messages.fold(halted.wrapping_sub(self.progress), mix2)
    }
}

impl System {
    #[rustfmt::skip]
    fn new(as_p: bool) -> System {
        // Each has its own place, which is what tells resources apart in fingerprints.
        let mark = ResourceKind::User;
        System {
            as_p,
            marks: [
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
            ],
            life: Shared::new(Life { machines: 0, busy: 0, root: None }),
        }
    }

    /// One machine more is blocked or halted.
    fn rests(&self) {
        let root = self.life.with(|life| {
            life.busy -= 1;
            life.root.take_if(|_| life.busy == 0)
        });
        if let Some(root) = root {
            root.wake();
        }
    }

    /// Whether everything is over; if not, the scenario's task is woken when it is.
    fn is_over(&self, cx: &Context<'_>) -> bool {
        self.life.with(|life| {
            life.root = (life.busy > 0).then(|| Waiter::from_context(cx));
            life.busy == 0
        })
    }
}

impl<M: Message> Address<M> {
    #[track_caller]
    fn new(system: &Arc<System>) -> Address<M> {
        let number = system.life.with(|life| {
            life.machines += 1;
            life.busy += 1;
            life.machines
        });
        let inbox = Inbox {
            resource: Resource::new(ResourceKind::User),
            number,
            system: system.clone(),
            queue: Shared::new(Queue {
                messages: VecDeque::new(),
                progress: 0,
                deferred: 0,
                ignored: 0,
                waiter: None,
                halted: false,
            }),
        };
        let address = Address(Arc::new(inbox));
        address.tell_state(0);
        address
    }

    /// What is in the inbox, for the fingerprint.
    fn tell_state(&self, digest: u64) {
        let inbox = &*self.0;
        inbox.resource.set_state(if inbox.system.as_p {
            mix2(inbox.number, digest)
        } else {
            digest
        });
    }

    /// Which machine it is, in the order of creation.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    fn enqueue(&self, message: M) {
        let (waiter, digest) = self.0.queue.with(|queue| {
            if queue.halted {
                return (None, queue.digest());
            }
            queue.messages.push_back(message);
            let wake = queue.waiter.is_some() && queue.next().is_some();
            let waiter = if wake { queue.waiter.take() } else { None };
            (waiter, queue.digest())
        });
        self.tell_state(digest);
        if let Some(waiter) = waiter {
            self.0.system.life.with(|life| life.busy += 1);
            waiter.wake();
        }
    }
}

/// A machine's own view of itself.
pub(crate) struct Me<M> {
    address: Address<M>,
    /// The mark it holds, if any.
    state: Option<usize>,
    halting: bool,
    /// Its task is that of the scenario.
    is_root: bool,
    site: &'static Location<'static>,
}

impl<M> Drop for Me<M> {
    fn drop(&mut self) {
        // Messages hold addresses, and so would hold one another for ever.
        self.close();
    }
}

impl<M> Me<M> {
    fn close(&self) {
        let messages = self.address.0.queue.with(|queue| {
            queue.halted = true;
            std::mem::take(&mut queue.messages)
        });
        drop(messages);
    }
}

impl<M: Message> Me<M> {
    fn new(address: Address<M>, is_root: bool, site: &'static Location<'static>) -> Me<M> {
        Me {
            address,
            state: None,
            halting: false,
            is_root,
            site,
        }
    }

    /// Where its messages go.
    pub(crate) fn address(&self) -> Address<M> {
        self.address.clone()
    }

    /// Sends a message. A scheduling point.
    #[track_caller]
    pub(crate) fn send<N: Message>(&self, to: &Address<N>, message: N) {
        self.progresses(to.0.number, &message);
        let resource = &to.0.resource;
        let point = resource.point(OpKind::Send, Access::Write, Location::caller());
        if point.is_ready() {
            to.enqueue(message);
        }
    }

    /// Creates a machine. A scheduling point.
    #[track_caller]
    pub(crate) fn create<C: Machine>(&self, machine: C) -> Address<C::Message> {
        self.goes_on(0);
        self.pass_creation(Location::caller());
        let address = Address::new(&self.address.0.system);
        self.begin(address.clone(), machine, Location::caller());
        address
    }

    /// A fair coin, false first.
    pub(crate) fn coin(&self) -> bool {
        let drawn = nondet::boolean();
        self.goes_on(1 + u64::from(drawn));
        drawn
    }

    /// This message is about to be sent, or is being handled.
    fn progresses<N: Message>(&self, number: u64, message: &N) {
        if self.address.0.system.as_p {
            self.goes_on(mix2(number, message.digest()));
        }
    }

    fn goes_on(&self, what: u64) {
        let inbox = &*self.address.0;
        if inbox.system.as_p {
            let digest = inbox.queue.with(|queue| {
                queue.progress = mix2(queue.progress, what);
                queue.digest()
            });
            self.address.tell_state(digest);
        }
    }

    /// The address of a machine that is [created](Self::create_named) later.
    #[track_caller]
    pub(crate) fn name<N: Message>(&self) -> Address<N> {
        Address::new(&self.address.0.system)
    }

    /// Creates a machine that has an address already. A scheduling point.
    #[track_caller]
    pub(crate) fn create_named<C: Machine>(&self, address: &Address<C::Message>, machine: C) {
        self.pass_creation(Location::caller());
        self.begin(address.clone(), machine, Location::caller());
    }

    fn pass_creation(&self, site: &'static Location<'static>) {
        let resource = &self.address.0.resource;
        let _ = resource.point(OpKind::Spawn, Access::Read, site);
    }

    #[track_caller]
    fn begin<C: Machine>(
        &self,
        address: Address<C::Message>,
        machine: C,
        site: &'static Location<'static>,
    ) {
        drop(spawn(live(machine, Me::new(address, false, site))));
    }

    /// It is in this state from now on.
    pub(crate) fn enter(&mut self, state: usize) {
        let marks = &self.address.0.system.marks;
        if let Some(before) = self.state.replace(state) {
            marks[before].released();
        }
        marks[state].acquired(self.site);
    }

    /// Halts once the handler returns.
    pub(crate) fn halt(&mut self) {
        self.halting = true;
    }

    /// Takes the next message. A scheduling point, unless it has to wait. What it takes, if
    /// anything, is settled before the point. A machine that may act unasked passes one more point,
    /// before it looks whether there is a message.
    async fn receive(&mut self, deferred: u64, ignored: u64, unasked: bool) -> Next<M> {
        let inbox = &*self.address.0;
        inbox.queue.with(|queue| {
            queue.deferred = deferred;
            queue.ignored = ignored;
            queue.progress = 0;
        });
        if unasked {
            let kind = OpKind::Send; // P# says that it sends itself the order to act.
            poll_fn(|_| inbox.resource.point(kind, Access::Read, self.site)).await;
        }
        let mut resting = false;
        poll_fn(|cx| {
            let message = match self.take() {
                Some(message) if inbox.system.as_p => return Poll::Ready(Next::Message(message)),
                message => message,
            };
            if message.is_some() || unasked {
                let point = inbox.resource.point(OpKind::Recv, Access::Write, self.site);
                return point.map(|()| message.map_or(Next::Unasked, Next::Message));
            }
            if !resting {
                resting = true;
                inbox.system.rests();
            }
            if self.is_root && inbox.system.is_over(cx) {
                return Poll::Ready(Next::Over);
            }
            self.wait(cx)
        })
        .await
    }

    fn take(&self) -> Option<M> {
        let inbox = &*self.address.0;
        let (message, digest) = inbox.queue.with(|queue| {
            let message = queue.take();
            if let (true, Some(message)) = (inbox.system.as_p, &message) {
                queue.progress = mix2(1, message.digest());
            }
            (message, queue.digest())
        });
        self.address.tell_state(digest);
        message
    }

    fn wait(&self, cx: &Context<'_>) -> Poll<Next<M>> {
        let inbox = &*self.address.0;
        let waiter = Waiter::from_context(cx);
        let digest = inbox.queue.with(|queue| {
            queue.waiter = Some(waiter);
            queue.digest()
        });
        if inbox.system.as_p {
            self.address.tell_state(digest);
        }
        let (resource, kind) = (&inbox.resource, OpKind::Recv);
        resource.pending(kind, Access::Write, self.site);
        resource.blocked(kind, self.site);
        Poll::Pending
    }
}

/// The task of a machine.
async fn live<C: Machine>(mut machine: C, mut me: Me<C::Message>) {
    machine.start(&mut me);
    loop {
        if let Some(digest) = machine.digest() {
            observe::each(C::NAME, me.address.0.number, digest);
        }
        if me.halting {
            break;
        }
        let (deferred, ignored) = (machine.deferred(), machine.ignored());
        match me.receive(deferred, ignored, machine.acts_unasked()).await {
            Next::Message(message) => machine.handle(&mut me, message),
            Next::Unasked => machine.act(&mut me),
            Next::Over => return,
        }
    }
    me.close();
    let inbox = &*me.address.0;
    me.address.tell_state(1);
    if let Some(state) = me.state.take() {
        inbox.system.marks[state].released();
    }
    inbox.system.rests();
    if me.is_root {
        poll_fn(|cx| match inbox.system.is_over(cx) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

/// Runs a machine, and all that it creates, until no machine can go on.
#[track_caller]
pub(crate) fn run<R: Machine>(root: R) -> impl Future<Output = ()> {
    begin(root, false)
}

/// Runs a machine, and all that it creates, with the scheduling points of P.
#[track_caller]
pub(crate) fn run_as_p<R: Machine>(root: R) -> impl Future<Output = ()> {
    begin(root, true)
}

#[track_caller]
fn begin<R: Machine>(root: R, as_p: bool) -> impl Future<Output = ()> {
    let site = Location::caller();
    async move {
        let system = Arc::new(System::new(as_p));
        let address = Address::new(&system);
        live(root, Me::new(address, true, site)).await;
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
