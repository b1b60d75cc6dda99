//! Actions: the things that may happen next, and the operations they are about to perform.
//!
//! 1. An [`ActionId`] is stable across iterations: it derives from the spawn path, never from a
//!    global counter.
//! 2. An [`ActionKey`] is dense and unique within one iteration, and means nothing outside it.
//! 3. Every enabled task has its pending [`Op`] published before it runs.

use std::fmt;
use std::panic::Location;

/// Identity of an action that is the same in every iteration in which the action exists.
///
/// For a task it derives from the parent's id, the spawn site and the parent's spawn count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ActionId(pub u64);

/// Dense index of an action within one iteration, in order of creation; never reused in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ActionKey(pub(crate) u32);

impl ActionKey {
    /// The index, for strategies that keep a `Vec` per action.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The key with this index.
    #[inline]
    pub fn from_index(index: usize) -> Self {
        ActionKey(u32::try_from(index).expect("cct bug: more than 2^32 actions"))
    }
}

/// A node of the simulated system. Until nodes are created explicitly there is one, node 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct NodeId(pub u16);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// What happens when an action is picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ActionKind {
    /// A task runs up to its next scheduling point.
    Run,
    /// A timer fires although other work may be ready.
    Fire,
    /// A future that opted in is cancelled.
    Cancel,
    /// A message arrives.
    Deliver,
    /// Something goes wrong: a crash, a partition, a disk error.
    Fault,
    /// A data choice takes this value.
    Value(u32),
}

/// Whether an operation can change what others see of its resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// The operation only looks.
    Read,
    /// The operation may change the resource.
    Write,
}

macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// The name used in reports.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named_enum! {
    /// What an operation does. The names are those of tokio's methods where there is one.
    OpKind {
        /// A new task before its first poll.
        Start = "start",
        /// `yield_now` and other explicit yields.
        Yield = "yield",
        /// Waiting for a deadline.
        Sleep = "sleep",
        /// Waiting for a task to end.
        Join = "join",
        /// Starting a task.
        Spawn = "spawn",
        /// Aborting a task.
        Abort = "abort",
        /// Taking a mutex.
        Lock = "lock",
        /// Taking a read lock.
        ReadLock = "read",
        /// Taking a write lock.
        WriteLock = "write",
        /// Trying to take a lock.
        TryLock = "try_lock",
        /// Giving back a lock.
        Unlock = "unlock",
        /// Taking permits.
        Acquire = "acquire",
        /// Trying to take permits.
        TryAcquire = "try_acquire",
        /// Giving back or adding permits.
        Release = "release",
        /// Sending a value.
        Send = "send",
        /// Trying to send a value.
        TrySend = "try_send",
        /// Waiting for room to send.
        Reserve = "reserve",
        /// Receiving a value.
        Recv = "recv",
        /// Trying to receive a value.
        TryRecv = "try_recv",
        /// Closing.
        Close = "close",
        /// Waking the first who waits.
        NotifyOne = "notify_one",
        /// Waiting to be notified.
        Notified = "notified",
        /// Waiting at a barrier, or for a value to be set.
        Wait = "wait",
        /// Waiting for a watched value to change.
        Changed = "changed",
        /// Looking at a shared value.
        Get = "get",
        /// Changing a shared value.
        Set = "set",
        /// Initialising a cell.
        Init = "init",
        /// Dropping a handle.
        Drop = "drop",
        /// A blocking call that waits.
        Block = "block",
        /// A timer that may fire.
        Fire = "fire",
        /// A future that may be cancelled.
        Cancel = "cancel",
        /// A message that may arrive.
        Deliver = "deliver",
        /// A fault that may happen.
        Fault = "fault",
        /// Opening a connection.
        Connect = "connect",
        /// Taking a connection that was opened.
        Accept = "accept",
        /// Reading bytes.
        Read = "read bytes",
        /// Writing bytes.
        Write = "write bytes",
        /// Making written bytes lasting, or pushing them on.
        Flush = "flush",
        /// A scheduling point that user code placed.
        User = "point",
        /// An atomic operation of another crate.
        Atomic = "atomic",
        /// Going on where others were woken.
        Resume = "resume",
        /// Making what an answer will come through.
        Open = "open",
        /// Giving up a future whose time limit is over.
        Elapsed = "time limit over",
        /// Waiting for the other side to close.
        Closed = "closed",
        /// Putting what is sent where there is room for it.
        Put = "put",
        /// Waking the last who waits.
        NotifyLast = "notify_last",
        /// Waking all who wait.
        NotifyWaiters = "notify_waiters",
    }
}

