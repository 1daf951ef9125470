import { ConfigurationError, definePlugin, type Middleware, ReActAgent } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";

/** Returns the names of middleware in the order in which they run: `user` are the user's, `plugins` one plugin each. */
async function orderOf(
  user: readonly Omit<Middleware, "onSystemPrompt">[],
  plugins: readonly Omit<Middleware, "onSystemPrompt">[] = [],
): Promise<string> {
  const noting = (middleware: Middleware): Middleware => ({
    ...middleware,
    onSystemPrompt: (prompt) => `${prompt} ${middleware.name}`,
  });
  const model = scriptedModel(["done"]);
  const agent = new ReActAgent({
    name: "a",
    model,
    middleware: user.map(noting),
    plugins: plugins.map((one) =>
      definePlugin({ name: one.name, contract: 1, setup: (host) => host.use(noting(one)) }),
    ),
  });
  await agent.call("go");
  return model.requests[0]?.system.trim() ?? "";
}

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

test("without before and after the order is that of adding", async () => {
  expect(await orderOf(named("u1", "u2"), named("p1", "p2"))).toBe("u1 u2 p1 p2");
});

test("before moves a plugin's middleware right in front of the one it names", async () => {
  const mine = { name: "mine", before: "p3" };
  expect(await orderOf(named("u1"), [...named("p1", "p2", "p3"), mine])).toBe("u1 p1 p2 mine p3");
});

test("before can put a plugin's outside the user's", async () => {
  expect(await orderOf(named("u1"), [...named("p1"), { name: "mine", before: ["u1"] }])).toBe(
    "mine u1 p1",
  );
});

test("after moves the user's behind the one it names, and the others keep their order", async () => {
  const mine = { name: "mine", after: "p2" };
  expect(await orderOf([mine, ...named("u2")], named("p1", "p2", "p3"))).toBe("u2 p1 p2 mine p3");
});

test("a middleware that already runs where it says stays where it was", async () => {
  expect(await orderOf([...named("u1"), { name: "mine", before: "p2" }], named("p1", "p2"))).toBe(
    "u1 mine p1 p2",
  );
});

test("several names, and several that move", async () => {
  const first = { name: "first", before: ["p1", "p2"] };
  const second = { name: "second", after: "first", before: "p1" };
  expect(await orderOf([], [...named("p1", "p2"), second, first])).toBe("first second p1 p2");
});

test("a name that the agent does not have is ignored", async () => {
  expect(await orderOf([{ name: "u1", after: "nowhere" }], named("p1"))).toBe("u1 p1");
});

const problemsOf = async (...args: Parameters<typeof orderOf>): Promise<readonly string[]> => {
  const error: unknown = await orderOf(...args).catch((thrown: unknown) => thrown);
  return ConfigurationError.is(error) ? error.problems : [String(error)];
};

test("a cycle is refused and named", async () => {
  expect(
    await problemsOf([
      { name: "a", after: "c" },
      { name: "b", after: "a" },
      { name: "c", after: "b" },
    ]),
  ).toEqual([
    'the order of middleware has a cycle: "a" after "c", "c" after "b", "b" after "a"; change their before or after',
  ]);
  expect(await problemsOf([{ name: "a", before: "a" }])).toEqual([
    'the order of middleware has a cycle: "a" after "a"; change their before or after',
  ]);
});

test("a middleware between two that were added the other way round is refused, not put somewhere", async () => {
  const [problem] = await problemsOf(
    [],
    [...named("p1", "p2"), { name: "x", after: "p2", before: "p1" }],
  );
  expect(problem).toContain('"p2" after "p1" (they were added in this order)');
});

test("what is no name is refused", async () => {
  expect(await problemsOf([{ name: "a", before: [1] as never }])).toEqual([
    'middleware "a": before must be a name or a list of names',
  ]);
});
