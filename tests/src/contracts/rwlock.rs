//! The asynchronous reader-writer lock.

use super::rt::{spawn, sync, sync::RwLock, task as tasks};
use cct_tests::{Log, note};
use std::sync::Arc;
use tokio_test::task;

pub(crate) async fn readers_share_and_writers_exclude(log: Log) {
    let lock = RwLock::new(1);
    let one = lock.read().await;
    let two = lock.read().await;
    note!(log, "{} write {}", *one + *two, lock.try_write().is_ok());
    drop((one, two));
    let writer = lock.write().await;
    note!(
        log,
        "read {} write {}",
        lock.try_read().is_ok(),
        lock.try_write().is_ok()
    );
    drop(writer);
    note!(log, "read {}", lock.try_read().is_ok());
}

pub(crate) async fn a_writer_never_sees_half_a_write(_: Log) {
    let pair = Arc::new(RwLock::new((0, 0)));
    let writer = {
        let pair = pair.clone();
        spawn(async move {
            for value in 1..5 {
                let mut guard = pair.write().await;
                guard.0 = value;
                tasks::yield_now().await;
                guard.1 = value;
            }
        })
    };
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let pair = pair.clone();
            spawn(async move {
                for _ in 0..4 {
                    let guard = pair.read().await;
                    let before = *guard;
                    tasks::yield_now().await;
                    assert_eq!(before.0, before.1);
                    assert_eq!(before, *guard);
                }
            })
        })
        .collect();
    writer.await.unwrap();
    for reader in readers {
        reader.await.unwrap();
    }
}

pub(crate) async fn a_waiting_writer_stops_new_readers(log: Log) {
    let lock = RwLock::new(());
    let reader = lock.read().await;
    let mut writer = task::spawn(lock.write());
    note!(log, "writer pending {}", writer.poll().is_pending());
    let mut late = task::spawn(lock.read());
    note!(
        log,
        "late pending {} try {}",
        late.poll().is_pending(),
        lock.try_read().is_ok()
    );
    drop(reader);
    note!(log, "woken {} {}", writer.is_woken(), late.is_woken());
    let guard = writer.poll();
    note!(log, "writer ready {}", guard.is_ready());
    drop(guard);
    note!(
        log,
        "late woken {} ready {}",
        late.is_woken(),
        late.poll().is_ready()
    );
}

pub(crate) async fn readers_behind_a_writer_come_together(log: Log) {
    let lock = RwLock::new(());
    let writer = lock.write().await;
    let mut one = task::spawn(lock.read());
    let mut two = task::spawn(lock.read());
    let mut next = task::spawn(lock.write());
    let mut last = task::spawn(lock.read());
    note!(
        log,
        "{} {}",
        one.poll().is_pending(),
        two.poll().is_pending()
    );
    note!(
        log,
        "{} {}",
        next.poll().is_pending(),
        last.poll().is_pending()
    );
    drop(writer);
    let woken = |tasks: [bool; 4]| note!(log, "woken {tasks:?}");
    woken([
        one.is_woken(),
        two.is_woken(),
        next.is_woken(),
        last.is_woken(),
    ]);
    let guards = (one.poll(), two.poll());
    note!(log, "{} {}", guards.0.is_ready(), guards.1.is_ready());
    drop(guards.0);
    woken([
        one.is_woken(),
        two.is_woken(),
        next.is_woken(),
        last.is_woken(),
    ]);
    drop(guards.1);
    woken([
        one.is_woken(),
        two.is_woken(),
        next.is_woken(),
        last.is_woken(),
    ]);
}

pub(crate) async fn a_cancelled_writer_lets_readers_in(log: Log) {
    let lock = RwLock::new(());
    let reader = lock.read().await;
    let mut writer = task::spawn(lock.write());
    let mut late = task::spawn(lock.read());
    note!(
        log,
        "{} {}",
        writer.poll().is_pending(),
        late.poll().is_pending()
    );
    drop(writer);
    note!(
        log,
        "woken {} ready {}",
        late.is_woken(),
        late.poll().is_ready()
    );
    drop(reader);
}

pub(crate) async fn max_readers_limits_readers(log: Log) {
    let lock = RwLock::with_max_readers(1, 2);
    let one = lock.read().await;
    let two = lock.read().await;
    let error = lock.try_read().unwrap_err();
    note!(log, "{error} / {error:?}");
    let mut third = task::spawn(lock.read());
    note!(log, "pending {}", third.poll().is_pending());
    drop(one);
    note!(
        log,
        "woken {} ready {}",
        third.is_woken(),
        third.poll().is_ready()
    );
    drop(two);
}

