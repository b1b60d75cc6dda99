//! Every name of `tokio::sync` with its signature.

use super::ask::*;
use super::rt::sync::*;
use super::rt::time::Duration;
use std::sync::Arc;
use std::task::{Context, Poll};

type Word = String;

pub(crate) fn mpsc_bounded() {
    use mpsc::error::*;
    use mpsc::*;
    let _: fn(usize) -> (Sender<Word>, Receiver<Word>) = channel::<Word>;
    let _ = |sender: &Sender<Word>| {
        let word = Word::new;
        sent::<Result<(), SendError<Word>>>(sender.send(word()));
        sent::<Result<(), SendTimeoutError<Word>>>(sender.send_timeout(word(), Duration::ZERO));
        sent::<Result<Permit<'_, Word>, SendError<()>>>(sender.reserve());
        sent::<Result<PermitIterator<'_, Word>, SendError<()>>>(sender.reserve_many(2));
        sent::<Result<OwnedPermit<Word>, SendError<()>>>(sender.clone().reserve_owned());
        sent::<()>(sender.closed());
        is::<Result<(), TrySendError<Word>>>(sender.try_send(word()));
        is::<Result<(), SendError<Word>>>(sender.blocking_send(word()));
        is::<Result<Permit<'_, Word>, TrySendError<()>>>(sender.try_reserve());
        is::<Result<PermitIterator<'_, Word>, TrySendError<()>>>(sender.try_reserve_many(2));
        is::<Result<OwnedPermit<Word>, TrySendError<Sender<Word>>>>(
            sender.clone().try_reserve_owned(),
        );
        is::<bool>(sender.is_closed());
        is::<bool>(sender.same_channel(sender));
        is::<usize>(sender.capacity());
        is::<usize>(sender.max_capacity());
        is::<WeakSender<Word>>(sender.downgrade());
        is::<usize>(sender.strong_count());
        is::<usize>(sender.weak_count());
    };
    let _ = |receiver: &mut Receiver<Word>, out: &mut Vec<Word>, cx: &mut Context<'_>| {
        sent::<Option<Word>>(receiver.recv());
        sent::<usize>(receiver.recv_many(out, 3));
        is::<Result<Word, TryRecvError>>(receiver.try_recv());
        is::<Option<Word>>(receiver.blocking_recv());
        is::<usize>(receiver.blocking_recv_many(out, 3));
        is::<Poll<Option<Word>>>(receiver.poll_recv(cx));
        is::<Poll<usize>>(receiver.poll_recv_many(cx, out, 3));
        is::<()>(receiver.close());
        is::<bool>(receiver.is_closed());
        is::<bool>(receiver.is_empty());
        is::<usize>(receiver.len());
        is::<usize>(receiver.capacity());
        is::<usize>(receiver.max_capacity());
        is::<usize>(receiver.sender_strong_count());
        is::<usize>(receiver.sender_weak_count());
    };
    let _ = |weak: &WeakSender<Word>| {
        is::<Option<Sender<Word>>>(weak.upgrade());
        is::<usize>(weak.strong_count());
        is::<usize>(weak.weak_count());
        is::<WeakSender<Word>>(weak.clone());
    };
    let _ = |permit: Permit<'_, Word>, mut permits: PermitIterator<'_, Word>| {
        is::<()>(permit.send(Word::new()));
        is::<Option<Permit<'_, Word>>>(permits.next());
        is::<usize>(permits.len());
    };
    let _ = |permit: OwnedPermit<Word>, other: OwnedPermit<Word>| {
        is::<bool>(permit.same_channel(&other));
        is::<bool>(permit.same_channel_as_sender(&other.release()));
        is::<Sender<Word>>(permit.send(Word::new()));
    };
    is_debug::<Sender<NoTraits>>();
    is_debug::<Receiver<NoTraits>>();
    is_debug::<WeakSender<NoTraits>>();
    is_debug::<Permit<'_, NoTraits>>();
    is_debug::<PermitIterator<'_, NoTraits>>();
    is_debug::<OwnedPermit<NoTraits>>();
    is_clone::<Sender<NoTraits>>();
    unwinds::<Sender<NoTraits>>();
    unwinds::<Receiver<NoTraits>>();
    is_unpin::<Receiver<NotUnpin>>();
}

