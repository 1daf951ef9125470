import { describe, expect, test } from "vitest";
import { lowerQuartile, median, quantile, ratioOf } from "../../bench/src/measure/statistics.js";

describe("the lower quartile", () => {
  test("has a quarter of the values below it, in any order", () => {
    expect(lowerQuartile([5, 1, 4, 2, 3])).toBe(2);
  });

  test("lies between two values where no value is at a quarter", () => {
    expect(lowerQuartile([1, 2, 3, 4])).toBe(1.75);
  });

  test("is not moved by noise, which only ever adds", () => {
    expect(lowerQuartile([10, 10, 10, 10, 900, 70, 4_000, 10])).toBe(10);
  });

  test("of one value is that value, of none is not a number", () => {
    expect(lowerQuartile([7])).toBe(7);
    expect(lowerQuartile([])).toBeNaN();
  });
});

test("the median is the value in the middle, and the list stays as it was", () => {
  const values = [9, 1, 5];
  expect(median(values)).toBe(5);
  expect(median([1, 2])).toBe(1.5);
  expect(values).toEqual([9, 1, 5]);
});

test("quantiles reach from the least value to the greatest", () => {
  expect(quantile([3, 1, 2], 0)).toBe(1);
  expect(quantile([3, 1, 2], 1)).toBe(3);
});

test("a ratio of something that was not measured is none", () => {
  expect(ratioOf(3, 2)).toBe(1.5);
  expect(ratioOf(null, 2)).toBeUndefined();
  expect(ratioOf(3, undefined)).toBeUndefined();
  expect(ratioOf(3, 0)).toBeUndefined();
});
