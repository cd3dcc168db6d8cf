//! What kind of archive a file is, by its name.

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A zip archive, which wheels are.
    Zip,
    /// A tar archive, packed or not.
    Tar,
    /// A package of Debian: its files are in a tar archive within.
    Deb,
    /// A script with a tar archive behind it.
    Run,
}

/// The endings, in lower case.
const ENDINGS: [(&str, Format); 9] = [
    (".whl", Format::Zip),
    (".zip", Format::Zip),
    (".tar.xz", Format::Tar),
    (".txz", Format::Tar),
    (".tar.gz", Format::Tar),
    (".tgz", Format::Tar),
    (".tar", Format::Tar),
    (".deb", Format::Deb),
    (".run", Format::Run),
];

impl Format {
    /// The kind that a file's name says; `None`: none that can be unpacked.
    pub fn of(file: &str) -> Option<Self> {
        let file = file.to_ascii_lowercase();
        ENDINGS.iter().find(|(ending, _)| file.ends_with(ending)).map(|(_, format)| *format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_kind() {
        for (file, format) in [
            ("nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2010_x86_64.whl", Some(Format::Zip)),
            ("cuda_nvcc-linux-x86_64-12.4.131-archive.tar.xz", Some(Format::Tar)),
            ("cudnn-11.3-linux-x64-v8.2.1.32.tgz", Some(Format::Tar)),
            ("nccl_2.21.5-1+cuda12.4_x86_64.txz", Some(Format::Tar)),
            ("nvidia-cuda-toolkit_11.8.89~11.8.0-5~deb12u1_amd64.deb", Some(Format::Deb)),
            ("cuda_12.4.1_550.54.15_linux.run", Some(Format::Run)),
            ("CUDA.TAR.GZ", Some(Format::Tar)),
            ("cuda.tar.zst", None),
            ("whl", None),
            ("", None),
        ] {
            assert_eq!(Format::of(file), format, "{file}");
        }
    }
}
