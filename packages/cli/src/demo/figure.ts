/** A number with its thousands apart. */
export function figure(value: number): string {
  return Math.round(value).toLocaleString("en-GB");
}
