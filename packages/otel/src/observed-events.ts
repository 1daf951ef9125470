// Types only: declares the events of the packages whose work this one records, which need not be installed.
import type {} from "@holdfast/compaction";
import type {} from "@holdfast/eviction";
import type {} from "@holdfast/memory-flush";
