//! What is to be done with the machine's link, from facts alone.

use crate::failure::{Failure, SAME};
use crate::global::alternatives::{self, Call, Group};
use crate::global::look::{Facts, Target, There};
use crate::global::state::{Held, LINK, MEMORY, Memory, Step};
use std::path::Path;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Do {
    /// A link gets this text, by a new one and a rename.
    Point(String, String),
    /// A link goes.
    Remove(String),
    /// The alternatives system's program is called.
    Call(Call),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In this order; nothing where all is as it should be.
    pub steps: Vec<Do>,
    /// What takes the steps back that were done before one that failed.
    pub back: Vec<Do>,
    /// What has to be there for the plan to hold.
    pub before: Held,
    /// What is there then.
    pub after: Held,
    /// What is remembered before.
    pub remembered: Memory,
    /// What is remembered then.
    pub memory: Memory,
    /// Where the alternatives system writes its groups down.
    pub records: &'static str,
}

impl Plan {
    fn new(before: Held, after: Held, facts: &Facts) -> Self {
        let records = facts.group.as_ref().map_or("", |g| g.records);
        let memory = facts.memory.clone();
        let remembered = memory.clone();
        Self { steps: Vec::new(), back: Vec::new(), before, after, remembered, memory, records }
    }

    /// Whether all is as it should be, and nothing else is to be remembered.
    pub fn is_nothing(&self) -> bool {
        self.steps.is_empty() && self.memory == self.remembered
    }

    /// Whether what is there now is what the plan comes to.
    pub fn is_met_by(&self, now: &Held) -> bool {
        match (&self.after, now) {
            // What a group chooses by itself may be another tree by now.
            (Held::Alternatives { name, auto, value }, Held::Alternatives { name: n, auto: a, value: v }) => {
                name == n && (*auto && *a || value == v)
            }
            (after, now) => after == now,
        }
    }
}

/// How the link comes to lead to a toolkit.
pub fn point(facts: &Facts, target: &Target) -> Result<Plan, Failure> {
    let before = held(facts)?;
    let root = target.root.to_str().ok_or_else(|| {
        Failure::failed(format!(
            "{} is no text that a link of the machine should have",
            target.root.display()
        ))
        .hint(format!("cudaup install --system {}   (and then the same)", release(target)))
    })?;
    if target.root == Path::new("/usr") || target.root == Path::new("/") {
        let why = format!(
            "the toolkit of {root} is spread over the system: {LINK} would be all of {root}; one in a directory of its own can lie beside it"
        );
        return Err(Failure::failed(why).hint(format!("cudaup install --system {}", release(target))));
    }
    let leads_there = facts.leads.as_ref().is_some_and(|led| led.root == target.root);
    match &before {
        Held::Alternatives { name, auto, value } => {
            let group = managed(facts, name, root)?;
            if leads_there && !auto {
                return Ok(Plan::new(before.clone(), before, facts));
            }
            let known = group.choices.iter().find(|c| c.trim_end_matches('/') == root);
            let path = known.map_or(root, String::as_str);
            // A choice that is set already, by the group itself: from now on it is so by wish.
            let path = if leads_there && group.choices.contains(value) { value } else { path };
            let is_known = group.choices.iter().any(|c| c == path);
            let after = Held::Alternatives { name: name.clone(), auto: false, value: path.to_owned() };
            let mut plan = Plan::new(before.clone(), after.clone(), facts);
            if !is_known {
                let along = group.along.iter().filter_map(|along| Some((along, along.below.as_ref()?)));
                let call = along.fold(Call::install(LINK, name, path), |call, (along, below)| {
                    call.with(along, &format!("{path}/{below}"))
                });
                plan.steps.push(Do::Call(call));
                plan.back.push(Do::Call(Call::remove(name, path)));
            }
            plan.steps.push(Do::Call(Call::set(name, path)));
            let registered = (!is_known).then(|| path.to_owned());
            plan.memory = facts.memory.with(Step { before: before.clone(), after, registered });
            Ok(plan)
        }
        Held::Absent | Held::Link { .. } => {
            if leads_there {
                return Ok(Plan::new(before.clone(), before, facts));
            }
            if let Some(led) = facts.leads.as_ref().filter(|led| !led.toolkit) {
                return Err(Failure::failed(format!(
                    "{LINK} leads to {}, which is no CUDA toolkit, and is left alone: only a link to a toolkit, or to nothing, gives way",
                    led.root.display()
                ))
                .hint(aside(facts, ".old")));
            }
            let text = text(&target.root, root);
            let after = Held::Link { text: text.clone() };
            let mut plan = Plan::new(before.clone(), after.clone(), facts);
            plan.steps.push(Do::Point(LINK.to_owned(), text));
            plan.memory = facts.memory.with(Step { before, after, registered: None });
            Ok(plan)
        }
    }
}

/// The release of a target, as it can be typed.
fn release(target: &Target) -> &str {
    target.release.split(' ').next().unwrap_or("VERSION")
}

