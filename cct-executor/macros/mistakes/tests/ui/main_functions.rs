//! Functions that cannot be a `main`.

#[cct_executor::main]
fn not_async() {}

#[cct_executor::main(iterations = 5)]
async fn an_option_of_tests() {}

#[cct_executor::main(flavor = "current_thread", worker_threads = 2)]
async fn in_conflict() {}

#[cct_executor::main]
struct NotAFunction;

fn main() {
    not_async();
}
