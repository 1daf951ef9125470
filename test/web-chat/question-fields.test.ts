import { expect, test } from "vitest";
import { contentOf, fieldsOf } from "../../examples/web-chat/src/page/question-fields.js";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name" },
    age: { type: "integer", default: 30 },
    isMember: { type: "boolean", default: true },
    plain: { type: "string", enum: ["a", "b"], enumNames: ["First", "Second"] },
    titled: { type: "string", oneOf: [{ const: "x", title: "The X" }] },
    several: { type: "array", items: { anyOf: [{ const: "r", title: "Red" }] } },
  },
  required: ["name"],
};

test("the form of a question has a field of the right kind for each property", () => {
  const fields = fieldsOf(schema);
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ["name", "text"],
    ["age", "number"],
    ["isMember", "boolean"],
    ["plain", "choice"],
    ["titled", "choice"],
    ["several", "choices"],
  ]);
  expect(fields[0]).toMatchObject({ title: "Name", required: true });
  expect(fields[1]?.initial).toBe(30);
  expect(fields[3]?.choices).toEqual([
    { value: "a", title: "First" },
    { value: "b", title: "Second" },
  ]);
  expect(fields[5]?.choices).toEqual([{ value: "r", title: "Red" }]);
  expect(fieldsOf(undefined)).toEqual([]);
});

test("what was filled in becomes values of the types that were asked for", () => {
  const fields = fieldsOf(schema);
  const form = (entries: readonly (readonly [string, string])[]) => {
    const data = new FormData();
    for (const [name, value] of entries) data.append(name, value);
    return contentOf(fields, data);
  };
  expect(form([["age", "31"]])).toBe("Name is missing.");
  expect(
    form([
      ["name", "Ada"],
      ["age", "many"],
    ]),
  ).toBe("age is not a number.");
  expect(
    form([
      ["name", "Ada"],
      ["age", "31"],
      ["isMember", "on"],
      ["titled", "x"],
      ["several", "r"],
    ]),
  ).toEqual({ name: "Ada", age: 31, isMember: true, titled: "x", several: ["r"] });
  expect(form([["name", "Ada"]])).toEqual({ name: "Ada", isMember: false, several: [] });
});
