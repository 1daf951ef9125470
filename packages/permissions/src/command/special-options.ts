/** Options of a program that make a call more than the program's name says; lists are separated by blanks. */
export interface SpecialOptions {
  /** Options with which it runs another program, loads code or reads a configuration that names one. */
  readonly runs?: string;
  /** Options with which it writes a file or sends one away. */
  readonly writes?: string;
  /** Operands, by their first characters, that do one of these. */
  readonly operands?: string;
  /** Options are whole words with one dash: `-name` is not `-n -a -m -e`. */
  readonly whole?: true;
  /** Options are those in front of the first operand: what follows belongs to the script or subcommand it names. */
  readonly untilOperand?: true;
}

const python: SpecialOptions = { runs: "-c -i -", untilOperand: true };
const nodeLike: SpecialOptions = {
  untilOperand: true,
  runs: "-e -p -r -i - --eval --print --require --import --loader --experimental-loader --env-file --interactive --preload",
};
const packageManager: SpecialOptions = {
  runs: "-c --call --script-shell --shell --node-options --prefix -C --dir --cwd --userconfig --globalconfig --use-yarnrc",
};
const testRunner: SpecialOptions = {
  runs: "-c --config --globalSetup --setupFiles --runner --transform --resolver",
  writes: "--outputFile --coverage.reportsDirectory",
};
const vi: SpecialOptions = { runs: "-c --cmd -S -u -s -w -W", operands: "+" };
const awk: SpecialOptions = { runs: "-f -i -l -E --file --include --load --exec -e --source" };

/**
 * Options by program. Best effort: it names what is known to be used to get around rules, and cannot name what every
 * version of every program does. Short options are found in clusters, long ones also when they are abbreviated.
 */
export const specialOptions: Readonly<Record<string, SpecialOptions>> = {
  ag: { runs: "--pager" },
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  bat: { runs: "--pager --diff" },
  bun: nodeLike,
  cargo: { runs: "--config -Z --manifest-path" },
  cpio: { runs: "--to-command --rsh-command" },
  curl: {
    runs: "-K --config --engine -x --proxy --preproxy --connect-to --resolve --unix-socket --abstract-unix-socket -: --next",
    writes:
      "-o -O -J --output --output-dir --remote-name -T --upload-file -F --form -c --cookie-jar -D --dump-header --trace --trace-ascii --libcurl --stderr --hsts --alt-svc --etag-save",
    operands: "@ file: FILE:",
  },
  date: { writes: "-s --set" },
  deno: nodeLike,
  emacs: { runs: "-l -f --load --eval --funcall --batch --script" },
  eslint: {
    runs: "-c --config --rulesdir --resolve-plugins-relative-to --plugin --parser -f --format",
    writes: "-o --output-file",
  },
  ex: vi,
  fd: { runs: "-x -X --exec --exec-batch" },
  fdfind: { runs: "-x -X --exec --exec-batch" },
  file: { writes: "-C --compile", runs: "-z -Z" },
  find: {
    whole: true,
    runs: "-exec -execdir -ok -okdir",
    writes: "-delete -fprint -fprint0 -fprintf -fls",
  },
  gcc: { whole: true, runs: "-wrapper -B -fplugin -specs", writes: "-o" },
  git: {
    runs: "-c -C --config-env --exec-path --git-dir --work-tree --namespace -p --paginate",
    untilOperand: true,
  },
  "git *": {
    runs: "--upload-pack --receive-pack --exec --ext-diff --textconv --template --extcmd --open-files-in-pager",
    writes: "--output --output-directory",
    operands: "ext:: fd::",
  },
  "git archive": { runs: "--remote", writes: "-o" },
  "git clone": { runs: "-c --config -u" },
  "git difftool": { runs: "-x" },
  "git fetch": { runs: "-u" },
  "git format-patch": { writes: "-o" },
  "git grep": { runs: "-O" },
  "git rebase": { runs: "-x" },
  go: {
    whole: true,
    runs: "-exec -toolexec -overlay -vettool -modfile -C",
    writes: "-o -cpuprofile -memprofile -coverprofile",
  },
  gradle: { runs: "-I --init-script -b --build-file -p --project-dir" },
  jest: testRunner,
  jq: { runs: "-L -f --from-file" },
  less: { runs: "-k --lesskey-file", writes: "-o -O --log-file --LOG-FILE", operands: "+" },
  lua: { untilOperand: true, runs: "-e -l -i -" },
  make: {
    runs: "--eval -f --file --makefile -C --directory -I --include-dir",
    operands: "SHELL= .SHELLFLAGS= MAKEFLAGS= MAKE=",
  },
  man: { runs: "-P --pager -H --html -C --config-file -p --preprocessor -M -l" },
  more: { operands: "+" },
  mvn: { whole: true, runs: "-f --file -s --settings -gs -t" },
  mysql: { runs: "-e --execute --pager --init-command", writes: "--tee" },
  node: nodeLike,
  nodejs: nodeLike,
  npm: packageManager,
  nvim: vi,
  perl: { untilOperand: true, runs: "-e -E -M -m -I -x -d -", writes: "-i" },
  php: { untilOperand: true, runs: "-r -B -R -E -d -c -a -" },
  pip: { runs: "-e --editable --python --config-settings", writes: "-t --target --log" },
  pnpm: packageManager,
  prettier: { runs: "--plugin --config --plugin-search-dir", writes: "-w --write" },
  printf: { runs: "-v" },
  psql: { runs: "-c -f --command --file", writes: "-o --output -L --log-file" },
  pytest: {
    runs: "-p -c --rootdir --confcutdir -o --override-ini --pdb --pdbcls --trace",
    writes: "--basetemp --junitxml --junit-xml --log-file",
  },
  python,
  python2: python,
  python3: python,
  rg: { runs: "--pre --hostname-bin" },
  rsync: { runs: "-e --rsh --rsync-path", writes: "--log-file --write-batch" },
  ruby: { untilOperand: true, runs: "-e -r -I -x -", writes: "-i" },
  scp: { runs: "-S -o -F -D" },
  sed: { runs: "-f --file", writes: "-i --in-place" },
  sftp: { runs: "-S -o -F -D -b" },
  sort: { runs: "--compress-program", writes: "-o --output -T" },
  sqlite3: { whole: true, runs: "-cmd -init -A" },
  tar: {
    runs: "--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script --rsh-command --rmt-command",
    writes: "-P --absolute-names",
  },
  test: { runs: "-v" },
  "[": { runs: "-v" },
  tree: { writes: "-o" },
  tsc: {
    writes:
      "--outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile",
  },
  tsx: nodeLike,
  vi,
  view: vi,
  vim: vi,
  vitest: testRunner,
  wget: {
    runs: "-e --execute --use-askpass --config --proxy",
    writes:
      "-O -o -a -P --output-document --output-file --append-output --directory-prefix --post-file --body-file --save-cookies",
  },
  xxd: { writes: "-r" },
  yarn: packageManager,
  zip: { runs: "-T -TT --test --unzip-command" },
};

