//! Figures made of samples.

/// The middle of a sample; the mean of the two middle ones if their number is even.
pub(crate) fn median(sample: &[f64]) -> Option<f64> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some((sorted[half - 1] + sorted[half]) / 2.0),
    }
}

/// Mean and standard deviation (of the sample, divided by n - 1).
pub(crate) fn mean_and_deviation(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = sample.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

/// The two-sided p-value of the Mann-Whitney U test, by the normal approximation with ties and
/// continuity corrected. Good from about eight a side.
pub(crate) fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = a.iter().map(|&x| (x, true)).collect();
    all.extend(b.iter().map(|&x| (x, false)));
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut ranks_of_a, mut ties, mut at) = (0.0, 0.0, 0);
    while at < all.len() {
        let equal = all[at..].iter().take_while(|x| x.0 == all[at].0).count();
        let rank = at as f64 + (equal as f64 + 1.0) / 2.0;
        let from_a = all[at..at + equal].iter().filter(|x| x.1).count();
        ranks_of_a += rank * from_a as f64;
        ties += (equal as f64).powi(3) - equal as f64;
        at += equal;
    }
    let u = ranks_of_a - n * (n + 1.0) / 2.0;
    let total = n + m;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    (2.0 * upper_tail(z)).min(1.0)
}

/// The probability that a standard normal variable exceeds `z >= 0` (Abramowitz and Stegun 26.2.17,
/// error below 1e-7).
fn upper_tail(z: f64) -> f64 {
    const TERMS: [f64; 5] = [
        0.319381530,
        -0.356563782,
        1.781477937,
        -1.821255978,
        1.330274429,
    ];
    let t = 1.0 / (1.0 + 0.2316419 * z);
    let sum = TERMS.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum
}

/// The probability that `n` trials with success probability `p` give at most `k` successes
/// (Chernoff's bound, in terms of the relative entropy); 1 when `k` is not below the mean.
pub(crate) fn at_most(k: u64, n: u64, p: f64) -> f64 {
    let (k, n) = (k as f64, n as f64);
    let q = k / n;
    if q >= p {
        return 1.0;
    }
    let part = |x: f64, y: f64| if x == 0.0 { 0.0 } else { x * (x / y).ln() };
    (-n * (part(q, p) + part(1.0 - q, 1.0 - p))).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, f64::INFINITY, 2.0]), Some(3.0));
    }

    #[test]
    fn deviation() {
        let (mean, deviation) = mean_and_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(mean, 5.0);
        assert!((deviation - 2.13809).abs() < 1e-5);
    }

    /// Against figures of R's `wilcox.test(..., exact = FALSE)`.
    #[test]
    fn rank_test() {
        let a: Vec<f64> = (1..=10).map(f64::from).collect();
        let b: Vec<f64> = (6..=15).map(f64::from).collect();
        assert!((mann_whitney(&a, &b) - 0.004_972).abs() < 2e-4);
        assert_eq!(mann_whitney(&[1.0; 9], &[1.0; 9]), 1.0);
        let far: Vec<f64> = (101..=110).map(f64::from).collect();
        assert!((mann_whitney(&a, &far) - 0.000_182_7).abs() < 2e-6);
    }

    #[test]
    fn tails() {
        assert_eq!(at_most(5, 10, 0.5), 1.0);
        assert!((at_most(0, 100, 0.1) - 0.9_f64.powi(100)).abs() < 1e-12);
        assert!(at_most(10, 100, 0.5) < 1e-15);
    }
}
