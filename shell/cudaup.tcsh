# The hook of cudaup for tcsh (tried with 6.24). `cudaup init tcsh` prints it after lines that set _cudaup_bin, _cudaup_asked_of,
# _cudaup_home, _cudaup_system and the variables of the directory that the shell starts in.
#
# At each prompt and each change of directory it looks, with builtins alone, whether anything changed that decides about
# the toolkit: which .cuda-version is the nearest, CUDAUP_VERSION, PATH, CUDA_HOME, whether the toolkit still exists. tcsh
# reads no file without a process of its own, so of that file and of the default files it looks at size and times. Only then
# does it ask the program. Nothing that it remembers is exported.
#
# The text is evaluated as one line, so each line ends by itself. csh has no functions, so each is an alias: control flow that
# takes more lines than one is no part of an alias. `if (...) eval NAME` runs the alias NAME only if it is so; `if (...) NAME`
# would know no alias, and would fail for variables in it that are not set. `$NAME:q` outside of double quotes takes a value
# as it is, line ends too. An error in here would make tcsh forget the alias of the prompt. Whatever a user has chosen in the
# place of `!` must not stand in here: so no comma, no %, no ^.

if (! $?_cudaup_told) set _cudaup_told = '' ;
set _cudaup_own = $_cudaup_home:q/default ;
set _cudaup_machine = $_cudaup_system:q/etc/cudaup/default ;
set _cudaup_asked = '' _cudaup_seen = '' _cudaup_yield = '' _cudaup_yielded = '' _cudaup_refused = '' _cudaup_root = / _cudaup_cwd = '' ;
set _cudaup_fresh ;
# The answer that came with this file is younger than the shell.
@ _cudaup_then = -C /proc/$$ ;

alias _cudaup_hook 'set _cudaup_status = $status ; _cudaup_look ; set status = $_cudaup_status' ;

alias _cudaup_look '_cudaup_find ; _cudaup_stamp ; if (x$_cudaup_key:q != x$_cudaup_asked:q || x$_cudaup_now:q != x$_cudaup_seen:q || ! -e $_cudaup_root:q || x$_cudaup_refused:q != x || x$_cudaup_yield:q != x || $_cudaup_young || $?_cudaup_starting) eval _cudaup_change' ;

# Sets _cudaup_pin to the nearest version file. A link that leads nowhere is a name that is there: it counts, and the program
# says what is wrong with it. Where there is none, to a name that can never be.
alias _cudaup_find 'set _cudaup_dir = $cwd:q _cudaup_end = - _cudaup_pin = /dev/null/none ; if (x$_cudaup_dir:q == x/) set _cudaup_dir = "" ; if ($?CUDAUP_CEILING) eval _cudaup_ceiling ; _cudaup_climb' ;
alias _cudaup_ceiling 'if (x$CUDAUP_CEILING:q != x) set _cudaup_end = $CUDAUP_CEILING:q ; if (x$_cudaup_end:q =~ x*/) set _cudaup_end = $_cudaup_end:h:q' ;
alias _cudaup_climb 'if (x$_cudaup_dir:q != x$_cudaup_end:q) eval _cudaup_try' ;
alias _cudaup_try 'if (-e $_cudaup_dir:q/.cuda-version || -l $_cudaup_dir:q/.cuda-version) set _cudaup_pin = $_cudaup_dir:q/.cuda-version ; if ($_cudaup_pin:q == /dev/null/none && x$_cudaup_dir:q != x) eval _cudaup_up' ;
alias _cudaup_up 'set _cudaup_dir = $_cudaup_dir:h:q ; _cudaup_climb' ;

# Sets _cudaup_key, what the answer stands on, and _cudaup_now, what came of it. A file that changed within two seconds before
# the answer may change once more within the same second, and nothing of it would tell: until then it is young.
alias _cudaup_stamp '_cudaup_times ; _cudaup_versions ; @ _cudaup_young = ($_cudaup_c1 + 2 > $_cudaup_then || $_cudaup_c2 + 2 > $_cudaup_then || $_cudaup_c3 + 2 > $_cudaup_then || $_cudaup_c4 + 2 > $_cudaup_then) ; if (-F . != -F $cwd:q) set _cudaup_key = lost$_cudaup_key:q _cudaup_young = 1' ;
alias _cudaup_times '@ _cudaup_c1 = -C $_cudaup_pin:q ; @ _cudaup_m1 = -M $_cudaup_pin:q ; @ _cudaup_z1 = -Z $_cudaup_pin:q ; @ _cudaup_c2 = -LC $_cudaup_pin:q ; @ _cudaup_c3 = -C $_cudaup_own:q ; @ _cudaup_z3 = -Z $_cudaup_own:q ; @ _cudaup_c4 = -C $_cudaup_machine:q ; @ _cudaup_z4 = -Z $_cudaup_machine:q' ;
alias _cudaup_versions 'set _cudaup_key = $_cudaup_c1/$_cudaup_m1/$_cudaup_z1/$_cudaup_c2/$_cudaup_c3/$_cudaup_z3/$_cudaup_c4/$_cudaup_z4/$_cudaup_pin:q _cudaup_now = "" ; if ($?CUDAUP_VERSION) eval _cudaup_version ; _cudaup_variables' ;
alias _cudaup_version 'set _cudaup_key = $_cudaup_key:q/$CUDAUP_VERSION:q' ;
alias _cudaup_variables 'set _cudaup_now = "" ; if ($?CUDA_HOME) eval _cudaup_with_home ; if ($?PATH) eval _cudaup_with_path' ;
alias _cudaup_with_home 'set _cudaup_now = $CUDA_HOME:q' ;
alias _cudaup_with_path 'set _cudaup_now = $_cudaup_now:q/$PATH:q' ;

