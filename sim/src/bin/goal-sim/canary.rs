//! Each planted defect must be found, by its checker, within its budget of seeds.

use anyhow::Result;
#[cfg(feature = "canary")]
use goal_sim::campaign::{Campaign, Found, campaign};
#[cfg(feature = "canary")]
use goal_sim::entropy::Source;
#[cfg(feature = "canary")]
use goal_sim::plan::Profile;
#[cfg(feature = "canary")]
use goal_sim::style::{BAD, GOOD};

use crate::Status;
use crate::args::Canary as Options;

/// How to run with the defect of this name planted, or with none.
#[cfg(not(feature = "canary"))]
pub(crate) fn planted(name: Option<&str>) -> Result<goal_sim::Options> {
    anyhow::ensure!(
        name.is_none(),
        "this build has no defects to plant; use `cargo xtask sim …`"
    );
    Ok(goal_sim::Options::default())
}

/// How to run with the defect of this name planted, or with none.
#[cfg(feature = "canary")]
pub(crate) fn planted(name: Option<&str>) -> Result<goal_sim::Options> {
    let all = goal_engine::Canary::ALL;
    let canary = name.map(|name| {
        all.into_iter()
            .find(|canary| canary.name() == name)
            .ok_or_else(|| anyhow::anyhow!("there is no canary {name}; `canary` lists them"))
    });
    Ok(goal_sim::Options {
        canary: canary.transpose()?,
        ..goal_sim::Options::default()
    })
}

#[cfg(not(feature = "canary"))]
pub(crate) fn run(_options: &Options) -> Result<Status> {
    anyhow::bail!("this build has no defects to plant; use `cargo xtask sim canary`")
}

#[cfg(feature = "canary")]
pub(crate) fn run(options: &Options) -> Result<Status> {
    let wanted: Vec<goal_engine::Canary> = goal_engine::Canary::ALL
        .into_iter()
        .filter(|canary| {
            options
                .only
                .as_deref()
                .is_none_or(|only| only == canary.name())
        })
        .collect();
    anyhow::ensure!(
        !wanted.is_empty(),
        "there is no canary of that name; without --only all are listed"
    );
    let mut missed = 0;
    for canary in wanted {
        let found = hunt(canary, options);
        missed += u32::from(found.is_none());
        tell(canary, found.as_ref(), options.format);
    }
    if missed > 0 && options.format == crate::args::Format::Text {
        anstream::println!("{missed} not found within {} seeds", options.budget);
    }
    Ok(if missed > 0 {
        Status::Found
    } else {
        Status::Clean
    })
}

/// Seeds of one profile before the next has its turn: what one never meets another may at once.
#[cfg(feature = "canary")]
const ROUND_SEEDS: u64 = 512;
/// Where planted defects are hunted.
#[cfg(feature = "canary")]
const PROFILES: [Profile; 3] = [Profile::Swarm, Profile::Adversary, Profile::Weak];

/// The first failure in the mixed profiles that a clean engine does not show.
#[cfg(feature = "canary")]
fn hunt(canary: goal_engine::Canary, options: &Options) -> Option<Hit> {
    let begun = crate::campaign::now();
    let mut other = None;
    let mut from = 0;
    while from < options.budget {
        let to = (from + ROUND_SEEDS).min(options.budget);
        for profile in PROFILES {
            let found = failures(canary, profile, (from, to), options);
            for found in found
                .into_iter()
                .filter(|found| is_clean(found.seed, profile))
            {
                let hit = Hit {
                    seed: found.seed,
                    profile: profile.name(),
                    what: found.failure.fingerprint(),
                    seconds: begun.elapsed().as_secs_f64(),
                };
                if found.failure.checker == format!("S{}", canary.checker()) {
                    return Some(hit);
                }
                other.get_or_insert(hit);
            }
        }
        from = to;
    }
    other
}

/// What fails without the defect too does not show it.
#[cfg(feature = "canary")]
fn is_clean(seed: u64, profile: Profile) -> bool {
    let outcome = goal_sim::run(&Source::Seed(seed), profile, &goal_sim::Options::default());
    outcome.failure.is_none()
}

#[cfg(feature = "canary")]
fn failures(
    canary: goal_engine::Canary,
    profile: Profile,
    (from, to): (u64, u64),
    options: &Options,
) -> Vec<Found> {
    let tally = campaign(
        &Campaign {
            profile,
            from,
            to,
            jobs: crate::campaign::jobs(options.jobs),
            first_only: false,
            options: goal_sim::Options {
                canary: Some(canary),
                ..goal_sim::Options::default()
            },
        },
        &|_| true,
    );
    tally.failures
}

#[cfg(feature = "canary")]
struct Hit {
    seed: u64,
    profile: &'static str,
    what: String,
    seconds: f64,
}

#[cfg(feature = "canary")]
fn tell(canary: goal_engine::Canary, found: Option<&Hit>, format: crate::args::Format) {
    let name = canary.name();
    let expected = format!("S{}", canary.checker());
    match (format, found) {
        (crate::args::Format::Text, Some(hit)) => anstream::println!(
            "{GOOD}found{GOOD:#}  {name:<30} {expected:<4} seed {:>6} {:<10} {:>6.1} s  {}",
            hit.seed,
            hit.profile,
            hit.seconds,
            hit.what
        ),
        (crate::args::Format::Text, None) => {
            anstream::println!("{BAD}missed{BAD:#} {name:<30} {expected}");
        }
        (crate::args::Format::Json, hit) => println!(
            "{}",
            serde_json::json!({
                "canary": name, "expected": expected, "seed": hit.map(|hit| hit.seed),
                "profile": hit.map(|hit| hit.profile), "found": hit.map(|hit| &hit.what),
            })
        ),
    }
}
