/** The summariser wrote more than any summary may have. */
export class SummaryTooLong extends Error {
  override readonly name = "SummaryTooLong";
}
