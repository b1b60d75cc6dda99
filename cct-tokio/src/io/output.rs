//! A stream of bytes that is printed as text, by blocking tasks.
//!
//! A character that is cut in two waits for its rest. What is no text, and what waits at a flush, is printed
//! with replacement characters.

use crate::pool::{self, Site};
use crate::task::JoinHandle;
use std::io;
use std::mem::take;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How much is printed at once: as much as tokio writes.
const AT_ONCE: usize = 2 * 1024 * 1024;

/// Where text goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    pub(super) print: fn(&str),
    pub(super) flush: fn() -> io::Result<()>,
}

/// A stream that is printed.
#[derive(Debug)]
pub(super) struct Output {
    printer: Printer,
    state: State,
    flushed: bool,
    site: Site,
}

#[derive(Debug)]
enum State {
    Idle(Rest),
    Busy(JoinHandle<(io::Result<()>, Rest)>),
}

/// The beginning of a character.
#[derive(Debug)]
struct Rest {
    bytes: Vec<u8>,
    printer: Printer,
}

impl Output {
    #[track_caller]
    pub(super) fn new(printer: Printer) -> Output {
        Output {
            printer,
            state: State::Idle(Rest::none(printer)),
            flushed: true,
            site: Location::caller(),
        }
    }

    /// Waits for what is under way.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Rest>> {
        let none = State::Idle(Rest::none(self.printer));
        Poll::Ready(match &mut self.state {
            State::Idle(rest) => Ok(rest.take()),
            State::Busy(task) => {
                let ended = ready!(Pin::new(task).poll(cx));
                self.state = none;
                let (result, rest) = ended?;
                match result {
                    Ok(()) => Ok(rest),
                    Err(error) => {
                        self.state = State::Idle(rest);
                        Err(error)
                    }
                }
            }
        })
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut rest = ready!(self.poll_idle(cx))?;
        let count = bytes.len().min(AT_ONCE);
        let bytes = bytes[..count].to_owned();
        let printing = pool::spawn_mandatory(self.site, "write to the terminal", move || {
            rest.bytes.extend(bytes);
            rest.print_whole_characters();
            (Ok(()), rest)
        });
        self.state = State::Busy(printing.ok_or_else(gone)?);
        self.flushed = false;
        Poll::Ready(Ok(count))
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut rest = ready!(self.poll_idle(cx))?;
            if self.flushed {
                self.state = State::Idle(rest);
                return Poll::Ready(Ok(()));
            }
            self.flushed = true;
            let flushing = pool::spawn_mandatory(self.site, "flush the terminal", move || {
                rest.print_all();
                ((rest.printer.flush)(), rest)
            });
            self.state = State::Busy(flushing.ok_or_else(gone)?);
        }
    }
}

/// What tokio says when the runtime is gone.
pub(crate) fn gone() -> io::Error {
    io::Error::other("A Tokio 1.x context was found, but it is being shutdown.")
}

impl Rest {
    fn none(printer: Printer) -> Rest {
        Rest {
            bytes: Vec::new(),
            printer,
        }
    }

    fn take(&mut self) -> Rest {
        Rest {
            bytes: take(&mut self.bytes),
            printer: self.printer,
        }
    }

    fn print_whole_characters(&mut self) {
        let rest = self.bytes.split_off(whole_characters(&self.bytes));
        self.print_all();
        self.bytes = rest;
    }

    fn print_all(&mut self) {
        let bytes = take(&mut self.bytes);
        if !bytes.is_empty() {
            (self.printer.print)(&String::from_utf8_lossy(&bytes));
        }
    }
}

/// What was written was written, though nobody flushed it.
impl Drop for Rest {
    fn drop(&mut self) {
        self.print_all();
    }
}

/// How many of these bytes there are before a last character of which some are missing.
fn whole_characters(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let cut = last.map_or(0, |chunk| match std::str::from_utf8(chunk.invalid()) {
        // What has no length of its own may go on.
        Err(error) if error.error_len().is_none() => chunk.invalid().len(),
        _ => 0,
    });
    bytes.len() - cut
}

#[cfg(test)]
mod tests {
    use super::{Output, Printer, whole_characters};
    use cct_executor::Checker;
    use std::cell::RefCell;
    use std::future::poll_fn;

    thread_local! {
        static PRINTED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    const NOTED: Printer = Printer {
        print: |text| PRINTED.with_borrow_mut(|printed| printed.push(text.to_owned())),
        flush: || Ok(()),
    };

    fn run<F: Future<Output = ()> + 'static>(scenario: fn() -> F) {
        let checker = Checker::new().name("output").use_environment(false);
        let report = checker
            .iterations(50)
            .time_budget(None)
            .run(move || async move {
                PRINTED.take();
                scenario().await;
            });
        report.assert_passed();
    }

    async fn write(output: &mut Output, bytes: &[u8]) {
        let written = poll_fn(|cx| output.poll_write(cx, bytes)).await;
        assert_eq!(written.unwrap(), bytes.len());
    }

    async fn flush(output: &mut Output) {
        poll_fn(|cx| output.poll_flush(cx)).await.unwrap();
    }

    #[test]
    fn only_the_end_can_be_cut() {
        let euro = "€".as_bytes();
        assert_eq!(whole_characters(b""), 0);
        assert_eq!(whole_characters(euro), 3);
        assert_eq!(whole_characters(&euro[..2]), 0);
        assert_eq!(whole_characters(b"a\xe2"), 1);
        assert_eq!(whole_characters(b"a\xff"), 2);
        assert_eq!(whole_characters(b"\xe2a"), 2);
    }

    #[test]
    fn a_character_that_is_cut_waits_for_its_rest() {
        run(|| async {
            let mut output = Output::new(NOTED);
            write(&mut output, b"1 \xe2\x82").await;
            write(&mut output, b"\xac").await;
            flush(&mut output).await;
            assert_eq!(PRINTED.take(), ["1 ", "€"]);
        });
    }

    #[test]
    fn what_waits_is_printed_at_a_flush_and_at_the_end() {
        run(|| async {
            let mut output = Output::new(NOTED);
            write(&mut output, b"\xe2\x82").await;
            flush(&mut output).await;
            assert_eq!(PRINTED.take(), ["\u{fffd}"]);
            write(&mut output, b"\xe2").await;
            drop(output);
            while PRINTED.with_borrow(Vec::is_empty) {
                cct_executor::task::yield_now().await;
            }
            assert_eq!(PRINTED.take(), ["\u{fffd}"]);
        });
    }

    #[test]
    fn a_runtime_that_is_shut_down_prints_nothing() {
        run(|| async {
            let body = cct_executor::task::spawn_blocking(|| {
                let runtime = cct_executor::runtime::Runtime::new().unwrap();
                let handle = runtime.handle().clone();
                let _inside = handle.enter();
                drop(runtime);
                let mut output = Output::new(NOTED);
                let written = poll_fn(|cx| output.poll_write(cx, b"lost"));
                handle.block_on(written).unwrap_err()
            });
            let error = body.await.unwrap();
            assert!(cct_executor::runtime::is_rt_shutdown_err(&error));
            assert!(PRINTED.take().is_empty());
        });
    }

    #[test]
    fn what_was_written_is_on_its_way_until_a_flush() {
        run(|| async {
            let mut output = Output::new(NOTED);
            write(&mut output, b"text").await;
            let early = PRINTED.with_borrow(Vec::len);
            cct_executor::sometimes!(early == 0, "not yet");
            cct_executor::sometimes!(early == 1, "at once");
            flush(&mut output).await;
            assert_eq!(PRINTED.take(), ["text"]);
        });
    }
}
