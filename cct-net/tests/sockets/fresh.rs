//! What tasks know of sockets that are new: on one thread tokio's driver looks at them between polls, on
//! several it may have looked before.

use super::contracts::{on_cct, on_tokio};
use super::two_sided::Log;
use super::worlds::everywhere;
use std::sync::{Arc, Mutex};

fn on_one_thread<F: Future<Output = ()>>(contract: impl Fn(Log) -> F) -> Vec<String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let log = Log::default();
    runtime.block_on(contract(log.clone()));
    log.lines()
}

/// Ours shows what one thread shows, and what several may show besides.
#[test]
fn new_sockets_may_not_be_known_yet() {
    let one_thread = on_one_thread(on_tokio::fresh::made);
    let all = Arc::new(Mutex::new(Vec::new()));
    everywhere("made", 300, |checker| {
        let all = all.clone();
        checker.run(move || {
            let all = all.clone();
            async move {
                let log = Log::default();
                on_cct::fresh::made(log.clone()).await;
                all.lock().unwrap().push(log.lines());
            }
        })
    });
    let all = all.lock().unwrap();
    assert!(all.contains(&one_thread), "{one_thread:?}");
    let unknown: Vec<bool> = (one_thread.iter())
        .map(|line| line.ends_with(": WouldBlock"))
        .collect();
    assert_eq!(unknown, [true, true, true, true, true, true, false, false]);
    // Nothing to receive is another matter.
    for (at, line) in one_thread.iter().enumerate() {
        let what = line.split(": ").next().unwrap();
        let known = all.iter().any(|seen| seen[at] == format!("{what}: ok"));
        assert_eq!(known, at > 0, "{what}");
    }
}

#[test]
fn who_waits_for_a_new_socket_waits_for_one_poll() {
    let one_thread = on_one_thread(on_tokio::fresh::later);
    everywhere("later", 40, |checker| {
        let one_thread = one_thread.clone();
        checker.run(move || {
            let one_thread = one_thread.clone();
            async move {
                let log = Log::default();
                on_cct::fresh::later(log.clone()).await;
                assert_eq!(log.lines(), one_thread);
            }
        })
    });
}
