//! Times of several contenders, one of which the others are compared with.

use std::cmp::Ordering;
use std::time::Duration;

use super::contender::Contender;
use super::walk::Walk;
use crate::measure::{Samples, Unit};
use crate::report::Table;
use crate::stopwatch::nanoseconds;

const NANOSECONDS_A_MILLISECOND: f64 = 1e6;

/// Times as figures.
pub(super) fn times(durations: impl IntoIterator<Item = Duration>) -> Samples {
    let durations = durations.into_iter();
    let values = durations.map(nanoseconds).collect();
    Samples::new(Unit::Nanoseconds, values)
}

/// The times that `of` finds in the walks of each contender.
pub(super) fn figures<const N: usize>(
    walks: &[(Contender, Vec<Walk>); N],
    of: impl Fn(&Walk) -> Vec<Duration>,
) -> [(Contender, Samples); N] {
    walks
        .each_ref()
        .map(|(contender, walks)| (*contender, times(walks.iter().flat_map(&of))))
}

/// How much more than the other, in the medians.
pub(super) fn added(own: &Samples, other: &Samples) -> f64 {
    (own.median() - other.median()) / NANOSECONDS_A_MILLISECOND
}

/// The three cells of a contender: its time, what it adds to the first one's, and the ratio.
pub(super) fn cells(own: &Samples, first: &Samples) -> [String; 3] {
    [
        own.show(),
        format!("{:+.2} ms", added(own, first)).replace('-', "−"),
        format!("{:.2}", own.ratio_to(first)),
    ]
}

/// A table in which everybody is compared with the first.
pub(super) fn table(caption: &str, all: &[(Contender, Samples)]) -> Table {
    let Some((base, first)) = all.first() else {
        return Table::new(caption, [""]);
    };
    let beside = format!("beside {}", base.name());
    let mut table = Table::new(caption, ["", "median (quartiles)", &beside, "ratio"]);
    for (contender, own) in all {
        let [time, added, ratio] = cells(own, first);
        table.row([contender.name().to_owned(), time, added, ratio]);
    }
    table
}

/// Who of the two is quicker, as far as the figures tell.
pub(super) fn verdict(what: &str, ours: &Samples, rival: &Samples) -> String {
    let (own, other) = (Contender::Ours.name(), Contender::Rival.name());
    match faster(ours, rival) {
        Ordering::Less => format!("{what}: {own} is quicker than {other}."),
        Ordering::Greater => format!("{what}: {own} is slower than {other}."),
        Ordering::Equal => {
            format!("{what}: neither {own} nor {other} is clearly quicker.")
        }
    }
}

/// Smaller differences of the medians are taken for noise.
const SAME_SHARE: f64 = 0.05;

/// Less if the one takes less time: its quartiles do not overlap with those of the other, and the medians
/// are not nearly the same.
fn faster(one: &Samples, other: &Samples) -> Ordering {
    if (one.ratio_to(other) - 1.0).abs() < SAME_SHARE {
        return Ordering::Equal;
    }
    if one.quantile(0.75) < other.quantile(0.25) {
        Ordering::Less
    } else if one.quantile(0.25) > other.quantile(0.75) {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(values: [u64; 3]) -> Samples {
        times(values.map(Duration::from_millis))
    }

    #[test]
    fn everybody_is_compared_with_the_first() {
        let bare = (Contender::Bare, milliseconds([4, 4, 4]));
        let ours = (Contender::Ours, milliseconds([5, 5, 5]));
        let rows = table("Times", &[bare, ours]).rows;
        assert_eq!(rows[0], ["bare loop", "4.00 ms", "+0.00 ms", "1.00"]);
        assert_eq!(rows[1], ["goal-auditor", "5.00 ms", "+1.00 ms", "1.25"]);
    }

    #[test]
    fn nobody_is_quicker_where_quartiles_overlap_or_medians_are_near() {
        let (low, high) = (milliseconds([1, 2, 3]), milliseconds([11, 12, 13]));
        let wide = milliseconds([1, 2, 30]);
        let (near, nearly) = (milliseconds([100; 3]), milliseconds([103; 3]));
        assert!(verdict("A", &near, &nearly).contains("neither"));
        assert!(verdict("A", &low, &high).contains("is quicker than"));
        assert!(verdict("A", &high, &low).contains("is slower than"));
        assert!(verdict("A", &wide, &high).contains("neither"));
    }
}
