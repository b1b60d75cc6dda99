//! Guards and permits: narrowing, downgrading, unsized values, what a panic leaves behind.

use crate::support::both;
use futures::FutureExt;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

both! {
    fn mutex_guards_narrow(sync) {
        let mutex = sync::Mutex::new((1, String::from("one")));
        let guard = mutex.try_lock().unwrap();
        assert!(std::ptr::eq(sync::MutexGuard::mutex(&guard), &mutex));
        let mut name = sync::MutexGuard::map(guard, |pair| &mut pair.1);
        name.push('!');
        let Err(mut name) = sync::MappedMutexGuard::try_map(name, |_| None::<&mut u8>) else {
            panic!("narrowed to nothing")
        };
        name.push('?');
        assert!(mutex.try_lock().is_err());
        let text = sync::MappedMutexGuard::map(name, |name| name);
        assert_eq!((format!("{text}"), format!("{text:?}")), ("one!?".into(), "\"one!?\"".into()));
        drop(text);
        assert_eq!(mutex.into_inner(), (1, "one!?".into()));
    }
}

both! {
    fn owned_mutex_guards_narrow(sync) {
        let mutex = Arc::new(sync::Mutex::new((1, 2)));
        let guard = mutex.clone().try_lock_owned().unwrap();
        assert!(Arc::ptr_eq(sync::OwnedMutexGuard::mutex(&guard), &mutex));
        let Err(guard) = sync::OwnedMutexGuard::try_map(guard, |_| None::<&mut u8>) else {
            panic!("narrowed to nothing")
        };
        let mut second = sync::OwnedMutexGuard::map(guard, |pair| &mut pair.1);
        *second = 5;
        assert!(mutex.try_lock().is_err());
        drop(second);
        assert_eq!(*mutex.try_lock().unwrap(), (1, 5));
        assert_eq!(Arc::strong_count(&mutex), 1);
    }
}

both! {
    fn read_guards_narrow(sync) {
        let lock = sync::RwLock::with_max_readers((1, 2), 2);
        let first = sync::RwLockReadGuard::map(lock.try_read().unwrap(), |pair| &pair.0);
        let Err(first) = sync::RwLockReadGuard::try_map(first, |_| None::<&u8>) else {
            panic!("narrowed to nothing")
        };
        let whole = lock.try_read().unwrap();
        assert!(lock.try_read().is_err());
        assert_eq!((*first, *whole), (1, (1, 2)));
        drop(first);
        assert!(lock.try_write().is_err());
        drop(whole);
        assert!(lock.try_write().is_ok());
    }
}

both! {
    fn write_guards_downgrade(sync) {
        let lock = sync::RwLock::new((1, 2));
        let mut waiting = tokio_test::task::spawn(lock.read());
        let mut guard = lock.try_write().unwrap();
        tokio_test::assert_pending!(waiting.poll());
        guard.0 = 7;
        let Err(guard) = sync::RwLockWriteGuard::try_downgrade_map(guard, |_| None::<&u8>) else {
            panic!("narrowed to nothing")
        };
        assert!(!waiting.is_woken());
        let first = sync::RwLockWriteGuard::downgrade_map(guard, |pair| &pair.0);
        assert!(waiting.is_woken());
        let whole = tokio_test::assert_ready!(waiting.poll());
        assert_eq!((*first, *whole), (7, (7, 2)));
        assert!(lock.try_write().is_err());
        drop((first, whole));
        let mut mapped = sync::RwLockWriteGuard::into_mapped(lock.try_write().unwrap());
        mapped.1 = 8;
        let second = sync::RwLockMappedWriteGuard::map(mapped, |pair| &mut pair.1);
        assert!(lock.try_read().is_err());
        assert_eq!(*second, 8);
        drop(second);
        assert_eq!(*lock.try_write().unwrap().downgrade(), (7, 8));
        assert!(lock.try_write().is_ok());
    }
}

both! {
    fn owned_write_guards_downgrade(sync) {
        let lock = Arc::new(sync::RwLock::new((1, 2)));
        let guard = lock.clone().try_write_owned().unwrap();
        assert!(Arc::ptr_eq(sync::OwnedRwLockWriteGuard::rwlock(&guard), &lock));
        let first = sync::OwnedRwLockWriteGuard::downgrade_map(guard, |pair| &pair.0);
        let other = lock.clone().try_read_owned().unwrap();
        assert_eq!((*first, *other), (1, (1, 2)));
        drop((first, other));
        let guard = lock.clone().try_write_owned().unwrap();
        let mut second = sync::OwnedRwLockWriteGuard::map(guard, |pair| &mut pair.1);
        *second = 3;
        assert!(Arc::ptr_eq(sync::OwnedRwLockMappedWriteGuard::rwlock(&second), &lock));
        drop(second);
        assert_eq!(*lock.try_read().unwrap(), (1, 3));
        assert_eq!(Arc::strong_count(&lock), 1);
    }
}

