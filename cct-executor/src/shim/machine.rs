//! What is the machine's, for shims of it: in a world whose run nobody will ask for again, tasks may wait for it.

use crate::execution::strangers;
use crate::execution::world::WORLD;
use std::fmt::Display;
use std::sync::Arc;
use std::task::Waker;

/// That a task waits for something of the machine's. Until this is dropped, or the task is woken, time in its world is the
/// machine's.
#[derive(Debug)]
pub struct MachineWait {
    world: u64,
    number: u64,
}

/// Whether tasks may wait for what is the machine's: in the world that runs here, if it is that of a test which is run
/// once, with threads taking part (see [`runtime`](crate::runtime)).
pub fn machine_is_open() -> bool {
    WORLD.with(|world| world.open.get())
}

/// Something of the machine's was asked for and refused, as the machine [is not open](machine_is_open). Where the test fails
/// for it, it is run once, and is given it, if that is possible.
pub fn machine_is_refused(what: &dyn Display) {
    WORLD.with(|world| world.refuse_machine(what));
}

/// Wakes the waker once `is_there` says so, which is asked every millisecond or so, by the world's thread, must not block
/// and must not use anything of the world's. `None` where [it may not be waited for](machine_is_open).
pub fn wait_for_machine(
    waker: &Waker,
    is_there: impl FnMut() -> bool + Send + 'static,
) -> Option<MachineWait> {
    let (waker, is_there) = (waker.clone(), Box::new(is_there));
    WORLD.with(|world| {
        if !(world.open.get() && world.is_running()) {
            return None;
        }
        Some(MachineWait {
            world: world.serial.get(),
            number: world.with(|core, _| core.await_machine(waker, is_there)),
        })
    })
}

/// Has `act` called whenever `has_happened` says so, in the world that runs here and between two of its steps, until that
/// ends. It is asked every so many steps, and every millisecond or so while nothing else can go on, by the world's thread;
/// it must not block and must not use anything of the world's, nor does time become the machine's for it. Nothing where
/// [the machine is not open](machine_is_open).
pub fn watch_machine(
    has_happened: impl FnMut() -> bool + Send + 'static,
    act: impl Fn() + Send + Sync + 'static,
) {
    WORLD.with(|world| {
        if world.open.get() && world.is_running() {
            world.with(|core, _| core.watch_machine(Box::new(has_happened), Arc::new(act)));
        }
    });
}

/// Calls `is_done` as often as [`watch_machine`] does, until it says that it is, though nobody waits for it.
pub fn see_to_machine(is_done: impl FnMut() -> bool + Send + 'static) {
    WORLD.with(|world| {
        if world.open.get() && world.is_running() {
            world.with(|core, _| core.see_to_machine(Box::new(is_done)));
        }
    });
}

impl Drop for MachineWait {
    fn drop(&mut self) {
        let MachineWait { world, number } = *self;
        let here = WORLD.with(|here| here.serial.get() == world && here.is_live());
        if here {
            drop(WORLD.with(|here| here.with(|core, _| core.await_machine_no_longer(number))));
        } else {
            let over = move || {
                drop(WORLD.with(|here| here.with(|core, _| core.await_machine_no_longer(number))));
            };
            strangers::post(world, Box::new(over));
        }
    }
}
