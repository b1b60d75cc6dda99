//! All contracts of sockets, by file: whoever runs them runs all of them.

/// Hands the list to a macro.
macro_rules! socket_contracts {
    ($run:ident) => {
        $run! {
            tcp: hello half_close peek_and_try split_and_reunite back_pressure backlog early_bird
                vectored version_6 both_versions readiness names growing_buffers what_panics_may_pass service;
            tcp_errors: refused taken shared_port elsewhere close_with_unread_data zero_linger data_before_reset
                write_to_closed write_after_shutdown listener_dropped bad_names forgotten_peer numbers
                reset_at_the_end all_addresses;
            udp: echo connected unreachable truncated peeking nothing_there forbidden_broadcast
                growing_buffers senders settings poll_peek elsewhere numbers order_of_errors both_versions
                narrowed;
            known: reading peeking writing closed_while_full half_written own_operations udp udp_error
                budget datagrams again_until_it_works only_who_waits dropped woken_for_nothing
                several_interests nothing_at_all coming_back urgent;
            unix: pair listen_and_connect closed paths no_paths datagrams datagrams_to_nobody full growing_buffers
                strangers hang_up by_address abstract_names not_accepted end_of_much new_peers full_and_nowhere;
            descriptors: everybody_has_one options sharing there_and_back listeners_there_and_back addresses_of_the_standard_library_are_taken
                datagrams_there_and_back unix_there_and_back listeners_of_the_standard_library
                unix_listeners_of_the_standard_library several_of_them
                sockets_of_others credentials those_that_block;
            by_descriptor: one_by_one readiness names errors of_the_standard_library with_what_goes_along
                from_elsewhere several_at_a_time;
            begun: heard before_the_listener_is_tokios refused;
            streams_by_descriptor: sent_and_received addresses shut_down readers_are_shut_down of_unix_streams
                options of_the_standard_library those_that_block;
            unix_socket: names backlog not_listening datagrams of_the_wrong_kind unlinked;
        }
    };
}
