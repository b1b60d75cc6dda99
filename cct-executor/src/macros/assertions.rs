//! `always!` and `sometimes!`: properties of the program, over all iterations.

/// Something that must hold whenever this line is reached.
///
/// Unlike `assert!` it does not unwind: the iteration fails at this place even where a panic would
/// be caught, as in a spawned task whose handle is dropped. A message may follow, as in `assert!`.
///
/// # Panics
/// Outside of a test world, if the condition is false.
///
/// # Examples
/// ```
/// let (balance, limit) = (3, -5);
/// cct_executor::always!(balance >= limit);
/// cct_executor::always!(balance >= limit, "balance {balance} is below {limit}");
/// ```
#[macro_export]
macro_rules! always {
    ($condition:expr $(,)?) => {
        $crate::always!(
            $condition,
            "`{}` does not hold",
            ::core::stringify!($condition)
        )
    };
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            $crate::__private::always_failed(
                ::std::format!($($message)+),
                ::core::panic::Location::caller(),
            );
        }
    };
}

/// Something that should hold here in at least one iteration: a run that never saw it says so.
///
/// Without a condition it is about reaching this line at all. The name is what the report shows.
///
/// # Examples
/// ```
/// let queue_len = 8;
/// cct_executor::sometimes!(queue_len == 8, "queue is full");
/// cct_executor::sometimes!("queue is looked at");
/// ```
#[macro_export]
macro_rules! sometimes {
    ($name:literal $(,)?) => {
        $crate::sometimes!(true, $name)
    };
    ($condition:expr, $name:expr $(,)?) => {
        $crate::__private::sometimes($condition, $name, ::core::file!(), ::core::line!())
    };
}

/// A state on the way to where the interesting ones are: a predicate over what was observed (see
/// [`observe`](mod@crate::observe)).
///
/// Waypoints are ordered as they are declared, usually at the beginning of the scenario; the
/// highest one that holds guides the strategy `waypoint`. One that never held is reported as a
/// [`sometimes!`](crate::sometimes) that was never reached. The predicate captures nothing; it is
/// looked at whenever something was observed.
///
/// # Examples
/// ```
/// cct_executor::waypoint!("a leader", |w| w.is("role", "leader"));
/// cct_executor::waypoint!("two leaders, apart by a term", |w| {
///     w.count("role", "leader") == 2 && w.numbers("term").min() != w.number("term")
/// });
/// ```
#[macro_export]
macro_rules! waypoint {
    ($name:expr, $holds:expr $(,)?) => {
        $crate::__private::waypoint($name, $holds, ::core::file!(), ::core::line!())
    };
}

/// Something of which more is progress: a term, a log's length, how far a protocol got.
///
/// The report shows the highest value of the run; learners look for higher ones.
///
/// # Examples
/// ```
/// let committed = 3_u64;
/// cct_executor::watermark!("log length", committed);
/// ```
#[macro_export]
macro_rules! watermark {
    ($name:expr, $value:expr $(,)?) => {
        $crate::__private::watermark($name, $value, ::core::file!(), ::core::line!())
    };
}
