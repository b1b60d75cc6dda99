//! Processes, descriptors and sockets of the machine, written once: run on tokio, and on ours as a test that is run once.

#![cfg(target_os = "linux")]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "threads that no world controls take part"
)]

#[path = "../../../cct-executor/tests/again/mod.rs"]
mod again;
mod other;

use again::{again, is_again, said};

#[path = "."]
#[expect(
    deprecated,
    reason = "the ways to watch a descriptor that are not unsafe, in tokio's newest version"
)]
mod on_tokio {
    pub(crate) use real_tokio as rt;

    /// The test that starts again, if it is asked for.
    pub(crate) const ITSELF: &str = "itself_on_tokio";

    pub(crate) mod beyond;
    pub(crate) mod blocked;
    pub(crate) mod clients;
    pub(crate) mod closures;
    pub(crate) mod contracts;
    pub(crate) mod datagrams;
    pub(crate) mod ends;
    pub(crate) mod entered;
    pub(crate) mod fifos;
    pub(crate) mod guests;
    pub(crate) mod handed;
    pub(crate) mod joined;
    pub(crate) mod names;
    pub(crate) mod piped;
    pub(crate) mod servers;
    pub(crate) mod taken;
}

#[path = "."]
mod on_ours {
    pub(crate) use cct_tokio as rt;

    /// The test that starts again, if it is asked for.
    pub(crate) const ITSELF: &str = "itself";

    pub(crate) mod beyond;
    pub(crate) mod blocked;
    pub(crate) mod clients;
    pub(crate) mod closures;
    pub(crate) mod contracts;
    pub(crate) mod datagrams;
    pub(crate) mod ends;
    pub(crate) mod entered;
    pub(crate) mod fifos;
    pub(crate) mod guests;
    pub(crate) mod handed;
    pub(crate) mod joined;
    pub(crate) mod names;
    pub(crate) mod piped;
    pub(crate) mod servers;
    pub(crate) mod taken;
}

const ASKS: &str = "it asks for what is the machine's (";
const STARTS: &str = "threads of std take part";
const WAIT: &str = "a closure of spawn_blocking waits as a thread does";
/// Which of the two it is depends on how fast the thread is.
const EITHER: &str = "run once, in plain order";
const LEAVES: &str = "a file that it makes is there already";

/// The first is a test only in a process of its own.
macro_rules! contracts {
    ($room:ident, $why:ident: $($name:ident $driver:ident)*) => {$(
        #[cct_tokio::test(crate = "cct_tokio")]
        async fn $name() {
            if is_again() {
                on_ours::$room::$name().await;
            }
        }

        #[test]
        fn $driver() {
            if is_again() {
                return;
            }
            let mut builder = real_tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build().expect("a runtime");
            runtime.block_on(on_tokio::$room::$name());
            let off = [("CCT_REGRESSIONS", "off")];
            let output = again(stringify!($name), "explore", &off);
            let text = said(&output);
            assert!(output.status.success(), "{text}");
            for part in [$why, "which nobody can repeat"] {
                assert!(text.contains(part), "no `{part}` in: {text}");
            }
            // It need not take long that one blocks which nobody will ever wake there.
            let soon = ("CCT_POLL_LIMIT", "1s");
            let output = again(stringify!($name), "refuse", &[off[0], soon]);
            let text = said(&output);
            assert!(!output.status.success(), "{text}");
        }
    )*};
}

contracts! {
    contracts, ASKS:
    talks who_talks_with_a_process
    ends how_a_process_ends
    is_killed a_process_that_is_killed
    takes_time time_is_the_machines_while_a_process_is_waited_for
    is_asked time_is_the_machines_while_a_process_runs
    is_looked_at what_a_process_of_std_does_is_looked_at
    leaves_another a_process_that_leaves_another_behind
    is_waited_for_elsewhere a_process_that_the_program_waits_for_itself
    has_no_time a_process_is_slower_than_a_timer
    passes_on outputs_are_passed_on
    is_watched a_descriptor_that_is_watched
    is_full a_descriptor_with_room_for_nothing
    is_always_ready files_cannot_be_watched
    works_before work_takes_the_machines_time
}

