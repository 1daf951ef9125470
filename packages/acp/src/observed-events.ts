// Types only: declares the events of the packages whose work an editor shows, which need not be installed.
import type {} from "@holdfast/compaction";
import type {} from "@holdfast/planning";
