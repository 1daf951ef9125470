/** The numbers a version begins with, for example of `10.11.6-MariaDB`. */
export function versionNumbers(version: string): readonly number[] {
  return (/\d+(\.\d+)*/u.exec(version)?.[0] ?? "0").split(".").map(Number);
}

/** Whether a version is as new as another, by its numbers. */
export function atLeast(version: string, oldest: string): boolean {
  const [given, needed] = [versionNumbers(version), versionNumbers(oldest)];
  for (const [index, number] of needed.entries()) {
    const difference = (given[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Whether two releases promise to work together: the same major version, below 1 the same minor one. */
export function fitTogether(one: string, other: string): boolean {
  const [a, b] = [versionNumbers(one), versionNumbers(other)];
  return a[0] === b[0] && (a[0] !== 0 || a[1] === b[1]);
}
