// Types only: declares the events of the packages whose work front ends show, which need not be installed.
import type {} from "@holdfast/compaction";
import type {} from "@holdfast/eviction";
import type {} from "@holdfast/permissions";
import type {} from "@holdfast/planning";
import type {} from "@holdfast/subagents";