/** Programs that run the command in their arguments, with privileges, an environment or a time of their own. */
export const runners: ReadonlySet<string> = new Set(
  `at batch builtin busybox bwrap caffeinate chroot chrt command cpulimit crontab dbus-run-session doas
  entr env exec expect fakeroot faketime firejail flock gdb ionice lldb ltrace nc ncat nice nohup
  nsenter numactl open osascript parallel perf pkexec proot rlwrap runuser screen script setarch
  setpriv setsid socat ssh start-stop-daemon stdbuf strace su sudo systemd-run taskset time timeout
  tmux toybox trickle unbuffer unshare valgrind watch xargs xdg-open xvfb-run`.split(/\s+/),
);

/** Programs that run a program named in their arguments, with the subcommands that do; `*` when every call does. */
export const launchers: Readonly<Record<string, string>> = {
  bundle: "exec",
  bunx: "*",
  bun: "x run",
  conda: "run",
  cargo: "run install",
  devbox: "run",
  dotnet: "run exec",
  go: "run generate tool install",
  npm: "exec x explore init create config set",
  npx: "*",
  pipenv: "run",
  pipx: "run",
  pnpm: "exec dlx create config set",
  pnpx: "*",
  poetry: "run",
  rye: "run",
  uv: "run tool",
  uvx: "*",
  yarn: "exec dlx create config node",
};

/** Subcommands that run what their arguments say, somewhere else or in ways the arguments do not show. */
export const runningSubcommands: Readonly<Record<string, string>> = {
  docker: "exec run compose build buildx create cp context plugin",
  podman: "exec run compose build create cp unshare",
  kubectl: "exec run debug cp attach plugin",
  git: "bisect config credential daemon difftool filter-branch for-each-repo hook instaweb maintenance mergetool send-email submodule upload-pack receive-pack remote-ext shell web--browse worktree alias",
  systemctl: "edit set-environment import-environment link",
};
