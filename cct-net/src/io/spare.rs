//! Buffers that grow: how much one operation puts into them.

use bytes::BufMut;

/// How much fits before the buffer would have to grow, which tokio does not make it do: what is
/// longer waits in a stream, and is cut off in a datagram. A full `Vec` grows by a little first.
pub(crate) fn spare<B: BufMut + ?Sized>(buf: &mut B) -> usize {
    buf.chunk_mut().len()
}

/// Appends what fits of a datagram. Returns how much that is.
pub(crate) fn append<B: BufMut + ?Sized>(buf: &mut B, data: &[u8]) -> usize {
    let count = data.len().min(spare(buf));
    buf.put_slice(&data[..count]);
    count
}
