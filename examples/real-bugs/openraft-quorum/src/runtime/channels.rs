//! Channels and the lock as openraft names them.

use cct_sync::{mpsc, oneshot, watch};
use openraft::async_runtime as rt;
use openraft::async_runtime::mpsc::{SendError, TryRecvError};
use openraft::async_runtime::watch::{RecvError, SendError as WatchSendError};
use openraft::{OptionalSend, OptionalSync};

/// Bounded queues.
pub(crate) struct Mpsc;

pub(crate) struct MpscSender<T>(mpsc::Sender<T>);

pub(crate) struct MpscReceiver<T>(mpsc::Receiver<T>);

pub(crate) struct MpscWeakSender<T>(mpsc::WeakSender<T>);

impl<T> Clone for MpscSender<T> {
    fn clone(&self) -> Self {
        MpscSender(self.0.clone())
    }
}

impl<T> Clone for MpscWeakSender<T> {
    fn clone(&self) -> Self {
        MpscWeakSender(self.0.clone())
    }
}

impl rt::Mpsc for Mpsc {
    type Sender<T: OptionalSend> = MpscSender<T>;
    type Receiver<T: OptionalSend> = MpscReceiver<T>;
    type WeakSender<T: OptionalSend> = MpscWeakSender<T>;

    #[track_caller]
    fn channel<T: OptionalSend>(buffer: usize) -> (Self::Sender<T>, Self::Receiver<T>) {
        let (sender, receiver) = mpsc::channel(buffer);
        (MpscSender(sender), MpscReceiver(receiver))
    }
}

impl<T: OptionalSend> rt::MpscSender<Mpsc, T> for MpscSender<T> {
    async fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0
            .send(message)
            .await
            .map_err(|error| SendError(error.0))
    }

    fn downgrade(&self) -> MpscWeakSender<T> {
        MpscWeakSender(self.0.downgrade())
    }
}

impl<T: OptionalSend> rt::MpscReceiver<T> for MpscReceiver<T> {
    async fn recv(&mut self) -> Option<T> {
        self.0.recv().await
    }

    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.0.try_recv().map_err(|error| match error {
            mpsc::error::TryRecvError::Empty => TryRecvError::Empty,
            mpsc::error::TryRecvError::Disconnected => TryRecvError::Disconnected,
        })
    }
}

impl<T: OptionalSend> rt::MpscWeakSender<Mpsc, T> for MpscWeakSender<T> {
    fn upgrade(&self) -> Option<MpscSender<T>> {
        self.0.upgrade().map(MpscSender)
    }
}

/// Values that are watched.
pub(crate) struct Watch;

pub(crate) struct WatchSender<T>(watch::Sender<T>);

pub(crate) struct WatchReceiver<T>(watch::Receiver<T>);

impl<T> Clone for WatchSender<T> {
    fn clone(&self) -> Self {
        WatchSender(self.0.clone())
    }
}

impl<T> Clone for WatchReceiver<T> {
    fn clone(&self) -> Self {
        WatchReceiver(self.0.clone())
    }
}

impl rt::Watch for Watch {
    type Sender<T: OptionalSend + OptionalSync> = WatchSender<T>;
    type Receiver<T: OptionalSend + OptionalSync> = WatchReceiver<T>;
    type Ref<'a, T: OptionalSend + 'a> = watch::Ref<'a, T>;

    #[track_caller]
    fn channel<T: OptionalSend + OptionalSync>(init: T) -> (Self::Sender<T>, Self::Receiver<T>) {
        let (sender, receiver) = watch::channel(init);
        (WatchSender(sender), WatchReceiver(receiver))
    }
}

impl<T: OptionalSend + OptionalSync> rt::WatchSender<Watch, T> for WatchSender<T> {
    fn send(&self, value: T) -> Result<(), WatchSendError<T>> {
        self.0.send(value).map_err(|error| WatchSendError(error.0))
    }

    fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.0.send_if_modified(modify)
    }

    fn borrow_watched(&self) -> watch::Ref<'_, T> {
        self.0.borrow()
    }

    fn subscribe(&self) -> WatchReceiver<T> {
        WatchReceiver(self.0.subscribe())
    }
}

impl<T: OptionalSend + OptionalSync> rt::WatchReceiver<Watch, T> for WatchReceiver<T> {
    async fn changed(&mut self) -> Result<(), RecvError> {
        self.0.changed().await.map_err(|_| RecvError(()))
    }

    fn borrow_watched(&self) -> watch::Ref<'_, T> {
        self.0.borrow()
    }

    fn borrow_and_update(&mut self) -> watch::Ref<'_, T> {
        self.0.borrow_and_update()
    }
}

/// Single values.
pub(crate) struct Oneshot;

pub(crate) struct OneshotSender<T>(oneshot::Sender<T>);

impl rt::Oneshot for Oneshot {
    type Sender<T: OptionalSend> = OneshotSender<T>;
    type Receiver<T: OptionalSend> = oneshot::Receiver<T>;
    type ReceiverError = oneshot::error::RecvError;

    #[track_caller]
    fn channel<T: OptionalSend>() -> (Self::Sender<T>, Self::Receiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (OneshotSender(sender), receiver)
    }
}

impl<T: OptionalSend> rt::OneshotSender<T> for OneshotSender<T> {
    fn send(self, value: T) -> Result<(), T> {
        self.0.send(value)
    }
}

/// A lock.
pub(crate) struct Mutex<T>(cct_sync::Mutex<T>);

impl<T: OptionalSend + 'static> rt::Mutex<T> for Mutex<T> {
    type Guard<'a> = cct_sync::MutexGuard<'a, T>;

    #[track_caller]
    fn new(value: T) -> Self {
        Mutex(cct_sync::Mutex::new(value))
    }

    async fn lock(&self) -> Self::Guard<'_> {
        self.0.lock().await
    }
}
