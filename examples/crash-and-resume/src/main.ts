import { crashAndResume } from "./crash-and-resume.js";
import { createDirectories } from "./directories.js";
import { heading, line } from "./print.js";
import { serveTwoUsers } from "./two-users.js";
import { showFiles } from "./written-files.js";

console.log("Holdfast keeps long-running agents alive. This runs offline: the model is scripted.");
const directories = createDirectories();
await serveTwoUsers(directories);
await crashAndResume(directories);
showFiles(directories);
heading("Next steps");
line("npm test", "build and check everything");
line("README.md", "an agent in under 20 lines, and the map of packages");
line("docs/", "what is guaranteed, and the command that checks each guarantee");
line("source", "examples/crash-and-resume/src");