contracts! {
    clients, ASKS:
    in_blocking_task a_client_of_the_kernels_in_a_blocking_task
    in_blocking_tasks clients_of_the_kernels_at_once
    refuses a_listener_that_is_gone_refuses_clients_of_the_kernels
    has_limits how_long_clients_of_the_kernels_wait
}

contracts! {
    clients, STARTS:
    in_thread a_client_of_the_kernels_in_a_thread
    are_known clients_in_threads_are_known_by_their_addresses
}

contracts! {
    closures, WAIT:
    hear_the_test closures_that_wait_for_the_test
    hear_each_other closures_that_wait_for_each_other
    panic_for_whoever_joins a_closure_that_panics_after_it_has_waited
    have_locals_of_their_own what_closures_keep_in_thread_locals
    use_the_runtime closures_that_use_the_runtime
}

contracts! {
    closures, EITHER:
    hear_a_thread closures_that_wait_for_a_thread
}

contracts! {
    closures, STARTS:
    are_named closures_whose_threads_have_names
}

contracts! {
    blocked, ASKS:
    wait_for_a_child closures_that_wait_for_a_process
    wait_for_its_output closures_that_wait_for_what_a_process_says
    have_limits how_long_closures_are_waited_for_that_wait_for_a_process
    read_what_the_test_writes closures_that_read_what_the_test_has_a_process_write
    read_what_another_writes closures_that_write_more_than_a_pipe_has_room_for
    send_to_the_test closures_that_send_more_than_there_is_room_for
}

contracts! {
    servers, ASKS:
    blocking_task_serves a_server_of_the_kernels_in_a_blocking_task
    path_is_served a_server_of_the_kernels_at_a_path
    is_taken_over a_listener_that_the_program_accepts_by_and_then_tokio
}

contracts! {
    servers, STARTS:
    thread_serves a_server_of_the_kernels_in_a_thread
    thread_looks a_server_of_the_kernels_that_does_not_block
    thread_polls a_server_of_the_kernels_that_polls
    thread_is_told a_server_of_the_kernels_that_is_told_by_epoll
    limits how_long_clients_wait_for_servers_of_the_kernels
}

contracts! {
    guests, STARTS:
    know_who_they_are what_threads_block_on_knows_whose_it_is
    drop_there what_threads_block_on_is_dropped_there
    panic_alone what_threads_block_on_panics_there
    have_one_time what_threads_block_on_takes_their_time
    answer_after_a_while threads_that_had_nothing_to_do
    block_on_each_others threads_that_block_on_each_others_runtimes
    end_a_runtime threads_that_drop_a_runtime
    drive_their_tasks threads_that_drive_sets_and_runtimes
    have_sets_before_runtimes threads_that_have_sets_before_runtimes
    end_the_process_if_unheard threads_that_end_the_process_unless_they_are_heard
    wait_in_pools threads_of_pools_that_a_panic_ends
}

contracts! {
    datagrams, STARTS:
    thread_answers datagrams_to_a_thread_with_a_runtime
    threads_ask datagrams_from_threads_with_runtimes
}

contracts! {
    ends, STARTS:
    connect_and_write threads_that_connect_and_write_and_end
    connect_and_are_gone threads_that_are_gone_before_they_are_accepted
    go_on_with_another threads_that_end_several_runtimes
    take_over_and_write threads_that_take_over_and_write_and_end
    answer_at_length threads_that_answer_at_length_and_end
    are_accepted_by_std threads_that_end_and_are_accepted_by_std
}

contracts! {
    entered, STARTS:
    have_timers threads_that_wait_for_time_to_pass
    make_timers timers_that_threads_make
}

contracts! {
    handed, STARTS:
    threads_drop sockets_that_threads_drop
    threads_write sockets_that_threads_write_to
}

contracts! {
    joined, STARTS:
    has_slept who_joins_a_thread_that_has_slept
    has_slept_on_a_runtime who_joins_a_thread_that_has_slept_on_its_runtime
    starts_later a_thread_that_is_started_after_time_has_passed
    is_heard_by_a_runtime a_thread_that_comes_in_while_it_is_waited_for
}

contracts! {
    names, LEAVES:
    by_the_time files_that_are_named_by_the_time
    at_random files_that_are_named_at_random
}

contracts! {
    fifos, ASKS:
    are_opened_by_two_closures fifos_whose_sides_two_closures_open
    are_fifos fifos_that_are_files
}

