/** `usual` in everyday runs, `long` when the environment variable `HOLDFAST_LONG` is `1`. */
export function scaled(usual: number, long: number): number {
  return process.env["HOLDFAST_LONG"] === "1" ? long : usual;
}
