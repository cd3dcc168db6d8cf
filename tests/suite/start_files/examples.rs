//! Twenty start files, for bash and zsh and in the words of fish.

/// A start file.
pub struct Example {
    pub name: &'static str,
    /// For bash and zsh.
    pub posix: &'static str,
    pub fish: &'static str,
}

const fn example(name: &'static str, posix: &'static str, fish: &'static str) -> Example {
    Example { name, posix, fish }
}

pub const EXAMPLES: &[Example] = &[
    example(
        "the two lines of the install guide",
        "export PATH=/usr/local/cuda-12.4/bin${PATH:+:${PATH}}
export LD_LIBRARY_PATH=/usr/local/cuda-12.4/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}",
        "set -gx PATH /usr/local/cuda-12.4/bin $PATH
set -q LD_LIBRARY_PATH; and set -gx LD_LIBRARY_PATH /usr/local/cuda-12.4/lib64 $LD_LIBRARY_PATH; or set -gx LD_LIBRARY_PATH /usr/local/cuda-12.4/lib64",
    ),
    example(
        "nothing about CUDA",
        "export EDITOR=vi PATH=\"$HOME/.local/bin:$PATH\"",
        "set -gx EDITOR vi
set -gx PATH ~/.local/bin $PATH",
    ),
    example(
        "an empty element before and behind",
        "export PATH=$PATH:/usr/local/cuda/bin
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/local/cuda/lib64
export CPATH=/usr/local/cuda/include:$CPATH",
        "set -gx PATH $PATH /usr/local/cuda/bin
set -gx LD_LIBRARY_PATH \"$LD_LIBRARY_PATH:/usr/local/cuda/lib64\"
set -gx CPATH \"/usr/local/cuda/include:$CPATH\"",
    ),
    example(
        "the same line twice, from two guides",
        "export PATH=/usr/local/cuda/bin:$PATH
export CUDA_HOME=/usr/local/cuda
export PATH=/usr/local/cuda/bin:$PATH
export LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/local/cuda/lib64",
        "set -gx PATH /usr/local/cuda/bin $PATH
set -gx CUDA_HOME /usr/local/cuda
set -gx PATH /usr/local/cuda/bin $PATH
set -gx LD_LIBRARY_PATH /usr/local/cuda/lib64 /usr/local/cuda/lib64",
    ),
    example(
        "one version by number and one by the link",
        "export CUDA_HOME=/usr/local/cuda-11.8
export PATH=/usr/local/cuda/bin:$CUDA_HOME/bin:$PATH
export LD_LIBRARY_PATH=\"$CUDA_HOME/lib64:/usr/local/cuda/extras/CUPTI/lib64:/usr/lib/x86_64-linux-gnu\"
export CUDACXX=/usr/local/cuda/bin/nvcc",
        "set -gx CUDA_HOME /usr/local/cuda-11.8
set -gx PATH /usr/local/cuda/bin $CUDA_HOME/bin $PATH
set -gx LD_LIBRARY_PATH \"$CUDA_HOME/lib64:/usr/local/cuda/extras/CUPTI/lib64:/usr/lib/x86_64-linux-gnu\"
set -gx CUDACXX /usr/local/cuda/bin/nvcc",
    ),
    example(
        "every variable that some program may read",
        "r=/opt/cuda
export CUDA_HOME=$r CUDA_PATH=$r CUDA_ROOT=$r CUDADIR=$r CUDA_BIN_PATH=$r CUDA_TOOLKIT_ROOT_DIR=$r
export PATH=$r/bin:$r/nsight_compute:$PATH LIBRARY_PATH=$r/lib64:$r/lib64/stubs CPATH=$r/include
export LD_LIBRARY_PATH=$r/lib64:$r/nvvm/lib64 PKG_CONFIG_PATH=/usr/share/pkgconfig:$r/pkgconfig",
        "set r /opt/cuda
for v in CUDA_HOME CUDA_PATH CUDA_ROOT CUDADIR CUDA_BIN_PATH CUDA_TOOLKIT_ROOT_DIR; set -gx $v $r; end
set -gx PATH $r/bin $r/nsight_compute $PATH
set -gx LIBRARY_PATH $r/lib64 $r/lib64/stubs
set -gx CPATH $r/include
set -gx LD_LIBRARY_PATH $r/lib64 $r/nvvm/lib64
set -gx PKG_CONFIG_PATH /usr/share/pkgconfig $r/pkgconfig",
    ),
    example(
        "a root variable that was written like a list",
        "export CUDA_HOME=$CUDA_HOME:/usr/local/cuda
export PATH=\"$PATH:/usr/local/cuda/bin\"",
        "set -gx CUDA_HOME \"$CUDA_HOME:/usr/local/cuda\"
set -gx PATH $PATH /usr/local/cuda/bin",
    ),
    example(
        "conda's block, and a toolkit behind it",
        "# >>> conda initialize >>>
if [ -f \"$HOME/miniconda3/etc/profile.d/conda.sh\" ]; then
    . \"$HOME/miniconda3/etc/profile.d/conda.sh\"
else
    export PATH=\"$HOME/miniconda3/bin:$PATH\"
fi
# <<< conda initialize <<<
export CONDA_PREFIX=\"$HOME/miniconda3\"
export LD_LIBRARY_PATH=\"$CONDA_PREFIX/lib:/usr/local/cuda-12.1/lib64\" PATH=/usr/local/cuda-12.1/bin:$PATH",
        "if test -f ~/miniconda3/etc/fish/conf.d/conda.fish
    source ~/miniconda3/etc/fish/conf.d/conda.fish
else
    set -gx PATH ~/miniconda3/bin $PATH
end
set -gx CONDA_PREFIX ~/miniconda3
set -gx LD_LIBRARY_PATH $CONDA_PREFIX/lib /usr/local/cuda-12.1/lib64
set -gx PATH /usr/local/cuda-12.1/bin $PATH",
    ),
    example(
        "a module of a cluster",
        "module() { # what a cluster's own start files define
    export EBROOTCUDA=/apps/CUDA/11.7.0 LOADEDMODULES=GCC/11:CUDA/11.7.0
    export PATH=$EBROOTCUDA/nvvm/bin:$EBROOTCUDA/bin:/apps/GCC/11/bin:$PATH
    export CUDA_HOME=$EBROOTCUDA CUDA_PATH=$EBROOTCUDA LIBRARY_PATH=$EBROOTCUDA/stubs/lib64:$EBROOTCUDA/lib64
    export CPATH=$EBROOTCUDA/extras/CUPTI/include:$EBROOTCUDA/include:/apps/GCC/11/include
}
module load CUDA/11.7.0",
        "function module # what a cluster's own start files define
    set -gx EBROOTCUDA /apps/CUDA/11.7.0
    set -gx LOADEDMODULES GCC/11:CUDA/11.7.0
    set -gx PATH $EBROOTCUDA/nvvm/bin $EBROOTCUDA/bin /apps/GCC/11/bin $PATH
    set -gx CUDA_HOME $EBROOTCUDA
    set -gx CUDA_PATH $EBROOTCUDA
    set -gx LIBRARY_PATH $EBROOTCUDA/stubs/lib64 $EBROOTCUDA/lib64
    set -gx CPATH $EBROOTCUDA/extras/CUPTI/include $EBROOTCUDA/include /apps/GCC/11/include
end
module load CUDA/11.7.0",
    ),
    example(
        "a function that switches",
        "cuda_use() {
    export CUDA_HOME=/usr/local/cuda-$1
    export PATH=\"$CUDA_HOME/bin:$PATH\" LD_LIBRARY_PATH=\"$CUDA_HOME/lib64:$LD_LIBRARY_PATH\"
}
cuda_use 10.2
cuda_use 12.2",
        "function cuda_use
    set -gx CUDA_HOME /usr/local/cuda-$argv[1]
    set -gx PATH $CUDA_HOME/bin $PATH
    set -gx LD_LIBRARY_PATH \"$CUDA_HOME/lib64:$LD_LIBRARY_PATH\"
