use crate::panic_text;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

both! {
    async fn a_value_is_set_while_its_scope_is_polled() {
        subject::task_local! { static NUMBER: u32; }
        assert!(NUMBER.try_get().is_err());
        let read = NUMBER
            .scope(1, async {
                subject::task::yield_now().await;
                assert_eq!(NUMBER.get(), 1);
                let inner = NUMBER.scope(2, async {
                    subject::task::yield_now().await;
                    NUMBER.with(|number| *number)
                });
                assert_eq!(inner.await, 2);
                assert_eq!(NUMBER.sync_scope(3, || NUMBER.get()), 3);
                NUMBER.get()
            })
            .await;
        assert_eq!(read, 1);
        let error = NUMBER.try_with(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "task-local value not set");
        assert_eq!(format!("{error:?}"), "AccessError");
    }

    async fn no_task_sees_the_value_of_another() {
        subject::task_local! { static NAME: String; }
        let tasks: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| {
                subject::spawn(NAME.scope(name.to_owned(), async move {
                    for _ in 0..3 {
                        assert_eq!(NAME.get(), name);
                        // A scheduling point: the poll may be suspended inside the scope.
                        subject::spawn(async { assert!(NAME.try_get().is_err()) }).await.unwrap();
                        subject::time::sleep(std::time::Duration::ZERO).await;
                        assert_eq!(NAME.get(), name);
                    }
                }))
            })
            .collect();
        assert!(NAME.try_get().is_err());
        for task in tasks {
            task.await.unwrap();
        }
    }

    async fn values_need_not_be_copies() {
        subject::task_local! {
            static SHARED: Rc<Cell<u32>>;
            /// Another in the same invocation.
            pub static LIST: RefCell<Vec<u32>>;
        }
        let shared = Rc::new(Cell::new(1));
        SHARED
            .scope(shared.clone(), LIST.scope(RefCell::default(), async {
                SHARED.with(|shared| shared.set(2));
                LIST.with(|list| list.borrow_mut().push(SHARED.get().get()));
                LIST.with(|list| assert_eq!(*list.borrow(), [2]));
            }))
            .await;
        assert_eq!((shared.get(), Rc::strong_count(&shared)), (2, 1));
    }

    async fn the_value_is_set_while_the_future_is_dropped() {
        subject::task_local! { static NUMBER: u32; }
        struct Reads(Arc<AtomicU32>);
        impl Drop for Reads {
            fn drop(&mut self) {
                self.0.store(NUMBER.try_get().unwrap_or(0), SeqCst);
            }
        }
        let read = Arc::new(AtomicU32::new(0));
        let reads = Reads(read.clone());
        let scope = NUMBER.scope(5, async move {
            let _reads = reads;
            std::future::pending::<()>().await
        });
        drop(scope);
        assert_eq!(read.swap(0, SeqCst), 5);

        let reads = Reads(read.clone());
        let task = subject::spawn(NUMBER.scope(6, async move {
            let _reads = reads;
            std::future::pending::<()>().await
        }));
        subject::task::yield_now().await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(read.load(SeqCst), 6);
    }

    async fn the_value_can_be_taken_out() {
        subject::task_local! { static WORDS: String; }
        let mut scope = Box::pin(WORDS.scope("kept".to_owned(), async {
            WORDS.with(String::len)
        }));
        assert_eq!(scope.as_mut().await, 4);
        assert_eq!(format!("{scope:?}"), r#"TaskLocalFuture { value: "kept" }"#);
        assert_eq!(scope.as_mut().take_value().as_deref(), Some("kept"));
        assert_eq!(scope.as_mut().take_value(), None);
        assert_eq!(format!("{scope:?}"), "TaskLocalFuture { value: <missing> }");
    }

    async fn misuse_panics() {
        subject::task_local! { static NUMBER: u32; }
        assert_eq!(
            panic_text(|| NUMBER.get()),
            "cannot access a task-local storage value without setting it first"
        );
        let nested = || NUMBER.sync_scope(1, || NUMBER.with(|_| NUMBER.sync_scope(2, || ())));
        assert_eq!(
            panic_text(nested),
            "cannot enter a task-local scope while the task-local storage is borrowed"
        );
        assert!(NUMBER.try_get().is_err());
        assert!(panic_text(|| NUMBER.sync_scope(1, || panic!("unwinds"))).contains("unwinds"));
        assert!(NUMBER.try_get().is_err());
    }

    async fn blocking_closures_have_values_of_their_own() {
        subject::task_local! { static NUMBER: u32; }
        let read = NUMBER.scope(1, async {
            subject::task::spawn_blocking(|| {
                assert!(NUMBER.try_get().is_err());
                NUMBER.sync_scope(2, || NUMBER.get())
            })
            .await
            .unwrap()
        });
        assert_eq!(read.await, 2);
    }
}

#[test]
fn threads_outside_worlds_have_values_too() {
    cct_executor::task_local! { static NUMBER: u32; }
    assert!(NUMBER.try_get().is_err());
    NUMBER.sync_scope(1, || {
        assert_eq!(NUMBER.get(), 1);
        std::thread::scope(|threads| {
            threads.spawn(|| assert!(NUMBER.try_get().is_err()));
        });
        crate::on_tokio(NUMBER.scope(2, async {
            tokio::task::yield_now().await;
            assert_eq!(NUMBER.get(), 2);
        }));
        assert_eq!(NUMBER.get(), 1);
    });
    assert!(NUMBER.try_get().is_err());
}

#[test]
fn scopes_are_send_when_their_parts_are() {
    fn is_send(_: &impl Send) {}
    cct_executor::task_local! { static CELL: Cell<u32>; }
    is_send(&CELL.scope(Cell::new(1), async {}));
}
