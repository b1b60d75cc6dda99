//! Sockets that are bound to paths, written once and run on tokio and on ours: what is seen of them as files.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

#[path = "../two_sided/agree.rs"]
mod agree;
#[path = "../files/scratch.rs"]
mod scratch;
#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

use scratch::Scratch;

#[path = "."]
mod on_tokio {
    pub(crate) use real_tokio as rt;

    pub(crate) mod contracts;
}

#[path = "."]
mod on_ours {
    pub(crate) use cct_tokio as rt;

    pub(crate) mod contracts;
}

macro_rules! contracts {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let runtime = real_tokio::runtime::Runtime::new().expect("a runtime");
            let scratch = Scratch::new("tokio");
            let expected = runtime.block_on(on_tokio::contracts::$name(scratch.path()));
            agree::agrees(stringify!($name), 10, &expected, || async {
                let scratch = Scratch::new("ours");
                on_ours::contracts::$name(scratch.path()).await
            });
        }
    )*};
}

contracts! { a_file_is_there bound_again moved waited_for no_place }

/// As tests do that have one path for all their runs: worlds on other threads have it at the same time.
#[test]
fn iterations_do_not_stand_in_each_others_way() {
    use cct_tokio::net::{UnixListener, UnixStream};

    let scratch = Scratch::new("shared");
    let path = scratch.path().join("socket");
    let bound = path.clone();
    let checker = worlds::checker("one path for all").workers(4);
    let report = checker.iterations(400).run(move || {
        let path = bound.clone();
        async move {
            for _ in 0..2 {
                let _ = std::fs::remove_file(&path);
                let listener = UnixListener::bind(&path).unwrap();
                let connecting = cct_tokio::spawn(UnixStream::connect(path.clone()));
                listener.accept().await.unwrap();
                connecting.await.unwrap().unwrap();
            }
        }
    });
    report.assert_passed();
    assert!(!path.exists(), "it was a world's, not the machine's");
}
