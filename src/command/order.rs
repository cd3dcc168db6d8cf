//! Installing, for the commands that do.

use crate::command::Context;
use crate::failure::Failure;
use crate::install::apply::LICENCE;
use crate::install::decide::Order;
use crate::install::{self, Answer, Installed};
use crate::shims;
use crate::toolkit::receipt::Proof;
use crate::ui::view::Style;
use cudaup_core::resolve::default_settings;

/// Carries an order out, and renews the shims where there is a toolkit then.
pub fn carry_out(context: &Context, order: &Order) -> Result<Answer, Failure> {
    let roots = default_settings(&context.world()).roots;
    let answer = install::run(&context.site(), &roots, order)?;
    // An install that was killed after its toolkit had its place may have left these to the next one.
    if !matches!(answer, Answer::Planned(..)) {
        renew_shims(context);
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

/// What was installed, and whether it was seen to work; each line ended.
pub fn installed(installed: &Installed, style: &Style) -> String {
    let receipt = &installed.receipt;
    let seconds = installed.took.as_secs_f64();
    let took = if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") };
    let licence = LICENCE.trim_start_matches("https://");
    let root = style.strong(&style.path(&installed.root));
    let (proof, advice) = match &receipt.proof {
        Proof::Proved { compiler } => (format!("   proved with {compiler}"), String::new()),
        Proof::Unproved { reason, remedy } if remedy.is_empty() => {
            (String::new(), format!("not tried whether it compiles: {reason}\n"))
        }
        Proof::Unproved { reason, remedy } => {
            (String::new(), format!("warning: not seen to work: {reason}\ntry: {remedy}\n"))
        }
    };
    format!("installed in {took}: {root}{proof}   licence: {licence}\n{advice}")
}
