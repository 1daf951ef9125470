import { createRoot } from "react-dom/client";
import { config } from "zod";
import { App } from "./app.js";

// Compiled validators need `eval`, which the page's content security policy forbids.
config({ jitless: true });

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
