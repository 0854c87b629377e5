//! Figures, and what can be said of them: medians, spread, ratios, growth.

use std::fmt::Write as _;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Time, in nanoseconds; shown as ns, µs, ms or s.
    Nanoseconds,
    /// Memory or text, in bytes; shown as B, KiB, MiB or GiB.
    Bytes,
    /// Throughput; shown like bytes.
    BytesPerSecond,
    /// Anything countable, with its name in the plural, or nothing if the table says it.
    Count(&'static str),
}

impl Unit {
    /// A figure of this unit as people read it: three significant digits.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        match self {
            Self::Nanoseconds => scaled(value, 1000.0, &["ns", "µs", "ms", "s"]),
            Self::Bytes => scaled(value, 1024.0, &["B", "KiB", "MiB", "GiB"]),
            Self::BytesPerSecond => scaled(value, 1024.0, &["B/s", "KiB/s", "MiB/s", "GiB/s"]),
            Self::Count("") => plain(value),
            Self::Count(name) => format!("{} {name}", plain(value)),
        }
    }
}

/// A value in the largest unit that leaves something before the point.
fn scaled(value: f64, step: f64, names: &[&str]) -> String {
    let mut value = value;
    let mut names = names.iter();
    let mut name = names.next().copied().unwrap_or_default();
    for larger in names {
        // What would be shown as 1000 is shown as 1.00 of the next.
        if value.abs() < step - 0.5 {
            break;
        }
        value /= step;
        name = larger;
    }
    format!("{} {name}", digits(value))
}

/// A number with its thousands apart if it is whole or large, else with three significant digits.
fn plain(value: f64) -> String {
    if value.abs() < 1000.0 {
        if value.fract() == 0.0 {
            return format!("{value:.0}");
        }
        return digits(value);
    }
    let whole = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { "−" } else { "" }.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn digits(value: f64) -> String {
    let size = value.abs();
    let places = match size {
        _ if size == 0.0 || size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.places$}")
}

/// Figures of the same thing, measured more than once.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// What they count.
    pub unit: Unit,
    /// The figures, in the order of measuring.
    pub values: Vec<f64>,
}

impl Samples {
    /// Figures of one thing.
    #[must_use]
    pub const fn new(unit: Unit, values: Vec<f64>) -> Self {
        Self { unit, values }
    }

    /// The figure below which a share of all figures is, with linear interpolation; not a number if there
    /// are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return f64::NAN;
        };
        let place = share.clamp(0.0, 1.0) * as_f64(last);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between zero and the number of figures"
        )]
        let below = place.floor() as usize;
        let above = sorted[(below + 1).min(last)];
        sorted[below] + (above - sorted[below]) * place.fract()
    }

    /// The figure in the middle.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The distance between the quartiles: half of all figures are within it.
    #[must_use]
    pub fn spread(&self) -> f64 {
        self.quantile(0.75) - self.quantile(0.25)
    }

    /// How many times the median of the other ours is.
    #[must_use]
    pub fn ratio_to(&self, other: &Self) -> f64 {
        self.median() / other.median()
    }

    /// The median, as people read it.
    #[must_use]
    pub fn show_median(&self) -> String {
        self.unit.show(self.median())
    }

    /// The median with its quartiles, as people read them; only the median if there is no spread.
    #[must_use]
    pub fn show(&self) -> String {
        let mut text = self.show_median();
        let [low, high] = [0.25, 0.75].map(|share| self.unit.show(self.quantile(share)));
        if low != high {
            let _ = write!(text, " ({low} – {high})");
        }
        text
    }
}

/// A count as a number to calculate with.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "counts here are far below 2^52, from where on it would be inexact"
)]
pub const fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The exponent of growth: `k` in `y = c · x^k`, by least squares on the logarithms of both. One is linear,
/// zero does not grow. `None` with fewer than two different sizes; points that are not positive are left out.
#[must_use]
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(x, y)| *x > 0.0 && *y > 0.0)
        .map(|(x, y)| (x.ln(), y.ln()))
        .collect();
    let count = as_f64(logs.len());
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let covariance: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_lies_between_the_two_in_the_middle() {
        let samples = Samples::new(Unit::Count(""), vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(samples.median(), 2.5);
        assert_eq!(samples.spread(), 1.5);
        assert_eq!(samples.show(), "2.50 (1.75 – 3.25)");
        let other = Samples::new(Unit::Count(""), vec![5.0]);
        assert_eq!(samples.ratio_to(&other), 0.5);
        assert_eq!(other.show(), "5");
    }

    #[test]
    fn no_figures_have_no_median() {
        let none = Samples::new(Unit::Nanoseconds, Vec::new());
        assert!(none.median().is_nan());
        assert_eq!(none.show(), "–");
    }

    #[test]
    fn figures_are_shown_in_the_unit_that_fits_them() {
        assert_eq!(Unit::Nanoseconds.show(999.7), "1.00 µs");
        assert_eq!(Unit::Nanoseconds.show(12_345_678.0), "12.3 ms");
        assert_eq!(Unit::Bytes.show(0.0), "0 B");
        assert_eq!(Unit::Bytes.show(1536.0), "1.50 KiB");
        assert_eq!(Unit::Count("tokens").show(1_234_567.0), "1,234,567 tokens");
        assert_eq!(Unit::Count("").show(-1234.0), "−1,234");
        assert_eq!(Unit::Count("").show(0.25), "0.250");
    }

    #[test]
    fn growth_is_found_whatever_the_factor() {
        let squares: Vec<(f64, f64)> = [1.0, 10.0, 100.0].map(|x| (x, 7.0 * x * x)).to_vec();
        assert!((exponent(&squares).unwrap() - 2.0).abs() < 1e-9);
        let level = [(1.0, 3.0), (1000.0, 3.0)];
        assert!(exponent(&level).unwrap().abs() < 1e-9);
        assert_eq!(exponent(&[(2.0, 3.0)]), None);
        assert_eq!(exponent(&[(0.0, 3.0), (2.0, 3.0)]), None);
        assert_eq!(exponent(&[]), None);
    }
}
