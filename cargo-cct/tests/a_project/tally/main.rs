//! No part of cct is in this program, but the instrumented library is.

fn main() {
    let tally = tally::Std::default();
    std::thread::scope(|scope| {
        scope.spawn(|| tally.in_one_step());
        tally.in_one_step();
    });
    println!("{}", tally.sum());
}
