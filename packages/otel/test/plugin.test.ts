import { describePlugin } from "@holdfast/testing";
import { otel } from "../src/index.js";

describePlugin("otel", { create: () => otel() });
