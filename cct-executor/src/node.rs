//! Nodes: tasks that live and die together, like the processes of a distributed system.
//!
//! A task lives on the node of its spawner; the test itself is on none that could crash. Memory that
//! nodes share (an `Arc`, a channel) works, and is a test's own business: real processes have none.
//!
//! ```
//! use cct_executor::{Checker, node, time};
//! use std::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
//! use std::time::Duration;
//!
//! let report = Checker::new().iterations(20).run(|| async {
//!     let beats = Arc::new(AtomicU32::new(0));
//!     let theirs = beats.clone();
//!     let db = node::node("db-1").start(move || {
//!         let beats = theirs.clone();
//!         async move {
//!             loop {
//!                 time::sleep(Duration::from_secs(1)).await;
//!                 beats.fetch_add(1, SeqCst);
//!             }
//!         }
//!     });
//!     time::sleep(Duration::from_millis(2500)).await;
//!     db.crash(); // its tasks and timers are gone
//!     time::sleep(Duration::from_secs(60)).await;
//!     assert_eq!(beats.load(SeqCst), 2);
//!     db.restart();
//!     time::sleep(Duration::from_millis(1500)).await;
//!     assert_eq!(beats.load(SeqCst), 3);
//! });
//! report.assert_passed();
//! ```

pub use crate::words::NodeId;

use crate::execution::nodes::{CrashCause, NodeClock, NodeState};
use crate::execution::world::{Phase, WORLD, World, expect_world};
use crate::task::body::ScenarioResult;
use crate::task::{JoinHandle, spawn_on};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Makes the node's main task, at its start and at each restart.
type Factory =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync>;

/// A node about to be made.
#[derive(Clone, Debug)]
#[must_use = "call start"]
pub struct Builder {
    name: String,
    clock: NodeClock,
    restart_on_panic: bool,
    ends_with_main: bool,
}

/// A node.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    name: String,
    id: NodeId,
    serial: u64,
    factory: Factory,
    ends_with_main: bool,
    site: &'static Location<'static>,
}

/// Names a new node.
pub fn node(name: impl Into<String>) -> Builder {
    Builder {
        name: name.into(),
        clock: NodeClock::default(),
        restart_on_panic: false,
        ends_with_main: false,
    }
}

/// The node that the running task lives on; node 0, the test itself, outside of tasks too.
pub fn current() -> NodeId {
    WORLD.with(|world| {
        let key = world.running.get().key;
        match world.phase.get() {
            Phase::Idle => NodeId(0),
            _ => world.with(|core, _| core.node_of(key)),
        }
    })
}

/// The node of this name.
pub fn find(name: &str) -> Option<NodeId> {
    WORLD.with(|world| world.with(|core, _| core.node_names.get(name).copied()))
}

/// Whether there is a node of this number; the test itself is one.
pub fn exists(node: NodeId) -> bool {
    WORLD.with(|world| world.with(|core, _| usize::from(node.0) <= core.nodes.len()))
}

/// The name of a node, empty for the test itself; `None` if there is no such node.
pub fn name_of(node: NodeId) -> Option<String> {
    exists(node).then(|| WORLD.with(|world| world.with(|core, _| core.node_name(node).to_owned())))
}

impl Builder {
    /// By how much the node's clock is ahead of the world's. Clocks that are behind are had by
    /// putting the others ahead.
    pub fn clock_ahead(mut self, by: Duration) -> Builder {
        self.clock.ahead_ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX / 4);
        self
    }

    /// By how many parts in a million the node's clock runs fast (negative: slow).
    ///
    /// # Panics
    /// If it is not between -100,000 and 100,000.
    #[track_caller]
    pub fn clock_drift_ppm(mut self, drift: i32) -> Builder {
        assert!(
            (-100_000..=100_000).contains(&drift),
            "node `{}`: a clock drift of {drift} parts in a million: expected -100000 to 100000",
            self.name
        );
        self.clock.drift_ppm = drift;
        self
    }

    /// A panic in one of its tasks crashes the node, which then restarts, instead of failing the
    /// test.
    pub fn restart_on_panic(mut self) -> Builder {
        self.restart_on_panic = true;
        self
    }

    /// The node goes down when its main task has returned, as a program ends with its `main`: its other
    /// tasks are dropped, whatever they are about. Otherwise they go on.
    pub fn ends_with_main(mut self) -> Builder {
        self.ends_with_main = true;
        self
    }

    /// Makes the node and starts its main task. An `Err` that it returns fails the test.
    ///
    /// # Panics
    /// Outside a world, when the name is blank or another node's already, or beyond 65,535 nodes.
    #[track_caller]
    pub fn start<F, Fut>(self, main: F) -> Node
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: ScenarioResult,
    {
        let factory: Factory = Arc::new(move || {
            let main = main();
            Box::pin(async move { main.await.into_result() })
        });
        let node = self.make(factory, Location::caller());
        node.spawn_main();
        node
    }

    #[track_caller]
    fn make(self, factory: Factory, site: &'static Location<'static>) -> Node {
        let Builder {
            name,
            clock,
            restart_on_panic,
            ends_with_main,
        } = self;
        expect_world(format_args!(
            "node `{name}` can be started inside a scenario only"
        ));
        assert!(
            !name.trim().is_empty(),
            "a node needs a name: links, lookups and reports tell it by that"
        );
        let text: Rc<str> = name.as_str().into();
        let id = WORLD.with(|world| {
            world.with(|core, _| {
                let taken = core.node_names.contains_key(&text);
                let id = if taken { None } else { core.add_node(text) };
                id.ok_or(taken)
            })
        });
        // Not in a closure, which would be the place of the panic.
        let id = match id {
            Ok(id) => id,
            Err(true) => panic!("there is a node `{name}` already"),
            Err(false) => panic!("node `{name}` is one too many: there are 65535"),
        };
        WORLD.with(|world| {
            world.with(|core, _| {
                core.configure_node(id, |entry| {
                    entry.clock = clock;
                    entry.crash_on_panic = restart_on_panic;
                });
            });
            let serial = world.serial.get();
            let node = Node(Arc::new(Inner {
                name,
                id,
                serial,
                factory,
                ends_with_main,
                site,
            }));
            if restart_on_panic {
                let again = node.clone();
                world.after_crash(id, move || again.restart());
            }
            node
        })
    }
}

