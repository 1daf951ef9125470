import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { scaled, spawnScript, tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { LocalFilesystem } from "../../src/filesystem/index.js";
import { listed, readText } from "./sample-files.js";

const script = new URL("./children/local-writer.mjs", import.meta.url);

test("two processes that append to one file at once lose, double and tear nothing", async () => {
  await using directory = await tempDirectory();
  const count = scaled(150, 20_000);
  const names = ["left", "right"];
  const children = names.map((name) =>
    spawnScript(script, [directory.path, "append", name, String(count)]),
  );
  for (const child of children) await child.line("ready");
  for (const child of children) child.send("go");
  for (const child of children) await child.line("done", 300_000);
  const text = await readText(new LocalFilesystem({ root: directory.path }), "log.txt");
  const lines = text?.trimEnd().split("\n") ?? [];
  expect(lines).toHaveLength(2 * count);
  for (const name of names)
    expect(lines.filter((line) => line.startsWith(name))).toEqual(
      Array.from({ length: count }, (_, at) => `${name} ${at} ${"x".repeat(at % 997)}`),
    );
});

test("killed at any moment, a writer leaves the old file or the new one", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  let acknowledged = 0;
  for (let round = 0; round < scaled(3, 300); round++) {
    await using writer = spawnScript(script, [
      directory.path,
      "write",
      "writer",
      String(acknowledged + 1),
    ]);
    await writer.line(`ack ${acknowledged + 3}`);
    // At a random moment of some later write.
    await sleep(Math.random() * 4);
    expect((await writer.kill9()).signal).toBe("SIGKILL");
    acknowledged = Number(writer.lines.at(-1)?.split(" ")[1]);
    const text = (await readText(files, "d/data.txt")) ?? "";
    const version = text.length - 100_000;
    expect([acknowledged, acknowledged + 1]).toContain(version);
    const letter = String.fromCharCode(97 + (version % 26));
    expect(text === letter.repeat(text.length)).toBe(true);
    expect(await listed(files)).toEqual(["d/", "d/data.txt"]);
    acknowledged = version;
  }
  // Young leftovers stay for an hour: they could be a live writer's.
  const names = await readdir(join(directory.path, "users/user/d"));
  expect(names.filter((name) => !name.startsWith(".holdfast-tmp-"))).toEqual(["data.txt"]);
});
