//! The parts against their size: what grows, and how fast.

use anyhow::Result;

use crate::measure::{Samples, Unit, exponent};
use crate::report::{Part, Plot, Section, Table};
use crate::{Effort, parts};

/// How often each size is measured; the median counts.
const SAMPLES: usize = 3;
/// How far a fitted exponent may lie above the law. Times are not exact, and what no longer fits a cache takes
/// longer; what is quadratic has twice the exponent all the same.
const EXPONENT_SLACK: f64 = 0.2;

/// How something may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// Not at all.
    Level,
    /// Linearly.
    Linear,
}

impl Law {
    const fn exponent(self) -> f64 {
        match self {
            Self::Level => 0.0,
            Self::Linear => 1.0,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Level => "not at all",
            Self::Linear => "linearly",
        }
    }
}

/// The time of something at several sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What it is.
    pub name: String,
    /// How it may grow; `None` where that is not ours to say.
    pub law: Option<Law>,
    /// Size and nanoseconds, from the smallest size on.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// Measures at each size; `measure` gives nanoseconds.
    pub fn over(
        name: &str,
        law: impl Into<Option<Law>>,
        sizes: &[usize],
        mut measure: impl FnMut(usize) -> f64,
    ) -> Self {
        let point = |&size: &usize| {
            let times = (0..SAMPLES).map(|_| measure(size)).collect();
            let median = Samples::new(Unit::Nanoseconds, times).median();
            (crate::measure::as_f64(size), median)
        };
        Self {
            name: name.to_owned(),
            law: law.into(),
            points: sizes.iter().map(point).collect(),
        }
    }

    /// Whether it grows faster than it may.
    fn breaks_law(&self) -> bool {
        let (law, found) = (self.law, exponent(&self.points));
        law.zip(found)
            .is_some_and(|(law, found)| found > law.exponent() + EXPONENT_SLACK)
    }

    fn row(&self) -> [String; 5] {
        let point = |point: Option<&(f64, f64)>| {
            point.map_or_else(String::new, |(_, time)| Unit::Nanoseconds.show(*time))
        };
        let found = exponent(&self.points).unwrap_or(f64::NAN);
        [
            self.name.clone(),
            point(self.points.first()),
            point(self.points.last()),
            format!("n^{found:.2}"),
            self.law.map_or("–", Law::words).to_owned(),
        ]
    }
}

/// The curves of one part.
#[derive(Debug, Clone, PartialEq)]
pub struct Growing {
    /// The part.
    pub title: &'static str,
    /// The file of the picture.
    pub file: &'static str,
    /// What is along the bottom.
    pub size: &'static str,
    /// What is said of it.
    pub intro: String,
    /// What was measured.
    pub curves: Vec<Curve>,
}

impl Growing {
    fn section(self) -> Section {
        let sizes = self.curves.first().map(|curve| &curve.points);
        let ends = sizes.and_then(|points| points.first().zip(points.last()));
        let [small, large] = ends.map_or_else(
            || [String::new(), String::new()],
            |(first, last)| [first.0, last.0].map(|size| Unit::Count("").show(size)),
        );
        let mut table = Table::new(
            &format!("Time against {}", self.size),
            [
                "what",
                &format!("at {small}"),
                &format!("at {large}"),
                "growth",
                "may grow",
            ],
        );
        let mut plot = Plot::log_log(self.file, self.title, self.size, "microseconds");
        for curve in &self.curves {
            table.row(curve.row());
            let microseconds = curve.points.iter().map(|(size, time)| (*size, time / 1e3));
            plot.line(&curve.name, microseconds.collect());
        }
        Section {
            title: self.title.to_owned(),
            intro: self.intro,
            tables: vec![table],
            findings: findings(&self.curves),
            plots: vec![plot],
        }
    }
}

fn findings(curves: &[Curve]) -> Vec<String> {
    let broken = curves.iter().filter(|curve| curve.breaks_law());
    let broken: Vec<String> = broken.map(|curve| curve.name.clone()).collect();
    if broken.is_empty() {
        return Vec::new();
    }
    vec![format!("Grows faster than it may: {}.", broken.join(", "))]
}

/// Measures.
///
/// # Errors
///
/// Something that is measured does not run.
pub fn run(effort: Effort) -> Result<Part> {
    let growing = parts::growing(effort)?;
    Ok(Part {
        name: "growth",
        versions: parts::versions()?,
        sections: growing.into_iter().map(Growing::section).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(law: Law, power: f64) -> Curve {
        let mut curve = Curve::over("it", law, &[1, 10, 100], |_| 1.0);
        for (size, time) in &mut curve.points {
            *time = 5.0 * size.powf(power);
        }
        curve
    }

    #[test]
    fn what_grows_faster_than_its_law_is_told() {
        let told = |law, power| findings(&[curve(law, power)]);
        assert!(told(Law::Level, 0.15).is_empty());
        assert_eq!(told(Law::Level, 0.3), ["Grows faster than it may: it."]);
        assert!(told(Law::Linear, 1.15).is_empty());
        assert_eq!(told(Law::Linear, 1.3), ["Grows faster than it may: it."]);
    }

    #[test]
    fn a_row_has_both_ends_the_exponent_and_the_law() {
        let row = curve(Law::Linear, 1.0).row();
        assert_eq!(row, ["it", "5.00 ns", "500 ns", "n^1.00", "linearly"]);
    }
}
