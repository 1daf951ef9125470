import { copyFile, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { FileEventFeed } from "../../src/feed/file-event-feed.js";

const slot = { agentId: "a", userId: "u", sessionId: "s" };
const batch = (first: number, ends = false) => ({
  ...{ runId: "r", first, count: 1, body: `event ${first}`, ends },
});

/** Bodies that another process reads. */
async function bodies(feed: FileEventFeed): Promise<readonly string[]> {
  return (await feed.read(slot, "c", -1))?.batches.map(({ body }) => body) ?? [];
}

test("a batch goes to the file that readers find, also when another process has replaced or removed the open one", async () => {
  await using directory = await tempDirectory();
  const root = directory.path;
  const writer = new FileEventFeed({ root });
  const other = new FileEventFeed({ root });
  await writer.append(slot, "c", batch(0));
  // What another process does that takes dropped batches out.
  const [session = ""] = await readdir(root);
  const [name = ""] = await readdir(join(root, session));
  const path = join(root, session, name);
  await copyFile(path, join(root, "tmp.copy"));
  await rename(join(root, "tmp.copy"), path);
  await writer.append(slot, "c", batch(1));
  expect(await bodies(other)).toEqual(["event 0", "event 1"]);

  await other.delete(slot);
  await writer.append(slot, "c", batch(2));
  expect(await bodies(other)).toEqual(["event 2"]);
  await writer.append(slot, "c", batch(3, true));
  expect(await bodies(other)).toEqual(["event 2", "event 3"]);
  await writer.close();
  await other.close();
});
