import { existsSync } from "node:fs";

/** Library that moves a process's time of day, where it is installed. */
const library = [
  process.env["HOLDFAST_FAKETIME_LIBRARY"] ?? "",
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
].find((path) => path !== "" && existsSync(path));

/** True when clocks can be moved here: libfaketime is installed. */
export const movesClocks: boolean = library !== undefined;

/**
 * Returns the environment of a process whose time of day is `offset` away from the system's, as `+2h` or `-90m`. Its monotonic
 * clock stays, and files get the system's time.
 */
export function movedClock(offset: string): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: library ?? "",
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}