pub(crate) async fn downgrade_keeps_writers_out(log: Log) {
    let lock = RwLock::new(1);
    let mut writer = lock.write().await;
    *writer = 2;
    let mut reader = task::spawn(lock.read());
    let mut second = task::spawn(lock.write());
    note!(
        log,
        "{} {}",
        reader.poll().is_pending(),
        second.poll().is_pending()
    );
    let downgraded = writer.downgrade();
    note!(
        log,
        "{} woken {} {}",
        *downgraded,
        reader.is_woken(),
        second.is_woken()
    );
    let guard = reader.poll();
    note!(log, "{}", guard.is_ready());
    drop(downgraded);
    note!(log, "woken {}", second.is_woken());
    drop(guard);
    note!(log, "woken {}", second.is_woken());
}

pub(crate) async fn owned_guards_lock_the_same(log: Log) {
    let lock = Arc::new(RwLock::new(vec![1, 2]));
    let read = lock.clone().read_owned().await;
    note!(
        log,
        "{} {}",
        lock.clone().try_write_owned().is_err(),
        Arc::strong_count(&lock)
    );
    note!(
        log,
        "{}",
        Arc::ptr_eq(sync::OwnedRwLockReadGuard::rwlock(&read), &lock)
    );
    let first = sync::OwnedRwLockReadGuard::map(read, |list| &list[0]);
    note!(log, "{first:?} {}", lock.try_write().is_err());
    drop(first);
    let write = lock.clone().write_owned().await;
    let mut second = sync::OwnedRwLockWriteGuard::map(write, |list| &mut list[1]);
    *second = 7;
    note!(log, "{}", lock.clone().try_read_owned().is_err());
    drop(second);
    let down = lock.clone().write_owned().await.downgrade();
    note!(
        log,
        "{:?} {} {}",
        *down,
        lock.try_read().is_ok(),
        lock.try_write().is_ok()
    );
}

pub(crate) async fn mapped_guards_hold_the_lock(log: Log) {
    let lock = RwLock::new((1, Some(2)));
    let read = sync::RwLockReadGuard::map(lock.read().await, |pair| &pair.1);
    note!(log, "{read:?} {}", lock.try_write().is_err());
    let none = sync::RwLockReadGuard::try_map(read, |option| option.as_ref().filter(|n| **n > 9));
    note!(log, "{} {}", none.is_err(), lock.try_write().is_err());
    drop(none);
    let write = lock.write().await;
    let mut mapped = sync::RwLockWriteGuard::map(write, |pair| &mut pair.0);
    *mapped = 5;
    note!(log, "{mapped:?} {}", lock.try_read().is_err());
    drop(mapped);
    let write = lock.write().await;
    let down = sync::RwLockWriteGuard::downgrade_map(write, |pair| &pair.0);
    note!(
        log,
        "{} {} {}",
        *down,
        lock.try_read().is_ok(),
        lock.try_write().is_ok()
    );
    drop(down);
    note!(log, "{:?}", lock.into_inner());
}

pub(crate) async fn exclusive_access_needs_no_lock(log: Log) {
    let mut lock = RwLock::from(1);
    *lock.get_mut() += 1;
    note!(log, "{lock:?}");
    let guard = lock.try_write().unwrap();
    note!(log, "{guard:?} {guard} {lock:?}");
    drop(guard);
    note!(
        log,
        "{} {}",
        lock.into_inner(),
        RwLock::<u8>::default().into_inner()
    );
}

pub(crate) async fn a_panicking_writer_does_not_poison(log: Log) {
    let lock = Arc::new(RwLock::new(1));
    let clone = lock.clone();
    let worker = spawn(async move {
        let _guard = clone.write().await;
        panic!("while locked");
    });
    note!(log, "{}", worker.await.unwrap_err().is_panic());
    note!(log, "{}", *lock.read().await);
}

pub(crate) async fn blocking_guards_wait_their_turn(log: Log) {
    let lock = Arc::new(RwLock::new(1));
    let guard = lock.write().await;
    let clone = lock.clone();
    let thread = tasks::spawn_blocking(move || {
        *clone.blocking_write() += 1;
        *clone.blocking_read()
    });
    tasks::yield_now().await;
    note!(log, "{guard}");
    drop(guard);
    note!(log, "{}", thread.await.unwrap());
}
