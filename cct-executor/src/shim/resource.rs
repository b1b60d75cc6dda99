//! Resources: what a shim says of an object, and where tasks may be overtaken at it.

use crate::execution::core::Core;
use crate::execution::resources::state_digest;
use crate::execution::world::{WORLD, World};
use crate::raw::shared::unseen;
use crate::words::{Access, Granularity, Op, OpKind, ResourceKind};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

/// Bits of [`Resource::slot`] that hold the index.
const INDEX_BITS: u32 = 24;

/// Identity of a shim object inside a world, for scheduling points and reports.
#[derive(Debug)]
pub struct Resource {
    site: &'static Location<'static>,
    /// Serial of a world and index in its table, packed; only a cache.
    slot: AtomicU64,
    kind: ResourceKind,
}

/// A clone stands for the same resource, once that has been used.
impl Clone for Resource {
    fn clone(&self) -> Self {
        Resource {
            site: self.site,
            slot: AtomicU64::new(self.slot()),
            kind: self.kind,
        }
    }
}

impl Resource {
    /// A resource made at the caller's place.
    #[track_caller]
    #[inline]
    pub fn new(kind: ResourceKind) -> Self {
        let resource = Self::const_new(kind);
        // In the order of making, which the schedule of later operations does not change.
        let _ = resource.in_world(|_, _| ());
        resource
    }

    /// A resource made at this place, for what is made on behalf of something else.
    pub fn at(kind: ResourceKind, site: &'static Location<'static>) -> Self {
        let resource = Resource {
            site,
            slot: AtomicU64::new(0),
            kind,
        };
        let _ = resource.in_world(|_, _| ());
        resource
    }

    /// Has reports say that the resource was made at this place: for one that had to be there before whoever
    /// is known for it made it.
    pub fn made_at(&self, site: &'static Location<'static>) {
        self.in_world(|world, resource| {
            world.with(|core, _| core.resource_sites[resource as usize] = site);
        });
    }

    /// For statics: enters the world's table when it is first used.
    #[track_caller]
    pub const fn const_new(kind: ResourceKind) -> Self {
        Resource {
            site: Location::caller(),
            slot: AtomicU64::new(0),
            kind,
        }
    }

    /// Runs `f` with the index in the running world's table; not at all outside a world.
    #[inline]
    pub(super) fn in_world<R>(&self, f: impl FnOnce(&World, u32) -> R) -> Option<R> {
        WORLD.with(|world| {
            let serial = world.serial.get();
            if serial == 0 {
                return None;
            }
            let slot = self.slot();
            let index = if slot >> INDEX_BITS == serial {
                slot as u32 & ((1 << INDEX_BITS) - 1)
            } else {
                self.enter(world, serial)
            };
            Some(f(world, index))
        })
    }

    #[inline(always)]
    fn slot(&self) -> u64 {
        unseen(|| self.slot.load(Ordering::Relaxed))
    }

    #[cold]
    fn enter(&self, world: &World, serial: u64) -> u32 {
        let index = world.with(|core, _| core.add_resource(self.kind, self.site));
        assert!(
            index < 1 << INDEX_BITS,
            "more than 2^24 channels and locks in one iteration"
        );
        self.slot
            .store(serial << INDEX_BITS | u64::from(index), Ordering::Relaxed);
        index
    }

    /// The scheduling point of an asynchronous operation, passed before it acts.
    ///
    /// The strategy may let other tasks run first: the poll is then suspended where it stands, and
    /// goes on when the task is picked. `Pending` means that the world is closing and the
    /// operation must return `Pending` without acting.
    #[inline]
    pub fn point(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
    ) -> Poll<()> {
        self.in_world(|world, resource| world.point(kind, access, resource, site))
            .unwrap_or(Poll::Ready(()))
    }

