//! Methods of sockets that are called by path, as functions.

use super::rt::net::*;

/// Asks that these are functions of the type.
macro_rules! has {
    ($($Type:ty: $($name:ident)*;)*) => {$($(
        let _ = <$Type>::$name;
    )*)*};
}

pub(crate) fn plain() {
    has! {
        TcpStream: local_addr peer_addr take_error nodelay set_nodelay linger set_zero_linger ttl set_ttl
            readable writable ready try_read try_read_vectored try_write try_write_vectored peek
            poll_peek poll_read_ready poll_write_ready split into_split into_std from_std;
        TcpListener: local_addr ttl set_ttl accept poll_accept into_std from_std;
        TcpSocket: bind connect listen local_addr take_error reuseaddr set_reuseaddr reuseport
            set_reuseport keepalive set_keepalive nodelay set_nodelay send_buffer_size
            set_send_buffer_size recv_buffer_size set_recv_buffer_size linger set_zero_linger tos_v4
            set_tos_v4 tclass_v6 set_tclass_v6;
        tcp::ReadHalf<'_>: local_addr peer_addr ready readable try_read try_read_vectored peek;
        tcp::OwnedReadHalf: local_addr peer_addr ready readable try_read try_read_vectored peek reunite;
        tcp::WriteHalf<'_>: local_addr peer_addr ready writable try_write try_write_vectored;
        tcp::OwnedWriteHalf: local_addr peer_addr ready writable try_write try_write_vectored forget;
        UdpSocket: local_addr peer_addr take_error ready readable writable send recv recv_from try_send
            try_send_to try_recv try_recv_from try_peek try_peek_from try_peek_sender peek peek_from
            peek_sender poll_send poll_send_to poll_recv poll_recv_from poll_peek poll_peek_from
            poll_peek_sender poll_recv_ready poll_send_ready broadcast set_broadcast multicast_loop_v4
            set_multicast_loop_v4 multicast_loop_v6 set_multicast_loop_v6 multicast_ttl_v4
            set_multicast_ttl_v4 join_multicast_v4 join_multicast_v6 leave_multicast_v4
            leave_multicast_v6 ttl set_ttl tos_v4 set_tos_v4 tclass_v6 set_tclass_v6;
        UnixStream: local_addr peer_addr peer_cred take_error readable writable ready try_read
            try_read_vectored try_write try_write_vectored poll_read_ready poll_write_ready;
        UnixListener: local_addr take_error accept poll_accept;
        unix::OwnedReadHalf: local_addr peer_addr ready readable try_read try_read_vectored;
        unix::OwnedWriteHalf: local_addr peer_addr ready writable try_write try_write_vectored;
        UnixDatagram: local_addr peer_addr take_error shutdown ready readable writable send recv
            recv_from try_send try_recv try_recv_from poll_send poll_recv poll_recv_from
            poll_recv_ready poll_send_ready;
    }
}

pub(crate) fn generic() {
    let _ = TcpStream::try_read_buf::<Vec<u8>>;
    let _ = UnixStream::try_read_buf::<Vec<u8>>;
    let _ = tcp::OwnedReadHalf::try_read_buf::<Vec<u8>>;
    let _ = UdpSocket::connect::<&str>;
    let _ = UdpSocket::send_to::<&str>;
    let _ = UdpSocket::recv_buf::<Vec<u8>>;
    let _ = UdpSocket::recv_buf_from::<Vec<u8>>;
    let _ = UnixDatagram::connect::<&str>;
    let _ = UnixDatagram::send_to::<&str>;
    let _ = UnixDatagram::try_send_to::<&str>;
    let _ = UnixDatagram::poll_send_to::<&str>;
}
