export { permissions } from "./permissions.js";
export type { PermissionRules, PermissionsOptions } from "./permissions-options.js";
export { formatRule, type ParsedRule, parseRule } from "./rules/rule.js";
