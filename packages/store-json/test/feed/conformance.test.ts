import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { FeedLimits } from "@holdfast/core/store-kit";
import { describeEventFeed, tempDirectory } from "@holdfast/testing";
import { afterAll, beforeAll } from "vitest";
import { FileEventFeed } from "../../src/feed/file-event-feed.js";

let directory: Awaited<ReturnType<typeof tempDirectory>>;
beforeAll(async () => {
  directory = await tempDirectory();
});
afterAll(() => directory.cleanup());

const roots = new WeakMap<object, string>();

function open(limits: FeedLimits, root = join(directory.path, randomUUID())): FileEventFeed {
  const feed = new FileEventFeed({ root, ...limits });
  roots.set(feed, root);
  return feed;
}

describeEventFeed("FileEventFeed", {
  create: (limits) => open(limits),
  reopen: (feed) => open({}, roots.get(feed)),
  cleanup: (feed) => (feed as FileEventFeed).close(),
});
