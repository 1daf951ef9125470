import type { EventFeed } from "@holdfast/core";
import type { FeedLimits } from "@holdfast/core/store-kit";
import {
  type ConformanceCase,
  caseFactory,
  type ReopenableOptions,
  registerCases,
} from "../conformance/conformance-case.js";
import { batchCases } from "./batch-cases.js";
import { boundCases } from "./bound-cases.js";
import { ownerCases } from "./owner-cases.js";
import { placeCases } from "./place-cases.js";

/** Options of {@link describeEventFeed}. */
export interface EventFeedOptions extends Omit<ReopenableOptions<EventFeed>, "create"> {
  /** A fresh, empty one with these limits, isolated from every other; called once per test. */
  create(limits: FeedLimits): EventFeed | Promise<EventFeed>;
}

/**
 * Registers the tests every `EventFeed` must pass.
 *
 * @example
 * describeEventFeed("memory", { create: (limits) => new InMemoryEventFeed(limits) });
 */
export function describeEventFeed(name: string, options: EventFeedOptions): void {
  registerCases(`${name} as an EventFeed`, eventFeedCases(options), options);
}

/** The cases of {@link describeEventFeed}. */
export function eventFeedCases(options: EventFeedOptions): ConformanceCase[] {
  const within = (limits: FeedLimits) =>
    caseFactory({ ...options, create: () => options.create(limits) });
  const check = within({});
  return [
    ...batchCases(check),
    ...ownerCases(check),
    ...placeCases(check, options.reopen !== undefined),
    ...boundCases(within),
  ];
}
