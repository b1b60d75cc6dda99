//! Mistakes in `join!` and `try_join!`.

use cct_executor::{join, try_join};
use std::future::ready;

async fn no_comma() {
    join!(ready(1) ready(2));
}

async fn biased_with_comma() {
    join!(ready(1), biased; ready(2));
}

async fn not_a_future() {
    join!(ready(1), 2);
}

async fn not_a_result() {
    let _ = try_join!(ready(Ok::<(), ()>(())), ready(2));
}

fn main() {}
