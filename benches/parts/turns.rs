//! Times commands in turns: every round runs each once, in a new order, so that drift and cold caches fall on all alike.
//! turns ROUNDS +++ NAME PROGRAM [ARG...] [+++ NAME PROGRAM [ARG...]]...
//! Prints name, least and median microseconds, and the median of the difference to the first, round by round.

use std::process::{Command, Stdio};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = args.first().and_then(|n| n.parse().ok()).expect("the first argument is the number of rounds");
    let subjects: Vec<&[String]> = args[1..].split(|a| a == "+++").filter(|s| s.len() >= 2).collect();
    for subject in &subjects {
        let status = Command::new(&subject[1]).args(&subject[2..]).arg("--mark").status();
        let status = status.unwrap_or_else(|e| panic!("{}: {e}", subject[0]));
        // What never reaches the tool is quick, and would win.
        assert!(status.code() == Some(42), "{}: {status}: it does not lead to the tool", subject[0]);
    }
    let mut times = vec![Vec::with_capacity(rounds); subjects.len()];
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    // Two rounds first, not counted: they fill the caches.
    for round in 0..rounds + 2 {
        for last in (1..order.len()).rev() {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            order.swap(last, (seed % (last as u64 + 1)) as usize);
        }
        for &n in &order {
            let [name, program, args @ ..] = subjects[n] else { unreachable!() };
            let mut command = Command::new(program);
            command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().unwrap_or_else(|e| panic!("{name}: {e}"));
            let taken = start.elapsed().as_secs_f64() * 1e6;
            assert!(status.success(), "{name}: {status}: a subject that fails is no subject");
            if round >= 2 {
                times[n].push(taken);
            }
        }
    }
    println!("{:<22} {:>9} {:>9} {:>9}", "", "least us", "median us", "over");
    for (n, subject) in subjects.iter().enumerate() {
        let over = times[n].iter().zip(&times[0]).map(|(t, first)| t - first).collect();
        let least = times[n].iter().copied().fold(f64::INFINITY, f64::min);
        println!("{:<22} {least:>9.0} {:>9.0} {:>9.0}", subject[0], median(times[n].clone()), median(over));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
