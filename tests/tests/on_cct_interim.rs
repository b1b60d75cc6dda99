macro_rules! interim { ($side:ident) => { $side! {
            barrier {
                any: zero_and_one_never_wait the_last_to_come_leads generations_do_not_mix
                    nobody_passes_early_and_one_leads a_dropped_waiter_has_still_arrived
                    an_unpolled_wait_has_not_arrived;
            }
            broadcast {
                any: every_receiver_sees_every_value concurrent_readers_agree
                    subscribers_start_at_the_end a_slow_receiver_is_told_how_much_it_missed
                    capacity_rounds_up_to_a_power_of_two errors_in_words zero_capacity_panics
                    all_waiting_receivers_are_woken dropped_recv_loses_nothing
                    last_sender_gone_wakes_receivers sender_side_closed_waits_for_receivers
                    weak_senders_count_and_upgrade values_die_once_everybody_saw_them
                    overwritten_values_die a_sender_without_receivers_can_begin blocking_recv_waits;
            }
            cells {
                any: once_cell_runs_one_initialiser once_cell_set_says_why_not
                    once_cell_failure_lets_the_next_try once_cell_panic_lets_the_next_try
                    once_cell_cancelled_initialiser_hands_over once_cell_values_move_in_and_out
                    set_once_wakes_everybody set_once_dropped_waiter_does_not_matter
                    set_once_one_setter_wins set_once_constructors;
            }
            mpsc {
                any: values_arrive_in_order each_producer_keeps_its_order capacity_counts_free_slots
                    waiting_senders_are_served_in_order dropped_waiting_sender_passes_its_slot_on
                    a_woken_sender_may_be_dropped_from_the_middle try_send_says_full_or_closed
                    try_recv_says_empty_or_disconnected recv_is_woken_by_the_last_waker_only
                    last_sender_gone_wakes_the_receiver dropped_recv_loses_nothing
                    unpolled_send_does_nothing permits_hold_slots reserve_many_takes_all_or_waits
                    owned_permits_give_the_sender_back recv_many_takes_what_is_there
                    weak_senders_do_not_keep_it_open weak_sender_after_close_still_upgrades
                    same_channel_tells_channels_apart zero_capacity_panics
                    queued_values_die_with_the_receiver queued_values_die_with_the_channel;
            }
            mpsc_close {
                any: close_refuses_new_values_and_drains_old_ones close_waits_for_permits
                    close_fails_waiting_senders dropped_receiver_fails_waiting_senders
                    closed_waits_for_the_receiver closed_is_woken_by_close
                    close_while_a_sender_works aborted_sender_closes_the_channel
                    blocking_ends_meet_asynchronous_ones;
                clock: send_timeout_gives_the_value_back send_timeout_succeeds_when_room_appears
                    timed_out_send_leaves_the_queue;
            }
            mpsc_unbounded {
                any: values_arrive_in_order length_follows_the_queue
                    send_fails_once_the_receiver_is_gone close_drains_and_ends
                    receiver_is_woken_once_for_many_sends try_recv_does_not_disturb_a_later_recv
                    closed_waits_for_the_receiver recv_many_and_its_limit weak_sender_counts
                    values_die_in_order_with_the_receiver blocking_recv_gets_everything
                    blocking_recv_many_gets_a_batch;
            }
            mutex {
                any: excludes waiters_are_served_in_order newcomers_do_not_overtake_a_woken_waiter
                    a_dropped_waiter_passes_the_lock_on try_lock_says_would_block
                    owned_guards_lock_the_same mapped_guards_hold_the_lock
                    exclusive_access_needs_no_lock a_const_mutex_works
                    a_panicking_holder_does_not_poison an_aborted_holder_unlocks
                    only_the_last_waker_is_called blocking_lock_waits_its_turn;
            }
            notify {
                any: a_permit_waits_for_the_next_waiter waiters_are_notified_in_order
                    order_is_that_of_the_first_poll notify_last_takes_the_newest
                    notify_waiters_wakes_those_that_exist notify_waiters_leaves_no_permit
                    a_dropped_notified_waiter_passes_it_on a_dropped_notified_waiter_leaves_a_permit
                    dropped_after_notify_waiters_passes_nothing_on
                    dropped_after_notify_last_passes_to_the_newest enable_registers_without_a_poll
                    enable_keeps_its_place_in_the_queue only_the_last_waker_is_called
                    owned_notified_outlives_the_handle checking_after_creation_loses_no_wakeup
                    a_const_notify_works;
            }
            oneshot {
                any: delivers_one_value send_wakes_the_receiver dropped_sender_wakes_with_an_error
                    dropped_receiver_gives_the_value_back close_stops_a_later_send
                    close_keeps_a_value_already_sent closed_is_woken_by_close_and_drop
                    only_the_last_waker_is_called try_recv_says_empty_or_closed
                    polling_after_the_value_panics unread_value_dies_with_the_receiver
                    many_receivers_get_their_own blocking_recv_waits;
            }
            polling {
                any: what_is_ready_is_ready_now what_is_not_is_not tokio_test_macros_agree
                    futures_poll_agrees biased_select_takes_the_first_ready
                    a_hand_written_merge_sees_both_sides every_poll_has_its_wake
                    a_task_is_not_polled_without_a_wake one_release_wakes_once
                    repolling_without_a_wake_is_harmless a_future_may_move_between_tasks
                    noop_wakers_do_not_hurt yielding_needs_a_second_poll;
                clock: a_pending_timer_polled_by_hand;
            }
            rwlock {
                any: readers_share_and_writers_exclude a_writer_never_sees_half_a_write
                    a_waiting_writer_stops_new_readers readers_behind_a_writer_come_together
                    a_cancelled_writer_lets_readers_in max_readers_limits_readers
                    downgrade_keeps_writers_out owned_guards_lock_the_same
                    mapped_guards_hold_the_lock exclusive_access_needs_no_lock
                    a_panicking_writer_does_not_poison blocking_guards_wait_their_turn;
            }
            semaphore {
                any: limits_how_many_hold_it waiters_are_served_in_order
                    a_large_request_is_not_overtaken a_dropped_large_request_gives_its_share_back
                    a_served_waiter_that_is_dropped_passes_on try_acquire_says_why_not
                    close_fails_waiters_and_newcomers acquire_none_is_ready_unless_permits_are_owed
                    permits_split_merge_and_forget owned_permits_do_the_same
                    merging_strangers_panics too_many_permits_panic only_the_last_waker_is_called
                    a_const_semaphore_works partial_grants_are_not_lost
                    an_aborted_waiter_leaves_the_queue;
            }
            wakers {
                any: a_waker_recognises_itself a_wake_from_outside_causes_one_poll
                    a_waker_outlives_its_task a_wake_after_abort_is_ignored
                    a_blocking_thread_may_wake wakes_during_a_poll_cause_one_more
                    wakers_may_use_what_woke_them channel_wakers_may_use_the_channel
                    destructors_may_use_what_drops_them;
            }
            watch {
                any: first_value_counts_as_seen borrow_leaves_and_update_clears_the_mark
                    only_the_latest_value_is_kept a_reader_sees_values_in_order_up_to_the_last
                    sender_gone_still_shows_the_last_change sender_gone_wakes_the_waiting
                    every_receiver_sees_the_change a_clone_knows_what_its_parent_saw
                    subscribing_starts_at_the_present marks_can_be_set_by_hand
                    send_variants_and_whom_they_wake a_panicking_modify_changes_nothing_visible
                    wait_for_checks_the_present_first wait_for_survives_a_panicking_predicate
                    closed_waits_for_all_receivers closed_goes_on_waiting_for_a_late_subscriber
                    dropped_changed_misses_nothing senders_compare_and_default;
            }
            blocking {
                any: the_closure_returns_to_its_joiner it_has_an_id it_may_spawn_tasks
                    abort_cannot_stop_it_once_it_runs a_dropped_handle_lets_it_finish
                    blocked_threads_do_not_stop_tasks a_task_must_not_block;
                clock: sleeping_tasks_wake_a_blocked_thread;
                multi: block_in_place_runs_where_it_is block_in_place_may_block
                    block_in_place_passes_panics_on;
            }
            clock {
                clock: advance_moves_the_clock_exactly advance_fires_what_is_due
                    advance_in_steps_reaches_the_deadline a_deadline_within_the_current_millisecond
                    advance_and_sleep_add_up pausing_twice_panics a_resumed_clock_still_sleeps
                    the_unread_past_is_not_repeated time_waits_for_blocking_tasks;
            }
            coop {
                any: channels_spend_budget locks_spend_budget announcements_spend_budget
                    joins_spend_budget try_operations_are_free unconstrained_lifts_the_limit
                    the_budget_comes_back_with_the_next_poll a_spent_budget_holds_for_everything
                    pending_operations_cost_nothing own_futures_can_take_part
                    a_starved_future_is_woken_again a_long_read_is_cut_into_polls;
                clock: tasks_and_timers_spend_budget;
            }
            interval {
                clock: the_first_tick_is_immediate interval_at_waits_for_its_start burst_catches_up
                    delay_starts_anew skip_keeps_the_beat five_milliseconds_late_is_not_missed
                    resets a_dropped_tick_is_not_lost polled_by_hand two_intervals_share_the_clock
                    a_zero_period_panics a_very_long_period_is_capped fractions_of_a_millisecond;
            }
            join {
                any: all_outputs_come_in_order the_first_to_be_polled_rotates biased_keeps_the_order
                    try_join_stops_at_the_first_error try_join_unwraps_success
                    finished_branches_are_not_polled_again a_wake_reaches_the_whole_join;
                clock: branches_run_concurrently;
            }
            select {
                any: biased_asks_in_order preconditions_switch_branches_off
                    patterns_that_do_not_match_disable nothing_left_panics
                    one_of_the_ready_ones_wins losers_are_dropped_before_the_handler
                    a_cancelled_recv_loses_no_message closed_channels_end_a_merge
                    branches_may_borrow_and_return a_wake_meant_for_a_loser_is_passed_on;
                clock: the_earlier_timer_wins a_loop_over_a_pinned_sleep;
            }
            sleep {
                clock: sleeping_takes_as_long_as_it_says fractions_round_up_to_milliseconds
                    sleepers_wake_in_the_order_of_their_deadlines
                    time_stands_still_while_there_is_work zero_and_past_sleeps_are_ready_at_once
                    a_polled_sleep_reports_its_state an_unpolled_sleep_does_not_hold_the_clock
                    reset_moves_the_deadline reset_to_an_earlier_time_wakes_earlier
                    a_dropped_sleep_wakes_nobody only_the_last_waker_is_called
                    far_futures_are_possible the_clock_jumps_over_dropped_deadlines
                    instants_calculate equal_deadlines_wake_everybody_at_once;
            }
            spawn {
                any: join_returns_the_output a_panic_becomes_an_error
                    a_panic_after_an_await_does_too a_panicking_task_disturbs_no_other
                    abort_cancels_and_drops into_panic_of_a_cancelled_task_panics
                    abort_after_the_end_changes_nothing abort_handles_act_from_afar
                    a_dropped_handle_detaches abort_handles_do_not_keep_the_output
                    joining_is_woken_once_done a_task_knows_its_id the_root_has_no_id
                    ids_are_unique_and_errors_carry_them the_id_is_current_while_a_task_is_dropped
                    a_panic_while_aborting_is_the_result a_panic_in_an_unread_output_is_swallowed
                    aborting_oneself_takes_effect_at_the_next_await errors_turn_into_io_errors
                    a_destructor_may_spawn;
            }
            timeout {
                clock: a_late_future_is_elapsed an_early_future_wins the_future_is_asked_first
                    a_very_long_timeout_is_none the_loser_is_dropped_with_the_timeout
                    the_future_can_be_reached a_nested_timeout_ends_first
                    a_timed_out_lock_leaves_the_queue a_timeout_polled_by_hand
                    a_busy_future_cannot_starve_its_timeout a_server_that_answers_in_time
                    panics_pass_through;
            }
} } }

macro_rules! files {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => { $(pub(crate) mod $file;)* };
}

#[path = "../src/contracts"]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use tokio::{join, pin, select, spawn, sync, task, task_local, time, try_join};
    }

    interim!(files);
}

#[path = "../src/contracts"]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_executor::{
            join, pin, select, spawn, task, task_local, time, try_join,
        };
        pub(crate) mod sync { pub(crate) use cct_sync::*; pub(crate) use tokio::sync::{mpsc, oneshot, watch, broadcast}; }
    }

    interim!(files);
}

macro_rules! tests {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => {
        $(mod $file {
            $($(#[test]
            fn $name() {
                let expected = cct_tests::tokio_side::$kind(crate::on_tokio::$file::$name);
                let name = concat!(stringify!($file), "::", stringify!($name));
                cct_tests::cct_side::$kind(name, crate::on_cct::$file::$name, expected);
            })*)*
        })*
    };
}

interim!(tests);
