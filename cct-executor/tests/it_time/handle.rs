use crate::{checker, panic_text};
use cct_executor::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

both! {
    async fn a_handle_spawns() {
        use subject::runtime::Handle;
        let handle = Handle::current();
        assert_eq!(handle.spawn(async { 1 }).await.unwrap(), 1);
        assert_eq!(handle.spawn_blocking(|| 2).await.unwrap(), 2);
        let theirs = handle.clone();
        let three = subject::task::spawn_blocking(move || {
            let _entered = theirs.enter();
            let inner = theirs.spawn(async {
                subject::task::yield_now().await;
                3
            });
            Handle::current().block_on(inner).unwrap()
        });
        assert_eq!(three.await.unwrap(), 3);
        assert_eq!(handle.id(), Handle::try_current().unwrap().id());
    }

    async fn a_task_must_not_block() {
        use subject::runtime::Handle;
        let text = panic_text(|| Handle::current().block_on(async {}));
        assert!(text.contains("within a runtime"), "{text}");
    }
}

#[test]
fn outside_a_world_there_is_no_handle() {
    let error = Handle::try_current().unwrap_err();
    assert!(error.is_missing_context() && !error.is_thread_local_destroyed());
    let text = panic_text(Handle::current);
    assert!(
        text.starts_with("there is no world here: a handle"),
        "{text}"
    );
    // As tests on tokio expect it.
    assert!(text.contains("there is no reactor running"), "{text}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is about threads")]
fn a_runtime_that_a_thread_of_std_builds_says_what_to_use_instead() {
    let report = checker("builds a runtime on a thread").run(|| async {
        let built = std::thread::spawn(Runtime::new).join().unwrap();
        let error = built.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("use spawn_blocking"), "{error}");
    });
    report.assert_passed();
}

#[test]
fn a_handle_dies_with_its_world() {
    let left: Arc<Mutex<Option<Handle>>> = Arc::default();
    let slot = left.clone();
    checker("leaves its handle")
        .run(move || {
            let slot = slot.clone();
            async move {
                let handle = Handle::current();
                assert_eq!(handle.runtime_flavor(), RuntimeFlavor::MultiThread);
                assert_eq!(format!("{handle:?} {}", handle.id()), "Handle { .. } 1");
                *slot.lock().unwrap() = Some(handle);
            }
        })
        .assert_passed();
    let handle = left.lock().unwrap().take().expect("a handle");
    for text in [
        panic_text(|| handle.spawn(async {})),
        panic_text(|| handle.spawn_blocking(|| ())),
        panic_text(|| handle.block_on(async {})),
        panic_text(|| handle.enter()),
    ] {
        assert!(
            text.starts_with("this handle belongs to another world"),
            "{text}"
        );
    }
    let handle = Mutex::new(Some(handle));
    checker("has the handle of another")
        .iterations(1)
        .determinism_check(false)
        .run(move || {
            let handle = handle.lock().unwrap().take().expect("one iteration");
            async move {
                panic_text(|| handle.spawn(async {}));
            }
        })
        .assert_passed();
}

#[test]
fn outside_a_world_no_runtime_is_built() {
    let error = Runtime::new().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    let text = error.to_string();
    assert!(text.contains("#[cct_executor::test]"), "{text}");
}

#[cct_executor::test(iterations = 50)]
fn a_test_that_is_not_async_may_block() -> Result<(), String> {
    let runtime = Builder::new_multi_thread().name("theirs").build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    assert_eq!(runtime.handle().name(), Some("theirs"));
    let task = cct_executor::spawn(async { 1 });
    assert_eq!(runtime.block_on(task).unwrap(), 1);
    Ok(())
}

#[cct_executor::main(flavor = "current_thread", start_paused = true)]
async fn half_of(number: u32) -> Result<u32, String> {
    cct_executor::time::advance(std::time::Duration::from_secs(1)).await;
    let half = cct_executor::spawn(async move { number / 2 }).await;
    half.map_err(|error| error.to_string())
}

#[cct_executor::test(iterations = 20)]
fn a_main_blocks() {
    assert_eq!(half_of(8), Ok(4));
}

#[test]
fn a_runtime_kept_past_its_world_is_harmless() {
    let left: Arc<Mutex<Option<Runtime>>> = Arc::default();
    let slot = left.clone();
    checker("leaves its runtime")
        .iterations(1)
        .determinism_check(false)
        .run(move || {
            let slot = slot.clone();
            async move { *slot.lock().unwrap() = Some(Runtime::new().unwrap()) }
        })
        .assert_passed();
    let runtime = left.lock().unwrap().take().expect("a runtime");
    let text = panic_text(|| runtime.block_on(async {}));
    assert!(
        text.starts_with("this handle belongs to another world"),
        "{text}"
    );
    drop(runtime);
}
