import type { EventFeed } from "@holdfast/core";
import type { FeedLimits } from "@holdfast/core/store-kit";
import { MysqlEventFeed } from "@holdfast/store-mysql";
import { describeEventFeed } from "@holdfast/testing";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const prefixes = new WeakMap<EventFeed, string>();

describeEventFeed("MysqlEventFeed", {
  create: (limits) => feedAt(freshPrefix(), limits),
  reopen: (feed) => feedAt(prefixes.get(feed) as string),
  async cleanup(feed) {
    await (feed as MysqlEventFeed).close();
    await dropTables(pool, prefixes.get(feed) as string);
  },
});

function feedAt(tablePrefix: string, limits: FeedLimits = {}): MysqlEventFeed {
  const feed = new MysqlEventFeed({ pool, tablePrefix, ...limits });
  prefixes.set(feed, tablePrefix);
  return feed;
}
