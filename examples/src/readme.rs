//! The README shows the program of [`lost_update`](crate::lost_update) and its report. Both are
//! compared with the real ones.

use crate::lost_update::deposits_add_up;
use cct_executor::Checker;

const README: &str = include_str!("../../README.md");
const LESSON: &str = include_str!("lost_update.rs");

/// The first fenced block of a kind.
fn block(kind: &str) -> &'static str {
    let (_, rest) = README
        .split_once(&format!("```{kind}\n"))
        .expect("no such block");
    rest.split_once("```").expect("a block that does not end").0
}

#[test]
fn the_program_is_that_of_the_lesson() {
    let (_, code) = LESSON
        .split_once("use cct_sync")
        .expect("the lesson begins otherwise");
    let (code, _) = code
        .split_once("\n/// The repaired program")
        .expect("there is no repair");
    let code = format!("use cct_sync{code}").replace(
        "/// The program with the bug.\npub async",
        "#[cct_executor::test]\nasync",
    );
    assert_eq!(block("rust"), code);
}

#[test]
fn the_report_is_that_of_a_run() {
    let report = Checker::new()
        .name("examples::lost_update::deposits_add_up")
        .workers(1)
        .use_environment(false)
        .run(deposits_add_up);
    let mut report = report; // its token knows in which column the checker stands
    // As the attribute has it.
    report.test = Some("lost_update::deposits_add_up".to_owned());
    report.heeds_variables = true;
    let text = report.text();
    assert_eq!(
        block("text"),
        text,
        "the README shall show this report:\n{text}"
    );
}
