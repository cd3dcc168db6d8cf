//! Carries a plan for the machine's link out: under a lock, with what was there written down first.

use crate::disk::lock::Lock;
use crate::disk::{access, atomic};
use crate::failure::{Failure, SAME};
use crate::global::alternatives;
use crate::global::decide::{Do, Plan};
use crate::global::look::{self, There};
use crate::global::state::{Held, LINK};
use crate::host::Host;
use cudaup_core::disk::Disk;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

/// Who changes the link meanwhile. Changing it takes no time.
const LOCK: &str = "/usr/local/.cudaup-global.lock";
const WAIT: Duration = Duration::from_secs(60);

/// Keeps other processes of cudaup from the link. What a plan is made from is looked at under it.
pub fn lock(host: &Host, say: &dyn Fn(&str)) -> Result<Lock, Failure> {
    access::make(&host.system("/usr/local"))?;
    Lock::acquire(&host.system(LOCK), LINK, WAIT, say)
}

/// Carries a plan out that was made under the lock. After a failure all is as it was before, as far as that can be had.
pub fn apply(host: &Host, disk: &dyn Disk, plan: &Plan, _lock: &Lock) -> Result<(), Failure> {
    // Programs other than cudaup know nothing of its lock.
    let now = held(host, disk)?;
    if now != plan.before {
        let was = &plan.before;
        let what = format!("{LINK} was changed just now: it is {now}, a moment ago it was {was}");
        return Err(Failure::failed(what).hint(SAME));
    }
    let remembered = &plan.remembered;
    if let Some(folder) = host.system(LINK).parent() {
        atomic::sweep_locked(folder);
    }
    // A kill from here on leaves either the old link, with a memory that says there is nothing to put back, or the new one
    // with all it takes.
    let undoes = plan.memory.steps.len() < remembered.steps.len();
    if !undoes {
        plan.memory.write(host)?;
    }
    for (n, step) in plan.steps.iter().enumerate() {
        if let Err(failure) = carry_out(host, plan, step) {
            for back in plan.back.iter().take(n) {
                // The first failure is the one that is told.
                let _ = carry_out(host, plan, back);
            }
            if !undoes {
                remembered.write(host)?;
            }
            return Err(failure);
        }
    }
    let now = held(host, disk)?;
    if !plan.is_met_by(&now) {
        let what = format!("{LINK} is {now} after the change, and should be {}", plan.after);
        return Err(Failure::failed(what).hint("cudaup use --global --undo"));
    }
    if undoes { plan.memory.write(host) } else { Ok(()) }
}

fn held(host: &Host, disk: &dyn Disk) -> Result<Held, Failure> {
    match look::there(host, disk)? {
        (There::Held(held), _) => Ok(held),
        _ => Err(Failure::failed(format!("{LINK} is no link any more")).hint(SAME)),
    }
}

fn carry_out(host: &Host, plan: &Plan, step: &Do) -> Result<(), Failure> {
    match step {
        Do::Point(link, text) => point(&host.system(link), text),
        Do::Remove(link) => {
            let link = host.system(link);
            fs::remove_file(&link).map_err(|e| Failure::io("remove", &link, &e))
        }
        Do::Call(call) => alternatives::run(host, plan.records, call),
    }
}

/// At no moment is the link missing: a new one takes its name.
fn point(link: &Path, text: &str) -> Result<(), Failure> {
    let name = link.file_name().unwrap_or_default().to_string_lossy();
    let new = link.with_file_name(format!(".cudaup-{name}.new"));
    let failed = |e: &std::io::Error| Failure::io("change", link, e);
    match fs::remove_file(&new) {
        // Of a process that was killed: whoever is at it holds the lock.
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(&e)),
        _ => symlink(text, &new).map_err(|e| failed(&e))?,
    }
    fs::rename(&new, link).map_err(|e| {
        let _ = fs::remove_file(&new);
        failed(&e)
    })
}