pub(crate) fn mpsc_unbounded() {
    use mpsc::error::*;
    use mpsc::*;
    let _: fn() -> (UnboundedSender<Word>, UnboundedReceiver<Word>) = unbounded_channel::<Word>;
    let _ = |sender: &UnboundedSender<Word>| {
        sent::<()>(sender.closed());
        is::<Result<(), SendError<Word>>>(sender.send(Word::new()));
        is::<bool>(sender.is_closed());
        is::<bool>(sender.same_channel(sender));
        is::<WeakUnboundedSender<Word>>(sender.downgrade());
        is::<usize>(sender.strong_count());
        is::<usize>(sender.weak_count());
    };
    let _ = |receiver: &mut UnboundedReceiver<Word>, out: &mut Vec<Word>, cx: &mut Context<'_>| {
        sent::<Option<Word>>(receiver.recv());
        sent::<usize>(receiver.recv_many(out, 3));
        is::<Result<Word, TryRecvError>>(receiver.try_recv());
        is::<Option<Word>>(receiver.blocking_recv());
        is::<usize>(receiver.blocking_recv_many(out, 3));
        is::<Poll<Option<Word>>>(receiver.poll_recv(cx));
        is::<Poll<usize>>(receiver.poll_recv_many(cx, out, 3));
        is::<()>(receiver.close());
        is::<bool>(receiver.is_closed());
        is::<bool>(receiver.is_empty());
        is::<usize>(receiver.len());
        is::<usize>(receiver.sender_strong_count());
        is::<usize>(receiver.sender_weak_count());
    };
    let _ = |weak: &WeakUnboundedSender<Word>| {
        is::<Option<UnboundedSender<Word>>>(weak.upgrade());
        is::<usize>(weak.strong_count());
        is::<usize>(weak.weak_count());
        is::<WeakUnboundedSender<Word>>(weak.clone());
    };
    is_debug::<UnboundedSender<NoTraits>>();
    is_debug::<UnboundedReceiver<NoTraits>>();
    is_debug::<WeakUnboundedSender<NoTraits>>();
    is_clone::<UnboundedSender<NoTraits>>();
    is_unpin::<UnboundedReceiver<NotUnpin>>();
}

pub(crate) fn mpsc_errors() {
    use mpsc::error::*;
    is_error::<SendError<Word>>();
    is_error::<TrySendError<Word>>();
    is_error::<SendTimeoutError<Word>>();
    is_error::<TryRecvError>();
    is_debug::<SendError<NoTraits>>();
    is_debug::<TrySendError<NoTraits>>();
    is_debug::<SendTimeoutError<NoTraits>>();
    is_display::<SendError<NoTraits>>();
    is_display::<TrySendError<NoTraits>>();
    is_display::<SendTimeoutError<NoTraits>>();
    is_copy::<SendError<u8>>();
    is_copy::<TrySendError<u8>>();
    is_copy::<SendTimeoutError<u8>>();
    is_copy::<TryRecvError>();
    is_eq::<SendError<Word>>();
    is_eq::<TrySendError<Word>>();
    is_eq::<SendTimeoutError<Word>>();
    is_eq::<TryRecvError>();
    is::<TrySendError<Word>>(SendError(Word::new()).into());
    is::<Word>(SendError(Word::new()).0);
    is::<Word>(TrySendError::Full(Word::new()).into_inner());
    is::<Word>(TrySendError::Closed(Word::new()).into_inner());
    is::<Word>(SendTimeoutError::Timeout(Word::new()).into_inner());
    is::<Word>(SendTimeoutError::Closed(Word::new()).into_inner());
    let _ = [TryRecvError::Empty, TryRecvError::Disconnected];
}

