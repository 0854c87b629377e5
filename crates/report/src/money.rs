//! Tokens and costs, for people.

use crate::Spent;

/// `950`, `12.3k`, `4.56M`.
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..=999 => count.to_string(),
        1_000..=999_949 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{:02}M", count / 1_000_000, count % 1_000_000 / 10_000),
    }
}

/// `$1.20`, `$0.170`, `$0.0042`. Providers bill in dollars as far as pi knows prices; nothing for nothing.
pub(crate) fn cost(cost: f64) -> Option<String> {
    if cost <= 0.0 || !cost.is_finite() {
        None
    } else if cost < 0.01 {
        Some(format!("${cost:.4}"))
    } else if cost < 1.0 {
        Some(format!("${cost:.3}"))
    } else {
        Some(format!("${cost:.2}"))
    }
}

/// Tokens and, if a price is known, cost.
pub(crate) fn spent(spent: &Spent) -> String {
    let tokens = format!("{} tokens", tokens(spent.total_tokens));
    match cost(spent.cost) {
        Some(cost) => format!("{tokens} · {cost}"),
        None => tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_costs_are_short_and_never_rounded_to_another_unit() {
        let counts = [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0k"),
            (999_949, "999.9k"),
            (999_950, "0.99M"),
            (4_560_000, "4.56M"),
        ];
        for (count, text) in counts {
            assert_eq!(tokens(count), text);
        }
        for (amount, text) in [
            (0.0, None),
            (f64::NAN, None),
            (0.004_21, Some("$0.0042")),
            (0.17, Some("$0.170")),
            (1.2, Some("$1.20")),
        ] {
            assert_eq!(cost(amount).as_deref(), text);
        }
    }
}
