//! What random scripts over channels are made of: tasks, receivers' wakers, messages, a log.

use crate::support::Dice;
use std::cell::RefCell;
use std::fmt::{self, Write};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

struct Bell {
    name: u32,
    rung: Arc<Mutex<Vec<u32>>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.lock().unwrap().push(self.name);
    }
}

/// A message whose clones and end are written down.
pub(crate) struct Message {
    pub(crate) number: u32,
    diary: Rc<RefCell<String>>,
}

impl Clone for Message {
    fn clone(&self) -> Self {
        write!(self.diary.borrow_mut(), "clone {} ", self.number).unwrap();
        Message {
            number: self.number,
            diary: self.diary.clone(),
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        write!(self.diary.borrow_mut(), "end {} ", self.number).unwrap();
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)
    }
}

struct Task<R> {
    name: u32,
    future: Pin<Box<dyn Future<Output = R>>>,
    waker: Waker,
}

/// Where a script runs. `R` is what its tasks return.
pub(crate) struct Stage<R> {
    pub(crate) dice: Dice,
    diary: Rc<RefCell<String>>,
    rung: Arc<Mutex<Vec<u32>>>,
    tasks: Vec<Task<R>>,
    names: u32,
}

impl<R> Stage<R> {
    pub(crate) fn new(seed: u64) -> Self {
        Stage {
            dice: Dice::new(seed),
            diary: Rc::default(),
            rung: Arc::default(),
            tasks: Vec::new(),
            names: 0,
        }
    }

    pub(crate) fn name(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    pub(crate) fn message(&mut self) -> Message {
        Message {
            number: self.name(),
            diary: self.diary.clone(),
        }
    }

    /// A waker that is written down as `name` when it is woken.
    pub(crate) fn waker(&self, name: u32) -> Waker {
        Waker::from(Arc::new(Bell {
            name,
            rung: self.rung.clone(),
        }))
    }

    pub(crate) fn note(&self, line: fmt::Arguments<'_>) {
        self.diary.borrow_mut().write_fmt(line).unwrap();
        self.diary.borrow_mut().push(' ');
    }

    pub(crate) fn spawn(&mut self, future: impl Future<Output = R> + 'static) {
        let name = self.name();
        let waker = self.waker(name);
        self.tasks.push(Task {
            name,
            future: Box::pin(future),
            waker,
        });
    }

    /// Polls a future once, on behalf of `name`, and drops it.
    pub(crate) fn once<O>(&self, name: u32, future: impl Future<Output = O>) -> Poll<O> {
        pin!(future).poll(&mut Context::from_waker(&self.waker(name)))
    }

    /// Polls a task at random; one that is ready ends. Once in a while its waker is a new one.
    pub(crate) fn poll_one(&mut self) -> Option<R> {
        let index = self.dice.pick(&self.tasks)?;
        if self.dice.roll(4) == 0 {
            self.tasks[index].waker = self.waker(self.tasks[index].name);
        }
        let task = &mut self.tasks[index];
        let name = task.name;
        let poll = task
            .future
            .as_mut()
            .poll(&mut Context::from_waker(&task.waker));
        self.note(format_args!("poll {name} {}", poll.is_ready()));
        let Poll::Ready(result) = poll else {
            return None;
        };
        drop(self.tasks.remove(index));
        Some(result)
    }

    /// Drops a task at random.
    pub(crate) fn drop_one(&mut self) {
        if let Some(index) = self.dice.pick(&self.tasks) {
            let task = self.tasks.remove(index);
            self.note(format_args!("drop {}", task.name));
        }
    }

    /// Who was woken since the last call. In order, unless the order is open.
    pub(crate) fn woken(&self, in_order: bool) {
        let mut woken = std::mem::take(&mut *self.rung.lock().unwrap());
        if !in_order {
            woken.sort_unstable();
        }
        self.note(format_args!("woken {woken:?}\n"));
    }

    /// Ends what still runs; returns all that was written down.
    pub(crate) fn finish(mut self) -> String {
        while let Some(task) = self.tasks.pop() {
            drop(task);
        }
        self.woken(false);
        self.diary.take()
    }
}

/// Defines a script once for each crate and compares what they write down.
macro_rules! parity {
    ($(#[$meta:meta])* fn $name:ident($sync:ident, $seed:ident) -> String $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every script needs what the others need")]
            use super::*;

            fn theirs($seed: u64) -> String {
                use ::tokio::sync as $sync;
                $body
            }

            fn ours($seed: u64) -> String {
                use ::cct_sync as $sync;
                $body
            }

            #[test]
            fn parity() {
                for seed in 0..SEEDS {
                    let (theirs, ours) = (theirs(seed), ours(seed));
                    for (step, (theirs, ours)) in theirs.lines().zip(ours.lines()).enumerate() {
                        assert_eq!(theirs, ours, "seed {seed}, step {step}");
                    }
                    assert_eq!(theirs, ours, "seed {seed}");
                }
            }
        }
    };
}

pub(crate) use parity;