end
cuda_use 10.2
cuda_use 12.2",
    ),
    example(
        "a toolkit without root, and cuDNN beside it",
        "export CUDA_HOME=\"$HOME/cuda-11.1\" CUDNN_PATH=\"$HOME/cudnn\"
export PATH=\"$CUDA_HOME/bin:$PATH\" LD_LIBRARY_PATH=\"$CUDNN_PATH/lib:$CUDA_HOME/lib64:$HOME/.mujoco/bin\"
export CPATH=\"$CUDNN_PATH/include\" LIBRARY_PATH=\"$CUDNN_PATH/lib\"",
        "set -gx CUDA_HOME ~/cuda-11.1
set -gx CUDNN_PATH ~/cudnn
set -gx PATH $CUDA_HOME/bin $PATH
set -gx LD_LIBRARY_PATH $CUDNN_PATH/lib $CUDA_HOME/lib64 ~/.mujoco/bin
set -gx CPATH $CUDNN_PATH/include
set -gx LIBRARY_PATH $CUDNN_PATH/lib",
    ),
    example(
        "Windows' own programs behind the driver of WSL2",
        "export PATH=\"/usr/local/cuda/bin:$PATH:/usr/lib/wsl/lib:/mnt/c/Program Files (x86)/Common\"
export LD_LIBRARY_PATH=/usr/lib/wsl/lib:/usr/local/cuda/lib64",
        "set -gx PATH /usr/local/cuda/bin $PATH /usr/lib/wsl/lib '/mnt/c/Program Files (x86)/Common'
set -gx LD_LIBRARY_PATH /usr/lib/wsl/lib /usr/local/cuda/lib64",
    ),
    example(
        "only where it is there",
        "for d in /usr /usr/local/cuda-9.9 /usr/bin; do
    [ -d \"$d\" ] && export PATH=\"$PATH:$d\"
done
[ -z \"$CUDA_PATH\" ] && export CUDA_PATH=/usr/local/cuda-12
export PATH=\"${CUDA_PATH}/bin:${PATH}\"",
        "for d in /usr /usr/local/cuda-9.9 /usr/bin
    test -d $d; and set -gx PATH $PATH $d
end
test -z \"$CUDA_PATH\"; and set -gx CUDA_PATH /usr/local/cuda-12
set -gx PATH $CUDA_PATH/bin $PATH",
    ),
    example(
        "slashes too many",
        "export PATH=/usr/local/cuda-11.3/bin/:/usr/local//cuda/bin:$PATH/
export LD_LIBRARY_PATH=/usr/local/cuda-11.3/lib64/:/lib//",
        "set -gx PATH /usr/local/cuda-11.3/bin/ /usr/local//cuda/bin $PATH
set -gx LD_LIBRARY_PATH /usr/local/cuda-11.3/lib64/ /lib//",
    ),
    example(
        "stand-ins for the driver, and its libraries for an older one",
        "export LD_LIBRARY_PATH=/usr/local/cuda/compat:/usr/local/cuda/lib64/stubs:/usr/local/cuda/lib64
export LIBRARY_PATH=/usr/local/cuda/lib64/stubs PATH=/usr/local/nvidia/bin:/usr/local/cuda/bin:$PATH",
        "set -gx LD_LIBRARY_PATH /usr/local/cuda/compat /usr/local/cuda/lib64/stubs /usr/local/cuda/lib64
set -gx LIBRARY_PATH /usr/local/cuda/lib64/stubs
set -gx PATH /usr/local/nvidia/bin /usr/local/cuda/bin $PATH",
    ),
    example(
        "everything empty",
        "export LD_LIBRARY_PATH= CPATH=: LIBRARY_PATH=:: CUDA_HOME= CUDACXX= PKG_CONFIG_PATH=/usr/lib/pkgconfig:",
        "set -gx LD_LIBRARY_PATH ''
set -gx CPATH ':'
set -gx LIBRARY_PATH '::'
set -gx CUDA_HOME ''
set -gx CUDACXX ''
set -gx PKG_CONFIG_PATH '/usr/lib/pkgconfig:'",
    ),
    example(
        "flags for compilers",
        "export CUDA_HOME=/usr/local/cuda NVCC_PREPEND_FLAGS='-ccbin \"/usr/bin/g++-11\"'
export CFLAGS=\"-I$CUDA_HOME/include\" LDFLAGS=\"-L$CUDA_HOME/lib64 -Wl,-rpath,'$CUDA_HOME/lib64'\" CUDAHOSTCXX=g++-11",
        "set -gx CUDA_HOME /usr/local/cuda
set -gx NVCC_PREPEND_FLAGS '-ccbin \"/usr/bin/g++-11\"'
set -gx CFLAGS \"-I$CUDA_HOME/include\"
set -gx LDFLAGS \"-L$CUDA_HOME/lib64 -Wl,-rpath,'$CUDA_HOME/lib64'\"
set -gx CUDAHOSTCXX g++-11",
    ),
    example(
        "the samples, and old tools",
        "export PATH=/usr/local/cuda-10.2/bin:/usr/local/cuda-10.2/NsightCompute-2019.1:/usr/local/cuda-10.2/libnvvp:/usr/local/cuda-samples/bin:$PATH
export CUDADIR=/usr/local/cuda-10.2 CUDA_VISIBLE_DEVICES=0,1",
        "set -gx PATH /usr/local/cuda-10.2/bin /usr/local/cuda-10.2/NsightCompute-2019.1 /usr/local/cuda-10.2/libnvvp /usr/local/cuda-samples/bin $PATH
set -gx CUDADIR /usr/local/cuda-10.2
set -gx CUDA_VISIBLE_DEVICES 0,1",
    ),
    example(
        "NVIDIA's HPC SDK",
        "sdk=/opt/nvidia/hpc_sdk/Linux_x86_64/24.3
export NVHPC_CUDA_HOME=$sdk/cuda/12.3 CUDA_HOME=$sdk/cuda/12.3
export PATH=$sdk/cuda/12.3/bin:$PATH LD_LIBRARY_PATH=$sdk/math_libs/12.3/lib64:$sdk/cuda/12.3/lib64:/opt/mpi/lib",
        "set sdk /opt/nvidia/hpc_sdk/Linux_x86_64/24.3
set -gx NVHPC_CUDA_HOME $sdk/cuda/12.3
set -gx CUDA_HOME $sdk/cuda/12.3
set -gx PATH $sdk/cuda/12.3/bin $PATH
set -gx LD_LIBRARY_PATH $sdk/math_libs/12.3/lib64 $sdk/cuda/12.3/lib64 /opt/mpi/lib",
    ),
    example(
        "values that a shell could take for its own words",
        "export PATH='/it is $(touch ~/ran)/`id`;/bin':/usr/local/cuda/bin:\"/say \\\"so\\\" \\\\/bin:$PATH\"
export CPATH='/a*[b]?{c,d}:~/x:/usr/local/cuda/include' PS9='%n \\u $ '",
        "set -gx PATH '/it is $(touch ~/ran)/`id`;/bin' /usr/local/cuda/bin '/say \"so\" \\\\/bin' $PATH
set -gx CPATH '/a*[b]?{c,d}:~/x:/usr/local/cuda/include'
set -gx PS9 '%n \\u $ '",
    ),
];
