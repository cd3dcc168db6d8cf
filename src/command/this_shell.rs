//! `cudaup use --shell VERSION`: text that chooses a toolkit for the shell that evaluates it, and how that ends.

use crate::command::{Context, Outcome, builds, compiler, lacking};
use crate::failure::Failure;
use crate::host::Host;
use crate::shell;
use cudaup_core::request::Request;
use cudaup_core::resolve::{Choice, resolve};

/// Chooses this toolkit. What there is to say of it is said as it will be once CUDAUP_VERSION names it.
pub fn choose(context: &Context, before: Option<&Choice>, choice: &Choice) -> Result<Outcome, Failure> {
    let exact = choice.exact();
    let now = Request::parse(&exact).ok().map(|request| resolve(&context.world(), Some(&request)));
    if let Some(now) = &now {
        for line in lacking(now) {
            context.talk.say(&line);
        }
    }
    let notes = match &now {
        Some(Ok(Some(now))) => compiler::lines(context, now),
        _ => Vec::new(),
    };
    for line in notes.into_iter().chain(builds::note(context, before, choice)) {
        context.talk.say(&line);
    }
    let shown = match &exact {
        exact if *exact == choice.toolkit.identity.to_string() => format!("CUDA {exact}"),
        name => format!("CUDA {} ({name})", choice.toolkit.identity),
    };
    put(context, &exact, &shown)
}

/// Chooses a version that is not here, which was asked for all the same.
pub fn unmet(context: &Context, version: &str) -> Result<Outcome, Failure> {
    put(context, version, &format!("CUDA {version}"))
}

/// Text for this shell to run; the shell function that the hook defines does so.
fn put(context: &Context, version: &str, shown: &str) -> Result<Outcome, Failure> {
    let dialect = match context.host.text("_CUDAUP_SHELL") {
        Some(name) => shell::dialect(name)?,
        None if context.host.terminal.stdout => {
            return Err(Failure::failed("this shell does not follow cudaup, so that it cannot be switched")
                .hint("cudaup init bash --write   (or zsh, fish, tcsh)")
                .hint(format!("export CUDAUP_VERSION={version}   (shims and exec go by it)")));
        }
        None => shell::parent::of_parent(&context.host, |_| true)?,
    };
    let which = if hooked(context) { "this shell only" } else { "the shell that evaluates this, no other" };
    context.talk.say(&format!("{shown} in {which}; to end that: {}", unset(dialect)));
    let changes = [("CUDAUP_VERSION".into(), Some(version.into()))];
    Ok(Outcome::Bytes(dialect.render_own(&changes, &context.vars)))
}

/// How the shell that runs this program is told to forget `cudaup use --shell`.
pub fn end_of_shell(host: &Host) -> String {
    let hooked = host.text("_CUDAUP_SHELL").and_then(|name| shell::dialect(name).ok());
    let above = || shell::parent::of_parent(host, |_| true).ok();
    hooked.or_else(above).map_or_else(|| "unset CUDAUP_VERSION".into(), unset)
}

/// How a shell is told to forget `cudaup use --shell`.
fn unset(dialect: &shell::Dialect) -> String {
    let text = dialect.unset("CUDAUP_VERSION");
    String::from_utf8_lossy(&text).trim_end_matches([' ', ';', '\n']).to_owned()
}

/// Whether the shell function of a hook started this program.
pub fn hooked(context: &Context) -> bool {
    context.host.var("_CUDAUP_SHELL").is_some()
}
