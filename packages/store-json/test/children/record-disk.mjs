// Loaded before a script (`node --import`): writes down everything it does to files below RECORD_ROOT, and what it says, in
// the order in which it was begun; a sync says how much of that it covers. The list goes to the file RECORD_TO at the end.
import { createRequire, syncBuiltinESMExports } from "node:module";

const require = createRequire(import.meta.url);
const fs = require("node:fs");
const promises = require("node:fs/promises");
const { RECORD_ROOT: root, RECORD_TO: output } = process.env;
const { existsSync, statSync, writeFileSync } = fs;

const ops = [];
const paths = new WeakMap();
/** Paths of open files by descriptor, for writes that are made at once. */
const openPaths = new Map();
const isOurs = (path) => typeof path === "string" && path.startsWith(root);
const note = (op) => ops.push(op);

const { open } = promises;
promises.open = async (path, flags, ...rest) => {
  const isNew = isOurs(path) && !existsSync(path);
  const handle = await open(path, flags, ...rest);
  if (isOurs(path)) paths.set(handle, path);
  openPaths.set(handle.fd, isOurs(path) ? path : undefined);
  if (isNew) note({ kind: "create", path });
  return handle;
};

/** @param {(...args: unknown[]) => void} before */
function around(owner, name, before) {
  const original = owner[name];
  owner[name] = function (...args) {
    before.call(this, ...args);
    return original.apply(this, args);
  };
}

const handle = await open(new URL(import.meta.url), "r");
const prototype = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ["write", "writeFile", "appendFile"])
  around(prototype, name, function (data) {
    const path = paths.get(this);
    if (path) note({ kind: "write", path, data: Buffer.from(data).toString("base64") });
  });
for (const name of ["writev", "truncate"])
  around(prototype, name, function () {
    if (paths.has(this)) throw new Error(`${name} is not recorded`);
  });
for (const name of ["sync", "datasync"]) {
  const original = prototype[name];
  prototype[name] = async function () {
    const [path, covers] = [paths.get(this), ops.length];
    await original.call(this);
    if (!path) return;
    const what = statSync(path).isDirectory() ? "directory" : name === "sync" ? "file" : "journal";
    note({ kind: "sync", path, covers, what });
  };
}
for (const kind of ["link", "rename"])
  around(promises, kind, (from, to) => isOurs(from) && note({ kind, path: from, to }));
for (const kind of ["unlink", "mkdir", "rmdir"])
  around(promises, kind, (path) => isOurs(path) && note({ kind, path }));
around(promises, "rm", (path) => {
  if (isOurs(path)) throw new Error("rm is not recorded");
});
around(fs, "writeSync", (fd, data) => {
  const path = openPaths.get(fd);
  if (fd === 1) note({ kind: "say", line: String(data).trim() });
  else if (path) note({ kind: "write", path, data: Buffer.from(data).toString("base64") });
});
for (const kind of ["linkSync", "renameSync", "unlinkSync", "mkdirSync", "rmdirSync", "rmSync"])
  around(fs, kind, (path) => {
    if (isOurs(path)) throw new Error(`${kind} is not recorded`);
  });
syncBuiltinESMExports();

process.on("exit", () => writeFileSync(output, JSON.stringify(ops)));
