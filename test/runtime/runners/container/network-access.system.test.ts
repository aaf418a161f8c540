import { testEngine } from "../../../helpers/docker.ts";
import { networkAccessTests } from "../network-access.ts";
import { agentEvents, programImages } from "./agent-events.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("a container without a network", () => {
  const images = programImages(engine);
  networkAccessTests("container", "node", (job) => agentEvents(engine, images(), job));
});