pub(crate) fn oneshot_channel() {
    use oneshot::error::*;
    use oneshot::*;
    let _: fn() -> (Sender<Word>, Receiver<Word>) = channel::<Word>;
    let _ = |mut sender: Sender<Word>, cx: &mut Context<'_>| {
        sent::<()>(sender.closed());
        is::<bool>(sender.is_closed());
        is::<Poll<()>>(sender.poll_closed(cx));
        is::<Result<(), Word>>(sender.send(Word::new()));
    };
    let _ = |mut receiver: Receiver<Word>| {
        is::<()>(receiver.close());
        is::<bool>(receiver.is_empty());
        is::<bool>(receiver.is_terminated());
        is::<Result<Word, TryRecvError>>(receiver.try_recv());
        sent::<Result<Word, RecvError>>(&mut receiver);
        is::<Result<Word, RecvError>>(receiver.blocking_recv());
    };
    is_debug::<Sender<Word>>();
    is_debug::<Receiver<Word>>();
    is_unpin::<Receiver<NotUnpin>>();
    is_unpin::<Sender<NotUnpin>>();
    is_error::<RecvError>();
    is_error::<TryRecvError>();
    is_eq::<RecvError>();
    is_eq::<TryRecvError>();
    is_clone::<RecvError>();
    is_clone::<TryRecvError>();
    let _ = [TryRecvError::Empty, TryRecvError::Closed];
}

pub(crate) fn watch_channel() {
    use watch::error::*;
    use watch::*;
    let _: fn(Word) -> (Sender<Word>, Receiver<Word>) = channel::<Word>;
    let _: fn(Word) -> Sender<Word> = Sender::<Word>::new;
    let _ = |sender: &Sender<Word>| {
        sent::<()>(sender.closed());
        is::<Result<(), SendError<Word>>>(sender.send(Word::new()));
        is::<Word>(sender.send_replace(Word::new()));
        is::<()>(sender.send_modify(|word: &mut Word| word.clear()));
        is::<bool>(sender.send_if_modified(|word: &mut Word| word.is_empty()));
        is::<Ref<'_, Word>>(sender.borrow());
        is::<bool>(sender.is_closed());
        is::<Receiver<Word>>(sender.subscribe());
        is::<usize>(sender.receiver_count());
        is::<usize>(sender.sender_count());
        is::<bool>(sender.same_channel(sender));
        is::<Sender<Word>>(sender.clone());
    };
    let _ = |receiver: &mut Receiver<Word>| {
        sent::<Result<(), RecvError>>(receiver.changed());
        local::<Result<Ref<'_, Word>, RecvError>>(receiver.wait_for(|word: &Word| word.is_empty()));
        is::<Ref<'_, Word>>(receiver.borrow_and_update());
        is::<Result<bool, RecvError>>(receiver.has_changed());
        is::<()>(receiver.mark_changed());
        is::<()>(receiver.mark_unchanged());
        is::<bool>(receiver.same_channel(receiver));
        is::<bool>(receiver.borrow().has_changed());
        is::<Receiver<Word>>(receiver.clone());
    };
    let _ = |word: &Ref<'_, Word>| is::<&Word>(word);
    is_default::<Sender<Word>>();
    is_debug::<Sender<Word>>();
    is_debug::<Receiver<Word>>();
    is_debug::<Ref<'_, Word>>();
    is_error::<SendError<Word>>();
    is_error::<RecvError>();
    is_debug::<SendError<NoTraits>>();
    is_display::<SendError<NoTraits>>();
    is_eq::<SendError<Word>>();
    is_copy::<SendError<u8>>();
    is_clone::<RecvError>();
    is::<Word>(SendError(Word::new()).0);
}