contracts! {
    piped, ASKS:
    are_given_to_a_process pipes_that_are_given_to_a_process
    have_names pipes_that_have_names
    have_names_for_others pipes_that_have_names_for_others
    are_files pipes_that_are_files
}

contracts! {
    taken, ASKS:
    was_connected a_stream_that_std_has_connected
    was_accepted a_stream_that_std_has_accepted
    is_of_unix a_unix_stream_that_std_has_connected
    is_dropped a_stream_of_std_that_a_task_drops
}

contracts! {
    taken, STARTS:
    is_elsewhere a_path_at_which_a_thread_with_a_runtime_asks
}

contracts! {
    beyond, ASKS:
    is_asked_there a_listener_that_another_process_asks
    is_asked_by_path a_path_at_which_another_process_asks
    asks a_listener_of_another_process
    asks_by_path a_path_at_which_another_process_listens
    starts_itself a_test_that_starts_its_own_program
}

/// What another process does for [`beyond`](on_ours::beyond).
#[test]
fn other_process() {
    if let Some((what, at)) = other::role() {
        other::act(&what, &at);
    }
}

#[cct_tokio::test(crate = "cct_tokio")]
async fn itself() {
    if let Some((what, _)) = other::role() {
        on_ours::beyond::itself(&what).await;
    }
}

#[test]
fn itself_on_tokio() {
    if let Some((what, _)) = other::role() {
        let mut builder = real_tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().expect("a runtime");
        runtime.block_on(on_tokio::beyond::itself(&what));
    }
}

/// Its one thread blocks until another has spoken, which has a runtime of its own.
#[cct_tokio::test(crate = "cct_tokio", flavor = "current_thread")]
async fn hears() {
    if !is_again() {
        return;
    }
    let (tell, told) = std::sync::mpsc::channel();
    // What the thread's panic drops is not the last one.
    let _kept = tell.clone();
    std::thread::spawn(move || {
        let mut builder = cct_tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().expect("a runtime");
        let moment = std::time::Duration::from_millis(1);
        runtime.block_on(async { cct_tokio::time::sleep(moment).await });
        tell.send(1).expect("somebody waits");
    });
    assert_eq!(told.recv(), Ok(1));
}

#[test]
fn a_thread_that_builds_a_runtime_while_the_test_blocks() {
    if is_again() {
        return;
    }
    let output = again("hears", "explore", &[("CCT_REGRESSIONS", "off")]);
    let text = said(&output);
    assert!(output.status.success() && text.contains(STARTS), "{text}");
}

#[cct_tokio::test(crate = "cct_tokio")]
async fn tries_again() {
    if is_again() {
        on_ours::clients::tries_again().await;
    }
}

/// No iteration of it comes to an end, and it is run once all the same.
#[test]
fn a_client_of_the_kernels_that_tries_until_it_is_heard() {
    if is_again() {
        return;
    }
    let mut builder = real_tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    runtime.block_on(on_tokio::clients::tries_again());
    let few = [
        ("CCT_REGRESSIONS", "off"),
        ("CCT_ITERATIONS", "1"),
        ("CCT_TIME_BUDGET", "1s"),
    ];
    let output = again("tries_again", "explore", &few);
    let text = said(&output);
    assert!(output.status.success() && text.contains(ASKS), "{text}");
}

/// A test without an attribute, of the same kind.
#[test]
fn without_attribute() {
    if !is_again() {
        let off = [("CCT_REGRESSIONS", "off")];
        for how in ["explore", "once"] {
            let output = again("without_attribute", how, &off);
            let text = said(&output);
            assert!(output.status.success(), "{text}");
        }
        return;
    }
    let mut builder = cct_tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    runtime.block_on(async {
        on_ours::contracts::talks().await;
        on_ours::contracts::takes_time().await;
    });
}

#[cct_tokio::main(crate = "cct_tokio")]
async fn a_main() {
    on_ours::contracts::ends().await;
}

#[test]
fn a_main_that_starts_processes() {
    if is_again() {
        return a_main();
    }
    let off = [("CCT_REGRESSIONS", "off")];
    let output = again("a_main_that_starts_processes", "explore", &off);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("run once, in plain order"), "{text}");
    let output = again("a_main_that_starts_processes", "refuse", &off);
    assert!(!output.status.success(), "{}", said(&output));
}
