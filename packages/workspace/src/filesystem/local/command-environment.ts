/** The environment of a command: nothing of this process's but where programs are and which language it speaks. */
export function commandEnvironment(home: string): Readonly<Record<string, string>> {
  return {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    LANG: process.env["LANG"] ?? "C.UTF-8",
    HOME: home,
  };
}