both! {
    fn locks_of_unsized_values(sync) {
        let mutex: Arc<sync::Mutex<dyn Display + Send>> = Arc::new(sync::Mutex::new(5));
        assert_eq!(mutex.clone().lock_owned().now_or_never().unwrap().to_string(), "5");
        assert_eq!(mutex.try_lock().unwrap().to_string(), "5");
        let lock: Box<sync::RwLock<[u8]>> = Box::new(sync::RwLock::new([1, 2, 3]));
        lock.write().now_or_never().unwrap()[1] = 9;
        assert_eq!(lock.read().now_or_never().unwrap()[..], [1, 9, 3]);
    }
}

both! {
    fn a_panic_unlocks(sync) {
        let mutex = sync::Mutex::new(1);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let guard = mutex.try_lock().unwrap();
            let _ = sync::MutexGuard::map(guard, |_| -> &mut u8 { panic!("in map") });
        }));
        assert!(caught.is_err());
        assert_eq!(*mutex.try_lock().unwrap(), 1);
    }
}

both! {
    fn debug_output(sync) {
        let mutex = sync::Mutex::new(1);
        assert_eq!(format!("{mutex:?}"), "Mutex { data: 1 }");
        let guard = mutex.try_lock().unwrap();
        assert_eq!(format!("{mutex:?} {guard:?}"), "Mutex { data: <locked> } 1");
        let lock = sync::RwLock::new(2);
        let guard = lock.try_read().unwrap();
        assert_eq!(format!("{lock:?} {guard:?}"), "RwLock { data: 2 } 2");
        drop(guard);
        let guard = lock.try_write().unwrap();
        assert_eq!(format!("{lock:?} {guard}"), "RwLock { data: <locked> } 2");
        let cell = sync::OnceCell::new_with(Some(3));
        assert_eq!(format!("{cell:?}"), "OnceCell { value: Some(3) }");
        let cell = sync::SetOnce::<u8>::new();
        assert_eq!(format!("{cell:?}"), "SetOnce { value: None }");
    }
}

both! {
    fn error_texts(sync) {
        let semaphore = sync::Semaphore::new(0);
        assert_eq!(semaphore.try_acquire().unwrap_err().to_string(), "no permits available");
        semaphore.close();
        assert_eq!(semaphore.try_acquire().unwrap_err().to_string(), "semaphore closed");
        let error = semaphore.acquire().now_or_never().unwrap().unwrap_err();
        assert_eq!(format!("{error} {error:?}"), "semaphore closed AcquireError(())");
        let mutex = sync::Mutex::new(());
        let _guard = mutex.try_lock().unwrap();
        let error = mutex.try_lock().unwrap_err();
        assert_eq!(format!("{error} {error:?}"), "operation would block TryLockError(())");
        assert_eq!(sync::SetOnceError(1).to_string(), "SetOnceError");
        assert_eq!(sync::SetError::InitializingError(1).to_string(), "InitializingError");
    }
}

both! {
    fn permits_split_and_merge(sync) {
        let semaphore = sync::Semaphore::new(5);
        let mut permit = semaphore.try_acquire_many(4).unwrap();
        assert!(permit.split(5).is_none());
        let part = permit.split(3).unwrap();
        assert_eq!((permit.num_permits(), part.num_permits()), (1, 3));
        drop(permit);
        assert_eq!(semaphore.available_permits(), 2);
        let mut permit = semaphore.try_acquire().unwrap();
        permit.merge(part);
        assert_eq!(permit.num_permits(), 4);
        assert!(std::ptr::eq(permit.semaphore(), &semaphore));
        permit.forget();
        assert_eq!(semaphore.available_permits(), 1);
    }
}

both! {
    fn misuse_panics(sync) {
        fn panics<R>(misuse: impl FnOnce() -> R) -> String {
            let panic = catch_unwind(AssertUnwindSafe(|| drop(misuse()))).unwrap_err();
            match panic.downcast::<String>() {
                Ok(text) => *text,
                Err(other) => String::from(*other.downcast::<&str>().unwrap()),
            }
        }
        const MAX: usize = sync::Semaphore::MAX_PERMITS;
        assert_eq!(MAX, usize::MAX >> 3);
        let text = panics(|| sync::Semaphore::new(MAX + 1));
        assert!(text.contains("may not have more than MAX_PERMITS"), "{text}");
        let full = sync::Semaphore::new(MAX);
        let text = panics(|| full.add_permits(1));
        assert!(text.contains("would overflow MAX_PERMITS"), "{text}");
        let (one, other) = (sync::Semaphore::new(1), sync::Semaphore::new(1));
        let text = panics(|| one.try_acquire().unwrap().merge(other.try_acquire().unwrap()));
        assert_eq!(text, "merging permits from different semaphore instances");
        assert_eq!(other.available_permits(), 1);
        let text = panics(|| sync::RwLock::with_max_readers(0, u32::MAX));
        assert!(text.contains("may not be created with more than"), "{text}");
        let text = panics(|| sync::RwLock::with_max_readers(0, 0));
        assert!(text.contains("0 readers"), "{text}");
    }
}
