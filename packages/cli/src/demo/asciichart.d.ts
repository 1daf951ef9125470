/** What is used of asciichart, which comes without types. */
declare module "asciichart" {
  export interface PlotConfig {
    readonly height?: number;
    readonly min?: number;
    readonly max?: number;
    readonly format?: (value: number) => string;
    /** Ten of them: start, axis, two ends, line, four corners, upright. */
    readonly symbols?: readonly string[];
    /** Escape sequences, one for each series. */
    readonly colors?: readonly string[];
  }
  const asciichart: {
    plot(series: readonly (readonly number[])[], config?: PlotConfig): string;
  };
  export default asciichart;
}
