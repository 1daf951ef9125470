#!/usr/bin/env node
import { run } from "./run.js";

const stop = new AbortController();
// A project that is being written is taken back; an installation gets the signal of the terminal itself.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => stop.abort());

const { env, stdin, stdout } = process;
const isInteractive = stdin.isTTY === true && stdout.isTTY === true && !env["CI"];
process.exitCode = await run(process.argv.slice(2), { env, isInteractive, signal: stop.signal });
