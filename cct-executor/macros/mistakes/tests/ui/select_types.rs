//! Branches of `select!` that the compiler rejects: at their own place.

#![allow(unused)]

use cct_executor::select;
use std::future::ready;

async fn not_a_future() {
    select! {
        _ = 5 => {}
    }
}

async fn wrong_pattern() {
    select! {
        Some(number) = ready(5) => {}
    }
}

async fn handlers_of_two_types() -> u32 {
    select! {
        _ = ready(1) => 1,
        _ = ready(2) => "two",
    }
}

async fn condition_is_no_bool() {
    select! {
        _ = ready(1), if 1 => {}
    }
}

async fn unknown_name() {
    select! {
        _ = ready(start) => {}
    }
}

fn main() {}
