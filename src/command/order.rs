//! Installing, for the commands that do.

use crate::command::{Context, compiler};
use crate::failure::{Exit, Failure};
use crate::install::apply::LICENCE;
use crate::install::decide::Order;
use crate::install::place::Place;
use crate::install::{self, Answer, Installed};
use crate::shims;
use crate::source::component;
use crate::source::never;
use crate::source::profile::{Profile, Wish};
use crate::source::unknown::near;
use crate::toolkit::receipt::Proof;
use crate::ui::view::Style;
use cudaup_core::addon::{self, LIBRARIES};
use cudaup_core::request::Request;
use cudaup_core::resolve::default_settings;
use cudaup_core::version::Version;

/// Carries an order out, and renews the shims where there is a toolkit then.
pub fn carry_out(context: &Context, order: &Order) -> Result<Answer, Failure> {
    let roots = default_settings(&context.world()).roots;
    if order.place == Place::Home {
        context.warn_relative();
    }
    let answer = install::run(&context.site(), &roots, order)?;
    // An install that was killed after its toolkit had its place may have left these to the next one.
    match (&answer, order.place) {
        (Answer::Planned(..), _) => {}
        (_, Place::Home) => renew_shims(context),
        // Root's own home, where it has none yet, is not made for what is for others.
        (_, Place::System) if context.home.shims().is_dir() => renew_shims(context),
        (_, Place::System) => {}
    }
    Ok(answer)
}

/// The toolkit is in place and whole: shims that cannot be made are a warning.
fn renew_shims(context: &Context) {
    if let Err(failure) = shims::renew(&context.home, &context.host, &context.disk) {
        context.talk.say(&format!("warning: {failure}"));
        for hint in &failure.tries {
            context.talk.say(&format!("try: {hint}"));
        }
    }
}

/// The version that a request wants from a source; `None`: its newest.
pub fn version(request: Request) -> Result<Option<Version>, Failure> {
    match request {
        Request::Version(version) => Ok(Some(version)),
        Request::Latest => Ok(None),
        Request::System => {
            Err(Failure::new(Exit::Usage, "`system` is what the machine has itself, and is never installed")
                .hint("cudaup install latest"))
        }
        Request::Link(name) => {
            let what = format!("`{name}` is no version; a name like this is given to a toolkit elsewhere");
            let failure = Failure::new(Exit::NoVersion, what);
            Err(match component::named(&name) {
                Some(_) => failure.hint(format!("cudaup install VERSION --components {name}")),
                None => failure
                    .hint("cudaup install latest")
                    .hint("cudaup list --remote   (the versions that there are)")
                    .hint(format!("cudaup link {name} DIR   (to give the toolkit in a directory this name)")),
            })
        }
    }
}

/// The refusal of a component that nobody knows.
fn unknown_component(name: &str) -> Failure {
    let lower = name.to_ascii_lowercase();
    if addon::library(&lower).is_some() {
        let what = format!("{name} is no component of a toolkit but a library of its own");
        return Failure::new(Exit::Usage, what)
            .hint(format!("cudaup install VERSION --with {lower}"))
            .hint(format!("cudaup add {lower}   (for the toolkit that applies here)"));
    }
    let what = if never::denied(&lower, "") {
        format!("{name} belongs to the machine and not to a toolkit: cudaup never installs it")
    } else {
        format!("`{name}` is no component of a toolkit")
    };
    let libraries = LIBRARIES.iter().map(|library| library.name);
    if let Some(meant) = near(&lower, component::spellings()) {
        return Failure::new(Exit::Usage, format!("{what}; did you mean {meant}?"))
            .hint(format!("cudaup install VERSION --components {meant}"));
    }
    if let Some(meant) = near(&lower, libraries) {
        return Failure::new(Exit::Usage, format!("{what}; did you mean {meant}, a library of its own?"))
            .hint(format!("cudaup install VERSION --with {meant}"));
    }
    Failure::new(Exit::Usage, what).hint("cudaup install VERSION --components nvcc,cudart,cublas")
}

/// The refusal of an option's value that is empty, as an unset variable of a script makes it. `takes`: what is expected.
pub fn empty(option: &str, takes: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{option} was given nothing: it takes {takes}"))
}

/// How much is asked for by the two options.
pub fn wish(profile: Option<&str>, components: &[String]) -> Result<Wish, Failure> {
    let names: Vec<&str> = components.iter().map(|c| c.trim()).filter(|c| !c.is_empty()).collect();
    if names.is_empty() && !components.is_empty() {
        return Err(empty("--components", "names of components")
            .hint("cudaup install VERSION --components nvcc,cudart,cublas"));
    }
    Wish::read(profile.and_then(Profile::parse), &names).map_err(unknown_component)
}

/// What was installed, and whether it was seen to work; each line ended.
pub fn installed(installed: &Installed, style: &Style) -> String {
    let receipt = &installed.receipt;
    let seconds = installed.took.as_secs_f64();
    let took = if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") };
    let licence = LICENCE.trim_start_matches("https://");
    let root = style.strong(&style.path(&installed.root));
    let (proof, advice) = match &receipt.proof {
        Proof::Proved { compiler } => (format!("   proved with {compiler}"), other_compiler(compiler)),
        Proof::Unproved { reason, remedy } if remedy.is_empty() => {
            (String::new(), format!("not tried whether it compiles: {reason}\n"))
        }
        Proof::Unproved { reason, remedy } => {
            (String::new(), format!("warning: not seen to work: {reason}\ntry: {remedy}\n"))
        }
    };
    format!("installed in {took}: {root}{proof}   licence: {licence}\n{advice}")
}

/// What a user has to do where nvcc does not take the `g++` that it would take by itself. A compiler that was given with its
/// path was given by a variable, which goes on to hold.
fn other_compiler(proved_with: &str) -> String {
    let name = proved_with.split(' ').next().unwrap_or_default();
    if name == "g++" || name.contains('/') {
        return String::new();
    }
    format!("{}\n", compiler::other_installed(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_compiler_than_the_usual_one_is_named() {
        assert_eq!(other_compiler("g++ 12.2.0"), "");
        assert_eq!(other_compiler("/opt/gcc/bin/g++ 11.3.0"), "");
        let advice = other_compiler("g++-11 11.3.0");
        assert!(
            advice.contains("`host_compiler = g++-11`") && advice.ends_with("nvcc -ccbin g++-11\n"),
            "{advice}"
        );
    }
}
