import { crashAndResume } from "./crash-and-resume.js";
import { setStage } from "./stage.js";
import { chapter, line } from "./terminal.js";
import { serveTwoUsers } from "./two-users.js";
import { showFiles } from "./written-files.js";

console.log("Holdfast keeps long-running agents alive. This runs offline: the model is scripted.");
const stage = setStage();
await serveTwoUsers(stage);
await crashAndResume(stage);
showFiles(stage);
chapter("How to go on");
line("npm test", "build and check everything");
line("README.md", "an agent in under 20 lines, and the map of packages");
line("docs/", "what is promised, and the command that checks each promise");
line("this story", "examples/quickstart/src");
