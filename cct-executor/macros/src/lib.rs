//! Procedural macros of `cct-executor`. Use them through that crate.
//!
//! They parse, check and rewrite; they hold no logic. What a test or a `select!` does at run time
//! is decided by the functions of `cct_executor::__private` that the expansions call.
//!
//! - [`test`](macro@test): options in `attribute/options.rs`, literals in `attribute/values.rs`.
//! - `select!`, `join!`, `try_join!`: wrapped by declarative macros in `cct-executor`, which pass
//!   their `$crate` as the first token, so that they can be exported again under another name.
//!
//! Invariants: expansions contain no `unsafe`; local names are hygienic; a mistake is reported at
//! the token that made it, and then nothing else is emitted that could fail in its turn.

mod attribute;
mod join;
mod select;

use attribute::Home;
use proc_macro::TokenStream;

/// Turns an `async fn` into a test that is run many times, each time under other decisions. A function
/// that is not `async` may block, and build runtimes of its own.
///
/// ```text
/// #[cct_executor::test(iterations = 500, strategy = "pct:d=3")]
/// async fn transfer_is_atomic() { .. }
/// ```
///
/// The function takes no parameters and returns `()`, a `Result` or an `ExitCode`; anything that
/// implements `ScenarioResult` will do. (If another attribute below this one makes cases of parameters, as
/// `#[rstest]` does, each run begins with clones of the values; where a type has none, `cargo cct test` runs the
/// test once.) All options may be left out; the environment (`CCT_*`) overrides them.
///
/// | option | value | meaning |
/// |---|---|---|
/// | `iterations` | integer | how often the scenario is run |
/// | `time_budget` | `"10s"`, `"none"` | stop after this much real time |
/// | `strategy` | `"pct:d=3"` | which strategy decides; checked when the test starts |
/// | `seed` | `42`, `"0x9f2c"` | where the strategy's randomness comes from |
/// | `workers` | integer | threads that run iterations |
/// | `clock` | `"strict"`, `"lagging(1ms)"`, `"racing(5ms)"`, `"adversarial"` | when virtual time may move |
/// | `granularity` | `"await"`, `"op"`, `"spawn"`, `"sync"`, `"atomic"` | where scheduling points lie |
/// | `max_steps`, `max_tasks` | integer | limits on one iteration |
/// | `max_time` | `"1h"` | limit on the virtual time of one iteration |
/// | `poll_limit` | `"10s"` | limit on the time of one poll, by the clock, or of the processor while it works |
/// | `fail_on_leak` | bool | fail when tasks are left over at the end |
/// | `fail_on_limit` | bool | fail when an iteration reaches a limit |
/// | `determinism_check` | bool | repeat an iteration and compare the traces |
/// | `await_check` | bool | after a failure at a finer granularity, try granularity `await` too |
/// | `shrink` | bool | after a failure, look for a shorter schedule that fails in the same way |
/// | `isolation` | `"thread"`, `"process"`, `"none"` | whether each iteration gets a thread, or a process, of its own |
/// | `coop_budget` | bool | tokio's cooperative budget |
/// | `spurious_polls` | bool | polls that nothing asked for |
/// | `partial_io` | bool | streams read and write less than they could |
/// | `lasting_yields` | bool | a task goes on after a yield when nobody else is ready, as on tokio's `current_thread` |
/// | `late_timers` | bool | time has gone a little past the deadline when a timer fires, as on any machine |
/// | `start_paused` | bool | as in tokio |
/// | `keep_going` | bool | count failures instead of stopping at the first |
/// | `learnt` | `"file"` | where a strategy keeps what it has learnt |
/// | `flavor` | `"multi_thread"`, `"current_thread"`, `"local"` | the last two imply `granularity = "await"`, and the runtime says that it has one thread; under `local` the test may call `spawn_local`; under `"multi_thread"` no scheduler runs the test itself, so who gives way there is woken at once, which combinators notice |
/// | `worker_threads` | integer | accepted for tokio's sake; does not narrow the exploration |
/// | `name` | string | a runtime's name in tokio; accepted, without effect |
/// | `crate` | `"path"` or path | where `cct_executor` is found, if renamed |
///
/// Durations are an integer and a unit: `ms`, `s`, `m` or `h`.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(Home::Executor, args.into(), item.into()).into()
}

/// Turns an `async fn` into a function that builds a runtime and blocks until its body is done, as
/// tokio's attribute of this name does. It does so where a runtime can be built: inside a scenario, in a
/// test that is no `async fn`, or one without an attribute of ours that is run as it is.
///
/// Anywhere else, as in a program or an example of the documentation, it is a scenario itself, and run many
/// times: if it takes no parameters and returns nothing, or a `Result<(), _>`. A failure of `main` that does not come
/// where it is run once in a process of its own is none, as what it has set up for its process stays.
///
/// Options are `flavor` (`"multi_thread"`, `"current_thread"` or `"local"`), `start_paused`, `name`, `crate`, and
/// `worker_threads`, which has no effect.
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute::main_fn::expand(Home::Executor, args.into(), item.into()).into()
}

/// [`test`](macro@test) of the crate that stands in for tokio.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_test(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(Home::Tokio, args.into(), item.into()).into()
}

/// [`main`](macro@main) of the crate that stands in for tokio.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_main(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute::main_fn::expand(Home::Tokio, args.into(), item.into()).into()
}

/// Behind `cct_executor::select!`.
#[doc(hidden)]
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::expand(input.into()).into()
}

/// Behind `cct_executor::join!`.
#[doc(hidden)]
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    join::expand(input.into(), join::Kind::All).into()
}

/// Behind `cct_executor::try_join!`.
#[doc(hidden)]
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    join::expand(input.into(), join::Kind::Try).into()
}
