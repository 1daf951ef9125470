import { reportViews } from "../reporting/report-views.js";
import type { Migration } from "./migration.js";

/** Views for audit and reports; nothing of this package reads them. */
export const reports: Migration = {
  number: 2,
  name: "report views",
  minReader: 1,
  statements: reportViews,
  optional:
    "the views session_report and usage_report; have a user who may CREATE VIEW and DROP run the CREATE VIEW statements of migrationStatements(), or call migrate() as that user",
};
