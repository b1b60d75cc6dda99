//! Requests that share one slow fetch.
//!
//! Several requests want the same key at once, so they go through a single-flight group: one of
//! them, the leader, fetches; the others wait for its answer. Every request has a time limit.
//!
//! The bug, in async_singleflight 0.6.1: when the leader is dropped because its time is up, each
//! waiting request removes the key from the group's map before it tries to lead, and so removes the
//! entry that the new leader has just made. Several leaders then fetch at once. Reported in
//! <https://github.com/PureWhiteWu/async_singleflight/issues/12>, fixed in 0.6.2 by
//! <https://github.com/PureWhiteWu/async_singleflight/pull/13>.

use async_singleflight::DefaultGroup;
use cct_executor::spawn;
use cct_executor::time::{sleep, timeout};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The clock policy this bug needs: work takes time too, so that a request may run out of time
/// although the fetch alone would have been quick enough.
pub const SLACK: Duration = Duration::from_millis(10);

const FETCH: Duration = Duration::from_millis(20);
const TIME_LIMIT: Duration = Duration::from_millis(25);

/// A slow backend that must be spared.
#[derive(Default)]
struct Backend {
    fetches: AtomicU32,
    most_at_once: AtomicU32,
}

/// One fetch under way, also when it is given up half-way.
struct Fetch<'a>(&'a Backend);

impl Drop for Fetch<'_> {
    fn drop(&mut self) {
        self.0.fetches.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Backend {
    async fn fetch(&self) -> Result<String, ()> {
        let running = self.fetches.fetch_add(1, Ordering::Relaxed) + 1;
        let _fetch = Fetch(self);
        self.most_at_once.fetch_max(running, Ordering::Relaxed);
        sleep(FETCH).await;
        Ok("profile".to_owned())
    }
}

async fn request(group: Arc<DefaultGroup<String>>, backend: Arc<Backend>) -> Option<String> {
    let answer = timeout(TIME_LIMIT, group.work("profile", backend.fetch())).await;
    // Out of time is an answer too.
    answer
        .ok()
        .map(|answer| answer.expect("the backend does not fail"))
}

/// The backend never has more than one fetch to do for one key.
pub async fn scenario() {
    let group = Arc::new(DefaultGroup::new());
    let backend = Arc::new(Backend::default());
    let requests: Vec<_> = (0..4)
        .map(|_| spawn(request(Arc::clone(&group), Arc::clone(&backend))))
        .collect();
    for request in requests {
        let answer = request.await.expect("a request does not panic");
        assert!(answer.is_none_or(|answer| answer == "profile"));
    }
    let most_at_once = backend.most_at_once.load(Ordering::Relaxed);
    assert_eq!(most_at_once, 1, "fetches of one key at the same time");
}