/// A neighbour by its name, as NVIDIA's installers do, so that the link also leads there in an image that is mounted elsewhere.
fn text(target: &Path, root: &str) -> String {
    let beside = target.parent() == Path::new(LINK).parent();
    let name = target.file_name().and_then(|name| name.to_str()).filter(|_| beside);
    name.unwrap_or(root).to_owned()
}

/// What is held, where something else than a link has to be left alone.
fn held(facts: &Facts) -> Result<Held, Failure> {
    match &facts.there {
        There::Held(held) => Ok(held.clone()),
        There::Directory(release) => {
            let of = release.as_ref().map_or_else(String::new, |r| format!(" with CUDA {r} in it"));
            let name = release.as_deref().unwrap_or("old").split(' ').next().unwrap_or("old");
            Err(Failure::failed(format!("{LINK} is a directory{of} and no link: it is left alone"))
                .hint(aside(facts, &format!("-{name}"))))
        }
        There::Other => {
            Err(Failure::failed(format!("{LINK} is no link: it is left alone")).hint(aside(facts, ".old")))
        }
    }
}

/// What makes room for a link, and then the command that was refused.
fn aside(facts: &Facts, suffix: &str) -> String {
    let place = facts.place.to_string_lossy();
    let (from, to) = (shell_words::quote(&place), format!("{place}{suffix}"));
    format!("sudo mv -T {from} {} && {SAME}", shell_words::quote(&to))
}

/// The group of a link that belongs to the alternatives system, where that can be told what to do.
fn managed<'a>(facts: &'a Facts, name: &str, root: &str) -> Result<&'a Group, Failure> {
    let known = facts.group.as_ref().is_some_and(|g| g.choices.iter().any(|c| c == root));
    let by_hand = |failure: Failure| {
        let first = if known { None } else { Some(Call::install(LINK, name, root)) };
        let calls: Vec<String> = first
            .into_iter()
            .chain([Call::set(name, root)])
            .map(|call| format!("sudo {}", call.line()))
            .collect();
        failure.hint(calls.join(" && "))
    };
    let Some(group) = &facts.group else {
        let what = format!(
            "{LINK} goes through {}/{name}, and update-alternatives has no group of that name: it is left alone",
            alternatives::LINKS
        );
        return Err(by_hand(Failure::failed(what)));
    };
    if !facts.program {
        return Err(by_hand(alternatives::absent()));
    }
    Ok(group)
}

/// How the link becomes what it was before cudaup's last change.
pub fn undo(facts: &Facts) -> Result<Plan, Failure> {
    let now = held(facts)?;
    let Some(step) = facts.memory.steps.last() else {
        return Err(Failure::failed(format!(
            "no change of {LINK} by cudaup is left to take back: there is nothing to put back"
        ))
        .hint("cudaup use --global VERSION"));
    };
    let mut plan =
        Plan { memory: facts.memory.without_last(), ..Plan::new(now.clone(), step.before.clone(), facts) };
    if now != step.after && !step.is_undone(&now) {
        return Err(Failure::failed(format!(
            "{LINK} was changed since cudaup changed it (a package may have done so), and is left alone: it is {now}, cudaup had made it {}, before it was {}",
            step.after, step.before
        ))
        .hint("cudaup use --global VERSION"));
    }
    // The program is told nothing about any other group, whatever the memory says.
    if now.group() != step.before.group() {
        let what = format!("{MEMORY} does not fit {LINK}: it is {now}, and would become {}", step.before);
        return Err(Failure::failed(what).hint("cudaup use --global VERSION"));
    }
    let returns = now != step.before;
    match &step.before {
        Held::Absent if returns => plan.steps.push(Do::Remove(LINK.to_owned())),
        Held::Link { text } if returns => plan.steps.push(Do::Point(LINK.to_owned(), text.clone())),
        Held::Absent | Held::Link { .. } => {}
        Held::Alternatives { name, auto, value } => {
            let group = managed(facts, name, value)?;
            let known = |path: &String| group.choices.contains(path);
            let forget = step
                .registered
                .as_ref()
                .filter(|path| known(path))
                .map(|path| Do::Call(Call::remove(name, path)));
            let set = match (auto, known(value)) {
                (true, true) => Do::Call(Call::auto(name)),
                (false, true) => Do::Call(Call::set(name, value)),
                // The program sets only what it knows. Last, since it would also mend a link that leads nowhere.
                (_, false) if value.is_empty() => Do::Remove(format!("{}/{name}", alternatives::LINKS)),
                (_, false) => Do::Point(format!("{}/{name}", alternatives::LINKS), value.clone()),
            };
            let known_first = matches!(set, Do::Call(_));
            let set = returns.then_some(set);
            let (first, second) = if known_first { (set, forget) } else { (forget, set) };
            plan.steps.extend(first.into_iter().chain(second));
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests;