# Asks the program, if what its last answer stood on is no longer so: the directory may only be another with the same answer.
alias _cudaup_change '_cudaup_judge ; if ($_cudaup_do == enter || $_cudaup_do == mend) eval _cudaup_ask ; if ($_cudaup_do == settle) eval _cudaup_settle' ;

# Sets _cudaup_do; of what applies, the last decides. At the start the answer came with this file. What came from another hand
# holds until the directory changes; what stands in a start file below cudaup's lines is no newer wish: the first prompt enters
# over it.
alias _cudaup_judge 'set _cudaup_do = rest ; if ($_cudaup_young && x$_cudaup_yield:q == x) set _cudaup_do = enter ; if (x$_cudaup_now:q != x$_cudaup_seen:q || ! -e $_cudaup_root:q) set _cudaup_do = mend ; if (x$_cudaup_yield:q != x && x$_cudaup_cwd:q != x$cwd:q) set _cudaup_do = enter ; if (x$_cudaup_refused:q != x) eval _cudaup_installed ; if (x$_cudaup_key:q != x$_cudaup_asked:q) set _cudaup_do = enter ; if ($?_cudaup_starting && x$_cudaup_now:q != x$_cudaup_seen:q) set _cudaup_do = enter ; if ($?_cudaup_fresh) set _cudaup_do = settle ; unset _cudaup_starting _cudaup_fresh' ;

# Which toolkits and add-ons there are: a refusal stands on that too, and another terminal may install what is missing. Only
# where a refusal was entered does a prompt look. Patterns are no way to list them: with letters beyond ASCII in the path of
# the home, tcsh finds nothing.
alias _cudaup_installed '_cudaup_list ; if ($_cudaup_there != $_cudaup_refused || $_cudaup_newest + 2 > $_cudaup_then) set _cudaup_do = enter' ;
alias _cudaup_list 'set _cudaup_there = list _cudaup_newest = 0 _cudaup_rest = (toolkits addons addons/cudnn addons/nccl addons/cutensor addons/cusparselt addons/nvshmem) ; _cudaup_folders' ;
alias _cudaup_folders 'if ($#_cudaup_rest) eval _cudaup_folder' ;
alias _cudaup_folder '@ _cudaup_c5 = -C $_cudaup_home:q/$_cudaup_rest[1] ; set _cudaup_there = $_cudaup_there/$_cudaup_c5 ; if ($_cudaup_c5 > $_cudaup_newest) set _cudaup_newest = $_cudaup_c5 ; shift _cudaup_rest ; _cudaup_folders' ;

# What is to be evaluated comes on stdout, after the time at which that was made; what is to be read goes straight to stderr.
# While the program is away nothing is asked, and nothing taken as seen.
alias _cudaup_ask 'set _cudaup_how = () ; if ($_cudaup_do == mend) set _cudaup_how = --mend ; if (-x $_cudaup_asked_of:q) eval _cudaup_answer' ;
alias _cudaup_answer 'set _cudaup_text = "`_cudaup_run`" ; if ($status == 0) eval _cudaup_take' ;
alias _cudaup_obey 'eval $_cudaup_text:q' ;
alias _cudaup_run 'filetest -C /dev/stdout ; setenv _CUDAUP_TOLD $_cudaup_told:q ; setenv _CUDAUP_YIELDED $_cudaup_yielded:q ; $_cudaup_asked_of:q hook tcsh $_cudaup_how:q' ;
alias _cudaup_take 'set _cudaup_then = $_cudaup_text[1] ; shift _cudaup_text ; set _cudaup_yield = "" _cudaup_yielded = "" ; if ($#_cudaup_text) eval _cudaup_obey ; set _cudaup_do = settle' ;

