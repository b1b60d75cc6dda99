//! Spans of `tracing` that a poll is in when it is suspended.
//!
//! On threads each has its own. Here tasks share one, so a poll that is suspended leaves its spans, and enters them again
//! when it goes on: what others say meanwhile is not said in them, and no span of theirs is a child of one.
//!
//! Does not: take back the subscriber that a poll has set for its thread.

use super::world::{Running, World};
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::{Dispatch, dispatcher};

/// A subscriber may not do as it is told.
const SPANS_MAX: usize = 64;

/// Those that were left, the innermost first.
pub(super) struct Left {
    dispatch: Dispatch,
    spans: Vec<Id>,
}

/// Whether anybody listens, in all of the process. While exploring most often nobody does.
#[inline(always)]
pub(super) fn may_be() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

/// The number of the span in which this thread is, or 0.
pub(super) fn innermost() -> u64 {
    let number = |dispatch: &Dispatch| dispatch.current_span().id().map_or(0, Id::into_u64);
    match may_be() {
        true => dispatcher::get_default(number),
        false => 0,
    }
}

/// Leaves all but those around the world.
fn leave(around: u64) -> Option<Left> {
    let inner = |dispatch: &Dispatch| {
        let innermost = dispatch.current_span().id().cloned();
        innermost.filter(|id| id.into_u64() != around)
    };
    // Called from within `get_default`, a subscriber would not find itself.
    let dispatch = dispatcher::get_default(|it| inner(it).map(|_| it.clone()))?;
    let mut spans = Vec::new();
    while let Some(innermost) = inner(&dispatch).filter(|_| spans.len() < SPANS_MAX) {
        dispatch.exit(&innermost);
        spans.push(innermost);
    }
    Some(Left { dispatch, spans })
}

impl World {
    /// The running poll leaves its spans. What the subscriber does is nobody's operation.
    #[cold]
    pub(super) fn leave_spans(&self) -> Option<Left> {
        let running = self.running.replace(Running::NOBODY);
        let left = leave(self.around.get());
        self.running.set(running);
        left
    }

    /// It goes on.
    #[cold]
    pub(super) fn enter_spans(&self, left: Left) {
        let running = self.running.replace(Running::NOBODY);
        let again = left.spans.iter().rev();
        again.for_each(|span| left.dispatch.enter(span));
        self.running.set(running);
    }
}
