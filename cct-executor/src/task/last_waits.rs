//! What a blocking closure waits for whose node goes down, or whose world closes: it comes no more.
//!
//! An operation that can fail says so, as files of tokio do when their runtime goes, and the closure comes to its end in its
//! own way. Otherwise it is unwound, which is all that ends it: that poisons what locks of `std` it holds, and a destructor
//! that does not expect that aborts the process.

use crate::execution::world::{Running, World};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Whether there is a reason to poll once more.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tells shims, as long as it is there.
struct GivesUp<'a> {
    world: &'a World,
    before: bool,
}

impl Drop for GivesUp<'_> {
    fn drop(&mut self) {
        self.world.gives_up.set(self.before);
    }
}

/// Polls for as long as that leads to something.
#[cold]
pub(super) fn wait<F: Future>(
    world: &World,
    mut future: Pin<&mut F>,
    site: &'static Location<'static>,
) -> F::Output {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    // Code around which there is a world is told why that is over.
    let gives_up = !world.is_code_around(world.running.key.get());
    loop {
        let polled = {
            let before = world.gives_up.replace(gives_up);
            let _gives_up = GivesUp { world, before };
            world.with_running(
                |running| running.budget = Running::UNLIMITED,
                |now, before| now.budget = before.budget,
                || future.as_mut().poll(&mut cx),
            )
        };
        match polled {
            Poll::Ready(output) => return output,
            Poll::Pending if woken.0.swap(false, Ordering::Relaxed) => world.count_inert(),
            Poll::Pending => world.unwind_who_waits(site),
        }
    }
}