# Takes what was found, and the variables, as seen. A root that does not exist is not watched.
alias _cudaup_settle '_cudaup_variables ; set _cudaup_asked = $_cudaup_key:q _cudaup_seen = $_cudaup_now:q _cudaup_cwd = $cwd:q _cudaup_root = / _cudaup_refused = "" ; if ($?CUDAUP_STATE) eval _cudaup_entered' ;
alias _cudaup_entered 'if ($?CUDA_HOME) eval _cudaup_watch ; if ($CUDAUP_STATE:q =~ 1\;refused\;*) eval _cudaup_refuse' ;
alias _cudaup_watch 'if (x$CUDA_HOME:q != x && -e $CUDA_HOME:q) set _cudaup_root = $CUDA_HOME:q' ;
alias _cudaup_refuse '_cudaup_list ; set _cudaup_refused = $_cudaup_there' ;

# The program, and after it the hook, so that `cudaup use` and `cudaup install` are in force at once; before it too, so that what
# it says of this shell holds for a version file that this command line may have changed. `use --shell` answers with text for
# this shell. The last of the alias is one command, which takes what was typed as it was typed: so pipes and
# redirections have the program's output. What stands for that in an alias begins as history does here; where a user has
# switched history off nothing does, and the prompt has to follow by itself.
set _cudaup_mark = \! ;
alias _cudaup_first '/usr/bin/printf %.1s $histchars:q' ;
if ($?histchars) set _cudaup_mark = "`_cudaup_first`" ;
alias cudaup '_cudaup_look ; set _cudaup_rest = ('"$_cudaup_mark"'*:q) ; _cudaup_words ; eval $_cudaup_form '"$_cudaup_mark"'*:q' ;
alias _cudaup_plain '/usr/bin/env _CUDAUP_SHELL=tcsh $_cudaup_bin:q '"$_cudaup_mark"'* ; _cudaup_after' ;
alias _cudaup_shell 'set _cudaup_rest = ('"$_cudaup_mark"'*) ; set _cudaup_text = "`_cudaup_use`" ; set _cudaup_status = $status ; if ($_cudaup_status == 0) eval _cudaup_obey ; set status = $_cudaup_status ; _cudaup_after' ;
if ("x$_cudaup_mark" == x) alias cudaup 'set _cudaup_asked = "?" ; $_cudaup_bin:q' ;
alias _cudaup_use '/usr/bin/env _CUDAUP_SHELL=tcsh $_cudaup_bin:q $_cudaup_rest:q' ;

# What these change the hook cannot see: which toolkits there are, or a wish that a newer one had pushed aside.
alias _cudaup_after 'set _cudaup_status = $status ; if ($_cudaup_status == 0 && " use use1 install uninstall link unlink add remove sync " =~ "* $_cudaup_verb:q$_cudaup_yield *") set _cudaup_asked = "?" ; _cudaup_look ; set status = $_cudaup_status' ;

# Sets _cudaup_verb and _cudaup_form. The value of a global option is no verb.
alias _cudaup_words 'set _cudaup_verb = "" _cudaup_before = "" _cudaup_form = _cudaup_plain _cudaup_text = 0 _cudaup_help = 0 ; _cudaup_next ; if (x$_cudaup_verb:q == xuse && $_cudaup_text && ! $_cudaup_help) set _cudaup_form = _cudaup_shell' ;
alias _cudaup_next 'if ($#_cudaup_rest) eval _cudaup_word' ;
alias _cudaup_word 'set _cudaup_this = $_cudaup_rest[1]:q ; shift _cudaup_rest ; if (x$_cudaup_before:q == x--color) set _cudaup_this = - ; set _cudaup_before = $_cudaup_this:q ; if (x$_cudaup_this:q == x--shell || x$_cudaup_this:q =~ x--shell=*) set _cudaup_text = 1 ; if (" -h --help -V --version " =~ "* $_cudaup_this:q *") set _cudaup_help = 1 ; if (x$_cudaup_verb:q == x && x$_cudaup_this:q !~ x-*) set _cudaup_verb = $_cudaup_this:q ; if (x$_cudaup_this:q == x-- || (x$_cudaup_verb:q != x && x$_cudaup_verb:q != xuse)) set _cudaup_rest = () ; _cudaup_next' ;

# First, so that what draws the prompt sees the new variables.
set _cudaup_old = "`alias precmd`" ;
if ("$_cudaup_old:q" !~ *_cudaup_hook*) alias precmd '_cudaup_hook ; '$_cudaup_old:q ;
set _cudaup_old = "`alias cwdcmd`" ;
if ("$_cudaup_old:q" !~ *_cudaup_hook*) alias cwdcmd '_cudaup_hook ; '$_cudaup_old:q ;
eval _cudaup_hook ;
set _cudaup_starting ;
