//! Three tasks add two each.

use std::sync::Arc;
use tally::{Atomic, ParkingLot, Spinning, Std};

macro_rules! six {
    ($name:ident, $kind:ident, $add:ident) => {
        #[tokio::test]
        async fn $name() {
            let tally = Arc::new($kind::default());
            let tasks = (0..3).map(|_| {
                let tally = tally.clone();
                tokio::spawn(async move {
                    tally.$add();
                    tally.$add();
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            assert_eq!(tally.sum(), 6);
        }
    };
}

six!(std_in_two_steps, Std, in_two_steps);
six!(std_in_one_step, Std, in_one_step);
six!(parking_lot_in_two_steps, ParkingLot, in_two_steps);
six!(parking_lot_in_one_step, ParkingLot, in_one_step);
six!(atomic_in_two_steps, Atomic, in_two_steps);
six!(atomic_in_one_step, Atomic, in_one_step);
six!(spinning, Spinning, add);

#[test]
fn a_program_without_cct() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_tally"));
    let output = program.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
}
