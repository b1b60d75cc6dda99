//! Small things that a program may rely on: texts, panics, sizes, conversions, `Debug`.

use crate::support::both;
use futures::FutureExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The text of the panic, if `f` panics.
fn panic_of<R>(f: impl FnOnce() -> R) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(f)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
}

/// Both forms of an error.
fn texts(error: impl std::error::Error) -> [String; 3] {
    [
        format!("{error}"),
        format!("{error:?}"),
        format!("{error:>40}|{error:<40?}|"),
    ]
}

macro_rules! same {
    ($name:ident, |$sync:ident| $body:expr) => {
        #[test]
        fn $name() {
            let theirs = {
                use tokio::sync as $sync;
                $body
            };
            let ours = {
                use cct_sync as $sync;
                $body
            };
            assert_eq!(theirs, ours);
        }
    };
}

same!(error_texts, |sync| {
    use sync::{broadcast, mpsc, oneshot, watch};
    let (sender, receiver) = oneshot::channel::<u8>();
    drop(sender);
    let (watched, watching) = watch::channel(1);
    drop(watched);
    vec![
        texts(mpsc::error::SendError(1)),
        texts(mpsc::error::TrySendError::Full(1)),
        texts(mpsc::error::TrySendError::Closed(1)),
        texts(mpsc::error::TrySendError::from(mpsc::error::SendError(1))),
        texts(mpsc::error::SendTimeoutError::Timeout(1)),
        texts(mpsc::error::SendTimeoutError::Closed(1)),
        texts(mpsc::error::TryRecvError::Empty),
        texts(mpsc::error::TryRecvError::Disconnected),
        texts(receiver.now_or_never().unwrap().unwrap_err()),
        texts(oneshot::error::TryRecvError::Empty),
        texts(oneshot::error::TryRecvError::Closed),
        texts(watch::error::SendError(1)),
        texts(watching.has_changed().unwrap_err()),
        texts(broadcast::error::SendError(1)),
        texts(broadcast::error::RecvError::Closed),
        texts(broadcast::error::RecvError::Lagged(7)),
        texts(broadcast::error::TryRecvError::Empty),
        texts(broadcast::error::TryRecvError::Closed),
        texts(broadcast::error::TryRecvError::Lagged(7)),
    ]
});

same!(panics, |sync| {
    use sync::{broadcast, mpsc, oneshot};
    vec![
        panic_of(|| mpsc::channel::<u8>(0)),
        panic_of(|| mpsc::channel::<u8>((usize::MAX >> 3) + 1)),
        panic_of(|| broadcast::channel::<u8>(0)),
        panic_of(|| broadcast::channel::<u8>((usize::MAX >> 1) + 1)),
        panic_of(|| broadcast::Sender::<u8>::new(0)),
        panic_of(|| {
            let (_sender, mut receiver) = oneshot::channel::<u8>();
            receiver.close();
            let _ = (&mut receiver).now_or_never();
            let _ = (&mut receiver).now_or_never();
        }),
    ]
});

both! {
    fn permits_are_counted(sync) {
        let (tx, mut rx) = sync::mpsc::channel(4);
        let mut permits = tx.try_reserve_many(3).unwrap();
        assert_eq!((permits.len(), permits.size_hint(), tx.capacity()), (3, (3, Some(3)), 1));
        permits.next().unwrap().send('a');
        let held = permits.next().unwrap();
        drop(permits);
        assert_eq!((tx.capacity(), rx.capacity(), rx.max_capacity(), rx.len()), (2, 2, 4, 1));
        let mut none = tx.try_reserve_many(0).unwrap();
        assert!(none.next().is_none() && none.next().is_none());
        rx.close();
        held.send('b');
        assert_eq!(rx.recv().now_or_never(), Some(Some('a')));
        assert_eq!(rx.recv().now_or_never(), Some(Some('b')));
        assert_eq!(rx.recv().now_or_never(), Some(None));
        assert!(tx.try_reserve_many(0).is_err());
    }
}

both! {
    fn permits_know_their_channel(sync) {
        let (tx, _rx) = sync::mpsc::channel::<u8>(2);
        let (other, _other_rx) = sync::mpsc::channel::<u8>(2);
        let (first, second) = (tx.clone().try_reserve_owned(), tx.clone().try_reserve_owned());
        let (first, second) = (first.unwrap(), second.unwrap());
        let third = other.clone().try_reserve_owned().unwrap();
        assert!(first.same_channel(&second) && !first.same_channel(&third));
        assert!(first.same_channel_as_sender(&tx) && !first.same_channel_as_sender(&other));
        assert!(first.release().same_channel(&tx) && !tx.same_channel(&other));
        let kept = second.send(1);
        let _full = kept.clone().try_reserve_owned().unwrap();
        let Err(error) = kept.try_reserve_owned() else { panic!("more than there is room for") };
        assert!(matches!(&error, sync::mpsc::error::TrySendError::Full(_)));
        assert!(error.into_inner().same_channel(&tx));
    }
}

both! {
    fn a_reservation_can_be_too_large(sync) {
        let (tx, _rx) = sync::mpsc::channel::<u8>(2);
        let error = tx.reserve_many(3).now_or_never().unwrap().err();
        assert_eq!(error, Some(sync::mpsc::error::SendError(())));
        let error = tx.try_reserve_many(3).err();
        assert_eq!(error, Some(sync::mpsc::error::TrySendError::Full(())));
    }
}

