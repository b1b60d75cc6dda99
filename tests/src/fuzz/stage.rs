//! Where a script is played: slots with futures, and wakers that tell who was woken.

use super::Act;
use crate::tools::payload_text;
use crate::{Log, note};
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How many futures may be under way.
const SLOTS: usize = 6;
/// What [`Stage::turn`] does of itself, by the first byte; what is left is the interpreter's.
const POLLS: u8 = 100;
const DROPS: u8 = 112;
const YIELDS: u8 = 116;

struct Bell {
    name: u32,
    rung: Arc<Mutex<Vec<u32>>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        rung.push(self.name);
    }
}

type Boxed<'a, R> = Pin<Box<dyn Future<Output = R> + 'a>>;

struct Slot<'a, R> {
    name: u32,
    future: Boxed<'a, R>,
    waker: Waker,
    over: bool,
}

/// A future that may be polled again when it is ready, with what `future` itself does then.
pub fn then<F: Future, R>(future: F, mut f: impl FnMut(F::Output) -> R) -> impl Future<Output = R> {
    let mut future = Box::pin(future);
    poll_fn(move |cx| future.as_mut().poll(cx).map(&mut f))
}

/// What an act comes to.
#[derive(Debug)]
pub enum Turn<R> {
    /// A future is ready.
    Ready(R),
    /// The interpreter's own act; the number is that of the operation.
    Own(usize),
    /// Anything else.
    Over,
    /// The task is to yield, so that it has a new budget.
    Yield,
}

/// The futures of a script; `R` is what they return.
pub struct Stage<'a, R> {
    /// Where everything is written down.
    pub log: Log,
    slots: [Option<Slot<'a, R>>; SLOTS],
    rung: Arc<Mutex<Vec<u32>>>,
    names: u32,
    in_order: bool,
    once: bool,
}

impl<R> fmt::Debug for Stage<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage").finish_non_exhaustive()
    }
}

impl<'a, R> Stage<'a, R> {
    /// An empty stage.
    pub fn new(log: &Log) -> Self {
        Stage {
            log: log.clone(),
            slots: Default::default(),
            rung: Arc::default(),
            names: 0,
            in_order: true,
            once: false,
        }
    }

    /// tokio promises no order of wakes: they are sorted.
    #[must_use]
    pub fn in_no_order(mut self) -> Self {
        self.in_order = false;
        self
    }

    /// As [`in_no_order`](Self::in_no_order), and nobody promises that none is woken twice.
    #[must_use]
    pub fn as_a_set(mut self) -> Self {
        self.once = true;
        self.in_no_order()
    }

    /// A name that nobody had yet.
    pub fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    /// A waker that notes its name.
    pub fn waker(&mut self) -> Waker {
        let name = self.name();
        note!(self.log, "    waker {name}");
        Waker::from(Arc::new(Bell {
            name,
            rung: self.rung.clone(),
        }))
    }

    /// Puts a future into the slot that the act names; what was there is dropped before.
    pub fn put(
        &mut self,
        act: Act,
        what: fmt::Arguments<'_>,
        future: impl Future<Output = R> + 'a,
    ) {
        let index = act.a(SLOTS);
        self.clear(index);
        let name = self.name();
        note!(self.log, "  future {name}: {what}");
        let waker = self.waker();
        self.slots[index] = Some(Slot {
            name,
            future: Box::pin(future),
            waker,
            over: false,
        });
    }

    fn clear(&mut self, index: usize) {
        if let Some(slot) = self.slots[index].take() {
            note!(self.log, "  drop future {}", slot.name);
            drop(slot);
        }
    }

    /// Does what all interpreters have in common, and says what is left to do.
    pub fn turn(&mut self, act: Act) -> Turn<R> {
        match act.what {
            ..POLLS => self.poll(act),
            POLLS..DROPS => {
                self.clear(act.a(SLOTS));
                Turn::Over
            }
            DROPS..YIELDS => Turn::Yield,
            YIELDS.. => Turn::Own(usize::from(act.what - YIELDS)),
        }
    }

    /// Polls a slot. A future that is ready leaves it, most of the time; otherwise it may be polled
    /// again, which may panic.
    fn poll(&mut self, act: Act) -> Turn<R> {
        let index = act.a(SLOTS);
        let new_waker = match act.b % 8 {
            0 => Some(self.waker()),
            // That of another future: two that wait on behalf of one task.
            1 => self
                .slots
                .iter()
                .flatten()
                .next()
                .map(|slot| slot.waker.clone()),
            _ => None,
        };
        let Some(slot) = &mut self.slots[index] else {
            return Turn::Over;
        };
        if let Some(waker) = new_waker {
            slot.waker = waker;
        }
        let name = slot.name;
        note!(self.log, "  poll future {name}");
        let mut cx = Context::from_waker(&slot.waker);
        let poll = catch_unwind(AssertUnwindSafe(|| slot.future.as_mut().poll(&mut cx)));
        match poll {
            Ok(Poll::Pending) => {
                note!(self.log, "    pending");
                Turn::Over
            }
            Ok(Poll::Ready(result)) => {
                note!(self.log, "    ready");
                slot.over = true;
                if act.b >= 32 {
                    self.clear(index);
                }
                Turn::Ready(result)
            }
            // Whose panic it is, that of an `async fn` or another, is nobody's promise.
            Err(_) if slot.over => {
                note!(self.log, "    panic: it was over");
                self.clear(index);
                Turn::Over
            }
            Err(payload) => {
                note!(self.log, "    panic: {}", payload_text(payload.as_ref()));
                self.clear(index);
                Turn::Over
            }
        }
    }

    /// Notes who was woken since the last call.
    pub fn woken(&mut self) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rung = std::mem::take(&mut *rung);
        if !self.in_order {
            rung.sort_unstable();
        }
        if self.once {
            rung.dedup();
        }
        if !rung.is_empty() {
            note!(self.log, "    woken {rung:?}");
        }
    }

    /// Drops all futures.
    pub fn finish(&mut self) {
        for index in 0..SLOTS {
            self.clear(index);
            self.woken();
        }
    }
}