named_enum! {
    /// What a resource is.
    ResourceKind {
        /// No resource: yields and task starts.
        None = "none",
        /// `Mutex`.
        Mutex = "mutex",
        /// `RwLock`.
        RwLock = "rwlock",
        /// `Semaphore`.
        Semaphore = "semaphore",
        /// `Notify`.
        Notify = "notify",
        /// `Barrier`.
        Barrier = "barrier",
        /// `OnceCell`.
        OnceCell = "once_cell",
        /// `SetOnce`.
        SetOnce = "set_once",
        /// `mpsc` channel.
        Mpsc = "mpsc",
        /// `oneshot` channel.
        Oneshot = "oneshot",
        /// `watch` channel.
        Watch = "watch",
        /// `broadcast` channel.
        Broadcast = "broadcast",
        /// A task, as something to join.
        Task = "task",
        /// The clock.
        Timer = "timer",
        /// A node.
        Node = "node",
        /// A link between nodes, in one direction.
        Link = "link",
        /// A socket.
        Socket = "socket",
        /// A file, or a disk.
        File = "file",
        /// A resource of user code.
        User = "user",
        /// A signal of a process.
        Signal = "signal",
        /// A stream of bytes in memory.
        Pipe = "pipe",
    }
}

/// The operation a task is about to perform, published before it acts.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Whether it may change the resource.
    pub access: Access,
    /// The resource's index in this iteration; 0 when there is none. Two operations of one
    /// iteration touch the same resource exactly when these are equal and not 0.
    pub resource: u32,
    /// Where user code called the operation.
    pub site: &'static Location<'static>,
}

impl Op {
    /// Whether the two operations touch one resource and at least one of them may change it.
    #[inline]
    pub fn races_with(&self, other: &Op) -> bool {
        self.resource != 0
            && self.resource == other.resource
            && (self.access == Access::Write || other.access == Access::Write)
    }

    /// Whether whoever calls the synchronous operation learns what others do: from what it returns, or from what
    /// was seen while a lock was held.
    pub(crate) fn looks(&self) -> bool {
        use OpKind::{Release, TryAcquire, TryLock, TryRecv, TrySend, Unlock};
        self.access == Access::Read
            || matches!(
                self.kind,
                TryAcquire | TryLock | TryRecv | TrySend | Release | Unlock
            )
    }

    /// Whether the synchronous operation changes what others see, on the caller's own account: not what is dropped,
    /// made, or merely looked at in a way that counts as a change.
    pub(crate) fn acts(&self) -> bool {
        self.access == Access::Write
            && !matches!(self.kind, OpKind::Drop | OpKind::Get | OpKind::Spawn)
    }
}

/// An [`ActionKind`] without the values of data choices, which are no actions: in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    Run,
    Fire,
    Cancel,
    Deliver,
    Fault,
}

/// One thing that may happen next. Just as large as a cache line, and aligned so that it is one:
/// with hundreds of tasks and links every action looked at has left the near caches.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Action {
    pub(crate) id: ActionId,
    pub(crate) op: Op,
    /// Stands for a task in fingerprints: equal for tasks spawned at one place.
    pub(crate) tag: u64,
    /// This action's share of the fingerprint.
    pub(crate) digest: u64,
    pub(crate) key: ActionKey,
    /// Position in the enabled set, or [`Action::NOWHERE`].
    pub(crate) position: u32,
    /// The task, timer or cancellable future behind the action; for an action of another crate the
    /// lower half of what it stands for there.
    pub(crate) subject: u32,
    /// The upper half.
    pub(crate) subject_high: u32,
    pub(crate) sort: Sort,
    /// Where an action of another crate comes from.
    pub(crate) source: u16,
    pub(crate) node: NodeId,
    /// Already listed in the enabled set's list of fresh actions.
    pub(crate) fresh: bool,
    pub(crate) state: u8,
}

const _: () = assert!(size_of::<Action>() == 64, "an action is one cache line");

impl Action {
    pub(crate) const NOWHERE: u32 = u32::MAX;

    /// Identity across iterations.
    #[inline]
    pub fn id(&self) -> ActionId {
        self.id
    }

    /// Identity within this iteration.
    #[inline]
    pub fn key(&self) -> ActionKey {
        self.key
    }

    /// What picking it does.
    #[inline]
    pub fn kind(&self) -> ActionKind {
        match self.sort {
            Sort::Run => ActionKind::Run,
            Sort::Fire => ActionKind::Fire,
            Sort::Cancel => ActionKind::Cancel,
            Sort::Deliver => ActionKind::Deliver,
            Sort::Fault => ActionKind::Fault,
        }
    }

    /// The node it happens on.
    #[inline]
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The operation that will be performed first when it is picked.
    #[inline]
    pub fn op(&self) -> &Op {
        &self.op
    }
}