    /// As [`point`](Self::point), for an operation that may be polled under a lock of `std` or of
    /// another crate: where another task could go on, the poll is not suspended, for that lock would
    /// stay locked. It returns `Pending`, and is woken at once. So it is for operations alone that may
    /// return `Pending` at any time, such as a write to a socket.
    ///
    /// `gave_way` is kept with the operation: whether its last poll returned so. It passes then. So it does where
    /// it `waits` in any case: who is woken there at once, and waits again, is never at rest, and no timer fires.
    pub fn point_that_returns(
        &self,
        cx: &Context<'_>,
        (kind, access): (OpKind, Access),
        site: &'static Location<'static>,
        gave_way: &AtomicBool,
        waits: impl FnOnce() -> bool,
    ) -> Poll<()> {
        let passed = self.in_world(|world, resource| {
            let op = Op {
                kind,
                access,
                resource,
                site,
            };
            // No swap, which would be the dearest instruction here: a world has one thread.
            if gave_way.load(Ordering::Relaxed) {
                gave_way.store(false, Ordering::Relaxed);
                return world.pass_undecided(op);
            }
            if waits() {
                return world.pass_undecided(op);
            }
            if world.gives_way(op) {
                gave_way.store(true, Ordering::Relaxed);
                world.defer(cx);
                return Poll::Pending;
            }
            world.point(kind, access, resource, site)
        });
        ready!(passed.unwrap_or(Poll::Ready(())));
        self.called_here();
        Poll::Ready(())
    }

    /// [`point`](Self::point), `act`, the unit of budget of
    /// [`poll_proceed`](crate::task::coop::poll_proceed) and [`acquired`](Self::acquired) in one.
    /// Ready with whether that was all: if not, only the point was passed, and the caller goes on
    /// from there.
    ///
    /// `act` may change a [`Shared`](crate::shim::Shared) cell; it must not wake, pass points or tell of the resource.
    #[inline]
    pub fn point_and_acquire(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
        act: impl FnOnce() -> bool,
    ) -> Poll<bool> {
        let act = || act().then_some(());
        let note = |core: &mut Core, resource, key, ()| core.acquired(resource, key, site);
        let done = ready!(self.point_and(kind, access, site, act, note));
        Poll::Ready(done.is_some())
    }

    /// [`point`](Self::point), `act`, the unit of budget of
    /// [`poll_proceed`](crate::task::coop::poll_proceed) and [`set_state`](Self::set_state), with the
    /// state that `act` returns, in one. Ready with what `act` returns besides; with nothing if only the
    /// point was passed, and the caller goes on from there.
    ///
    /// `act` may change a [`Shared`](crate::shim::Shared) cell, if it returns something; it must not wake, pass points or
    /// tell of the resource.
    #[inline]
    pub fn point_and_set<R>(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
        act: impl FnOnce() -> Option<(R, u64)>,
    ) -> Poll<Option<R>> {
        self.point_and(
            kind,
            access,
            site,
            act,
            |core, resource, _, (result, state)| {
                core.set_resource_state(resource, state);
                result
            },
        )
    }

    #[inline(always)]
    fn point_and<R, S>(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
        act: impl FnOnce() -> Option<R>,
        note: impl FnOnce(&mut Core, u32, u32, R) -> S,
    ) -> Poll<Option<S>> {
        let done = self.in_world(|world, resource| {
            let decides = world.has_points();
            if decides {
                ready!(world.point_decided(kind, access, resource, site));
            }
            let done = world.at_once((kind, access, resource), site, !decides, act, note);
            if done.is_none() && !decides {
                ready!(world.point(kind, access, resource, site));
            }
            Poll::Ready(done)
        });
        done.unwrap_or(Poll::Ready(None))
    }

    /// The scheduling point of a synchronous operation; a decision at granularity `sync`, and at `spawn` where it changes
    /// something after a look (see [`Granularity::Spawn`]).
    #[inline]
    pub fn sync_point(&self, kind: OpKind, access: Access, site: &'static Location<'static>) {
        if WORLD.with(World::has_sync_points) {
            self.in_world(|world, resource| {
                world.sync_point(Op {
                    kind,
                    access,
                    resource,
                    site,
                })
            });
        }
    }

    /// The scheduling point in the middle of what takes two steps, between which others may come: an operation of which
    /// they can see the first alone, or a look and what the caller is about to do upon it. A decision at granularity
    /// `sync`, and on Linux at `spawn`.
    #[inline]
    pub fn seam_point(&self, kind: OpKind, access: Access, site: &'static Location<'static>) {
        if WORLD.with(|world| world.granularity.get() != Granularity::Spawn) {
            return self.sync_point(kind, access, site);
        }
        self.in_world(|world, resource| {
            world.resume_point(Op {
                kind,
                access,
                resource,
                site,
            })
        });
    }

