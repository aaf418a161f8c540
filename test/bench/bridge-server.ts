import { openBridge } from "../../src/runtime/harness/bridge/bridge.ts";
import { answerMemory } from "./held-memory.ts";

/**
 * The run's end of calls to models and of tunnels. Arguments: path and token of the run's socket, and the base URL of a
 * provider. Prints the address in place of that URL, the bridge's key and its address as a proxy, as JSON.
 */
const [socket = "", token = "", upstream = ""] = process.argv.slice(2);
const bridge = await openBridge({ socket, token });
const baseUrl = bridge.baseUrl({ name: "bench" }, upstream);
const { key, proxyUrl } = bridge;
process.stdout.write(`${JSON.stringify({ baseUrl, key, proxyUrl })}\n`);
answerMemory();
