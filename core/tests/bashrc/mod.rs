//! The environments that lines about CUDA in start files of many kinds give, in the form in which people write them.

/// A name, and the variables.
pub type Environment = (&'static str, &'static [(&'static str, &'static str)]);

const SYSTEM: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

pub const ENVIRONMENTS: &[Environment] = &[
    ("nothing about CUDA", &[("HOME", "/home/u"), ("PATH", SYSTEM)]),
    (
        "the install guide's two lines",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda-12.4/bin:/usr/local/bin:/usr/bin:/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda-12.4/lib64"),
        ],
    ),
    (
        "appended behind an unset list",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/bin:/bin:/usr/local/cuda/bin"),
            ("LD_LIBRARY_PATH", ":/usr/local/cuda/lib64"),
        ],
    ),
    (
        "prepended to an unset list",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda/bin:/usr/bin:/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda/lib64:"),
        ],
    ),
    (
        "CUDA_HOME as a search list",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda/bin:/usr/bin"),
            ("CUDA_HOME", "/usr/local/cuda:"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda/lib64:/usr/local/cuda/extras/CUPTI/lib64"),
        ],
    ),
    (
        "CUPTI by hand",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/bin"),
            ("CUDA_HOME", "/usr/local/cuda-10.0"),
            (
                "LD_LIBRARY_PATH",
                "/usr/local/cuda-10.0/lib64:/usr/local/cuda-10.0/extras/CUPTI/lib64:/usr/lib/nvidia",
            ),
        ],
    ),
    (
        "two versions in a row",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda-11.8/bin:/usr/local/cuda-10.1/bin:/usr/bin:/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda-11.8/lib64:/usr/local/cuda-10.1/lib64:/usr/lib"),
        ],
    ),
    (
        "sourced three times",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda/bin:/usr/local/cuda/bin:/usr/local/cuda/bin:/usr/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda/lib64:/usr/local/cuda/lib64:/usr/local/cuda/lib64"),
        ],
    ),
    (
        "a private toolkit without root",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/home/u/cuda-11.1/bin:/usr/bin:/bin"),
            ("LD_LIBRARY_PATH", "/home/u/cuda-11.1/lib64:/home/u/.mujoco/bin"),
            ("CUDA_HOME", "/home/u/cuda-11.1"),
        ],
    ),
    (
        "a module of EasyBuild",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/apps/CUDA/11.7.0/nvvm/bin:/apps/CUDA/11.7.0/bin:/apps/GCCcore/11/bin:/usr/bin"),
            ("LIBRARY_PATH", "/apps/CUDA/11.7.0/stubs/lib64:/apps/CUDA/11.7.0/lib64"),
            (
                "CPATH",
                "/apps/CUDA/11.7.0/nvvm/include:/apps/CUDA/11.7.0/extras/CUPTI/include:/apps/CUDA/11.7.0/include",
            ),
            ("EBROOTCUDA", "/apps/CUDA/11.7.0"),
            ("CUDA_HOME", "/apps/CUDA/11.7.0"),
            ("CUDA_ROOT", "/apps/CUDA/11.7.0"),
            ("CUDA_PATH", "/apps/CUDA/11.7.0"),
        ],
    ),
    (
        "Arch",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/bin:/opt/cuda/bin:/opt/cuda/nsight_compute:/opt/cuda/nsight_systems/bin"),
            ("CUDA_PATH", "/opt/cuda"),
            ("NVCC_CCBIN", "/usr/bin/g++-14"),
        ],
    ),
    (
        "WSL with Windows paths",
        &[
            ("HOME", "/home/u"),
            (
                "PATH",
                "/usr/local/cuda/bin:/usr/bin:/usr/lib/wsl/lib:/mnt/c/Program Files (x86)/NVIDIA Corporation/PhysX/Common:/mnt/c/Windows",
            ),
            ("LD_LIBRARY_PATH", "/usr/lib/wsl/lib:/usr/local/cuda/lib64"),
        ],
    ),
    (
        "conda with its compiler flags",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/opt/conda/envs/cuda/bin:/opt/conda/condabin:/usr/bin"),
            ("CONDA_PREFIX", "/opt/conda/envs/cuda"),
            ("NVCC_PREPEND_FLAGS", " -ccbin=/opt/conda/envs/cuda/bin/x86_64-conda-linux-gnu-c++"),
            ("CUDA_HOME", "/opt/conda/envs/cuda"),
        ],
    ),
    (
        "an image of NVIDIA's",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/bin:/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"),
            ("LIBRARY_PATH", "/usr/local/cuda/lib64/stubs"),
        ],
    ),
    (
        "forward compatibility in front",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda/bin:/usr/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda/compat:/usr/local/cuda/lib64"),
        ],
    ),
    (
        "stubs by mistake",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/bin"),
            (
                "LD_LIBRARY_PATH",
                "/usr/local/cuda/lib64/stubs:/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu/stubs",
            ),
        ],
    ),
    (
        "the samples in PATH",
        &[
            ("HOME", "/home/u"),
            (
                "PATH",
                "/home/u/NVIDIA_CUDA-10.2_Samples/bin/x86_64/linux/release:/usr/local/cuda-10.2/bin:/usr/local/cuda-10.2/NsightCompute-2019.1:/usr/bin",
            ),
            ("CUDADIR", "/usr/local/cuda-10.2"),
        ],
    ),
    (
        "TensorRT and cuDNN beside it",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda-11.8/bin:/usr/bin"),
            ("LD_LIBRARY_PATH", "/home/u/TensorRT-8.6.1.6/lib:/usr/local/cuda-11.8/lib64:/home/u/cudnn/lib"),
            ("CUDNN_PATH", "/home/u/cudnn"),
        ],
    ),
    (
        "all variables at once",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda/bin:/usr/bin"),
            ("CUDA_HOME", "/usr/local/cuda"),
            ("CUDA_PATH", "/usr/local/cuda"),
            ("CUDA_TOOLKIT_ROOT_DIR", "/usr/local/cuda"),
            ("CUDA_BIN_PATH", "/usr/local/cuda"),
            ("CUDACXX", "/usr/local/cuda/bin/nvcc"),
            ("CPATH", "/usr/local/cuda/include"),
            ("LIBRARY_PATH", "/usr/local/cuda/lib64"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda/lib64"),
        ],
    ),
    (
        "a compiler of one's own",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/bin"),
            ("CUDACXX", "/home/u/bin/nvcc-wrapper"),
            ("CUDAHOSTCXX", "g++-10"),
        ],
    ),
    (
        "trailing slashes and doubled ones",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/cuda-11.3/bin/:/usr/local//cuda/bin:/usr/bin"),
            ("LD_LIBRARY_PATH", "/usr/local/cuda-11.3/lib64/:/lib//"),
        ],
    ),
    (
        "everything empty",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/usr/bin"),
            ("LD_LIBRARY_PATH", ""),
            ("CPATH", ":"),
            ("LIBRARY_PATH", "::"),
            ("CUDA_HOME", ""),
        ],
    ),
    (
        "a cluster's tree by version",
        &[
            ("HOME", "/home/u"),
            ("PATH", "/sw/cuda/12.1.1/bin:/usr/bin"),
            ("CUDA_HOME", "/sw/cuda/12.1.1"),
            ("LD_LIBRARY_PATH", "/sw/cuda/12.1.1/lib64:/sw/cuda/12.1.1/targets/x86_64-linux/lib"),
        ],
    ),
];
