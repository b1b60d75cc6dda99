//! The contracts of tasks, time and macros.

/// Hands every contract of tasks, time and macros to `$side!`, as
/// [`sync_contracts!`](crate::sync_contracts) does.
#[macro_export]
macro_rules! runtime_contracts {
    ($side:ident) => {
        $side! {
            auto_traits {
                any: channels_between_threads locks_between_threads tasks_and_time_between_threads
                    what_may_move what_panics_may_pass futures_of_channels futures_of_locks
                    futures_of_tasks_and_time;
            }
            blocking {
                any: the_closure_returns_to_its_joiner it_has_an_id it_may_spawn_tasks
                    abort_cannot_stop_it_once_it_runs a_dropped_handle_lets_it_finish
                    blocked_threads_do_not_stop_tasks a_task_must_not_block;
                clock: sleeping_tasks_wake_a_blocked_thread;
                multi: block_in_place_runs_where_it_is block_in_place_may_block
                    block_in_place_on_one_thread block_in_place_wakes_who_gave_way
                    block_in_place_passes_panics_on;
            }
            blocking_threads {
                any: one_runs_after_the_other as_many_run_as_there_are_threads
                    those_that_wait_can_be_aborted those_that_wait_outlive_the_runtime
                    a_panic_makes_room;
            }
            budget {
                any: what_channel_operations_cost what_cells_and_locks_cost
                    what_tasks_and_macros_cost with_nothing_left a_blocking_closure_has_no_limit
                    the_root_has_a_budget_too local_tasks_have_their_own;
                clock: a_timeout_works_without_budget timers_in_a_row;
            }
            clock {
                clock: advance_moves_the_clock_exactly advance_fires_what_is_due
                    advance_in_steps_reaches_the_deadline a_deadline_within_the_current_millisecond
                    sleeps_between_milliseconds_are_never_short advance_and_sleep_add_up
                    pausing_twice_panics a_resumed_clock_still_sleeps
                    a_paused_clock_stands_while_a_poll_sleeps
                    a_paused_clock_stands_while_a_closure_sleeps
                    the_unread_past_is_not_repeated time_waits_for_blocking_tasks
                    timers_do_not_fire_in_the_poll_that_advances an_advance_outlives_its_task;
            }
            combinators {
                clock: futures_unordered_yields_by_completion futures_unordered_takes_what_is_woken
                    futures_unordered_polls_only_the_woken futures_ordered_keeps_the_order
                    join_all_over_tasks select_leaves_the_loser_alive select_all_and_select_ok
                    shared_futures_wake_everybody buffered_streams
                    abortable_futures_drop_what_they_hold futures_select_is_fair_to_the_semantics
                    futures_channels_work_between_tasks unfold_and_take_until retries_until_success
                    futures_unordered_of_those_who_yield;
            }
            coop {
                any: channels_spend_budget locks_spend_budget announcements_spend_budget
                    joins_spend_budget try_operations_are_free unconstrained_lifts_the_limit
                    the_budget_comes_back_with_the_next_poll a_spent_budget_holds_for_everything
                    pending_operations_cost_nothing own_futures_can_take_part
                    a_starved_future_is_woken_again a_long_read_is_cut_into_polls;
                clock: tasks_and_timers_spend_budget;
            }
            fifo {
                fifo: tasks_start_in_spawn_order self_wakes_rotate children_run_after_their_elders
                    an_aborted_newborn_never_runs notify_waiters_wakes_in_order
                    a_mutex_goes_round_in_order a_full_channel_alternates broadcast_wakes_in_order
                    equal_deadlines_fire_in_order a_ready_operation_does_not_yield
                    join_handles_report_in_order those_who_yield_come_back_in_reverse
                    a_yield_under_a_time_limit_is_one a_round_begins_with_the_only_task
                    who_ran_last_keeps_the_place_of_its_timer
                    a_child_comes_before_who_waits_for_its_parent
                    a_yield_of_the_root_lets_everybody_run
                    the_root_waits_for_the_end_of_the_round a_round_has_an_end
                    who_yields_comes_after_who_became_ready;
            }
            giving_way {
                any: in_the_root_of_a_runtime in_tasks where_blocking_is_allowed in_a_second_root
                    a_set_of_futures_sees_it;
                multi: in_block_in_place;
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
            join_set {
                any: joins_everything_once an_empty_set_has_nothing_to_join
                    join_all_panics_with_its_task try_join_next_does_not_wait ids_tell_who_it_was
                    panics_and_aborts_are_results abort_all_cancels_what_is_left
                    shutdown_waits_until_they_are_gone a_dropped_set_aborts detached_tasks_go_on
                    an_aborted_task_may_still_be_joined polling_by_hand collects_from_an_iterator
                    blocking_tasks_join_too spawning_outside_a_local_set_panics
                    dropped_join_next_loses_nothing;
                clock: joins_in_the_order_of_completion join_all_keeps_the_order_of_completion;
            }
            local {
                any: run_until_returns_the_output awaiting_the_set_runs_every_task
                    tasks_rest_while_nobody_drives_the_set spawn_local_needs_a_set
                    enter_makes_the_set_current a_dropped_set_drops_its_tasks
                    a_pending_run_until_gives_every_task_a_turn panics_and_aborts_are_results
                    local_tasks_reach_the_world_outside local_tasks_never_overlap_inside_a_poll
                    join_sets_hold_local_tasks sets_can_nest
                    a_cancelled_run_until_leaves_tasks_where_they_were
                    local_tasks_can_be_aborted_from_elsewhere local_tasks_have_ids sets_have_ids;
                clock: local_sleeps_follow_the_clock;
                fifo: local_tasks_start_in_order;
            }
            local_runtimes {
                any: tasks_share_what_is_not_sent tasks_run_in_block_on_only
                    local_tasks_never_overlap its_tasks_end_with_it_on_the_spot
                    destructors_see_the_runtime it_is_entered_on_its_own_thread_only
                    it_comes_before_a_set it_has_one_thread_and_no_more;
            }
            mid_poll {
                any: an_aborted_task_is_not_dropped_inside_a_poll
                    a_woken_task_is_not_polled_twice_at_once a_task_keeps_its_id_and_its_locals
                    local_tasks_share_cells_without_locks nobody_sees_the_panic_of_another_task
                    a_panic_may_be_caught_around_operations resumed_panics_are_panics
                    nested_local_state_survives;
            }
            own_clocks {
                clock: one_stands_while_another_goes_on they_go_on_in_turn
                    timers_are_kept_while_it_stands it_is_paused_inside;
            }
            runtimes {
                any: it_runs_its_root_and_its_tasks one_thread_runs_tasks_in_block_on_only
                    one_thread_runs_one_thing_at_a_time its_tasks_end_with_it
                    it_waits_for_its_blocking_closures
                    closures_that_have_not_begun_run_all_the_same a_limit_to_waiting
                    what_is_spawned_belongs_to_its_spawners it_is_entered_and_left
                    guards_go_in_reverse_order a_task_may_not_wait_for_it a_local_set_runs_on_it
                    a_local_set_shares_the_one_thread
                    two_threads_drive_one its_root_has_a_budget wakers_of_others_work_in_it
                    a_replaced_waker_may_run_it its_clock_is_the_tests
                    errors_of_its_end_are_known_by_their_words tasks_are_counted workers_have_numbers;
            }
            select {
                any: biased_asks_in_order preconditions_switch_branches_off
                    patterns_that_do_not_match_disable nothing_left_panics
                    one_of_the_ready_ones_wins losers_are_dropped_before_the_handler
                    a_cancelled_recv_loses_no_message closed_channels_end_a_merge
                    branches_may_borrow_and_return a_wake_meant_for_a_loser_is_passed_on
                    expressions_see_the_name_pin;
                clock: the_earlier_timer_wins a_loop_over_a_pinned_sleep;
            }
            send_timeout {
                clock: send_timeout_gives_the_value_back send_timeout_succeeds_when_room_appears;
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
                    a_future_that_panics_is_dropped_as_it_unwinds
                    a_panic_after_an_await_does_too a_panicking_task_disturbs_no_other
                    abort_cancels_and_drops into_panic_of_a_cancelled_task_panics
                    abort_after_the_end_changes_nothing abort_handles_act_from_afar
                    a_dropped_handle_detaches abort_handles_do_not_keep_the_output
                    joining_is_woken_once_done a_task_knows_its_id the_root_has_no_id
                    ids_are_unique_and_errors_carry_them the_id_is_current_while_a_task_is_dropped
                    an_output_that_nobody_takes_is_dropped_in_its_tasks_name
                    a_panic_while_aborting_is_the_result
                    aborting_oneself_takes_effect_at_the_next_await errors_turn_into_io_errors
                    a_destructor_may_spawn;
            }
            task_local {
                any: a_scope_sets_the_value scopes_nest the_value_survives_suspension
                    each_task_has_its_own children_do_not_inherit errors_in_words
                    the_value_can_be_taken_back it_is_there_while_the_future_is_dropped;
            }
            teardown {
                any: destructors_may_use_anything waiting_tasks_are_left_behind
                    running_tasks_are_left_behind a_waker_outlives_its_runtime
                    nested_spawns_end_with_the_root;
            }
            thread_hooks {
                any: threads_are_told_to_start_and_end a_thread_is_told_before_it_does_anything
                    closures_at_the_same_time_have_a_thread_each closures_that_share_a_thread
                    they_are_inside_the_runtime_and_may_block
                    a_thread_ends_with_its_closure_after_the_runtime the_last_ones_given_are_called;
            }
            timeout {
                clock: a_late_future_is_elapsed an_early_future_wins the_future_is_asked_first
                    a_very_long_timeout_is_none the_loser_is_dropped_with_the_timeout
                    the_future_can_be_reached a_nested_timeout_ends_first
                    a_timed_out_lock_leaves_the_queue a_timeout_polled_by_hand
                    a_busy_future_cannot_starve_its_timeout a_server_that_answers_in_time
                    panics_pass_through;
            }
            timers {
                clock: deadlines_decide_the_order advance_fires_in_the_order_of_deadlines
                    a_reset_timer_fires_at_its_new_time_only a_reset_timer_keeps_its_waker
                    dropped_timers_do_not_ring timers_of_many_tasks_keep_their_distance
                    work_after_a_timer_happens_at_its_time nested_timeouts_and_intervals
                    a_timer_that_is_over_wakes_at_its_next_deadline;
            }
        }
    };
}