pub(crate) fn broadcast_channel() {
    use broadcast::error::*;
    use broadcast::*;
    let _: fn(usize) -> (Sender<Word>, Receiver<Word>) = channel::<Word>;
    let _: fn(usize) -> Sender<Word> = Sender::<Word>::new;
    let _ = |sender: &Sender<Word>| {
        sent::<()>(sender.closed());
        is::<Result<usize, SendError<Word>>>(sender.send(Word::new()));
        is::<Receiver<Word>>(sender.subscribe());
        is::<WeakSender<Word>>(sender.downgrade());
        is::<usize>(sender.len());
        is::<bool>(sender.is_empty());
        is::<usize>(sender.receiver_count());
        is::<bool>(sender.same_channel(sender));
        is::<usize>(sender.strong_count());
        is::<usize>(sender.weak_count());
        is::<Sender<Word>>(sender.clone());
    };
    let _ = |receiver: &mut Receiver<Word>| {
        sent::<Result<Word, RecvError>>(receiver.recv());
        is::<Result<Word, TryRecvError>>(receiver.try_recv());
        is::<Result<Word, RecvError>>(receiver.blocking_recv());
        is::<Receiver<Word>>(receiver.resubscribe());
        is::<usize>(receiver.len());
        is::<bool>(receiver.is_empty());
        is::<bool>(receiver.same_channel(receiver));
        is::<bool>(receiver.is_closed());
        is::<usize>(receiver.sender_strong_count());
        is::<usize>(receiver.sender_weak_count());
    };
    let _ = |weak: &WeakSender<Word>| {
        is::<Option<Sender<Word>>>(weak.upgrade());
        is::<usize>(weak.strong_count());
        is::<usize>(weak.weak_count());
        is::<WeakSender<Word>>(weak.clone());
    };
    is_debug::<Sender<NoTraits>>();
    is_debug::<Receiver<NoTraits>>();
    is_debug::<WeakSender<NoTraits>>();
    is_error::<SendError<Word>>();
    is_error::<RecvError>();
    is_error::<TryRecvError>();
    is_clone::<RecvError>();
    is_clone::<TryRecvError>();
    is_eq::<RecvError>();
    is_eq::<TryRecvError>();
    is::<Word>(SendError(Word::new()).0);
    let _ = [RecvError::Closed, RecvError::Lagged(1)];
    let _ = [
        TryRecvError::Empty,
        TryRecvError::Closed,
        TryRecvError::Lagged(1),
    ];
}

