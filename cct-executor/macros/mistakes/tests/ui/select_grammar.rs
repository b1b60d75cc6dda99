//! Input that is not in the grammar of `select!`.

#![allow(unused)]

use cct_executor::select;
use std::future::ready;

async fn empty() {
    select! {}
}

async fn only_biased() {
    select! { biased; }
}

async fn late_biased() {
    select! {
        _ = ready(1) => {}
        biased;
    }
}

async fn no_future() {
    select! {
        default => {}
    }
}

async fn no_handler() {
    select! {
        _ = ready(1),
    }
}

async fn nothing_after_arrow() {
    select! {
        _ = ready(1) =>
    }
}

async fn handler_after_comma() {
    select! {
        _ = ready(1), => {}
    }
}

async fn condition_without_comma() {
    select! {
        _ = ready(1) if true => {}
    }
}

async fn no_comma_after_handler() {
    select! {
        _ = ready(1) => ()
        _ = ready(2) => ()
    }
}

async fn else_in_the_middle() {
    select! {
        _ = ready(1) => {}
        else => {}
        _ = ready(2) => {}
    }
}

async fn else_without_arrow() {
    select! {
        _ = ready(1) => {}
        else {}
    }
}

async fn attribute() {
    select! {
        #[cfg(test)]
        _ = ready(1) => {}
    }
}

fn main() {}
