//! Moments and durations, for people. Moments are milliseconds since 1970, shown in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second of the year 9999; later ones have no common notation.
const LAST_MOMENT_MS: u64 = 253_402_300_799_000;

/// Reads an ISO 8601 stamp as pi writes it; `None` for anything else and for times before 1970.
pub(crate) fn parse(stamp: &str) -> Option<u64> {
    let at = humantime::parse_rfc3339(stamp).ok()?;
    let since = at.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// `2026-11-30 17:04:37`.
pub(crate) fn moment(ms: u64) -> String {
    let text = humantime::format_rfc3339_seconds(at(ms)).to_string();
    text.trim_end_matches('Z').replace('T', " ")
}

/// `17:04:37`.
pub(crate) fn clock(ms: u64) -> String {
    moment(ms).split_off("2026-11-30 ".len())
}

/// `2026-11-30`.
pub(crate) fn day(ms: u64) -> String {
    let mut text = moment(ms);
    text.truncate("2026-11-30".len());
    text
}

fn at(ms: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(ms.min(LAST_MOMENT_MS))
}

/// A duration in its two largest units.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) if seconds == 0 => format!("{ms} ms"),
        (0, 0, 0) if seconds < 10 => format!("{seconds}.{} s", ms % 1_000 / 100),
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes} min {rest} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_as_pi_writes_them_and_shown_in_utc() {
        let ms = parse("2026-11-30T17:04:37.086Z").unwrap();
        assert_eq!(ms % 1_000, 86);
        assert_eq!(moment(ms), "2026-11-30 17:04:37");
        assert_eq!(
            (day(ms), clock(ms)),
            ("2026-11-30".into(), "17:04:37".into())
        );
        for odd in [
            "",
            "yesterday",
            "1969-12-31T23:59:59Z",
            "2026-13-01T00:00:00Z",
        ] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_moment_beyond_the_calendar_is_shown_as_its_last_one() {
        assert_eq!(moment(u64::MAX), "9999-12-31 23:59:59");
    }

    #[test]
    fn durations_have_their_two_largest_units() {
        for (ms, text) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_250, "1.2 s"),
            (59_999, "59 s"),
            (61_000, "1 min 1 s"),
            (3_661_000, "1 h 1 min"),
            (90_000_000, "1 d 1 h"),
        ] {
            assert_eq!(duration(ms), text, "{ms}");
        }
    }
}
