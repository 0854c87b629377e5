//! wip
use goal_sim::campaign::*; use goal_sim::plan::Profile; use goal_sim::*;
fn main(){
 let a:Vec<String>=std::env::args().collect();
 let profile=Profile::named(&a[2]).unwrap();
 if a[1]=="seed"{ let o=run(&entropy::Source::Seed(a[3].parse().unwrap()),profile,&Options{trace:true}); if a.len()>4{for l in o.trace.as_ref().unwrap().lines(){println!("{l}");}} else {for l in o.trace.as_ref().unwrap().shown(){println!("{l}");}} println!("{:?} {}",o.failure.map(|f|f.fingerprint()),o.trace.unwrap().hash()); return;}
 let n:u64=a[3].parse().unwrap(); let t=std::time::Instant::now();
 let tally=campaign(&Campaign{profile,from:0,to:n,jobs:a.get(4).map_or(1,|j|j.parse().unwrap()),first_only:false,options:Options::default()},&|_|true);
 println!("{:?} {:?} states {} transitions {}",tally.counts,t.elapsed(),tally.seen.states(),tally.seen.transitions());
 println!("runs/s {:.0} events/s {:.0}",tally.counts.runs as f64/t.elapsed().as_secs_f64(),tally.counts.events as f64/t.elapsed().as_secs_f64());
 for f in &tally.failures{println!("{} {} at {} {}",f.seed,f.failure.fingerprint(),f.failure.at_ms,f.failure.more.chars().take(300).collect::<String>());}
 println!("missing: {:?}",tally.marks.missing().collect::<Vec<_>>());
}
