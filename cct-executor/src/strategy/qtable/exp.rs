//! `exp` of numbers that are not positive, the same on every machine.
//!
//! The standard library's may differ in the last bit between platforms, and so could a schedule.
//! Here only additions and multiplications are used, which IEEE 754 fixes.

/// Adding it to a small number, and taking it away again, rounds to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Below it the result is 0. The results of the last numbers above it are not subnormal.
const LEAST: f64 = -708.0;

/// What `2^r - 1` is made of for `r` from -1/2 to 1/2, by rising powers: the polynomial with the least
/// relative error.
const POWERS: [f64; 6] = [
    0.693_147_202_855_211_8,
    0.240_226_479_136_157_27,
    0.055_503_324_707_830_85,
    0.009_618_437_358_227_963,
    0.001_339_887_455_729_186_7,
    0.000_153_533_620_645_883_97,
];

/// `e^x` for `x <= 0`, with a relative error below `3e-9`; 0 below -708.
#[inline]
pub(in crate::strategy) fn exp(x: f64) -> f64 {
    debug_assert!(x <= 0.0);
    if x < LEAST { 0.0 } else { exp_above_least(x) }
}

/// As [`exp`], for `x` from -708 to 0: without a branch, so that several can be taken at once, and with
/// as few operations as can be that wait for each other, as what runs next waits for all of them.
#[inline(always)]
pub(super) fn exp_above_least(x: f64) -> f64 {
    let exponent = x * std::f64::consts::LOG2_E;
    let shifted = exponent + ROUND;
    let r = exponent - (shifted - ROUND);
    let r2 = r * r;
    let r4 = r2 * r2;
    let [a, b, c, d, e, f] = POWERS;
    let low = (1.0 + a * r) + r2 * (b + c * r);
    let high = (d + e * r) + r2 * f;
    // The rounded exponent is in the lowest bits of the sum that rounded it.
    let bits = shifted.to_bits().wrapping_add(1023);
    (low + r4 * high) * f64::from_bits(bits << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_below_the_bound() {
        for i in 0..=2_000_000 {
            let x = -707.9 * f64::from(i) / 2_000_000.0;
            let (ours, std) = (exp(x), x.exp());
            assert!((ours - std).abs() <= 3e-9 * std, "{x}: {ours} and {std}");
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
        assert_eq!(bits, 0xfe32cd55dfb2a946);
    }
}
