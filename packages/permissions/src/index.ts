export type { SuggestedRule, ToolDecision, ToolSubject } from "./core-types.js";
export { type DecisionInput, decide } from "./decide.js";
export { type FileTools, openedPaths } from "./opened-files.js";
export type { PathRoots } from "./path/path-forms.js";
export { realPathOf } from "./path/real-path-of.js";
export { formatRule, type ParsedRule, parseRule } from "./rules/rule.js";
export { type RuledTool, ruleProblems } from "./rules/rule-problems.js";
