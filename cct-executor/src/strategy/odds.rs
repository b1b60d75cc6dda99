//! Tail bounds for tests that measure probabilities.
//!
//! Every assertion here fails for a correct strategy with probability below [`FALSE_ALARM`] over
//! the choice of the test's seed. Seeds are fixed, so a test that passes once passes always.

/// The probability with which a correct strategy may fail one assertion of this module.
pub(super) const FALSE_ALARM: f64 = 1e-9;

/// Chernoff's bound on the probability that `n` trials of probability `p` succeed at most `x`
/// times, for `x <= n p`: `exp(-n KL(x/n || p))`.
fn at_most(n: u64, p: f64, x: u64) -> f64 {
    let (n, q) = (n as f64, x as f64 / n as f64);
    let term = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() };
    (-n * (term(q, p) + term(1.0 - q, 1.0 - p))).exp()
}

/// Asserts that `hits` of `n` independent trials agree with a success probability of at least `p`.
#[track_caller]
pub(super) fn assert_at_least(hits: u64, n: u64, p: f64) {
    assert!(
        at_most(n, p, 0) < FALSE_ALARM,
        "{n} trials cannot tell a probability of {p} from 0: run more"
    );
    let expected = n as f64 * p;
    assert!(
        hits as f64 >= expected || at_most(n, p, hits) >= FALSE_ALARM,
        "{hits} of {n}: with a probability of {p} there should be about {expected:.1}"
    );
}

/// Asserts that `hits` of `n` independent trials agree with a success probability of exactly `p`.
#[track_caller]
pub(super) fn assert_exactly(hits: u64, n: u64, p: f64) {
    assert_at_least(hits, n, p);
    assert_at_least(n - hits, n, 1.0 - p);
}

/// Asserts that counts agree with the given relative weights, by the chi-square statistic. Its tail
/// is bounded as Laurent and Massart (2000, lemma 1) do: `P(X >= f + 2 sqrt(f x) + 2 x) <= e^-x`
/// with `f` degrees of freedom.
#[track_caller]
pub(super) fn assert_distribution(counts: &[u64], weights: &[u32]) {
    let total: u64 = counts.iter().sum();
    let weight: u32 = weights.iter().sum();
    let statistic: f64 = counts
        .iter()
        .zip(weights)
        .map(|(&count, &w)| {
            let expected = total as f64 * f64::from(w) / f64::from(weight);
            assert!(expected >= 50.0, "too few draws for a chi-square test");
            (count as f64 - expected).powi(2) / expected
        })
        .sum();
    let freedom = (counts.len() - 1) as f64;
    let x = -FALSE_ALARM.ln();
    let limit = freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x;
    assert!(
        statistic < limit,
        "chi-square {statistic:.1} is over {limit:.1}: {counts:?}"
    );
}

#[test]
fn the_bound_is_above_the_exact_tail() {
    // P(Bin(20, 1/2) <= 4) = 6196 / 2^20.
    let exact = 6196.0 / 1_048_576.0;
    let bound = at_most(20, 0.5, 4);
    assert!(exact < bound && bound < 5.0 * exact);
    assert!((at_most(10, 0.5, 0) - 0.5_f64.powi(10)).abs() < 1e-12);
}
