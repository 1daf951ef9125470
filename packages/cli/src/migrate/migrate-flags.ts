/** The options of the command line. */
export interface MigrateFlags {
  readonly from: string;
  readonly to: string;
  readonly fromWorkspace?: string | undefined;
  readonly toWorkspace?: string | undefined;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly anonymous?: boolean | undefined;
  readonly concurrency: number;
  readonly passes: number;
  /** Seconds. */
  readonly wait: number;
  readonly dryRun?: boolean | undefined;
  readonly verifyOnly?: boolean | undefined;
  readonly json?: boolean | undefined;
}
