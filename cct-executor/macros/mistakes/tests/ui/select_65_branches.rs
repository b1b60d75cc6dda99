//! One branch more than `select!` takes.

#![allow(unused)]

use cct_executor::select;
use std::future::ready;

async fn too_many() {
    select! {
        _ = ready(1) => {}
        _ = ready(2) => {}
        _ = ready(3) => {}
        _ = ready(4) => {}
        _ = ready(5) => {}
        _ = ready(6) => {}
        _ = ready(7) => {}
        _ = ready(8) => {}
        _ = ready(9) => {}
        _ = ready(10) => {}
        _ = ready(11) => {}
        _ = ready(12) => {}
        _ = ready(13) => {}
        _ = ready(14) => {}
        _ = ready(15) => {}
        _ = ready(16) => {}
        _ = ready(17) => {}
        _ = ready(18) => {}
        _ = ready(19) => {}
        _ = ready(20) => {}
        _ = ready(21) => {}
        _ = ready(22) => {}
        _ = ready(23) => {}
        _ = ready(24) => {}
        _ = ready(25) => {}
        _ = ready(26) => {}
        _ = ready(27) => {}
        _ = ready(28) => {}
        _ = ready(29) => {}
        _ = ready(30) => {}
        _ = ready(31) => {}
        _ = ready(32) => {}
        _ = ready(33) => {}
        _ = ready(34) => {}
        _ = ready(35) => {}
        _ = ready(36) => {}
        _ = ready(37) => {}
        _ = ready(38) => {}
        _ = ready(39) => {}
        _ = ready(40) => {}
        _ = ready(41) => {}
        _ = ready(42) => {}
        _ = ready(43) => {}
        _ = ready(44) => {}
        _ = ready(45) => {}
        _ = ready(46) => {}
        _ = ready(47) => {}
        _ = ready(48) => {}
        _ = ready(49) => {}
        _ = ready(50) => {}
        _ = ready(51) => {}
        _ = ready(52) => {}
        _ = ready(53) => {}
        _ = ready(54) => {}
        _ = ready(55) => {}
        _ = ready(56) => {}
        _ = ready(57) => {}
        _ = ready(58) => {}
        _ = ready(59) => {}
        _ = ready(60) => {}
        _ = ready(61) => {}
        _ = ready(62) => {}
        _ = ready(63) => {}
        _ = ready(64) => {}
        _ = ready(65) => {}
    }
}

fn main() {}
