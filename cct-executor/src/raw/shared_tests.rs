#![expect(
    clippy::disallowed_methods,
    reason = "foreign threads are what is tested"
)]

use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

fn home() -> &'static Home {
    Home::obtain(Arc::default())
}

/// Adds to a number that is no atomic, from several threads.
fn counted_by_threads(cell: &Shared<u32>) {
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..20).for_each(|_| cell.with(|count| *count += 1)));
        }
    });
}

#[test]
fn a_cell_without_a_home_is_reached_by_one_thread_at_a_time() {
    let cell = Shared::new(0);
    counted_by_threads(&cell);
    assert_eq!(cell.into_inner(), 60);
}

#[test]
fn a_cell_is_reached_from_elsewhere_once_its_world_is_over() {
    let home = home();
    let entered = home.enter();
    let cell = Arc::new(Shared::new(Vec::new()));
    let visitor = thread::spawn({
        let cell = cell.clone();
        move || cell.with(|seen| seen.push("visitor"))
    });
    while !home.has_visitors() {
        thread::yield_now();
    }
    cell.with(|seen| seen.push("home"));
    drop(entered);
    visitor.join().expect("no panic");
    assert_eq!(cell.with(std::mem::take), ["home", "visitor"]);
    home.give_back();
}

#[test]
fn nobody_waits_for_a_thread_that_was_given_up_until_it_begins_again() {
    let (here, there) = (home(), home());
    let _entered = there.enter();
    // Other tests' threads may be at work, too.
    let sees = || here.others().iter().any(|other| ptr::eq(other.home, there));
    assert!(sees());
    there.note_lost();
    assert!(!sees());
    there.note_scenario(1);
    assert!(sees());
}

#[test]
fn threads_that_visit_a_world_that_is_over_take_turns() {
    let home = home();
    let entered = home.enter();
    let cell = Shared::new(0);
    drop(entered);
    counted_by_threads(&cell);
    assert_eq!(cell.into_inner(), 60);
    home.give_back();
}

#[test]
fn a_cell_cannot_be_reached_again_from_within_but_after_a_panic() {
    let cell = Shared::new(1);
    let again = catch_unwind(AssertUnwindSafe(|| {
        cell.with(|_| cell.home.is_none().then(|| cell.exclusive(|value| *value)))
    }));
    assert!(again.is_err());
    assert_eq!(cell.with(|value| *value), 1);
}

#[test]
fn wake_ups_from_elsewhere_are_found_by_the_world_they_are_for() {
    let home = home();
    let poster = thread::Builder::new().name("poster".to_owned());
    let poster = poster.spawn(|| home.post(7, 3, None)).expect("a thread");
    poster.join().expect("no panic");
    assert!(home.has_mail_for(7) && !home.has_mail_for(8));
    let mail = home.take_mail();
    let [ForeignWake { key: 3, thread, .. }] = mail.as_slice() else {
        panic!("{} wake-ups", mail.len());
    };
    assert_eq!(thread.as_deref(), Some("poster"));
    assert!(!home.has_mail());
    home.give_back();
}

/// Adds to a cell of another home, and lets its thread do the same here.
fn visits_and_is_visited(here: &'static Home, own: &Shared<u32>, other: &Shared<u32>) {
    (0..10).for_each(|_| other.with(|count| *count += 1));
    while own.with(|count| *count) < 10 {
        here.aside(thread::yield_now);
    }
}

#[test]
fn two_that_wait_for_what_is_the_others_let_each_other_in() {
    let (tell, told) = std::sync::mpsc::channel();
    let (here, there) = (home(), home());
    let entered = here.enter();
    let own = Arc::new(Shared::new(0));
    let visitor = thread::spawn({
        let other = own.clone();
        move || {
            let _entered = there.enter();
            let own = Arc::new(Shared::new(0));
            tell.send(own.clone()).expect("a receiver");
            visits_and_is_visited(there, &own, &other);
        }
    });
    let other = told.recv().expect("a cell");
    visits_and_is_visited(here, &own, &other);
    drop(entered);
    visitor.join().expect("no panic");
    here.give_back();
    there.give_back();
}

#[test]
fn what_is_asked_of_an_open_world_is_done_by_its_thread_or_not_at_all() {
    let here = home();
    let _entered = here.enter();
    assert_eq!(Home::ask(7, || 1), None);
    here.open_to_others(7);
    let asks =
        |number| thread::spawn(move || Home::ask(7, move || (number, thread::current().id())));
    let asker = asks(1);
    while !here.has_jobs() {
        thread::yield_now();
    }
    here.take_jobs().into_iter().for_each(|job| job());
    assert_eq!(
        asker.join().expect("no panic"),
        Some((1, thread::current().id()))
    );
    let asker = asks(2);
    while !here.has_jobs() {
        thread::yield_now();
    }
    here.open_to_others(0);
    assert_eq!(asker.join().expect("no panic"), None);
    assert!(!here.has_jobs());
}