pub(crate) fn mutex() {
    let _: fn(Word) -> Mutex<Word> = Mutex::new;
    const CONST: Mutex<u8> = Mutex::const_new(1);
    let _ = CONST;
    let _ = |lock: Arc<Mutex<(u8, u16)>>, mut own: Mutex<Word>| {
        sent::<MutexGuard<'_, (u8, u16)>>(lock.lock());
        sent::<OwnedMutexGuard<(u8, u16)>>(lock.clone().lock_owned());
        is::<Result<MutexGuard<'_, (u8, u16)>, TryLockError>>(lock.try_lock());
        is::<Result<OwnedMutexGuard<(u8, u16)>, TryLockError>>(lock.clone().try_lock_owned());
        is::<MutexGuard<'_, (u8, u16)>>(lock.blocking_lock());
        is::<OwnedMutexGuard<(u8, u16)>>(lock.clone().blocking_lock_owned());
        is::<&mut Word>(own.get_mut());
        is::<Word>(own.into_inner());
    };
    let _ = |guard: MutexGuard<'static, (u8, u16)>, owned: OwnedMutexGuard<(u8, u16)>| {
        is::<&'static Mutex<(u8, u16)>>(MutexGuard::mutex(&guard));
        is::<&Arc<Mutex<(u8, u16)>>>(OwnedMutexGuard::mutex(&owned));
        let mapped = MutexGuard::map(guard, |both| &mut both.0);
        is::<Result<MappedMutexGuard<'_, u8>, MappedMutexGuard<'_, u8>>>(
            MappedMutexGuard::try_map(mapped, |byte| Some(byte)),
        );
        is::<Result<OwnedMappedMutexGuard<(u8, u16), u8>, OwnedMutexGuard<(u8, u16)>>>(
            OwnedMutexGuard::try_map(owned, |both| Some(&mut both.0)),
        );
    };
    let _ = |guard: MutexGuard<'static, (u8, u16)>, owned: OwnedMutexGuard<(u8, u16)>| {
        is::<Result<MappedMutexGuard<'_, u8>, MutexGuard<'_, (u8, u16)>>>(MutexGuard::try_map(
            guard,
            |both| Some(&mut both.0),
        ));
        let mapped: OwnedMappedMutexGuard<(u8, u16), (u8, u16)> =
            OwnedMutexGuard::map(owned, |both| both);
        let mapped: OwnedMappedMutexGuard<(u8, u16), u16> =
            OwnedMappedMutexGuard::map(mapped, |both| &mut both.1);
        let _ = OwnedMappedMutexGuard::try_map(mapped, |it| Some(it));
    };
    let _ = |mapped: MappedMutexGuard<'static, (u8, u16)>| {
        is::<MappedMutexGuard<'_, u16>>(MappedMutexGuard::map(mapped, |both| &mut both.1))
    };
    is_default::<Mutex<Word>>();
    is_debug::<Mutex<Word>>();
    is::<Mutex<Word>>(Word::new().into());
    fn unsized_lock(_: &Mutex<dyn Send>, _: &Mutex<[u8]>) {}
    let _ = unsized_lock;
    is_guard::<MutexGuard<'_, Word>, Word>();
    is_guard::<OwnedMutexGuard<Word>, Word>();
    is_guard::<MappedMutexGuard<'_, Word>, Word>();
    is_guard::<OwnedMappedMutexGuard<u8, Word>, Word>();
    is_error::<TryLockError>();
    // The second field is private; the type only.
}