    /// The scheduling point after a call that returns at once and has woken another task, which may act before
    /// the caller goes on; a decision at granularity `spawn` and at `sync`. To be passed when all is done.
    #[inline]
    pub fn resume_point(&self, site: &'static Location<'static>) {
        if WORLD.with(World::has_resume_points) {
            self.in_world(|world, resource| {
                world.resume_point(Op {
                    kind: OpKind::Resume,
                    access: Access::Read,
                    resource,
                    site,
                })
            });
        }
    }

    /// The scheduling point of a call that returns at once, and from which on is heard what was missed
    /// before: the future of a notification that is made, a receiver that subscribes. An asynchronous
    /// operation has begun there, so it is a decision at granularity `op` too: between a look at what is
    /// waited for and this call lies the lost wake-up.
    #[inline]
    pub fn listen_point(&self, kind: OpKind, access: Access, site: &'static Location<'static>) {
        if WORLD.with(|world| world.has_points() || world.has_sync_points()) {
            self.in_world(|world, resource| {
                world.listen_point(Op {
                    kind,
                    access,
                    resource,
                    site,
                })
            });
        }
    }

    /// Publishes the operation that the running poll is about to block in, where the operation is a
    /// scheduling point only if it need not wait. To be called before
    /// [`blocked`](Self::blocked).
    ///
    /// Once the task is woken and picked, the [`point`](Self::point) of the same operation is no
    /// second decision.
    #[inline]
    pub fn pending(&self, kind: OpKind, access: Access, site: &'static Location<'static>) {
        self.in_world(|world, resource| {
            if let (true, Some(key)) = (world.is_running(), world.current()) {
                let op = Op {
                    kind,
                    access,
                    resource,
                    site,
                };
                world.with(|core, _| core.announce(key, op));
            }
        });
    }

    /// Notes that the current task now holds the resource (a lock, permits).
    #[inline]
    pub fn acquired(&self, site: &'static Location<'static>) {
        self.in_world(|world, resource| {
            let key = world.running.get().key;
            world.with(|core, _| core.acquired(resource, key, site));
        });
    }

    /// Notes that what the current task has just acquired is a value that it may give to another task.
    #[inline]
    pub fn movable(&self) {
        self.in_world(|world, resource| {
            if world.recording.get() {
                let key = world.running.get().key;
                world.with(|core, _| core.movable(resource, key));
            }
        });
    }

    /// Notes that the resource was given back by whoever held it.
    #[inline]
    pub fn released(&self) {
        self.in_world(|world, resource| {
            let key = world.running.get().key;
            world.with(|core, _| core.released(resource, key));
        });
    }

    /// The resource's share of the fingerprint, to be set there and no longer with
    /// [`set_state`](Self::set_state): the two would add up.
    pub fn share(&self) -> StateShare {
        let found = self.in_world(|world, resource| {
            let tag = world.with(|core, _| core.resources[resource as usize].tag);
            (world.serial.get(), tag)
        });
        let (serial, tag) = found.unwrap_or_default();
        StateShare {
            serial,
            tag,
            digest: 0,
        }
    }

    /// [`sync_point`](Self::sync_point) and [`released`](Self::released) in one.
    #[inline]
    pub fn point_and_release(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
    ) {
        self.in_world(
            #[inline(always)]
            |world, resource| {
                if world.has_sync_points() {
                    world.sync_point(Op {
                        kind,
                        access,
                        resource,
                        site,
                    });
                }
                let key = world.running.key.get();
                world.with(|core, _| core.released(resource, key));
            },
        );
    }

    /// Sets the resource's share of the fingerprint, typically its length or its flags.
    #[inline]
    pub fn set_state(&self, state: u64) {
        self.in_world(|world, resource| {
            world.with(|core, _| core.set_resource_state(resource, state));
        });
    }
}

/// The abstract state of a resource that only its owner changes, kept with the owner: setting it
/// spares a look at the world's tables.
#[derive(Debug)]
pub struct StateShare {
    /// Serial of the world that it is a share of.
    serial: u64,
    tag: u64,
    digest: u64,
}

impl StateShare {
    /// As [`Resource::set_state`].
    #[inline]
    pub fn set(&mut self, state: u64) {
        WORLD.with(|world| {
            let serial = world.serial.get();
            if serial == self.serial && serial != 0 {
                let digest = state_digest(self.tag, state);
                let before = std::mem::replace(&mut self.digest, digest);
                world.with(|core, _| core.contents_changed(digest.wrapping_sub(before)));
            }
        });
    }
}
