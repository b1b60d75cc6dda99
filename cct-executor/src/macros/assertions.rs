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