pub(crate) fn rwlock() {
    let _: fn(Word) -> RwLock<Word> = RwLock::new;
    let _: fn(Word, u32) -> RwLock<Word> = RwLock::with_max_readers;
    const CONST: RwLock<u8> = RwLock::const_new(1);
    const MANY: RwLock<u8> = RwLock::const_with_max_readers(1, 3);
    let _ = (CONST, MANY);
    type Pair = (u8, u16);
    let _ = |lock: Arc<RwLock<Pair>>, mut own: RwLock<Word>| {
        sent::<RwLockReadGuard<'_, Pair>>(lock.read());
        sent::<RwLockWriteGuard<'_, Pair>>(lock.write());
        sent::<OwnedRwLockReadGuard<Pair>>(lock.clone().read_owned());
        sent::<OwnedRwLockWriteGuard<Pair>>(lock.clone().write_owned());
        is::<Result<RwLockReadGuard<'_, Pair>, TryLockError>>(lock.try_read());
        is::<Result<RwLockWriteGuard<'_, Pair>, TryLockError>>(lock.try_write());
        is::<Result<OwnedRwLockReadGuard<Pair>, TryLockError>>(lock.clone().try_read_owned());
        is::<Result<OwnedRwLockWriteGuard<Pair>, TryLockError>>(lock.clone().try_write_owned());
        is::<RwLockReadGuard<'_, Pair>>(lock.blocking_read());
        is::<RwLockWriteGuard<'_, Pair>>(lock.blocking_write());
        is::<&mut Word>(own.get_mut());
        is::<Word>(own.into_inner());
    };
    let _ = |guard: RwLockReadGuard<'static, Pair>| {
        let guard: RwLockReadGuard<'_, u8> = RwLockReadGuard::map(guard, |both| &both.0);
        is::<Result<RwLockReadGuard<'_, u8>, RwLockReadGuard<'_, u8>>>(RwLockReadGuard::try_map(
            guard,
            |it| Some(it),
        ));
    };
    let _ = |guard: OwnedRwLockReadGuard<Pair>| {
        is::<&Arc<RwLock<Pair>>>(OwnedRwLockReadGuard::rwlock(&guard));
        let guard: OwnedRwLockReadGuard<Pair, u8> =
            OwnedRwLockReadGuard::map(guard, |both| &both.0);
        is::<Result<OwnedRwLockReadGuard<Pair, u8>, OwnedRwLockReadGuard<Pair, u8>>>(
            OwnedRwLockReadGuard::try_map(guard, |it| Some(it)),
        );
    };
    let _ = |a: RwLockWriteGuard<'static, Pair>,
             b: RwLockWriteGuard<'static, Pair>,
             c: RwLockWriteGuard<'static, Pair>,
             d: RwLockWriteGuard<'static, Pair>,
             e: RwLockWriteGuard<'static, Pair>| {
        is::<RwLockReadGuard<'_, Pair>>(a.downgrade());
        is::<RwLockReadGuard<'_, u8>>(RwLockWriteGuard::downgrade_map(b, |both| &both.0));
        is::<Result<RwLockReadGuard<'_, u8>, RwLockWriteGuard<'_, Pair>>>(
            RwLockWriteGuard::try_downgrade_map(c, |both| Some(&both.0)),
        );
        is::<Result<RwLockMappedWriteGuard<'_, u8>, RwLockWriteGuard<'_, Pair>>>(
            RwLockWriteGuard::try_map(d, |both| Some(&mut both.0)),
        );
        is::<&mut Pair>(&mut *RwLockWriteGuard::into_mapped(e));
    };
    let _ = |a: RwLockWriteGuard<'static, Pair>| {
        let a: RwLockMappedWriteGuard<'_, Pair> = RwLockWriteGuard::map(a, |both| both);
        let a: RwLockMappedWriteGuard<'_, u8> = RwLockMappedWriteGuard::map(a, |both| &mut both.0);
        is::<Result<RwLockMappedWriteGuard<'_, u8>, RwLockMappedWriteGuard<'_, u8>>>(
            RwLockMappedWriteGuard::try_map(a, |it| Some(it)),
        );
    };
    let _ = |a: OwnedRwLockWriteGuard<Pair>,
             b: OwnedRwLockWriteGuard<Pair>,
             c: OwnedRwLockWriteGuard<Pair>,
             d: OwnedRwLockWriteGuard<Pair>,
             e: OwnedRwLockWriteGuard<Pair>| {
        is::<&Arc<RwLock<Pair>>>(OwnedRwLockWriteGuard::rwlock(&a));
        is::<OwnedRwLockReadGuard<Pair>>(a.downgrade());
        is::<OwnedRwLockReadGuard<Pair, u8>>(OwnedRwLockWriteGuard::downgrade_map(b, |both| {
            &both.0
        }));
        is::<Result<OwnedRwLockReadGuard<Pair, u8>, OwnedRwLockWriteGuard<Pair>>>(
            OwnedRwLockWriteGuard::try_downgrade_map(c, |both| Some(&both.0)),
        );
        is::<Result<OwnedRwLockMappedWriteGuard<Pair, u8>, OwnedRwLockWriteGuard<Pair>>>(
            OwnedRwLockWriteGuard::try_map(d, |both| Some(&mut both.0)),
        );
        is::<OwnedRwLockMappedWriteGuard<Pair>>(OwnedRwLockWriteGuard::into_mapped(e));
    };
    let _ = |a: OwnedRwLockWriteGuard<Pair>| {
        let a: OwnedRwLockMappedWriteGuard<Pair, Pair> = OwnedRwLockWriteGuard::map(a, |both| both);
        is::<&Arc<RwLock<Pair>>>(OwnedRwLockMappedWriteGuard::rwlock(&a));
        let a: OwnedRwLockMappedWriteGuard<Pair, u8> =
            OwnedRwLockMappedWriteGuard::map(a, |both| &mut both.0);
        is::<Result<OwnedRwLockMappedWriteGuard<Pair, u8>, OwnedRwLockMappedWriteGuard<Pair, u8>>>(
            OwnedRwLockMappedWriteGuard::try_map(a, |it| Some(it)),
        );
    };
    is_default::<RwLock<Word>>();
    is_debug::<RwLock<Word>>();
    is::<RwLock<Word>>(Word::new().into());
    fn unsized_lock(_: &RwLock<dyn Send + Sync>) {}
    let _ = unsized_lock;
    is_read_guard::<RwLockReadGuard<'_, Word>, Word>();
    is_read_guard::<OwnedRwLockReadGuard<u8, Word>, Word>();
    is_guard::<RwLockWriteGuard<'_, Word>, Word>();
    is_guard::<OwnedRwLockWriteGuard<Word>, Word>();
    is_guard::<RwLockMappedWriteGuard<'_, Word>, Word>();
    is_guard::<OwnedRwLockMappedWriteGuard<u8, Word>, Word>();
}