both! {
    fn an_owned_permit_dropped_after_close_wakes_the_receiver(sync) {
        for release in [true, false] {
            let (tx, mut rx) = sync::mpsc::channel::<u8>(1);
            let permit = tx.try_reserve_owned().unwrap();
            rx.close();
            let mut recv = tokio_test::task::spawn(rx.recv());
            tokio_test::assert_pending!(recv.poll());
            let _sender = if release { Some(permit.release()) } else { drop(permit); None };
            assert!(recv.is_woken());
            assert_eq!(recv.poll(), std::task::Poll::Ready(None));
        }
    }
}

both! {
    fn resubscribing_to_the_dead_sees_the_end(sync) {
        let (tx, mut rx) = sync::broadcast::channel(4);
        tx.send(1).unwrap();
        drop(tx);
        let mut late = rx.resubscribe();
        assert_eq!(late.recv().now_or_never(), Some(Err(sync::broadcast::error::RecvError::Closed)));
        assert_eq!(rx.recv().now_or_never(), Some(Ok(1)));
        assert_eq!(rx.recv().now_or_never(), Some(Err(sync::broadcast::error::RecvError::Closed)));
    }
}

both! {
    fn a_panicking_change_leaves_the_watch_usable(sync) {
        let (tx, mut rx) = sync::watch::channel(1);
        let mut changed = tokio_test::task::spawn(rx.changed());
        tokio_test::assert_pending!(changed.poll());
        let change = || tx.send_modify(|value| {
            *value = 2;
            panic!("in the middle");
        });
        assert_eq!(panic_of(change).as_deref(), Some("in the middle"));
        assert!(!changed.is_woken());
        drop(changed);
        assert_eq!((*rx.borrow(), rx.has_changed().unwrap()), (2, false));
        let wait = || rx.wait_for(|_| panic!("refused")).now_or_never().is_some();
        assert_eq!(panic_of(wait).as_deref(), Some("refused"));
        tx.send(3).unwrap();
        assert_eq!(*rx.borrow_and_update(), 3);
        assert_eq!(*sync::watch::Sender::<u8>::default().borrow(), 0);
    }
}

/// Panics in `clone` or at its end, if told so.
#[derive(Debug)]
struct Fragile(u8, bool);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(self.0 != 1, "no clone");
        Fragile(self.0, false)
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        if self.1 && !std::thread::panicking() {
            panic!("no end");
        }
    }
}

both! {
    fn a_panicking_clone_counts_as_received(sync) {
        let (tx, mut rx) = sync::broadcast::channel(4);
        let mut other = tx.subscribe();
        tx.send(Fragile(1, false)).unwrap();
        tx.send(Fragile(2, false)).unwrap();
        for receiver in [&mut rx, &mut other] {
            assert_eq!(panic_of(|| receiver.try_recv()).as_deref(), Some("no clone"));
            assert_eq!(receiver.try_recv().unwrap().0, 2);
            assert!(receiver.is_empty());
        }
        assert!(tx.is_empty());
    }
}

both! {
    fn a_panicking_destructor_leaves_the_senders_in_order(sync) {
        let (tx, rx) = sync::mpsc::channel(4);
        tx.try_send(Fragile(0, true)).unwrap();
        tx.try_send(Fragile(0, false)).unwrap();
        assert_eq!(panic_of(|| drop(rx)).as_deref(), Some("no end"));
        assert!(tx.is_closed());
        assert_eq!(tx.capacity(), 4);

        let (tx, rx) = sync::broadcast::channel(4);
        let mut closed = tokio_test::task::spawn(tx.closed());
        tokio_test::assert_pending!(closed.poll());
        tx.send(Fragile(0, true)).unwrap();
        assert_eq!(panic_of(|| drop(rx)).as_deref(), Some("no end"));
        assert!(closed.is_woken());
    }
}

both! {
    fn messages_may_own_their_channel(sync) {
        struct Loop {
            _sender: Option<sync::mpsc::Sender<Loop>>,
        }
        let (tx, rx) = sync::mpsc::channel(2);
        tx.try_send(Loop { _sender: Some(tx.clone()) }).map_err(drop).unwrap();
        tx.try_send(Loop { _sender: None }).map_err(drop).unwrap();
        assert!(tx.try_send(Loop { _sender: Some(tx.clone()) }).is_err());
        drop(tx);
        drop(rx);
    }
}

both! {
    fn handles_can_be_printed(sync) {
        let (tx, rx) = sync::mpsc::channel::<u8>(1);
        let permit = tx.try_reserve().unwrap();
        let _ = format!("{tx:?} {rx:?} {:?} {permit:?}", tx.downgrade());
        let (tx, rx) = sync::mpsc::unbounded_channel::<u8>();
        let _ = format!("{tx:?} {rx:?} {:?}", tx.downgrade());
        let (tx, rx) = sync::oneshot::channel::<u8>();
        let _ = format!("{tx:?} {rx:?}");
        let (tx, rx) = sync::watch::channel(1);
        let _ = format!("{tx:?} {rx:?} {:?}", tx.borrow());
        let (tx, rx) = sync::broadcast::channel::<u8>(1);
        let text = format!("{tx:?} {rx:?} {:?}", tx.downgrade());
        assert_eq!(text, "broadcast::Sender broadcast::Receiver broadcast::WeakSender");
    }
}
