//! Pipes inside a program, written once and run on tokio and on ours.

#![cfg(unix)]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

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
            let mut builder = real_tokio::runtime::Builder::new_multi_thread();
            let runtime = builder.worker_threads(2).enable_all().build().expect("a runtime");
            let expected = runtime.block_on(on_tokio::contracts::$name());
            assert!(!expected.is_empty(), "a contract that notes nothing");
            worlds::everywhere(stringify!($name), 20, |checker| {
                let expected = expected.clone();
                checker.run(move || {
                    let expected = expected.clone();
                    async move {
                        let seen = on_ours::contracts::$name().await;
                        assert_eq!(seen, expected, "ours on the left");
                    }
                })
            });
        }
    )*};
}

contracts! { to_the_end nobody_reads full readiness shutdown }

#[test]
fn pipes_of_the_machine_are_refused() {
    use cct_tokio::net::unix::pipe::{OpenOptions, Sender};
    let error = OpenOptions::new().open_receiver("/tmp/fifo").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(error.to_string().contains("/tmp/fifo"), "{error}");
    let file = std::fs::File::open("/dev/null").unwrap();
    let error = Sender::from_file(file).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
}