pub(crate) fn semaphore() {
    const MAX: usize = Semaphore::MAX_PERMITS;
    const CONST: Semaphore = Semaphore::const_new(2);
    let _ = (MAX, CONST);
    let _: fn(usize) -> Semaphore = Semaphore::new;
    let _ = |semaphore: &Arc<Semaphore>| {
        sent::<Result<SemaphorePermit<'_>, AcquireError>>(semaphore.acquire());
        sent::<Result<SemaphorePermit<'_>, AcquireError>>(semaphore.acquire_many(2_u32));
        sent::<Result<OwnedSemaphorePermit, AcquireError>>(semaphore.clone().acquire_owned());
        sent::<Result<OwnedSemaphorePermit, AcquireError>>(
            semaphore.clone().acquire_many_owned(2_u32),
        );
        is::<Result<SemaphorePermit<'_>, TryAcquireError>>(semaphore.try_acquire());
        is::<Result<SemaphorePermit<'_>, TryAcquireError>>(semaphore.try_acquire_many(2));
        is::<Result<OwnedSemaphorePermit, TryAcquireError>>(semaphore.clone().try_acquire_owned());
        is::<Result<OwnedSemaphorePermit, TryAcquireError>>(
            semaphore.clone().try_acquire_many_owned(2),
        );
        is::<usize>(semaphore.available_permits());
        is::<()>(semaphore.add_permits(2));
        is::<usize>(semaphore.forget_permits(2));
        is::<()>(semaphore.close());
        is::<bool>(semaphore.is_closed());
    };
    let _ = |mut a: SemaphorePermit<'_>, mut b: OwnedSemaphorePermit| {
        is::<Option<SemaphorePermit<'_>>>(a.split(1));
        is::<Option<OwnedSemaphorePermit>>(b.split(1));
        is::<usize>(a.num_permits());
        is::<usize>(b.num_permits());
        is::<&Arc<Semaphore>>(b.semaphore());
        let other = b.split(1).unwrap();
        is::<()>(b.merge(other));
        is::<()>(a.forget());
        is::<()>(b.forget());
    };
    let _ = |a: &mut SemaphorePermit<'static>, b: SemaphorePermit<'static>| is::<()>(a.merge(b));
    is_debug::<Semaphore>();
    is_debug::<SemaphorePermit<'_>>();
    is_debug::<OwnedSemaphorePermit>();
    is_error::<AcquireError>();
    is_error::<TryAcquireError>();
    is_eq::<TryAcquireError>();
    let _ = [TryAcquireError::Closed, TryAcquireError::NoPermits];
}

