const harmlessNames = new Set([
  "CI",
  "COLUMNS",
  "DEBUG",
  "FORCE_COLOR",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LINES",
  "LOG_LEVEL",
  "NODE_ENV",
  "NO_COLOR",
  "RUST_BACKTRACE",
  "RUST_LOG",
  "TERM",
  "TZ",
]);

/** Variables that name a program, code or a place where programs look for them. */
const dangerousNames = [
  /^(?:LD|DYLD|GIT|BASH|NODE|NPM|npm|PNPM|YARN|PYTHON|PERL|RUBY|LUA|PHP|ZSH|SSH|SUDO|CARGO|RUST|GO|JAVA|MAVEN|GRADLE|DOCKER|RIPGREP|LESS|MAN|TAR|SYSTEMD|GCONV|MALLOC)_?[A-Z0-9_a-z]*$/,
  /(?:PATH|PAGER|EDITOR|BROWSER|SHELL|ASKPASS|COMMAND|OPTIONS|OPTS|FLAGS|WRAPPER|HOOK|PROXY|proxy)$/,
  /^(?:IFS|ENV|HOME|VISUAL|PS[0-4]|CC|CXX|AR|LOCPATH|NLSPATH|ZDOTDIR|_JAVA_OPTIONS|GLOBIGNORE|HISTFILE|OPENER|POSIXLY_CORRECT)$/,
];

/**
 * Effect that a variable set in front of a command may have.
 * - `harmless`: changes what a program prints, not what it does
 * - `unknown`: means something to the program alone
 * - `dangerous`: makes common programs run something else
 */
export type AssignmentEffect = "harmless" | "unknown" | "dangerous";

/** Returns the effect of setting the variable with this name. */
export function assignmentEffect(name: string): AssignmentEffect {
  if (harmlessNames.has(name)) return "harmless";
  return dangerousNames.some((pattern) => pattern.test(name)) ? "dangerous" : "unknown";
}

/** Reports whether a loop may use the variable: lower case, and none that a shell reads itself. */
export function isLoopVariable(name: string): boolean {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !/path$|^prompt$/.test(name);
}
