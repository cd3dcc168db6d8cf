# shellcheck shell=bash
# A configure that looks for nvcc on PATH and takes the directory above it for the toolkit.
export title="autotools, root from \`nvcc\`"
lacks() { { has autoconf && has automake; } || echo 'autoconf and automake are not installed'; }
generate() {
    cat >configure.ac <<'TEXT'
AC_INIT([a], [1])
AM_INIT_AUTOMAKE([foreign])
AC_PROG_CXX
AC_PATH_PROG([NVCC], [nvcc], [no])
CUDA_ROOT=`dirname "\`dirname "$NVCC"\`"`
AC_SUBST([CUDA_ROOT])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
TEXT
    cat >Makefile.am <<'TEXT'
bin_PROGRAMS = a
a_SOURCES = main.cpp
a_LDADD = k.o -L$(CUDA_ROOT)/lib64 -lcudart
a_DEPENDENCIES = k.o
k.o: a.cu
	$(NVCC) -arch=sm_80 -I$(CUDA_ROOT)/include -Dmain=report -c $< -o $@
TEXT
    printf 'int report();\nint main() { return report(); }\n' >main.cpp
    autoreconf -i
}
take() {
    local root
    # What autoreconf makes does not depend on the toolkit.
    [ -e "$SHARED/autotools/configure" ] || { mkdir -p "$SHARED/autotools" && (cd "$SHARED/autotools" && generate); }
    cp -a "$SHARED/autotools/." .
    program >a.cu
    ./configure
    root=$(sed -n 's/^CUDA_ROOT = //p' Makefile)
    make || nothing "takes $root"
    saw root "$root"
    runs ./a
}
