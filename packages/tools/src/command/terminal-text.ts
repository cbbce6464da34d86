// The room of terminal text moved to core, which cleans every tool's result; programs' output is cleaned here before it
// is cut to size.

export { cleanOutput } from "@rondo/core";
