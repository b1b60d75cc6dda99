//! Tests with parameters that are there once: they are run once, where that is asked for.

#![cfg(target_os = "linux")]

use rstest::rstest;
use std::rc::Rc;

mod again;

use again::{again, is_again, said};

/// Neither cloned nor sent anywhere.
struct Only(Rc<u32>);

/// Said where it is refused; and by the body, which is not reached then.
const REFUSED: &str = "it can be run once by `cargo cct test` on Linux";

#[cct_executor::test(flavor = "current_thread")]
#[rstest]
#[case::one(Only(Rc::new(1)))]
#[should_panic(expected = "it can be run once by `cargo cct test` on Linux")]
async fn there_once(#[case] Only(number): Only) {
    assert!(is_again(), "run without being asked for");
    cct_executor::task::yield_now().await;
    assert_eq!(*number, 1, "another value");
    panic!("{REFUSED}");
}

#[test]
fn what_cannot_be_cloned_is_run_once() {
    let output = again("there_once::case_1_one", "explore", &[]);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    for part in [
        "run once, in plain order, and not explored",
        "`#[derive(Clone)]`",
        "1 passed",
    ] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}
