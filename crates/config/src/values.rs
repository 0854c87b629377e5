//! Judging one value by the row of its key (§7).
//!
//! "Numbers are whole decimal: no sign, no fraction, no exponent, no hex, no separators, no trailing
//! text. In the file a JSON number with integral value, or such a string. A blank string is "not
//! set"." White space around a value is not part of it.

use std::ffi::OsStr;

use crate::json::{Json, Node};
use crate::keys::{DURATION_MAX_MS, DURATION_MIN_MS, Key, Kind};
use crate::settings::Setting;

/// The value is not one that the key takes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// The outcome for one value: [`Setting::Unset`] is "not set", so that the next layer counts.
pub(crate) type Judged = Result<Setting, Refused>;

/// Judges the value of an environment variable.
pub(crate) fn from_variable(key: &Key, value: &OsStr) -> Judged {
    let text = value.to_str().ok_or(Refused)?;
    match key.kind {
        Kind::Paths => paths(std::env::split_paths(text).map(|path| {
            // Splitting at ASCII leaves pieces of UTF-8 text well-formed.
            path.into_os_string().into_string().map_err(|_| Refused)
        })),
        Kind::Name | Kind::Folder | Kind::Word { .. } | Kind::Count { .. } | Kind::Duration => {
            from_text(key.kind, text)
        }
    }
}

/// Judges a value of the file.
pub(crate) fn from_json(key: &Key, node: &Node<'_>) -> Judged {
    match (&node.json, key.kind) {
        (Json::Null, _) => Ok(Setting::Unset),
        (Json::Text(text), kind) => from_text(kind, text),
        (
            Json::Number,
            Kind::Count {
                zero_is_off,
                min,
                max,
            },
        ) => in_range(integral(node.raw), zero_is_off, min, max),
        (Json::Number, Kind::Duration) => in_duration_range(integral(node.raw)),
        (Json::List(items), Kind::Paths) => paths(items.iter().map(|item| match &item.json {
            Json::Text(text) => Ok(text.clone()),
            Json::Null | Json::Bool | Json::Number | Json::List(_) | Json::Object(_) => {
                Err(Refused)
            }
        })),
        (Json::Bool | Json::Number | Json::List(_) | Json::Object(_), _) => Err(Refused),
    }
}

fn from_text(kind: Kind, text: &str) -> Judged {
    let trimmed = text.trim_matches(is_blank);
    if trimmed.is_empty() {
        return Ok(Setting::Unset);
    }
    match kind {
        Kind::Name => Ok(Setting::Text(trimmed.to_owned())),
        Kind::Folder => path(text.to_owned()).map(Setting::Text),
        Kind::Word { words, any_case } => word(words, any_case, trimmed),
        Kind::Count {
            zero_is_off,
            min,
            max,
        } => in_range(whole_decimal(trimmed), zero_is_off, min, max),
        Kind::Duration => in_duration_range(milliseconds(trimmed)),
        // One string is not a list; where to split it is only clear in the environment.
        Kind::Paths => Err(Refused),
    }
}

/// "Unicode White_Space and U+FEFF", as everywhere in the specification.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn word(words: &[&str], any_case: bool, text: &str) -> Judged {
    words
        .iter()
        .find(|word| **word == text || any_case && word.eq_ignore_ascii_case(text))
        .map(|word| Setting::Text((*word).to_owned()))
        .ok_or(Refused)
}

/// Blank paths are left out, as blank is "not set". One path that cannot be refuses them all: a
/// list that is only half in effect would hide less than it says.
fn paths(items: impl Iterator<Item = Result<String, Refused>>) -> Judged {
    let mut any = false;
    let mut kept = Vec::new();
    for item in items {
        let item = item?;
        any = true;
        if !item.chars().all(is_blank) {
            kept.push(path(item)?);
        }
    }
    let only_blanks = any && kept.is_empty();
    Ok(if only_blanks {
        Setting::Unset
    } else {
        Setting::List(kept)
    })
}

/// No path holds a NUL.
fn path(text: String) -> Result<String, Refused> {
    if text.contains('\0') {
        Err(Refused)
    } else {
        Ok(text)
    }
}

fn in_range(number: Option<u64>, zero_is_off: bool, min: u64, max: u64) -> Judged {
    match number {
        Some(0) if zero_is_off => Ok(Setting::Number(0)),
        Some(number) if (min..=max).contains(&number) => Ok(Setting::Number(number)),
        _ => Err(Refused),
    }
}

fn in_duration_range(milliseconds: Option<u64>) -> Judged {
    in_range(milliseconds, true, DURATION_MIN_MS, DURATION_MAX_MS)
}

/// "Durations also take a whole number with one unit `ms`, `s`, `m`, `h`."
fn milliseconds(text: &str) -> Option<u64> {
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor = match unit {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    whole_decimal(number)?.checked_mul(factor)
}

/// Only the ten digits; `None` also if the number is too large for anything.
fn whole_decimal(text: &str) -> Option<u64> {
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if only_digits { text.parse().ok() } else { None }
}

/// The value of a JSON number if it is a whole number from 0, exactly: no rounding makes one out of
/// `1000.0000000000000001`. `9e5` and `900000.0` are whole; `-0` has a sign.
fn integral(number: &str) -> Option<u64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let dropped_zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let fraction_digits = i64::try_from(fraction.len()).ok()?;
    let exponent = exponent
        .parse::<i64>()
        .ok()?
        .checked_add(dropped_zeros - fraction_digits)?;
    let power = 10_u64.checked_pow(u32::try_from(exponent).ok()?)?;
    // A minus sign is no digit, and so refused here.
    whole_decimal(significant)?.checked_mul(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_numbers_are_exact() {
        for (number, expected) in [
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0e99999999999999999999", Some(0)),
            ("0.000e-5", Some(0)),
            ("900000", Some(900_000)),
            ("900000.0", Some(900_000)),
            ("9e5", Some(900_000)),
            ("9E+5", Some(900_000)),
            ("0.9e6", Some(900_000)),
            ("9000000e-1", Some(900_000)),
            ("0.00000000000000000000000009e31", Some(900_000)),
            ("900000000000000000000000000000e-24", Some(900_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("1e20", None),
            ("1e99999999999999999999", None),
            ("1e-99999999999999999999", None),
            ("1e-1", None),
            ("1.5", None),
            ("1000.0000000000000001", None),
            ("-1", None),
            ("-1.0", None),
            ("-0", None),
            ("-0.0", None),
        ] {
            assert_eq!(integral(number), expected, "{number}");
        }
    }
}
