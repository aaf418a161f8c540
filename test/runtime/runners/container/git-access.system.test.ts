import { testEngine } from "../../../helpers/docker.ts";
import { gitAccessTests } from "../git-access.ts";
import { agentEvents, programImages } from "./agent-events.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("with the default image", () => {
  const images = programImages(engine);
  gitAccessTests("in a container", (job) =>
    agentEvents(engine, images(), job, { network: "host" }),
  );
});
