//! The contracts of channels and locks.

/// Hands every contract of `sync` to `$side!`, a macro that makes one test of each.
///
/// The form is `FILE { KIND: NAME NAME; KIND: NAME; }`; kinds are explained at the crate root.
#[macro_export]
macro_rules! sync_contracts {
    ($side:ident) => {
        $side! {
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
            crowds {
                any: semaphores_wake_a_crowd_in_order notify_waiters_wakes_a_crowd_in_order
                    broadcast_wakes_a_crowd watch_wakes_a_crowd set_once_wakes_a_crowd
                    readers_are_woken_as_a_crowd a_closed_channel_wakes_a_crowd_of_senders
                    long_queues_keep_their_order every_sender_of_a_crowd_gets_its_turn
                    a_set_of_many_tasks_is_joined;
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
                clock: timed_out_send_leaves_the_queue;
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
                clock: who_gives_way_twice_is_woken_once;
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
            watch_borrow {
                any: a_borrowed_value_does_not_change a_change_is_seen_whole no_change_is_missed
                    two_writers_and_a_waiting_reader;
            }
        }
    };
}
