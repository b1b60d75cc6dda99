//! Functions that cannot be tests.

#[cct_executor::test(flavor = "local")]
fn not_async() {}

#[cct_executor::test]
async fn with_parameters(first: u32, second: &str) {}

#[cct_executor::test]
async fn generic<T: Default, const N: usize>() {}

#[cct_executor::test]
#[test]
async fn twice_a_test() {}

#[cct_executor::test]
#[std::prelude::v1::test]
async fn twice_by_path() {}

#[cct_executor::test]
struct NotAFunction;

fn main() {
    // Functions that were rejected are still defined: no error follows from the first one.
    not_async();
    generic();
}