pub(crate) fn notify() {
    use super::rt::sync::futures::{Notified, OwnedNotified};
    const CONST: Notify = Notify::const_new();
    let _ = CONST;
    let _: fn() -> Notify = Notify::new;
    let _ = |notify: &Arc<Notify>| {
        is::<()>(notify.notify_one());
        is::<()>(notify.notify_last());
        is::<()>(notify.notify_waiters());
        is::<Notified<'_>>(notify.notified());
        is::<OwnedNotified>(notify.clone().notified_owned());
        sent::<()>(notify.notified());
        sent::<()>(notify.clone().notified_owned());
    };
    let _ = |a: std::pin::Pin<&mut Notified<'_>>, b: std::pin::Pin<&mut OwnedNotified>| {
        is::<bool>(a.enable());
        is::<bool>(b.enable());
    };
    is_default::<Notify>();
    is_debug::<Notify>();
    is_debug::<Notified<'_>>();
    is_debug::<OwnedNotified>();
    unwinds::<Notify>();
}

pub(crate) fn barrier_and_cells() {
    let _: fn(usize) -> Barrier = Barrier::new;
    let _ = |barrier: &Barrier| sent::<BarrierWaitResult>(barrier.wait());
    let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
    is_debug::<Barrier>();
    is_debug::<BarrierWaitResult>();
    is_clone::<BarrierWaitResult>();

    const CELL: OnceCell<u8> = OnceCell::const_new();
    const FULL: OnceCell<u8> = OnceCell::const_new_with(1);
    let _ = (CELL, FULL);
    let _: fn() -> OnceCell<Word> = OnceCell::new;
    let _: fn(Option<Word>) -> OnceCell<Word> = OnceCell::new_with;
    let _ = |mut cell: OnceCell<Word>| {
        sent::<&Word>(cell.get_or_init(|| async { Word::new() }));
        sent::<Result<&Word, u8>>(cell.get_or_try_init(|| async { Err(1_u8) }));
        is::<Option<&Word>>(cell.get());
        is::<Option<&mut Word>>(cell.get_mut());
        is::<Result<(), SetError<Word>>>(cell.set(Word::new()));
        is::<bool>(cell.initialized());
        is::<Option<Word>>(cell.take());
        is::<Option<Word>>(cell.into_inner());
    };
    is_default::<OnceCell<Word>>();
    is_debug::<OnceCell<Word>>();
    is_clone::<OnceCell<Word>>();
    is_eq::<OnceCell<Word>>();
    is::<OnceCell<Word>>(Word::new().into());
    is_error::<SetError<Word>>();
    is_debug::<SetError<Word>>();
    is_eq::<SetError<Word>>();
    let _ = |error: SetError<Word>| {
        is::<bool>(error.is_already_init_err() || error.is_initializing_err());
        match error {
            SetError::AlreadyInitializedError(word) | SetError::InitializingError(word) => {
                is::<Word>(word)
            }
        }
    };

    const ONCE: SetOnce<u8> = SetOnce::const_new();
    const GIVEN: SetOnce<u8> = SetOnce::const_new_with(1);
    let _ = (ONCE, GIVEN);
    let _: fn() -> SetOnce<Word> = SetOnce::new;
    let _: fn(Option<Word>) -> SetOnce<Word> = SetOnce::new_with;
    let _ = |once: SetOnce<Word>| {
        sent::<&Word>(once.wait());
        is::<Option<&Word>>(once.get());
        is::<Result<(), SetOnceError<Word>>>(once.set(Word::new()));
        is::<bool>(once.initialized());
        is::<Option<Word>>(once.into_inner());
    };
    is_default::<SetOnce<Word>>();
    is_debug::<SetOnce<Word>>();
    is_clone::<SetOnce<Word>>();
    is_eq::<SetOnce<Word>>();
    is::<SetOnce<Word>>(Word::new().into());
    is_error::<SetOnceError<Word>>();
    is::<Word>(SetOnceError(Word::new()).0);
}
