//! Spans of `tracing` that a poll is in when others go on.

use cct_executor::nondet::point;
use cct_executor::{Checker, spawn};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, dispatcher, info_span};
use tracing_core::span::Current;

thread_local! {
    /// The spans that this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// Knows spans by their numbers, and in which each was made.
#[derive(Default)]
struct Spans {
    last: AtomicU64,
    made: Mutex<Vec<(&'static Metadata<'static>, Option<u64>)>>,
}

impl Spans {
    fn innermost() -> Option<u64> {
        ENTERED.with_borrow(|entered| entered.last().map(Id::into_u64))
    }

    /// The spans of this name, each with that in which it was made.
    fn parents_of(&self, name: &str) -> Vec<Option<u64>> {
        let made = self.made.lock().unwrap();
        let named = made.iter().filter(|(data, _)| data.name() == name);
        named.map(|&(_, parent)| parent).collect()
    }
}

impl Subscriber for Spans {
    fn enabled(&self, data: &Metadata<'_>) -> bool {
        data.is_span()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let parent = Spans::innermost();
        self.made.lock().unwrap().push((span.metadata(), parent));
        Id::from_u64(self.last.fetch_add(1, SeqCst) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.clone()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            let at = entered.iter().rposition(|one| one == span);
            entered.remove(at.expect("a span that was entered"));
        });
    }

    fn current_span(&self) -> Current {
        let Some(innermost) = Spans::innermost() else {
            return Current::none();
        };
        let (data, _) = self.made.lock().unwrap()[innermost as usize - 1];
        Current::new(Id::from_u64(innermost), data)
    }
}

/// Who was at a point last, and how often somebody else was there in between.
static LAST: AtomicU64 = AtomicU64::new(0);
static INTERRUPTED: AtomicU64 = AtomicU64::new(0);

fn others_may_go_on(number: u64) {
    LAST.store(number, SeqCst);
    point();
    let interrupted = LAST.load(SeqCst) != number;
    INTERRUPTED.fetch_add(u64::from(interrupted), SeqCst);
}

/// Each is in two spans, one in the other, at its points, and makes one there.
async fn works(number: u64) {
    let outer = info_span!("outer");
    let _outer = outer.enter();
    let inner = info_span!("inner");
    let entered = inner.enter();
    others_may_go_on(number);
    let own = inner.id().map(|id| id.into_u64());
    assert_eq!(Spans::innermost(), own);
    drop(info_span!("made"));
    others_may_go_on(number);
    assert_eq!(Spans::innermost(), own);
    drop(entered);
    assert_eq!(Spans::innermost(), outer.id().map(|id| id.into_u64()));
}

#[test]
fn a_poll_that_is_suspended_is_in_its_own_spans_alone() {
    let report = Checker::new().iterations(300).run(|| async {
        let spans = Arc::new(Spans::default());
        let _default = dispatcher::set_default(&spans.clone().into());
        let tasks = [1, 2, 3].map(|number| spawn(works(number)));
        {
            let _entered = info_span!("main").entered();
            spawn(async {
                assert_eq!(Spans::innermost(), None);
            });
            point();
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(spans.parents_of("outer"), [None; 3]);
        let made = spans.parents_of("made");
        assert!(made.iter().all(Option::is_some), "{made:?}");
    });
    report.assert_passed();
    assert!(INTERRUPTED.load(SeqCst) > 0);
}
