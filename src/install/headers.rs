//! The functions that a driver library has, as the toolkit's headers declare them.
//!
//! The wheels hold no stub of libcuda or libnvidia-ml, only headers; the names for a stub are read from these.

use std::collections::BTreeSet;

/// The endings of the names that a program compiled with `--default-stream per-thread` asks for.
const PER_THREAD: [(&str, &str); 2] = [("__CUDA_API_PTDS", "_ptds"), ("__CUDA_API_PTSZ", "_ptsz")];

/// The names in the text of a header that begin with `prefix` and a capital letter: declared functions, and both sides
/// of a `#define old new` that renames one. All versions of a name are wanted, because old objects ask for old names.
pub fn functions(header: &str, prefix: &str) -> BTreeSet<String> {
    let text = without_comments(header).replace("\\\r\n", " ").replace("\\\n", " ");
    let mut names = BTreeSet::new();
    let mut renamings = Vec::new();
    for line in text.lines() {
        match line.trim_start().strip_prefix('#').map(str::trim_start) {
            None => names.extend(called(line, prefix).map(str::to_owned)),
            Some(directive) => {
                let definition =
                    directive.strip_prefix("define").filter(|rest| rest.starts_with([' ', '\t']));
                renamings.extend(definition.and_then(|definition| renamed(definition.trim(), prefix)));
            }
        }
    }
    // Constants are renamed in the same way: only what is declared as a function on either side is one.
    let functions: Vec<_> =
        renamings.into_iter().filter(|both| both.iter().any(|name| names.contains(name))).collect();
    names.extend(functions.into_iter().flatten());
    names
}

/// `cuFoo cuFoo_v2`, `cuFoo __CUDA_API_PTSZ(cuFoo_v2)`: the old name, the new one, and the per-thread one.
fn renamed(definition: &str, prefix: &str) -> Option<Vec<String>> {
    let (old, new) = definition.split_once([' ', '\t']).filter(|(old, _)| is_function(old, prefix))?;
    let new = new.trim();
    if is_function(new, prefix) {
        return Some(vec![old.to_owned(), new.to_owned()]);
    }
    PER_THREAD.iter().find_map(|(wrapper, ending)| {
        let inner = new.strip_prefix(wrapper)?.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
        is_function(inner, prefix).then(|| vec![old.to_owned(), inner.to_owned(), format!("{inner}{ending}")])
    })
}

/// The names of the right form that are followed by an opening bracket.
fn called<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let pieces: Vec<&str> = line.split('(').collect();
    let before_brackets = pieces.len().saturating_sub(1);
    pieces.into_iter().take(before_brackets).filter_map(move |before| {
        let before = before.trim_end();
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        before.get(start..).filter(|name| is_function(name, prefix))
    })
}

fn is_function(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_uppercase())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// Comments become blanks; line ends inside them stay, so that a directive never swallows the next line.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        out.push_str(before);
        let (kept, after) = if let Some(block) = comment.strip_prefix("/*") {
            let (block, after) = block.split_once("*/").unwrap_or((block, ""));
            (if block.contains('\n') { "\n" } else { " " }, after)
        } else if comment.starts_with("//") {
            ("", comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or(""))
        } else {
            ("/", comment.get(1..).unwrap_or(""))
        };
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cu(header: &str) -> Vec<String> {
        functions(header, "cu").into_iter().collect()
    }

    #[test]
    fn declarations_are_found_in_every_spelling() {
        assert_eq!(cu("CUresult CUDAAPI cuInit(unsigned int Flags);"), ["cuInit"]);
        assert_eq!(cu("CUresult CUDAAPI\ncuInit\t(unsigned int Flags);"), ["cuInit"]);
        assert_eq!(cu("CUresult cuA(int); CUresult cuB(void (*f)(int), CUstream s);"), ["cuA", "cuB"]);
        assert_eq!(cu("  #  define cuA cuA_v2\nCUresult cuA(int);"), ["cuA", "cuA_v2"]);
    }

    #[test]
    fn renamings_give_the_old_the_new_and_the_per_thread_name() {
        assert_eq!(cu("#define cuMem     cuMem_v2\nCUresult cuMem(int);"), ["cuMem", "cuMem_v2"]);
        assert_eq!(cu("#define cuMem     cuMem_v2\nCUresult cuMem_v2(int);"), ["cuMem", "cuMem_v2"]);
        let wrapped = "#define cuMemcpy2D   __CUDA_API_PTDS(cuMemcpy2D_v2)\n\t#define cuLaunch \\\n __CUDA_API_PTSZ( cuLaunch )\n\
                       CUresult cuMemcpy2D(int); CUresult cuLaunch(int);";
        let names = ["cuLaunch", "cuLaunch_ptsz", "cuMemcpy2D", "cuMemcpy2D_v2", "cuMemcpy2D_v2_ptds"];
        assert_eq!(cu(wrapped), names);
    }

    #[test]
    fn what_is_no_function_of_the_driver_is_left_out() {
        let text = "typedef void (CUDA_CB *CUhostFn)(void *userData);\n\
                    typedef struct cudaArray *cudaArray_t; int custom(int); int cuda(int); int xcuInit(int);\n\
                    #define cuSize 3\n#define CU_LAUNCH(x) cuLaunch(x)\n#undef cuInit\n#define cuFoo __OTHER(cuFoo)\n#define cuReasonOld cuReasonNew\n\
                    #if cuVersion (3)\n#defined cuX cuY\nCUresult status; cuuint32_t (x); cuGraphX;";
        assert_eq!(cu(text), Vec::<String>::new());
    }

    #[test]
    fn comments_are_no_declarations() {
        let text = "/** ::cuInit(0)\n * cuCtx(1) */ CUresult cuA(int /* cuZ(3) */);\n// cuB(int); CUresult cuC(int);\nCUresult cuC(int);\n\
                    #define cuC cuC_v2 /* and\n more */ CUresult cuD(int); /* cuE(int)";
        assert_eq!(cu(text), ["cuA", "cuC", "cuC_v2", "cuD"]);
        assert_eq!(cu("int a = 4 / 2; CUresult cuA(int);"), ["cuA"]);
        assert_eq!(cu("/"), Vec::<String>::new());
    }

    #[test]
    fn names_of_nvml_have_their_own_prefix() {
        let text = "#define nvmlInit   nvmlInit_v2\nnvmlReturn_t DECLDIR nvmlInit_v2(void);\n\
                    nvmlReturn_t DECLDIR nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device);";
        let names: Vec<String> = functions(text, "nvml").into_iter().collect();
        assert_eq!(names, ["nvmlDeviceGetHandleByIndex", "nvmlInit", "nvmlInit_v2"]);
    }
}
