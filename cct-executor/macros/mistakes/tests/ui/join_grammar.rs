//! Mistakes in `join!` and `try_join!`.

#![allow(unused)]

use cct_executor::{join, try_join};
use std::future::ready;

async fn no_comma() {
    join!(ready(1) ready(2));
}

async fn biased_with_comma() {
    join!(ready(1), biased; ready(2));
}

async fn only_commas() {
    try_join!(,);
}

fn main() {}
