/** The part of asciichart that is used here; the package has no types. */
declare module "asciichart" {
  export interface PlotConfig {
    readonly height?: number;
    readonly min?: number;
    readonly max?: number;
    readonly format?: (value: number) => string;
    /** Ten symbols: start, axis, two ends, line, four corners, upright. */
    readonly symbols?: readonly string[];
    /** One escape sequence per series. */
    readonly colors?: readonly string[];
  }
  const asciichart: {
    plot(series: readonly (readonly number[])[], config?: PlotConfig): string;
  };
  export default asciichart;
}