impl Node {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its number.
    pub fn id(&self) -> NodeId {
        self.0.id
    }

    /// Whether it is up: not crashed, and not paused. A node of another scenario is not.
    pub fn is_up(&self) -> bool {
        let state = self.in_world(|world| world.with(|core, _| core.node_state(self.0.id)));
        state == Some(NodeState::Up)
    }

    /// Whether it is a node of the scenario that runs here, and not one of another iteration whose
    /// handle was kept.
    pub fn is_here(&self) -> bool {
        WORLD.with(|world| world.phase.get() != Phase::Idle && world.serial.get() == self.0.serial)
    }

    /// Its number, which stands for it in the scenario that runs here.
    ///
    /// # Panics
    /// If it is a node of another scenario: its number stands for somebody else here, or for nobody.
    #[track_caller]
    pub fn expect_here(&self) -> NodeId {
        // Not in a closure, which would be the place of the panic.
        let is_idle = WORLD.with(|world| world.phase.get()) == Phase::Idle;
        assert!(
            is_idle || self.is_here(),
            "node `{}` is not of this scenario: its handle was kept from another one; make a node anew \
             in each iteration",
            self.0.name
        );
        self.0.id
    }

    /// Drops its tasks and timers, at once. Whoever waits for one of its tasks is told that the
    /// task was cancelled.
    ///
    /// A task of the node that calls this does not go on. Where no scenario runs, it does nothing.
    ///
    /// # Panics
    /// If it is a node of another scenario.
    #[track_caller]
    pub fn crash(&self) {
        self.expect_here();
        self.crash_by(CrashCause::Asked);
    }

    /// Starts its main task anew, after a crash if it is up. A task of the node that calls this does not go on.
    ///
    /// # Panics
    /// If it is a node of another scenario.
    #[track_caller]
    pub fn restart(&self) {
        let id = self.expect_here();
        if current() == id {
            let again = self.clone();
            self.in_world(|world| {
                // Where it is going down already, nothing follows that it asks for.
                if world.with(|core, _| core.node_state(id)) != NodeState::Down {
                    world.after_next_crash(id, move || again.restart());
                }
            });
        }
        self.crash();
        let up = self.in_world(|world| {
            let down = world.with(|core, _| {
                let down = core.node_state(self.0.id) == NodeState::Down;
                if down {
                    core.node_up(self.0.id);
                }
                down
            });
            if down {
                world.tell_sources(|source| source.node_up(self.0.id));
            }
            down
        });
        if up == Some(true) {
            self.spawn_main();
        }
    }

    /// Stops its tasks where they stand. Timers go on and fire when the node resumes.
    ///
    /// # Panics
    /// If it is a node of another scenario.
    #[track_caller]
    pub fn pause(&self) {
        self.expect_here();
        self.in_world(|world| world.pause_now(self.0.id, true));
    }

    /// Lets a paused node go on.
    ///
    /// # Panics
    /// If it is a node of another scenario.
    #[track_caller]
    pub fn resume(&self) {
        self.expect_here();
        self.in_world(|world| world.pause_now(self.0.id, false));
    }

    /// Spawns a task on the node. On a node that is down it is cancelled at once.
    ///
    /// # Panics
    /// If it is a node of another scenario.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_on(self.expect_here(), None, Location::caller(), future)
    }

    fn spawn_main(&self) {
        let node = self.clone();
        let main = async move {
            if let Err(error) = (node.0.factory)().await {
                panic!("node `{}` returned an error: {error}", node.name());
            }
            if node.0.ends_with_main {
                node.crash_by(CrashCause::Returned);
            }
        };
        let name = Some(self.0.name.as_str());
        let main = Some(spawn_on(self.0.id, name, self.0.site, main).id().0);
        let note = |world: &World| {
            world.with(|core, _| core.configure_node(self.0.id, |entry| entry.main = main));
        };
        self.in_world(note);
    }

    fn crash_by(&self, cause: CrashCause) {
        self.in_world(|world| world.crash_now(self.0.id, cause));
    }

    fn in_world<R>(&self, f: impl FnOnce(&World) -> R) -> Option<R> {
        WORLD.with(|world| {
            (world.is_running() && world.serial.get() == self.0.serial).then(|| f(world))
        })
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("name", &self.0.name)
            .field("id", &self.0.id.0)
            .finish_non_exhaustive()
    }
}
