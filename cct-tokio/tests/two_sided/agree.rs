//! What was noted on tokio, compared with what is noted on ours.

use crate::worlds;

/// Ours notes the same under every schedule that is tried.
pub(crate) fn agrees<F>(
    name: &str,
    iterations: u64,
    expected: &[String],
    ours: impl Fn() -> F + Copy + Send + Sync + 'static,
) where
    F: Future<Output = Vec<String>> + 'static,
{
    assert!(!expected.is_empty(), "a contract that notes nothing");
    worlds::everywhere(name, iterations, |checker| {
        let expected = expected.to_vec();
        checker.run(move || {
            let expected = expected.clone();
            async move { assert_eq!(ours().await, expected, "ours on the left") }
        })
    });
}
