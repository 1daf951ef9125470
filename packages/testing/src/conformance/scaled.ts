/**
 * Returns a count, or a list of variants, by how long the run may take: `usual` in everyday runs, `long` when the
 * environment has `HOLDFAST_LONG=1`.
 *
 * An everyday run keeps at least one variant of every kind; what only repeats it is for the long one.
 *
 * @example
 * const rounds = scaled(2, 100);
 * describe.each(scaled(["redis"], ["files", "redis", "mysql"]))("on %s", (kind) => { ... });
 */
export function scaled(usual: number, long: number): number;
/** {@inheritDoc (scaled:1)} */
export function scaled<T>(usual: readonly NoInfer<T>[], long: readonly T[]): readonly T[];
export function scaled<T>(usual: T, long: T): T {
  return process.env["HOLDFAST_LONG"] === "1" ? long : usual;
}
