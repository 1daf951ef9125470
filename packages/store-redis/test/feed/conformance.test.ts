import type { FeedLimits } from "@holdfast/core/store-kit";
import { describeEventFeed } from "@holdfast/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { RedisEventFeed } from "../../src/feed/redis-event-feed.js";
import { ownPrefix, type TestClient, type TestRedis, topologies } from "../state/servers.js";

describe.each(topologies)("on %s", (_, start) => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await start();
  });
  afterAll(() => redis.stop());

  const settings = new WeakMap<object, TestClient & { readonly keyPrefix: string }>();

  function open(limits: FeedLimits, keyPrefix = ownPrefix()): RedisEventFeed {
    const { client, end } = redis.connect();
    const feed = new RedisEventFeed({ client, keyPrefix, ...limits });
    settings.set(feed, { client, end, keyPrefix });
    return feed;
  }

  describeEventFeed("RedisEventFeed", {
    create: (limits) => open(limits),
    reopen: (feed) => open({}, settings.get(feed)?.keyPrefix),
    async cleanup(feed) {
      await (feed as RedisEventFeed).close();
      await settings.get(feed)?.end();
    },
  });
});
