//! Pipes inside a program, written once and run on tokio and on ours.

#![cfg(unix)]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

#[path = "../two_sided/agree.rs"]
mod agree;
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
            agree::agrees(stringify!($name), 20, &expected, on_ours::contracts::$name);
        }
    )*};
}

contracts! { to_the_end nobody_reads full readiness shutdown }

#[test]
fn pipes_of_the_machine_are_refused() {
    use cct_tokio::net::unix::pipe::{OpenOptions, Receiver};
    use std::io::ErrorKind;

    // Its output is a pipe.
    let mut process = std::process::Command::new("true");
    let process = process.stdout(std::process::Stdio::piped()).spawn();
    let mut process = process.expect("a process");
    let output = process.stdout.take().expect("a pipe");
    let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&output));
    let error = OpenOptions::new().open_receiver(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains(&path), "{error}");
    let fd = std::os::fd::OwnedFd::from(output);
    let error = Receiver::from_owned_fd(fd).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    process.wait().expect("its end");
}

#[test]
fn what_is_no_pipe_is_refused_as_by_tokio() {
    use cct_tokio::net::unix::pipe::{OpenOptions, Sender};
    use std::io::ErrorKind;

    let file = std::fs::File::open("/dev/null").unwrap();
    let error = Sender::from_file(file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let error = OpenOptions::new().open_receiver("/dev/null").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let error = OpenOptions::new().open_sender("/nowhere/at/all");
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
}
