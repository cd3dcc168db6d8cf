//! nvcc.profile: where nvcc finds its headers, libraries and compilers. NVIDIA's own names every place from nvcc's; that of a
//! distribution names the distribution's, and is not taken over.

use super::Work;
use crate::failure::Failure;

const PLACE: &str = "bin/nvcc.profile";

/// Writes one where there is an nvcc without.
pub fn write(work: &mut Work, include: &str) -> Result<(), Failure> {
    if !work.is_there("bin/nvcc") || work.is_there(PLACE) {
        return Ok(());
    }
    // Since 13.0 Thrust, CUB and libcu++ have a directory of their own.
    let cccl = work.is_there(&format!("{include}/cccl"));
    work.file(PLACE, text(cccl).as_bytes())
}

/// In this language `+=` puts its words before what is there and `=+` behind.
fn text(cccl: bool) -> String {
    let place = |directory: &str| format!("$(TOP)/$(_TARGET_DIR_)/{directory}");
    let (include, lib) = (place("include"), place("lib$(_TARGET_SIZE_)"));
    let system = if cccl {
        format!("SYSTEM_INCLUDES += \"-isystem\" \"{include}/cccl\" $(_SPACE_)\n")
    } else {
        String::new()
    };
    format!(
        "TOP = $(_HERE_)/..\n\n\
         NVVMIR_LIBRARY_DIR = $(TOP)/$(_NVVM_BRANCH_)/libdevice\n\n\
         LD_LIBRARY_PATH += $(TOP)/lib:\n\
         PATH += $(TOP)/$(_NVVM_BRANCH_)/bin:$(_HERE_):\n\n\
         INCLUDES += \"-I{include}\" $(_SPACE_)\n{system}\n\
         LIBRARIES =+ $(_SPACE_) \"-L{lib}/stubs\" \"-L{lib}\"\n\n\
         CUDAFE_FLAGS +=\n\
         PTXAS_FLAGS +=\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_named_from_nvccs_own() {
        for cccl in [false, true] {
            let text = text(cccl);
            assert!(!text.contains("/usr"), "{text}");
            assert!(
                text.contains("\nINCLUDES += \"-I$(TOP)/$(_TARGET_DIR_)/include\" $(_SPACE_)\n"),
                "{text}"
            );
            assert_eq!(text.contains("include/cccl\""), cccl);
            assert!(text.lines().all(|line| !line.starts_with(' ')), "{text}");
        }
    }
}
