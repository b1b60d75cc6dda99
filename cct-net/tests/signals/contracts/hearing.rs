//! Who hears of a signal, and how often.

use super::Log;
use super::rt::{kill_itself, pause, raise, signal as signals, timeout};
use futures::FutureExt;
use futures::task::noop_waker;
use signals::unix::{Signal, SignalKind, signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// Whether the listener hears of a signal soon.
async fn hears(listener: &mut Signal) -> bool {
    let waited = timeout(Duration::from_millis(50), listener.recv()).await;
    waited.is_ok_and(|heard| heard.is_some())
}

pub(crate) async fn heard(log: Log) {
    let mut listener = signal(SignalKind::user_defined1()).unwrap();
    log.note(hears(&mut listener).await);
    raise(SignalKind::user_defined1());
    log.note(hears(&mut listener).await);
    log.note(hears(&mut listener).await);
    raise(SignalKind::user_defined1());
    log.note(format!("{:?}", listener.recv().await));
}

pub(crate) async fn from_itself(log: Log) {
    let mut interrupt = signal(SignalKind::interrupt()).unwrap();
    let mut terminate = signal(SignalKind::terminate()).unwrap();
    kill_itself(SignalKind::interrupt());
    log.note(hears(&mut interrupt).await);
    log.note(hears(&mut terminate).await);
    kill_itself(SignalKind::terminate());
    log.note(hears(&mut terminate).await);
}

pub(crate) async fn merged(log: Log) {
    let mut listener = signal(SignalKind::user_defined1()).unwrap();
    for _ in 0..3 {
        raise(SignalKind::user_defined1());
    }
    pause().await;
    log.note(hears(&mut listener).await);
    log.note(hears(&mut listener).await);
}

pub(crate) async fn all_listeners(log: Log) {
    let mut one = signal(SignalKind::user_defined1()).unwrap();
    let mut two = signal(SignalKind::user_defined1()).unwrap();
    let mut other = signal(SignalKind::user_defined2()).unwrap();
    raise(SignalKind::user_defined1());
    log.note(hears(&mut one).await);
    drop(one);
    log.note(hears(&mut two).await);
    log.note(hears(&mut other).await);
    raise(SignalKind::user_defined1());
    log.note(hears(&mut two).await);
}

/// The process lives on.
pub(crate) async fn nobody_listens_any_more(log: Log) {
    drop(signal(SignalKind::terminate()));
    raise(SignalKind::terminate());
    pause().await;
    let mut listener = signal(SignalKind::terminate()).unwrap();
    log.note(hears(&mut listener).await);
    raise(SignalKind::terminate());
    log.note(hears(&mut listener).await);
}

pub(crate) async fn too_late(log: Log) {
    let mut early = signal(SignalKind::user_defined2()).unwrap();
    raise(SignalKind::user_defined2());
    pause().await;
    let mut late = signal(SignalKind::user_defined2()).unwrap();
    log.note(hears(&mut late).await);
    log.note(hears(&mut early).await);
}

/// Nothing is kept of what a process ignores.
pub(crate) async fn ignored(log: Log) {
    for kind in [
        SignalKind::pipe(),
        SignalKind::child(),
        SignalKind::from_raw(23),
    ] {
        raise(kind);
        pause().await;
        let mut listener = signal(kind).unwrap();
        log.note(hears(&mut listener).await);
        raise(kind);
        log.note(hears(&mut listener).await);
    }
}

pub(crate) async fn cancelled(log: Log) {
    let mut listener = signal(SignalKind::user_defined1()).unwrap();
    log.note(listener.recv().now_or_never().is_some());
    raise(SignalKind::user_defined1());
    pause().await;
    drop(listener.recv());
    log.note(listener.recv().now_or_never().is_some());
    log.note(listener.recv().now_or_never().is_some());
}

pub(crate) async fn polled(log: Log) {
    let mut listener = signal(SignalKind::user_defined1()).unwrap();
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    log.note(format!("{:?}", listener.poll_recv(&mut cx)));
    raise(SignalKind::user_defined1());
    pause().await;
    log.note(format!("{:?}", listener.poll_recv(&mut cx)));
    log.note(format!("{:?}", listener.poll_recv(&mut cx)));
}

#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The last one polled with is woken, once, also if its future is gone.
pub(crate) async fn woken(log: Log) {
    let counts = [(); 3].map(|()| Arc::new(Count::default()));
    let wakers = counts.clone().map(Waker::from);
    let mut one = signal(SignalKind::user_defined1()).unwrap();
    let mut two = signal(SignalKind::user_defined1()).unwrap();
    let pending = |poll: Poll<Option<()>>| assert!(poll.is_pending());
    pending(one.poll_recv(&mut Context::from_waker(&wakers[0])));
    pending(one.poll_recv(&mut Context::from_waker(&wakers[1])));
    pending(
        Box::pin(two.recv())
            .as_mut()
            .poll(&mut Context::from_waker(&wakers[2])),
    );
    raise(SignalKind::user_defined1());
    pause().await;
    raise(SignalKind::user_defined1());
    pause().await;
    for count in &counts {
        log.note(count.0.load(Ordering::Relaxed));
    }
    let mut gone = signal(SignalKind::user_defined1()).unwrap();
    pending(gone.poll_recv(&mut Context::from_waker(&wakers[0])));
    drop(gone);
    raise(SignalKind::user_defined1());
    pause().await;
    log.note(counts[0].0.load(Ordering::Relaxed));
}

/// It registers when it is first polled, and hears of what comes then.
pub(crate) async fn ctrl_c(log: Log) {
    let mut listener = signal(SignalKind::interrupt()).unwrap();
    let made = signals::ctrl_c();
    raise(SignalKind::interrupt());
    pause().await;
    log.note(timeout(Duration::from_millis(50), made).await.is_ok());
    let mut polled = Box::pin(signals::ctrl_c());
    log.note(polled.as_mut().now_or_never().is_some());
    raise(SignalKind::interrupt());
    log.note(polled.await.is_ok());
    log.note(hears(&mut listener).await);
}

/// Each of them can be listened for.
pub(crate) async fn kinds(log: Log) {
    let kinds = [
        SignalKind::alarm(),
        SignalKind::child(),
        SignalKind::hangup(),
        SignalKind::interrupt(),
        SignalKind::io(),
        SignalKind::pipe(),
        SignalKind::quit(),
        SignalKind::terminate(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
        SignalKind::window_change(),
    ];
    for kind in kinds {
        let mut listener = signal(kind).unwrap();
        raise(kind);
        log.note(format!("{kind:?}: {}", hears(&mut listener).await));
    }
}
