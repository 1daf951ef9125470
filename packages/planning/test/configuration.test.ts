import { ConfigurationError } from "@holdfast/core";
import { expect, test } from "vitest";
import { type PlanningOptions, planning } from "../src/index.js";

test.each([
  [{ allow: "execute" }, /allow is "execute": must be a list of tool names, or a function/],
  [{ allow: ["read file"] }, /allow.0 is "read file": must be the name of a tool/],
  [{ planDirectory: "../plans" }, /planDirectory is "..\/plans": must be one name/],
  [{ planDirectory: "" }, /planDirectory is ""/],
  [{ maxPlanChars: 0 }, /maxPlanChars is 0/],
  [{ maxPlanChars: 1e6 }, /maxPlanChars is 1000000/],
  [{ planDirectoy: "plans" }, /unknown option "planDirectoy"; did you mean planDirectory/],
])("%j is refused, and the option named", (options, problem) => {
  expect(() => planning(options as PlanningOptions)).toThrow(ConfigurationError);
  expect(() => planning(options as PlanningOptions)).toThrow(problem);
});
