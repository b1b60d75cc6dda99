//! `exp` of numbers that are not positive, the same on every machine.
//!
//! The standard library's may differ in the last bit between platforms, and so could a schedule.
//! Here only additions and multiplications are used, which IEEE 754 fixes.

/// Half of the bits of ln 2, so that products with small integers are exact, and the rest.
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding it to a small number, and taking it away again, rounds to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Below it the result is 0. The results of the last numbers above it are not subnormal.
const LEAST: f64 = -708.0;

/// `e^x` for `x <= 0`, with a relative error below `3e-10`; 0 below -708.
#[inline]
pub(in crate::strategy) fn exp(x: f64) -> f64 {
    debug_assert!(x <= 0.0);
    if x < LEAST { 0.0 } else { exp_above_least(x) }
}

/// As [`exp`], for `x` from -708 to 0: without a branch, so that several can be taken at once.
#[inline(always)]
pub(super) fn exp_above_least(x: f64) -> f64 {
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let (r2, r4) = (r * r, r * r * r * r);
    // Taylor's series up to the eighth power, for |r| <= 0.3466, in the order in which it is
    // evaluated fastest.
    let low = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    let high = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    let series = low + r4 * (high + r4 * (1.0 / 40_320.0));
    // `k` is in the lowest bits of the sum that rounded it.
    let exponent = shifted.to_bits().wrapping_add(1023);
    series * f64::from_bits(exponent << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_below_the_bound() {
        for i in 0..=2_000_000 {
            let x = -707.9 * f64::from(i) / 2_000_000.0;
            let (ours, std) = (exp(x), x.exp());
            assert!((ours - std).abs() <= 3e-10 * std, "{x}: {ours} and {std}");
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(-709.0), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert!(exp(-708.0) > 0.0);
    }

    /// The same bits everywhere.
    #[test]
    fn the_bits_are_fixed() {
        let bits = (0..1000).fold(0_u64, |sum, i| {
            sum.rotate_left(1) ^ exp(-0.37 * f64::from(i)).to_bits()
        });
        assert_eq!(bits, 0xa8db0a9b077b9de1);
    }
}
