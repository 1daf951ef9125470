import {
  type AgentEvent,
  definePlugin,
  type EventBody,
  HoldfastError,
  InvalidInputError,
  type Plugin,
  ReActAgent,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, expectTypeOf, test } from "vitest";

// Written as the package of a third party would be: it declares an event and an error code, and emits and throws them.
declare module "@holdfast/core" {
  interface EventTypes {
    weather_seen: { city: string; degrees?: number | undefined };
    weather_station_lost: { station: string };
  }
  interface ErrorCodes {
    WEATHER_TOO_BAD: true;
  }
}

const slot = { agentId: "guide", userId: null, sessionId: "trip" };

function weather(seen: AgentEvent[]): Plugin {
  return definePlugin({
    name: "weather",
    contract: 1,
    setup(host) {
      host.observe((event) => {
        if (event.type === "weather_seen") expectTypeOf(event.city).toEqualTypeOf<string>();
        seen.push(event);
      });
      host.onStart(async () => {
        host.emit(slot, "start", { type: "weather_station_lost", station: "north" });
      });
      host.use({
        name: "weather",
        async onCall(step, next) {
          step.emit({ type: "weather_seen", city: "Oslo", degrees: -4 });
          return next();
        },
      });
    },
  });
}

function agentWith(plugin: Plugin, onEvent: (event: AgentEvent) => void = () => {}): ReActAgent {
  const model = scriptedModel(["Take an umbrella."]);
  return new ReActAgent({ name: "guide", model, plugins: [plugin], onEvent });
}

describe("an event of a third party", () => {
  test("arrives typed at onEvent, agent.stream and host.observe", async () => {
    const toProgram: string[] = [];
    const toPlugin: AgentEvent[] = [];
    const streamed: string[] = [];
    const agent = agentWith(weather(toPlugin), (event) => {
      if (event.type === "weather_seen") toProgram.push(`${event.city} ${event.degrees ?? "?"}`);
      if (event.type === "weather_station_lost") toProgram.push(event.station);
    });
    for await (const event of agent.stream("Umbrella?", { sessionId: "trip" }))
      if (event.type === "weather_seen") streamed.push(`${event.city} ${event.degrees ?? "?"}`);

    expect(toProgram).toEqual(["north", "Oslo -4"]);
    expect(streamed).toEqual(["Oslo -4"]);
    expect(toPlugin).toContainEqual(
      expect.objectContaining({ type: "weather_station_lost", background: true, slot }),
    );
    expect(toPlugin).toContainEqual(
      expect.objectContaining({ type: "weather_seen", city: "Oslo", degrees: -4, slot }),
    );
  });

  test("must have its fields, and its type must be declared", () => {
    expectTypeOf<{ type: "weather_seen"; city: string }>().toExtend<EventBody>();
    expectTypeOf<{ type: "weather_seen"; city: number }>().not.toExtend<EventBody>();
    expectTypeOf<{ type: "weather_seen" }>().not.toExtend<EventBody>();
    expectTypeOf<{ type: "weather_forgotten" }>().not.toExtend<EventBody>();
  });

  test("is a copy, which its emitter cannot change any more", async () => {
    const seen: AgentEvent[] = [];
    const event = { type: "weather_seen" as const, city: "Oslo", degrees: undefined };
    const plugin = definePlugin({
      name: "weather",
      contract: 1,
      setup: (host) =>
        host.onStart(async () => {
          host.emit(slot, "c", event);
          event.city = "Bergen";
        }),
    });
    await agentWith(plugin, (one) => seen.push(one)).ready();
    expect(seen).toEqual([
      { type: "weather_seen", city: "Oslo", slot, callId: "c", seq: 0, background: true },
    ]);
  });
});

// What a plugin without types can emit.
const cycle: Record<string, unknown> = { type: "weather_seen", city: "Oslo" };
cycle["itself"] = cycle;
const wrong: readonly (readonly [string, unknown, string])[] = [
  ["nothing", undefined, "emitted something that is not an event"],
  ["a text", "weather_seen", "emitted something that is not an event"],
  ["an object without a type", { city: "Oslo" }, "emitted something that is not an event"],
  ["an empty type", { type: "" }, "emitted something that is not an event"],
  ["a long type", { type: "x".repeat(101) }, "has more than 100 characters"],
  ["a function", { type: "weather_seen", city: () => "Oslo" }, '"weather_seen" of'],
  ["a cycle", cycle, '"weather_seen" of'],
  ["NaN", { type: "weather_seen", city: "Oslo", degrees: Number.NaN }, "is NaN"],
  ["a book", { type: "weather_seen", city: "x".repeat(1_048_577) }, "characters as JSON"],
];

describe("something that is not an event", () => {
  test.each(wrong)("fails in the plugin that emits %s, and names it", async (_, event, words) => {
    const seen: AgentEvent[] = [];
    const plugin = definePlugin({
      name: "untyped",
      contract: 1,
      setup: (host) => host.onStart(async () => host.emit(slot, "c", event as never)),
    });
    const error = await agentWith(plugin, (one) => seen.push(one))
      .ready()
      .catch((thrown: unknown) => thrown);
    expect(InvalidInputError.is(error) && error.message).toContain(words);
    expect(InvalidInputError.is(error) && error.message).toContain('plugin "untyped"');
    expect(seen).toEqual([]);
  });

  test.each(wrong)("fails in the hook that emits %s", async (_, event, words) => {
    const seen: AgentEvent[] = [];
    const model = scriptedModel(["Hello."]);
    const agent = new ReActAgent({
      ...{ name: "guide", model, onEvent: (one) => void seen.push(one) },
      middleware: [
        {
          name: "untyped",
          async onCall(step, next) {
            expect(() => step.emit(event as never)).toThrow(words);
            return next();
          },
        },
      ],
    });
    await agent.call("Hello");
    expect(seen.map(({ type }) => type)).not.toContain("weather_seen");
    expect(seen.at(-1)).toMatchObject({ type: "call_end", reason: "stop" });
  });
});

test("an error with a third party's code is typed, and known by its code in another copy too", () => {
  const error = new HoldfastError("WEATHER_TOO_BAD", "stay at home");
  expectTypeOf(error.code).toExtend<string>();
  expectTypeOf<"WEATHER_TOO_BAD">().toExtend<HoldfastError["code"]>();
  expectTypeOf<"WEATHER_FORGOTTEN">().not.toExtend<HoldfastError["code"]>();
  expect(HoldfastError.is(error)).toBe(true);
  expect(error.code).toBe("WEATHER_TOO_BAD");
});
