import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** User and group id of commands inside the sandbox. */
export const INNER_ID = 1000;
/** Name of {@link INNER_ID}. */
export const INNER_NAME = "agent";

/** Files that {@link writeUserFiles} writes. */
export const USER_FILES: readonly string[] = ["passwd", "group", "hosts", "nsswitch.conf"];

/** Writes the sandbox's own files of `/etc` that name users and hosts, so that the machine's stay private. */
export async function writeUserFiles(directory: string): Promise<void> {
  const contents: { readonly [name: string]: string } = {
    passwd: `${INNER_NAME}:x:${INNER_ID}:${INNER_ID}::/workspace:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n`,
    group: `${INNER_NAME}:x:${INNER_ID}:\nnogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
  };
  await mkdir(directory, { mode: 0o755 });
  await chmod(directory, 0o755);
  for (const name of USER_FILES) {
    const path = join(directory, name);
    await writeFile(path, contents[name] ?? "");
    await chmod(path, 0o644);
  }
}
