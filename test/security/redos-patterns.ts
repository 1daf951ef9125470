/** A pattern that makes a backtracking engine hang, and a text it hangs on. */
export interface Redos {
  readonly pattern: string;
  /** Repeated to any length, with `tail` behind it. */
  readonly pump: string;
  readonly tail: string;
}

function redos(pattern: string, pump = "a", tail = "!"): Redos {
  return { pattern, pump, tail };
}

/** Fifty patterns from advisories, papers and linters: exponential ones first, then polynomial ones, then huge ones. */
export const redosPatterns: readonly Redos[] = [
  redos("(a+)+$"),
  redos("^(a+)+$"),
  redos("([a-zA-Z]+)*$"),
  redos("(a|aa)+$"),
  redos("(a|a?)+$"),
  redos("(.*a){20}$", "a", "b"),
  redos("^(([a-z])+.)+[A-Z]([a-z])+$"),
  redos("(x+x+)+y", "x"),
  redos("(.*)*x"),
  redos("((a+)+)+$"),
  redos("(a*)*$"),
  redos("(a*)+$"),
  redos("(?:a|a)*$"),
  redos("(\\w+\\s?)*$", "word ", "!"),
  redos("^(\\w+\\s?)*$", "word ", "!"),
  redos("(\\d+)*\\.$", "1", "x"),
  redos("([a-z0-9]+-?)+$", "a-", "!"),
  redos("(?:[a-z]+)+\\d", "a", "!"),
  redos("^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}[a-z]{2,3}$"),
  redos("^[a-zA-Z]+(([\\'\\,\\.\\- ][a-zA-Z ])?[a-zA-Z]*)*$", "a", "1"),
  redos("(?i)^(?:(?:a+)+b)+$"),
  redos("^(?:.*;)+x$", ";", "!"),
  redos('(?:"[^"]*"|[^"])*x$', '"', "!"),
  redos("^(?:\\s*\\S+)*\\s*$\\d", "a ", "!"),
  redos("(<[^>]*)+$", "<", "!"),
  redos("^(?:-?\\d+)+x", "1-", "!"),
  redos("(\\/\\*(.|\\n)*?\\*\\/)+$", "/*", "!"),
  redos("^((ab)*)+$", "ab", "!"),
  redos("^(([^,]*,)+)*$\\d", "a,", "!"),
  redos("(?:(?:\\r\\n)?[ \\t])+$", "\t", "!"),
  redos("\\s+$", " ", "!"),
  redos("^\\s+|\\s+$", " ", "!"),
  redos("\\s*#?\\s*$", " ", "!"),
  redos(".*.*.*.*=.*", "x"),
  redos(".*.*=.*", "x"),
  redos("(?:.*,){11}P", "1,", "!"),
  redos("[^a]*a[^b]*b[^c]*c$", "ab", "!"),
  redos("a*a*a*a*a*a*b"),
  redos("\\d*\\d*\\d*\\d*x", "1"),
  redos("(?:a?){30}a{30}$"),
  redos("x*y*z*x*y*z*w", "xyz"),
  redos("(?s).*?,.*?,.*?,.*?;", ","),
  redos("\\bword\\b.*\\bword\\b.*\\bword\\b.*end", "word ", "!"),
  redos("<script.*?>.*?</script>", "<script>"),
  redos("((a{0,20}){0,20}){0,2}b"),
  redos("a{1000}"),
  redos("(((a{30}){30}){30}){30}"),
  redos("(?:(?:(?:(?:(?:(?:a?)?)?)?)?)?)?$"),
  redos(`${"(".repeat(400)}a${")*".repeat(400)}b`),
  redos("a?".repeat(490)),
];
