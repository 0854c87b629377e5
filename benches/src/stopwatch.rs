//! Taking the time of something: often enough to trust it, and by turns where things are compared.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::measure::{Samples, Unit};

/// How long one sample takes at least; what is shorter is done again and again.
pub const SAMPLE: Duration = Duration::from_millis(20);

/// Something that is compared: gives one sample, in nanoseconds a call.
pub type Side<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// Nanoseconds a call, over as many calls as fill a sample.
pub fn per_call(mut call: impl FnMut()) -> f64 {
    let mut calls = 1_u32;
    loop {
        let took = time_of(|| (0..calls).for_each(|_| call()));
        if took >= SAMPLE || calls > u32::MAX / 2 {
            return nanoseconds(took) / f64::from(calls);
        }
        calls *= 2;
    }
}

/// How long something takes once.
pub fn time_of(work: impl FnOnce()) -> Duration {
    let began = now();
    work();
    began.elapsed()
}

/// A time as a figure.
#[must_use]
pub fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// This moment.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a bench takes the time")]
pub fn now() -> Instant {
    Instant::now()
}

/// So many samples of each side, by turns, so that what slows the machine slows all of them; one more of
/// each goes before and is thrown away.
///
/// # Errors
///
/// A side does not run.
pub fn by_turns(rounds: usize, sides: &mut [Side<'_>]) -> Result<Vec<Samples>> {
    let mut values = vec![Vec::new(); sides.len()];
    for round in 0..=rounds {
        for (side, values) in sides.iter_mut().zip(&mut values) {
            let sample = side()?;
            if round > 0 {
                values.push(sample);
            }
        }
    }
    let samples = |values| Samples::new(Unit::Nanoseconds, values);
    Ok(values.into_iter().map(samples).collect())
}

/// Samples of one thing alone.
pub fn alone(rounds: usize, mut call: impl FnMut()) -> Samples {
    // The first warms caches.
    per_call(&mut call);
    let values = (0..rounds).map(|_| per_call(&mut call)).collect();
    Samples::new(Unit::Nanoseconds, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns_and_the_first_sample_of_each_is_thrown_away() {
        let order = std::cell::RefCell::new(Vec::new());
        let side = |name: &'static str, value: f64| -> Side<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(name);
                Ok(value)
            })
        };
        let samples = by_turns(2, &mut [side("a", 1.0), side("b", 2.0)]).unwrap();
        assert_eq!(order.borrow().join(""), "ababab");
        assert_eq!(samples[0].values, [1.0, 1.0]);
        assert_eq!(samples[1].values, [2.0, 2.0]);
    }
}
