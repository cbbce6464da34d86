// The room of the worker's program: serves the example's agent to Restate. Argument: the folder of the agent's world.

import { restateWorker } from "@rondo/restate";
import { agentName, bookkeeper } from "./agent.ts";

const [folder = "."] = process.argv.slice(2);
const agent = bookkeeper(folder, (session) => process.send?.({ working: session }));
const listening = await restateWorker({ agents: { [agentName]: agent } }).listen();
process.send?.({ listening });
// The parent process is gone.
process.once("disconnect", () => process.exit());
