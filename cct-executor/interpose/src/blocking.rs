//! What a thread does in the place of blocking, while it runs a world.

use crate::symbols::Word;
use std::cell::Cell;

/// What a thread does in the place of blocking.
#[derive(Clone, Copy, Debug)]
pub struct Blocking {
    /// Called where the thread would block until the word changes. Returns whether that was seen to;
    /// if not, it blocks.
    pub wait: fn(Word) -> bool,
    /// Called where so many of those who wait for the word are to be woken. Returns how many were.
    pub wake: fn(Word, u32) -> u32,
}

thread_local! {
    static BLOCKING: Cell<Option<Blocking>> = const { Cell::new(None) };
}

pub(crate) fn set(blocking: Option<Blocking>) {
    BLOCKING.set(blocking);
}

#[allow(dead_code, reason = "nobody asks where nothing is interposed")]
pub(crate) fn get() -> Option<Blocking> {
    BLOCKING.get()
}
