//! What a scenario cannot return.

struct Verdict;

fn main() {
    cct_executor::Checker::new().run(|| async { Verdict });
}
